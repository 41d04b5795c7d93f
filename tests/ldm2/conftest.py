"""What tests of LDM2 share: a world, memories, and how an episode is played."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from dqa.models.scripted import scripted_model
from dqa.worlds.history import History
from dqa_ldm2 import Memory, open_memory
from dqa_ldm2.building import Asked, build_memory
from tests.ldm2.rooms import ROOMS, experts


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    """A history of its own."""
    made = History(str(tmp_path / "history.db"))
    yield made
    made.close()


@pytest.fixture
def new_memory(tmp_path: Path) -> Iterator[Callable[[], Memory]]:
    """Make memories that are closed after the test."""
    with ExitStack() as opened:
        numbers = iter(range(99))
        yield lambda: opened.enter_context(
            open_memory(tmp_path / f"memory {next(numbers)}.db", create=True)
        )


@pytest.fixture
def memory(new_memory: Callable[[], Memory]) -> Memory:
    """Return an empty memory."""
    return new_memory()


@pytest.fixture
def built(new_memory: Callable[[], Memory]) -> Callable[..., Memory]:
    """Build memories of an expert's games."""

    def build(games: int = 12, batch: int = 50) -> Memory:
        made = new_memory()
        asked = Asked(scripted_model("analyst"), "scripted:analyst")
        build_memory(ROOMS, made, games=games, batch=batch, asked=asked, experts=experts)
        return made

    return build
