"""Questions and sets of questions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dqa.core.errors import DataError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.truth import LabelledQuestion, Truth
from dqa.loaders.generator.generate import generate


@pytest.mark.parametrize(
    ("candidates", "outcomes"),
    [(("a", "b"), (1.0,)), (("a",), (float("nan"),)), (("a",), (float("inf"),)), (None, (1.0,))],
)
def test_every_candidate_has_one_finite_outcome(
    candidates: tuple[str, ...] | None, outcomes: tuple[float, ...]
) -> None:
    """A set rejects a truth that does not fit its question."""
    question = Question("custom", "1", "", "", candidates=candidates)
    with pytest.raises(DataError, match=r"'custom/1'.*one finite number"):
        QuestionSet.of("own", [LabelledQuestion(question, Truth((), outcomes))], {})


def test_the_hash_of_a_set_knows_outcomes_and_own_queries() -> None:
    """A run cannot resume with questions whose truth or context differs."""
    made = generate(["agriculture"], 1, 2)
    (question,) = made.questions
    truth = made.truth_of(question)
    values = tuple(value + 1.0 for value in truth.outcomes or ())
    asked = replace(question, context_queries=("SELECT 1",))
    changed = (
        made,
        replace(made, truths={question.key: replace(truth, outcomes=values)}),
        replace(made, truths={question.key: replace(truth, outcomes=None)}),
        replace(made, questions=(asked,)),
    )
    assert len({one.content_hash for one in changed}) == 4
