"""How the parts of the Cypher guard say no."""

from __future__ import annotations

from dqa.guard.verdict import Refusal


class NotAllowedError(Refusal):
    """The statement is understood, or nearly so, and may not run."""


class UnreadableError(NotAllowedError):
    """The statement could not be read."""
