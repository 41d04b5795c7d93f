"""Load games of OpenSpiel, which apply the rules of our games.

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
    """Return a game, given its name and parameters in OpenSpiel's notation.

    Raises
    ------
    MissingKeyError
        OpenSpiel is not installed.
    """
    try:
        import pyspiel
    except ImportError as error:
        raise MissingKeyError(
            "The worlds of poker and negotiation need OpenSpiel, which is not installed. Install "
            f"it: {install_command('games')}."
        ) from error
    return pyspiel.load_game(text)
