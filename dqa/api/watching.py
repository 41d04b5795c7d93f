"""What a run tells a caller while it is under way; imports nothing that a run needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dqa.core.events import FaultEvent, WarningEvent
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.playing.setup import GameSetup
    from dqa.evaluation.results import Result


class Watcher:
    """Receives progress; does nothing by default."""

    def started(self, built: BuiltRun, done: int) -> None:
        """Take note that a run begins, of which an earlier start made `done` decisions."""

    def training(self, players: Sequence[str]) -> None:
        """Take note that players are trained, as nothing of the kind is kept."""

    def trained(self, player: str) -> None:
        """Take note that one of them is trained, or could not be."""

    def unreadable(self, text: str) -> None:
        """Take note of a kept player that cannot be read, and is trained again."""

    def playing(self, setup: GameSetup, done: int) -> None:
        """Take note that games begin, of which an earlier start played `done`."""

    def decided(self, result: Result) -> None:
        """Take note of a decision that was made and judged; called by one thread at a time."""

    def decided_elsewhere(self, count: int) -> None:
        """Take note that other processes have made `count` decisions since this one began.

        Told of a run in a store, when this process has looked; by any thread.
        """

    def faulted(self, fault: FaultEvent) -> None:
        """Take note of a call of a model that failed; called by one thread at a time."""

    def warned(self, warning: WarningEvent) -> None:
        """Take note of what a decision leaves out of account; called by one thread at a time."""
