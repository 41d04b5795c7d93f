"""Questions without their right answers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

Candidate: TypeAlias = str | int
"""A possible choice, such as the name of a supplier or the number of a product."""

MOST_CANDIDATES = 100_000
"""The maximum number of candidates. Scoring stores the outcomes of all candidates in memory."""

AnswerForm: TypeAlias = Literal["candidate", "statement"]
"""The form of an answer: a candidate, or a statement that returns the right rows."""


@dataclass(frozen=True, slots=True)
class Question:
    """A decision-making question with its business rules (PlanRAG, section 2: Q and R).

    A question does not contain its right answer, which is in a `dqa.core.truth.Truth`.

    Attributes
    ----------
    scenario
        The name of the scenario; ``"custom"`` for a user's own question.
    id
        The id, which is unique within the scenario.
    text
        The question and its goal.
    rules
        The business rules.
    situation
        The name of the situation, a key of `QuestionSet.situations`. For a user's own database, a
        key of `QuestionSet.locations`.
    target
        The parameter values of the question, e.g. ``{"country": "SWE", "home": "baltic_sea"}``.
    candidates
        The possible choices, in the order in which their table lists them. None if the question
        does not list them.
    candidate_query
        A statement whose first column lists the candidates.
    context_queries
        The user's own statements that return the context of the question. They replace the
        statements of the scenario (`dqa.scenarios.base.Scenario.context`).
    tags
        Words for grouping questions. Deciders do not see them.
    answer_form
        Whether the answer is a candidate or a statement.
    free_form
        The form of legal answers that are not candidates, with ``...`` for any words, e.g.
        ``search[...]``. Several forms are joined by " or ". Empty if only candidates are legal.
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
        """The name of the question in commands: ``scenario/id``. It is unique in a question set."""
        return f"{self.scenario}/{self.id}"

    @property
    def content(self) -> str:
        """A digest of text, rules and candidates, but not of the question's id and situation."""
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
"""The separator between several free forms of a question."""


def fits_form(text: str, form: str) -> bool:
    """Return whether a text matches one of the forms in a `Question.free_form`."""
    return any(_fits(text, one) for one in forms_of(form))


def forms_of(form: str) -> tuple[str, ...]:
    """Return the forms that a `Question.free_form` lists; none if it is empty."""
    return tuple(one for one in form.split(_OR) if one)


def _fits(text: str, form: str) -> bool:
    before, dots, after = form.partition("...")
    inner = text.removeprefix(before).removesuffix(after)
    return bool(dots) and text == f"{before}{inner}{after}" and bool(inner.strip())
