"""Implement the public Python functions, which the commands use too."""
