"""What a run tells a caller while it is under way; imports nothing that a run needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dqa.core.events import FaultEvent, WarningEvent
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.results import Result


class Watcher:
    """Receives progress; does nothing by default."""

    def started(self, built: BuiltRun, done: int) -> None:
        """Take note that a run begins, of which an earlier start made `done` decisions."""

    def decided(self, result: Result) -> None:
        """Take note of a decision that was made and judged; called by one thread at a time."""

    def faulted(self, fault: FaultEvent) -> None:
        """Take note of a call of a model that failed; called by one thread at a time."""

    def warned(self, warning: WarningEvent) -> None:
        """Take note of what a decision leaves out of account; called by one thread at a time."""
