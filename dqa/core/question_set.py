"""Sets of questions with their situations and truths."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question import Question
from dqa.core.situation import Situation
from dqa.core.text import counted
from dqa.core.truth import NOTHING_KNOWN, LabelledQuestion, Truth


@dataclass(frozen=True, slots=True)
class Defect:
    """A problem in a data file, and how dqa handled it.

    Attributes
    ----------
    statement
        The start of the first statement with the problem, if the file is a script.
    more
        The number of other files with the same problem.
    """

    file: Path
    problem: str
    action: str
    statement: str = ""
    more: int = 0

    def __str__(self) -> str:
        first = f", first in {self.statement!r}" if self.statement else ""
        also = f", and the same in {counted(self.more, 'more file')}" if self.more else ""
        return f"{self.file}: {self.problem}{first}{also}; {self.action}"


def without_repetition(defects: Iterable[Defect]) -> list[Defect]:
    """Merge defects that differ only in their file. `Defect.more` counts the merged defects."""
    found: dict[tuple[str, str], dict[Path, Defect]] = {}
    for defect in defects:
        found.setdefault((defect.problem, defect.action), {}).setdefault(defect.file, defect)
    return [replace(next(iter(one.values())), more=len(one) - 1) for one in found.values()]


@dataclass(frozen=True)
class QuestionSet:
    """Questions, their situations and truths, and the defects of their files.

    Situations with equal content are the same object, so they share one loaded database.

    Attributes
    ----------
    name
        The name of the question set in reports.
    questions
        The questions, in order.
    situations
        The situations by name.
    defects
        The problems in the files, and how dqa handled them.
    truths
        The truths by question key. They are used only for scoring; deciders never see them.
    rule_set
        The name of the rule set that was used to compute the truths. None means the first rule set
        of each simulator.
    locations
        The locations of the user's own databases, by name. dqa queries these databases without
        copying their data. If the data of such a database was also read, `situations` contains the
        data under the same name.

    Raises
    ------
    DataError
        A truth does not fit its question.
    """

    name: str
    questions: tuple[Question, ...]
    situations: Mapping[str, Situation]
    defects: tuple[Defect, ...] = ()
    truths: Mapping[str, Truth] = field(default_factory=dict)
    rule_set: str | None = None
    locations: Mapping[str, str] = field(default_factory=dict, repr=False)  # may hold passwords

    def __post_init__(self) -> None:
        for question in self.questions:
            if question.key in self.truths:
                self.truths[question.key].check(question)

    @classmethod
    def of(
        cls,
        name: str,
        labelled: Iterable[LabelledQuestion],
        situations: Mapping[str, Situation],
        defects: tuple[Defect, ...] = (),
        rule_set: str | None = None,
    ) -> Self:
        """Return a set of questions with their truths."""
        pairs = tuple(labelled)
        truths = {question.key: truth for question, truth in pairs}
        questions = tuple(question for question, _ in pairs)
        return cls(name, questions, situations, defects, truths, rule_set)

    @property
    def labelled(self) -> tuple[LabelledQuestion, ...]:
        """The questions in order, each with its truth."""
        return tuple(LabelledQuestion(q, self.truth_of(q)) for q in self.questions)

    def truth_of(self, question: Question) -> Truth:
        """Return the truth of a question; an empty `Truth` if it is unknown."""
        return self.truths.get(question.key, NOTHING_KNOWN)

    def has_location(self, question: Question) -> bool:
        """Return whether `question` is about a user's own database, which `locations` contains."""
        return question.situation in self.locations

    def has_data_of(self, question: Question) -> bool:
        """Return whether the data of `question` is in memory."""
        return question.situation in self.situations or not self.has_location(question)

    def situation_of(self, question: Question) -> Situation:
        """Return the situation of a question.

        Raises
        ------
        UnknownNameError
            The set lacks the situation.
        UsageError
            The question is about a user's own database, whose data was not read.
        """
        name = question.situation
        if name in self.situations:
            return self.situations[name]
        if self.has_location(question):
            raise UsageError(
                f"Question '{question.key}' does not name a scenario, so the data of its database "
                f"'{name}' was not read."
            )
        raise UnknownNameError("situation", name, self.situations)

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) over the questions in order, their truths and the data of situations."""
        return hashlib.sha256(b"".join(map(self._content_of, self.questions))).hexdigest()

    def question_hash(self, question: Question) -> str:
        """Return the SHA-256 (hex) over a question, its truth and its situation's content."""
        return hashlib.sha256(self._content_of(question)).hexdigest()

    def _content_of(self, question: Question) -> bytes:
        truth = self.truth_of(question)
        parts = (
            question.key,
            question.text,
            question.rules,
            # The content of a user's own database may change at any time.
            self.situation_of(question).content_hash
            if self.has_data_of(question)
            else f"in {question.situation}",
            repr(question.candidates),
            repr(truth.answers),
            repr(question.context_queries),
            repr(truth.outcomes),
            *(() if truth.match is None else (truth.match,)),
            *map(repr, truth.tables),
        )
        return "\0".join(parts).encode()

    def find(self, key: str) -> Question:
        """Return the question with this key (``scenario/id``)."""
        by_key = {question.key: question for question in reversed(self.questions)}
        if key not in by_key:
            raise UnknownNameError("question", key, by_key)
        return by_key[key]

    def select(
        self, scenarios: tuple[str, ...] | None = None, limit: int | None = None
    ) -> QuestionSet:
        """Return a set with the questions of these scenarios, at most `limit` per scenario."""
        counts: Counter[str] = Counter()
        selected = []
        for question in self.questions:
            counts[question.scenario] += 1
            is_wanted = scenarios is None or question.scenario in scenarios
            if is_wanted and (limit is None or counts[question.scenario] <= limit):
                selected.append(question)
        return replace(self, questions=tuple(selected))
