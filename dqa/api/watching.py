"""Define how a run reports its progress. This module has no slow imports."""

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
    """Receives the progress of a run and its trainings. All methods do nothing by default."""

    def started(self, setup: PreparedRun | GameSetup, done: int) -> None:
        """Handle the start of a run, which already has `done` stored decisions or games."""

    def decided(self, result: Result) -> None:
        """Handle a judged decision. Called by one thread at a time."""

    def decided_elsewhere(self, count: int) -> None:
        """Handle the number of decisions that other processes made since this process started.

        Called only if the run is stored. Any thread may call it.
        """

    def faulted(self, fault: FaultEvent) -> None:
        """Handle a failed call of a model. Called by one thread at a time."""

    def warned(self, warning: WarningEvent) -> None:
        """Handle a warning of a decision. Called by one thread at a time."""

    def happened(self, event: Event, usage: Usage) -> None:
        """Pass an event to `faulted` or `warned`. Called by any thread."""
        del usage
        with _ONE_AT_A_TIME:
            if isinstance(event, FaultEvent):
                self.faulted(event)
            elif isinstance(event, WarningEvent):
                self.warned(event)
