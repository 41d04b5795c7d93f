"""Worlds that are drawn in parts are those of one generator, whatever a world gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from dqa.loaders.generator import Difficulty, Mix, generate


class AtOnce:
    """Works all jobs out before the first is asked for, as another machine would."""

    slots = 3

    def __init__(self) -> None:
        self.jobs = 0

    def map(self, work: Callable[[Any], Any], jobs: Iterable[Any]) -> Iterator[Any]:
        made = [work(job) for job in jobs]
        self.jobs += len(made)
        return iter(made)


@pytest.mark.parametrize(
    "asked",
    [
        {"scenarios": ("building", "locating", "agriculture", "stocks"), "count": 12},
        {"count": 10, "difficulty": Difficulty(hops=2, mix=Mix(0.4, 0.6))},
    ],
)
def test_parts_are_what_one_generator_draws(asked: dict[str, Any]) -> None:
    """Also where worlds give fewer questions than they were thought to."""
    mapper = AtOnce()
    parts, whole = generate(seed=3, mapper=mapper, **asked), generate(seed=3, **asked)
    assert parts == whole
    assert [*parts.situations] == [*whole.situations]
    assert mapper.jobs > 1
