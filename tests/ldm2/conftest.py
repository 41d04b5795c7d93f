"""What tests of LDM2 share: a world, a memory, and how an episode is played."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dqa.models.scripted import scripted_model
from dqa.worlds.history import History
from dqa_ldm2.building import Asked, build_memory
from tests.ldm2.kept import Kept
from tests.ldm2.rooms import ROOMS, experts


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    """A history of its own."""
    made = History(str(tmp_path / "history.db"))
    yield made
    made.close()


@pytest.fixture
def built() -> Callable[..., Kept]:
    """Builds a memory of an expert's games."""

    def build(games: int = 12, seed: int = 0, batch: int = 50, usual: float = 1.0) -> Kept:
        memory = Kept()
        build_memory(
            ROOMS,
            memory,
            games=games,
            seed=seed,
            batch=batch,
            asked=Asked(scripted_model("analyst"), "scripted:analyst"),
            settings={"usual": usual},
            experts=experts,
        )
        return memory

    return build
