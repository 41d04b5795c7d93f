"""The progress of a training: a bar on a terminal; elsewhere nothing but warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dqa.cli.output import echo
from dqa.cli.progress import open_bar
from dqa.worlds.training import TrainingWatcher

if TYPE_CHECKING:
    from rich.progress import Progress


class TrainingProgress(TrainingWatcher):
    """Shows the progress of a training on a terminal's stderr."""

    def __init__(self) -> None:
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.finished()

    def started(self, player: str, iterations: int) -> None:
        """Show the bar."""
        self._bar = open_bar()
        self._task = self._bar.add_task(f"Training {player}", total=iterations)

    def advanced(self, done: int) -> None:
        """Show how many iterations are done."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done)

    def finished(self) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def warned(self, text: str) -> None:
        """Print the warning at once."""
        echo(f"warning: {text}", err=True)
