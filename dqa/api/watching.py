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
        """Handle the start of a run. `done` decisions or games are already stored."""

    def decided(self, result: Result) -> None:
        """Handle a judged decision. Only one thread at a time calls this method."""

    def decided_elsewhere(self, count: int) -> None:
        """Handle the number of decisions that other processes made since this process started.

        This method is called only if the run is stored. Any thread may call it.
        """

    def faulted(self, fault: FaultEvent) -> None:
        """Handle a failed call of a model. Only one thread at a time calls this method."""

    def warned(self, warning: WarningEvent) -> None:
        """Handle a warning of a decision. Only one thread at a time calls this method."""

    def happened(self, event: Event, usage: Usage) -> None:
        """Pass an event to `faulted` or `warned`. Any thread may call this method."""
        del usage
        with _ONE_AT_A_TIME:
            if isinstance(event, FaultEvent):
                self.faulted(event)
            elif isinstance(event, WarningEvent):
                self.warned(event)
