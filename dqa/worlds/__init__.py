"""Shared parts of all worlds: interfaces, factories, policies and the history."""
