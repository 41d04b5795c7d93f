"""The memory of LDM2: state-action tuples in a database, found by goal type, observation type, likeness."""
