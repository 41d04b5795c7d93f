"""OpenSpiel's games, which are the referees of ours: loaded when one is played.

OpenSpiel: a framework for reinforcement learning in games (Lanctot et al., 2019).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError

Game: TypeAlias = Any
"""A ``pyspiel.Game``. The package has no types."""
State: TypeAlias = Any
"""A ``pyspiel.State``."""


@lru_cache
def load_game(text: str) -> Game:
    """Return a game by its name and parameters, as OpenSpiel writes them.

    Raises
    ------
    MissingKeyError
        OpenSpiel is not installed.
    """
    try:
        import pyspiel
    except ImportError as error:
        raise MissingKeyError(
            "Poker and negotiations are played by the rules of OpenSpiel, which is not installed: "
            f"{install_command('games')}."
        ) from error
    return pyspiel.load_game(text)
