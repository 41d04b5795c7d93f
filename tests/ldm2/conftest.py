"""A world, memories, and the experts' games of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from dqa.worlds.history import History
from dqa_ldm2 import Memory, ModelUse, building, open_memory
from tests.ldm2.rooms import ROOMS, experts
from tests.suppliers import suppliers

__all__ = ["built", "history", "memory", "new_memory", "suppliers"]


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    """Return an empty history."""
    made = History(str(tmp_path / "history.db"))
    yield made
    made.close()


@pytest.fixture
def new_memory(tmp_path: Path) -> Iterator[Callable[[], Memory]]:
    """Create memories that are closed after the test."""
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
def built(
    new_memory: Callable[[], Memory], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Memory]:
    """Build memories of an expert's games."""
    monkeypatch.setattr(building, "expert_trajectories", experts)

    def build(games: int = 12, batch: int = 50) -> Memory:
        made = new_memory()
        building.build_memory(ROOMS, made, games=games, batch=batch, use=ModelUse())
        return made

    return build
