"""The progress of a training: a bar on a terminal; elsewhere nothing but warnings."""

from __future__ import annotations

from dqa.cli.progress import Bar
from dqa.worlds.training import TrainingWatcher


class TrainingProgress(Bar, TrainingWatcher):
    """Shows the progress of a training on a terminal's stderr."""

    def started(self, player: str, iterations: int) -> None:
        """Show the bar."""
        self.start(f"Training {player}", iterations)

    def advanced(self, done: int) -> None:
        """Show how many iterations are done."""
        self.update(done)

    def finished(self) -> None:
        """Remove the bar."""
        self.close()

    def warned(self, text: str) -> None:
        """Print the warning at once."""
        self.warn(text)
