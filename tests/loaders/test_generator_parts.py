"""Worlds drawn in parts equal those of one generator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from dqa.loaders.generator import Difficulty, Mix, generate


@pytest.mark.parametrize(
    "asked",
    [
        {"scenarios": ("building", "locating", "agriculture", "stocks"), "count": 12},
        {"count": 10, "difficulty": Difficulty(hops=2, mix=Mix(0.4, 0.6))},
    ],
)
def test_parts_equal_the_questions_of_one_generator(asked: dict[str, Any]) -> None:
    """Also if worlds give fewer questions than expected."""
    done: list[Any] = []

    def map_at_once(work: Callable[[Any], Any], jobs: Iterable[Any]) -> Iterator[Any]:
        done.extend(work(job) for job in jobs)  # as another machine does
        return iter(done)

    parts, whole = generate(seed=3, map_jobs=map_at_once, **asked), generate(seed=3, **asked)
    assert parts == whole
    assert [*parts.situations] == [*whole.situations]
    assert len(done) > 1
