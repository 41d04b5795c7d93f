"""Questions and what a set of them vouches for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dqa.core.errors import DataError
from dqa.core.question import Question
from dqa.loaders.generator import generate


@pytest.mark.parametrize(
    ("candidates", "outcomes"),
    [(("a", "b"), (1.0,)), (("a",), (float("nan"),)), (("a",), (float("inf"),)), (None, (1.0,))],
)
def test_every_candidate_has_one_finite_outcome(
    candidates: tuple[str, ...] | None, outcomes: tuple[float, ...]
) -> None:
    """Or the question cannot be made."""
    with pytest.raises(DataError, match=r"'custom/1'.*one finite number"):
        Question("custom", "1", "", "", candidates=candidates, outcomes=outcomes)


def test_the_hash_of_a_set_knows_outcomes_and_own_queries() -> None:
    """A run cannot go on with questions whose truth or context is another."""
    made = generate(["agriculture"], 1, 2)
    (question,) = made.questions
    values = [value + 1.0 for value in question.outcomes or ()]
    changed = [
        replace(question, outcomes=tuple(values)),
        replace(question, outcomes=None),
        replace(question, context_queries=("SELECT 1",)),
    ]
    hashes = {replace(made, questions=(q,)).content_hash for q in (question, *changed)}
    assert len(hashes) == 4
