"""Questions, and sets of them with the situations they are asked about."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from dqa.core.errors import DataError, UnknownNameError
from dqa.core.situation import Situation

__all__ = ["Candidate", "Defect", "Question", "QuestionSet"]

Candidate: TypeAlias = str | int
"""What can be chosen: a trade node's name, a building's id."""


@dataclass(frozen=True, slots=True)
class Question:
    """A decision-making question with its business rules (PlanRAG, section 2: Q and R).

    Attributes
    ----------
    scenario
        Name of the scenario, or ``"custom"`` for a user's own question.
    id
        Unique within the scenario.
    text
        The question and its goal, as the decider reads it.
    rules
        The business rules, as the decider reads them.
    situation
        Name of the situation it is asked about, a key of `QuestionSet.situations`.
    target
        What the goal is about, e.g. ``{"country": "SWE", "home": "baltic_sea"}``.
    candidates
        What can be chosen, in table order, or None where nobody listed it.
    candidate_query
        A statement whose first column lists the candidates, where they are to be queried.
    answers
        The decisions known to be best; empty where unknown. The first is the official one.
    context_queries
        Statements of the user's own whose rows are what a decider reads about the question, in
        place of its scenario's (`dqa.scenarios.base.Scenario.context`).
    outcomes
        What each candidate led to, parallel to `candidates`, where a record tells: ground truth
        without a simulator. Larger is better unless the scenario says otherwise.

    Raises
    ------
    DataError
        There is not one finite outcome for each candidate.
    """

    scenario: str
    id: str
    text: str
    rules: str
    situation: str = ""
    target: Mapping[str, str] = field(default_factory=dict)
    candidates: tuple[Candidate, ...] | None = None
    candidate_query: str | None = None
    answers: tuple[Candidate, ...] = ()
    context_queries: tuple[str, ...] = ()
    outcomes: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", MappingProxyType(dict(self.target)))
        if self.outcomes is None:
            return
        listed = self.candidates or ()
        if len(self.outcomes) != len(listed) or not all(map(isfinite, self.outcomes)):
            raise DataError(
                f"Question '{self.key}' has {len(listed)} candidates and the outcomes "
                f"{list(self.outcomes)}: every candidate needs one finite number, or none has any."
            )

    @property
    def key(self) -> str:
        """``scenario/id``: unique in a question set, and what commands call a question."""
        return f"{self.scenario}/{self.id}"


@dataclass(frozen=True, slots=True)
class Defect:
    """Something wrong in data that was read, and what was done about it."""

    file: Path
    line: int | None
    problem: str
    action: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line is not None else str(self.file)
        return f"{where}: {self.problem}; {self.action}"


@dataclass(frozen=True)
class QuestionSet:
    """Questions, the situations they are asked about, and what was wrong in their files.

    Situations with the same content are one object, so whoever loads databases can share them.
    """

    name: str
    questions: tuple[Question, ...]
    situations: Mapping[str, Situation]
    defects: tuple[Defect, ...] = ()

    def situation_of(self, question: Question) -> Situation:
        """Return the situation that `question` is asked about."""
        try:
            return self.situations[question.situation]
        except KeyError:
            raise UnknownNameError("situation", question.situation, self.situations) from None

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) over every question and the content of its situation, in order."""
        digest = hashlib.sha256()
        for question in self.questions:
            parts = (
                question.key,
                question.text,
                question.rules,
                self.situation_of(question).content_hash,
                repr(question.candidates),
                repr(question.answers),
                repr(question.context_queries),
                repr(question.outcomes),
            )
            digest.update("\0".join(parts).encode())
        return digest.hexdigest()

    def find(self, key: str) -> Question:
        """Return the question called `key` (``scenario/id``)."""
        for question in self.questions:
            if question.key == key:
                return question
        raise UnknownNameError("question", key, (q.key for q in self.questions))

    def select(
        self, scenarios: tuple[str, ...] | None = None, limit: int | None = None
    ) -> QuestionSet:
        """Keep some scenarios, and the first `limit` questions of each."""
        counts: dict[str, int] = {}
        kept = []
        for question in self.questions:
            if scenarios is not None and question.scenario not in scenarios:
                continue
            counts[question.scenario] = counts.get(question.scenario, 0) + 1
            if limit is None or counts[question.scenario] <= limit:
                kept.append(question)
        return QuestionSet(self.name, tuple(kept), self.situations, self.defects)
