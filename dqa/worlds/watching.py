"""Report the progress of a training. This module does not import NumPy, so commands start fast."""

from __future__ import annotations

from collections.abc import Sequence


class TrainingWatcher:
    """Receives the progress of trainings. The default methods do nothing."""

    def training(self, players: Sequence[str]) -> None:
        """Handle the start of the training of these players."""

    def advanced(self, done: int, iterations: int) -> None:
        """Handle the number of finished iterations.

        This number is reported only if a single player is trained.
        """

    def trained(self, player: str) -> None:
        """Handle the end of a player's training, successful or not."""

    def unreadable(self, text: str) -> None:
        """Handle a stored player that cannot be read. The player is trained again."""
