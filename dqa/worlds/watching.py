"""The progress of a training; imports nothing, so that commands can show it without numerics."""

from __future__ import annotations

from collections.abc import Sequence


class TrainingWatcher:
    """Receives the progress of players that learn; does nothing by default."""

    def training(self, players: Sequence[str]) -> None:
        """Handle that players are trained, because none is stored."""

    def advanced(self, done: int, iterations: int) -> None:
        """Handle that the only player that is trained has done some of its iterations."""

    def trained(self, player: str) -> None:
        """Handle that one of the players is trained, or could not be."""

    def unreadable(self, text: str) -> None:
        """Handle a stored player that cannot be read, and is trained again."""
