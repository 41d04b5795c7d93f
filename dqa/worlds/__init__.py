"""The parts that all worlds share: interfaces, factories, policies and the history."""
