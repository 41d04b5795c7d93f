"""Kuhn poker as a world (entry point `dqa.worlds`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from dqa.worlds.base import WorldFactory
from dqa.worlds.players import RANDOM
from dqa_simulators.games.betting import CALL, CHECK, FOLD, RAISE
from dqa_simulators.games.table import Deal, NoSettings, PokerGame, PokerWorld, no_facts
from dqa_simulators.kuhn.position import KuhnPosition

if TYPE_CHECKING:
    from dqa.worlds.history import History

REFEREE: Final = "kuhn_poker"
"""The game in OpenSpiel."""
CODES: Final = {FOLD: 0, CHECK: 0, CALL: 1, RAISE: 1}
"""What OpenSpiel calls each action."""


def make(settings: NoSettings, history: History | None) -> PokerWorld:
    """Make the world."""
    text = (Path(__file__).parent / "rules.md").read_text(encoding="utf-8").strip()
    game = PokerGame(KuhnPosition, REFEREE, CODES, "Kuhn poker", text, draw, no_facts)
    return PokerWorld(game, settings.model_dump(), history)


def draw(random: np.random.Generator) -> Deal:
    """Deal each player a card."""
    first, second, _ = random.permutation(3).tolist()
    return Deal(((first,), (second,)), ())


WORLD = WorldFactory(
    name="kuhn",
    description="Kuhn poker: three cards, one raise; small enough for exact answers",
    make=make,
    settings=NoSettings,
    policies={RANDOM.name: RANDOM},
)
