"""Sets of questions with the situations they are asked about."""

from __future__ import annotations

import hashlib
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
    """Something wrong in data that was read, and what was done about it.

    Attributes
    ----------
    more
        How many further files have the same.
    """

    file: Path
    line: int | None
    problem: str
    action: str
    more: int = 0

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line is not None else str(self.file)
        also = f", and so in {counted(self.more, 'more file')}" if self.more else ""
        return f"{where}: {self.problem}{also}; {self.action}"


def said_once(defects: Iterable[Defect]) -> list[Defect]:
    """Return defects with one for those that differ in their place alone, at its first place."""
    places: dict[tuple[str, str], dict[Path, Defect]] = {}
    for defect in defects:
        places.setdefault((defect.problem, defect.action), {}).setdefault(defect.file, defect)
    return [
        replace(next(iter(files.values())), more=sum(one.more + 1 for one in files.values()) - 1)
        for files in places.values()
    ]


@dataclass(frozen=True)
class QuestionSet:
    """Questions, the situations they are asked about, and what was wrong in their files.

    Situations with the same content are one object, so whoever loads databases can share them.

    Attributes
    ----------
    name
        What reports call the set.
    questions
        What deciders are asked, in order.
    situations
        By name, what the questions are asked about.
    defects
        What was wrong in the files, and what was done about it.
    truths
        By a question's key, what is right: for scoring alone, and never shown to a decider.
    rule_set
        The rule set that the truths follow, named by whoever read or made them; None for the first
        of each simulator's.
    places
        By name, the locations of the databases that questions are asked about where they are:
        nobody loads them, and a situation by that name is what was read back from one.

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
    places: Mapping[str, str] = field(default_factory=dict, repr=False)  # may hold passwords

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
        """Make a set of questions, each with what is known to be right."""
        pairs = tuple(labelled)
        truths = {question.key: truth for question, truth in pairs}
        questions = tuple(question for question, _ in pairs)
        return cls(name, questions, situations, defects, truths, rule_set)

    @property
    def labelled(self) -> tuple[LabelledQuestion, ...]:
        """The questions in order, each with what is known to be right."""
        return tuple(LabelledQuestion(q, self.truth_of(q)) for q in self.questions)

    def truth_of(self, question: Question) -> Truth:
        """Return what is known to be right; an empty `Truth` where nothing is."""
        return self.truths.get(question.key, NOTHING_KNOWN)

    def is_in_place(self, question: Question) -> bool:
        """Whether `question` is asked about a database where that is, which nobody loads."""
        return question.situation in self.places

    def has_data_of(self, question: Question) -> bool:
        """Whether the data that `question` is about is at hand, and not in its place alone."""
        return question.situation in self.situations or not self.is_in_place(question)

    def situation_of(self, question: Question) -> Situation:
        """Return the situation that `question` is asked about.

        Raises
        ------
        UnknownNameError
            There is no such situation.
        UsageError
            The question is asked about a database of the user's own, whose data nobody read.
        """
        try:
            return self.situations[question.situation]
        except KeyError:
            if self.is_in_place(question):
                raise UsageError(
                    f"Question '{question.key}' is asked about the database '{question.situation}' "
                    "where it is, of whose data nothing was read: this works for questions that "
                    "name their scenario alone."
                ) from None
            raise UnknownNameError("situation", question.situation, self.situations) from None

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) over every question and the content of its situation, in order."""
        digest = hashlib.sha256()
        for question in self.questions:
            digest.update(self._content_of(question))
        return digest.hexdigest()

    def question_hash(self, question: Question) -> str:
        """Return the SHA-256 (hex) over a question, its truth and its situation's content."""
        return hashlib.sha256(self._content_of(question)).hexdigest()

    def _content_of(self, question: Question) -> bytes:
        truth = self.truth_of(question)
        parts = (
            question.key,
            question.text,
            question.rules,
            # What a database of the user's own holds may change while it is asked.
            self.situation_of(question).content_hash
            if self.has_data_of(question)
            else f"in {question.situation}",
            repr(question.candidates),
            repr(truth.answers),
            repr(question.context_queries),
            repr(truth.outcomes),
            *(() if truth.match is None else (truth.match,)),
        )
        return "\0".join(parts).encode()

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
        return replace(self, questions=tuple(kept))
