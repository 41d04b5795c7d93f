"""The progress of a run; imports nothing that a run needs."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from dqa.core.events import Event, FaultEvent, WarningEvent
from dqa.core.recorder import DecisionWatcher
from dqa.worlds.watching import TrainingWatcher

if TYPE_CHECKING:
    from dqa.core.decision import Usage
    from dqa.evaluation.games import GameSetup
    from dqa.evaluation.prepare import PreparedRun
    from dqa.evaluation.results import Result

_ONE_AT_A_TIME = Lock()


class Watcher(DecisionWatcher, TrainingWatcher):
    """Receives the progress of a run, and of trainings for it; does nothing by default."""

    def started(self, setup: PreparedRun | GameSetup, done: int) -> None:
        """Handle the beginning of a run with `done` stored decisions or games."""

    def decided(self, result: Result) -> None:
        """Handle a judged decision; called by one thread at a time."""

    def decided_elsewhere(self, count: int) -> None:
        """Handle that other processes have made `count` decisions since this one began.

        Called for a run in a store, by any thread.
        """

    def faulted(self, fault: FaultEvent) -> None:
        """Handle a failed call of a model; called by one thread at a time."""

    def warned(self, warning: WarningEvent) -> None:
        """Handle a warning of a decision; called by one thread at a time."""

    def happened(self, event: Event, usage: Usage) -> None:
        """Call `faulted` or `warned`; called by any thread."""
        del usage
        with _ONE_AT_A_TIME:
            if isinstance(event, FaultEvent):
                self.faulted(event)
            elif isinstance(event, WarningEvent):
                self.warned(event)
