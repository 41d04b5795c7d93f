"""Statements that the guard allows and that could harm an engine."""
