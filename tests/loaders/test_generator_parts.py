"""Worlds drawn in parts equal those of one generator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from dqa.loaders.generator import Difficulty, Mix, generate


class AtOnce:
    """Runs all jobs before the first result is read, as another machine does."""

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
def test_parts_equal_the_questions_of_one_generator(asked: dict[str, Any]) -> None:
    """Also if worlds give fewer questions than expected."""
    mapper = AtOnce()
    parts, whole = generate(seed=3, mapper=mapper, **asked), generate(seed=3, **asked)
    assert parts == whole
    assert [*parts.situations] == [*whole.situations]
    assert mapper.jobs > 1
