"""Hostile statements: what the guard allows, and no engine should be asked; and what they do."""
