"""Who is told how far forming or refining a memory is."""

from __future__ import annotations

from dqa.core.events import Event


class Progress:
    """Is told how far it is; does nothing by default."""

    def started(self, what: str, total: int) -> None:
        """Take note of what begins, and how many there are."""

    def advanced(self) -> None:
        """Take note of one more."""

    def happened(self, event: Event) -> None:
        """Take note of an event."""
