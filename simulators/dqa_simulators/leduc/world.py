"""Leduc poker as a world (entry point `dqa.worlds`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from dqa.worlds.base import WorldFactory
from dqa.worlds.players import RANDOM
from dqa_simulators.games.betting import CALL, CHECK, FOLD, RAISE
from dqa_simulators.games.table import Deal, NoSettings, PokerGame, PokerWorld, no_facts
from dqa_simulators.leduc.position import LeducPosition

if TYPE_CHECKING:
    from dqa.worlds.history import History

REFEREE: Final = "leduc_poker"
"""The game in OpenSpiel."""
CODES: Final = {FOLD: 0, CHECK: 1, CALL: 1, RAISE: 2}
"""What OpenSpiel calls each action."""


def make(settings: NoSettings, history: History | None) -> PokerWorld:
    """Make the world."""
    text = (Path(__file__).parent / "rules.md").read_text(encoding="utf-8").strip()
    game = PokerGame(LeducPosition, REFEREE, CODES, "Leduc poker", text, draw, no_facts)
    return PokerWorld(game, settings.model_dump(), history)


def draw(random: np.random.Generator) -> Deal:
    """Deal each player a card, and a public one."""
    first, second, public, *_ = random.permutation(6).tolist()
    return Deal(((first,), (second,)), (public,))


WORLD = WorldFactory(
    name="leduc",
    description="Leduc poker: six cards, two rounds; small enough for exact answers",
    make=make,
    settings=NoSettings,
    policies={RANDOM.name: RANDOM},
)
