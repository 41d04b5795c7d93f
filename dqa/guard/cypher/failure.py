"""How the parts of the Cypher guard say no."""

from __future__ import annotations


class NotAllowedError(Exception):
    """The statement is understood, or nearly so, and may not run; `check` makes it a verdict."""


class UnreadableError(NotAllowedError):
    """The statement could not be read."""
