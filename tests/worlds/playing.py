"""Playing games at random, for the tests of worlds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dqa import plugins
from dqa.core.question import Candidate
from dqa.worlds.history import History
from dqa.worlds.world import Episode, Move, World

WORLDS = ("holdem", "kuhn", "leduc", "negotiation")
Chooser = Callable[[Move], Candidate]


def make_world(name: str, history: History | None = None, **settings: Any) -> World:
    """Return a world by its name; skip the test where the package of its rules is missing."""
    if name in WORLDS:
        pytest.importorskip("pyspiel")
    factory = plugins.world(name)
    return factory.make(factory.settings.model_validate(settings), history)


def open_history(folder: Path) -> History:
    """Return a new history in a file, whose statements run in this process."""
    return History(str(folder / "games.sqlite"), isolation="none")


def at_random(seed: int, *, cautious: float = 0.0) -> Chooser:
    """Return a random chooser. With probability `cautious`, it skips the first action.

    The first action folds or agrees, which ends the game.
    """
    random = np.random.default_rng(seed)

    def choose(move: Move) -> Candidate:
        actions = move.position.actions
        if len(actions) > 1 and random.random() < cautious:
            actions = actions[1:]
        return actions[int(random.integers(len(actions)))]

    return choose


def moves_of(episode: Episode, choose: Chooser) -> Iterator[Move]:
    """Yield each move of an episode before it is made, and close the episode in the end."""
    try:
        while (move := episode.next_move()) is not None:
            yield move
            episode.choose(choose(move))
    finally:
        episode.close()
