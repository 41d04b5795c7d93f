"""Examples for agents that are shown one: other questions of the set that is evaluated."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from dqa import plugins
from dqa.core.database import Database, Kind
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.deciders.base import Example
from dqa.loaders.generator import generate, judged_scenarios
from dqa.models.attempts import current_attempt

_EMBEDDED: Mapping[Kind, str] = {"relational": "sqlite", "graph": "ladybug"}
"""Where an example's situation is loaded, whatever is evaluated: it costs no server anything."""

_GENERATED = 10
_SEED = 170_577
"""A seed that nobody's own questions are likely to be made from."""


class OtherQuestions:
    """The questions of a set as examples for each other; see `dqa.deciders.base.Examples`.

    First come those of the set about situations of other content, in the set's order from the
    question's own place on and round to it; then some that are generated, for scenarios that have
    a generator. So a question always has the same example, and never one from its own data.
    Databases are loaded once and live as long as this object.

    Agents that are shown examples hold this object. It keeps what is right as digests, so they
    find no truth in it, and it answers for no question while that question is decided.
    """

    def __init__(self) -> None:
        self._set = QuestionSet("", (), {})
        self._generated: dict[str, QuestionSet] = {}
        self._salt = secrets.token_bytes(16)
        self._right: set[bytes] = set()
        self._open: dict[tuple[str, Kind], Database] = {}
        self._lock = threading.Lock()

    def take(self, questions: QuestionSet) -> None:
        """Take the examples from this set."""
        self._set = self._without_truths(questions)

    def others(self, question: Question, kind: Kind) -> Iterator[Example]:
        """Yield other questions of the scenario, each with its situation in a database."""
        asked = self._set.questions
        place = next((i for i, other in enumerate(asked) if other.key == question.key), 0)
        known = self._set.situations.get(question.situation)
        content = None if known is None else known.content_hash
        for other in (*asked[place + 1 :], *asked[:place]):
            if other.scenario != question.scenario or other.key == question.key:
                continue
            if not self._set.has_data_of(other):
                continue
            situation = self._set.situation_of(other)
            if situation.content_hash != content:
                yield self._example(other, situation, kind)
        if question.scenario in judged_scenarios():
            made = self._made(question.scenario)
            for other in made.questions:
                yield self._example(other, made.situation_of(other), kind)

    def _example(self, question: Question, situation: Situation, kind: Kind) -> Example:
        return Example(question, self._loaded(situation, kind), partial(self._accepts, question))

    def _accepts(self, question: Question, choice: Candidate | None) -> bool:
        deciding_it = current_attempt().requester[:1] == (question.key,)
        asked = deciding_it and question in self._set.questions
        return not asked and self._digest(question, choice) in self._right

    def _without_truths(self, questions: QuestionSet) -> QuestionSet:
        """Keep what is right as digests, and return the questions without it."""
        for question, truth in questions.labelled:
            self._right |= {self._digest(question, answer) for answer in truth.answers}
        return replace(questions, truths={})

    def _digest(self, question: Question, choice: Candidate | None) -> bytes:
        words = (question.key, question.text, question.situation, repr(choice))
        return hashlib.sha256(self._salt + "\0".join(words).encode()).digest()

    def _made(self, scenario: str) -> QuestionSet:
        with self._lock:
            if scenario not in self._generated:
                made = generate((scenario,), count=_GENERATED, seed=_SEED)
                self._generated[scenario] = self._without_truths(made)
            return self._generated[scenario]

    def _loaded(self, situation: Situation, kind: Kind) -> Database:
        key = (situation.content_hash, kind)
        with self._lock:
            if key not in self._open:
                self._open[key] = plugins.backend(_EMBEDDED[kind]).load(situation)
            return self._open[key]

    def close(self) -> None:
        """Close the databases."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()
