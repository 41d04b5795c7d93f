"""A question as a decider may see it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

Candidate: TypeAlias = str | int
"""A possible choice: a supplier's name, a product's number."""

MOST_CANDIDATES = 100_000
"""The most candidates of a question: scoring holds the outcomes of all of them in memory."""

AnswerForm: TypeAlias = Literal["candidate", "statement"]
"""The form of an answer: one of the candidates, or a statement that returns the right rows."""


@dataclass(frozen=True, slots=True)
class Question:
    """A decision-making question with its business rules (PlanRAG, section 2: Q and R).

    It does not contain the right answer, which is a `dqa.core.truth.Truth`.

    Attributes
    ----------
    scenario
        Name of the scenario, or ``"custom"`` for a user's own question.
    id
        Unique within the scenario.
    text
        The question and its goal.
    rules
        The business rules.
    situation
        Name of its situation, a key of `QuestionSet.situations`, or of the user's own database, a
        key of `QuestionSet.places`.
    target
        The object of the goal, e.g. ``{"country": "SWE", "home": "baltic_sea"}``.
    candidates
        The possible choices, in table order, or None where they are not listed.
    candidate_query
        A statement whose first column lists the candidates.
    context_queries
        The user's own statements whose rows are the context of the question, in place of those of
        its scenario (`dqa.scenarios.base.Scenario.context`).
    tags
        Words that group questions; no decider sees them.
    answer_form
        The form of its answer.
    free_form
        Other legal answers, with ``...`` for any words: ``search[...]``; several forms are joined
        by " or ". Empty where only a candidate counts.
    """

    scenario: str
    id: str
    text: str
    rules: str
    situation: str = ""
    target: Mapping[str, str] = field(default_factory=dict)
    candidates: tuple[Candidate, ...] | None = None
    candidate_query: str | None = None
    context_queries: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    answer_form: AnswerForm = "candidate"
    free_form: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", MappingProxyType(dict(self.target)))

    @property
    def key(self) -> str:
        """``scenario/id``: unique in a question set, and what commands call a question."""
        return f"{self.scenario}/{self.id}"

    @property
    def content(self) -> str:
        """Digests of text, rules and candidates, without the names of the question and its data."""
        choices = (
            self.candidates,
            self.candidate_query,
            self.context_queries,
            sorted(self.target.items()),
            self.answer_form,
            self.free_form,
        )
        return ".".join(map(_digest, (self.text, self.rules, repr(choices))))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]


_OR = " or "
"""Between several free forms of a question."""


def fits_form(text: str, form: str) -> bool:
    """Whether a text is in a `Question.free_form`, or one of several, with words for its dots."""
    return any(_fits(text, one) for one in forms_of(form))


def forms_of(form: str) -> tuple[str, ...]:
    """Return the forms that a `Question.free_form` consists of; none of an empty one."""
    return tuple(one for one in form.split(_OR) if one)


def _fits(text: str, form: str) -> bool:
    before, dots, after = form.partition("...")
    inner = text.removeprefix(before).removesuffix(after)
    return bool(dots) and text == f"{before}{inner}{after}" and bool(inner.strip())
