"""The progress of a training: a bar on a terminal; elsewhere nothing but warnings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

from dqa.cli.output import echo
from dqa.worlds.training import TrainingWatcher

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class TrainingProgress(TrainingWatcher):
    """Shows the progress of a training on a terminal's stderr."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.finished()

    def started(self, player: str, iterations: int) -> None:
        """Begin a bar."""
        if not sys.stderr.isatty():
            return
        from rich import progress as bar
        from rich.console import Console

        self._bar = bar.Progress(
            bar.TextColumn("{task.description}"),
            bar.BarColumn(),
            bar.MofNCompleteColumn(),
            bar.TimeElapsedColumn(),
            bar.TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._bar.start()
        self._task = self._bar.add_task(f"Training {player}", total=iterations)

    def advanced(self, done: int) -> None:
        """Show how many iterations are done."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done)

    def finished(self) -> None:
        """End the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = self._task = None

    def warned(self, text: str) -> None:
        """Say it at once."""
        echo(f"warning: {text}", err=True)
