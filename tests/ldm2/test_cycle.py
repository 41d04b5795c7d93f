"""The whole cycle without a model: build, play, refine, play; what is shown of it, and its bounds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dqa.models.scripted import scripted_model
from dqa.worlds.history import History
from dqa_ldm2.building import Asked, refine_memory
from dqa_ldm2.events import ImitationEvent, RecallEvent
from dqa_ldm2.refining.report import RefinementReport
from dqa_ldm2.settings import RefiningSettings
from tests.ldm2.kept import Kept, add_subtrajectory
from tests.ldm2.playing import deciding, play
from tests.ldm2.rooms import ROOMS, RoomsSettings

ELSEWHERE = RoomsSettings(usual=0.4)
"""Things are mostly not where the expert found them."""
Built = Callable[..., Kept]


def refined(memory: Kept, games: int = 12, **own: object) -> RefinementReport:
    """Refine a memory in a world whose things are elsewhere."""
    return refine_memory(
        ROOMS,
        memory,
        games=games,
        seed=1_000,
        refining=RefiningSettings.model_validate({"depth": 8, **own}),
        asked=Asked(scripted_model("analyst"), "scripted:analyst"),
        settings={"usual": 0.4},
        adder=add_subtrajectory,
    )


def won(memory: Kept, history: History, games: int = 20, **own: object) -> int:
    """Return how many held-out games a memory wins."""
    decider = deciding(memory, **own)
    return sum(
        play(decider, history, seed, ELSEWHERE).reward == 1.0
        for seed in range(5_000, 5_000 + games)
    )


def test_a_refined_memory_wins_more(built: Built, history: History) -> None:
    """Refinement adds versions, each of which says where it comes from, and they help."""
    memory = built()
    before = won(memory, history)
    report = refined(memory)
    after = won(memory, history)
    print(before, after, report.to_json())
    assert report.improved > 0
    assert after > before
