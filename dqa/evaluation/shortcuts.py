"""How far shortcuts get: a scenario's heuristics and chance, on the questions that are scored.

A heuristic (`dqa.deciders.heuristics`) is one query and calculates nothing by the rules. A score
says little about decisions as long as a heuristic reaches it on the same questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import fsum, isfinite
from typing import Literal, Self, TypeAlias

from pydantic import Field

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Ending
from dqa.core.errors import InfrastructureError
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.deciders.base import Settings
from dqa.evaluation.results import Result
from dqa.evaluation.score import Judge
from dqa.evaluation.targets import Place, places_of
from dqa.scenarios.generation import CountsSteps


@dataclass(frozen=True, slots=True)
class RightAnswers:
    """What is right in a question, by both ways of counting.

    Attributes
    ----------
    with_ties
        Every tie of the best.
    by_label
        The official label alone; of a question without one, the ties.
    """

    with_ties: Sequence[Candidate]
    by_label: Sequence[Candidate]

    @classmethod
    def of(cls, official: Candidate | None, ties: Sequence[Candidate]) -> Self:
        """Return what is right of an official label, if there is one, and the ties."""
        return cls(ties, ties if official is None else (official,))

    def counting(self, *, strict_official: bool) -> Sequence[Candidate]:
        """Return what counts."""
        return self.by_label if strict_official else self.with_ties


Right: TypeAlias = Mapping[str, RightAnswers]
"""By a question's key, what is right in it."""


class ShortcutChoices(Record):
    """A line of ``shortcuts.jsonl``: what the heuristics of its scenario answer to a question.

    Attributes
    ----------
    question, scenario
        The question's key, and its scenario.
    candidates
        How many there are to choose from; None where the question does not list them.
    choices
        By heuristic its answer; None where it names no candidate.
    """

    version: Literal[1] = 1
    question: str
    scenario: str
    candidates: int | None = Field(ge=1)
    choices: dict[str, Candidate | None]


class StepCount(Record):
    """How a heuristic did on the questions whose answer is as many steps away.

    Attributes
    ----------
    steps
        From the answer to what the question is about, as the scenario's generator counts them;
        None where no way leads there.
    """

    steps: int | None
    questions: int = Field(ge=1)
    right: int = Field(ge=0)


class Shortcut(Record):
    """How often a heuristic is right.

    Attributes
    ----------
    name
        The heuristic, which is a decider by that name.
    questions, right
        Questions of its scenario, and how many of them it answers rightly.
    with_ties, by_label
        Right answers where every tie of the best counts, and where the official label alone does;
        one of the two is `right`.
    by_steps
        How many are right by difficulty, nearest first; empty where nothing counts steps.
    """

    name: str
    scenario: str
    questions: int = Field(ge=1)
    right: int = Field(ge=0)
    with_ties: int = Field(ge=0)
    by_label: int = Field(ge=0)
    by_steps: tuple[StepCount, ...] = ()

    @property
    def share(self) -> float:
        """The share of the questions that it answers rightly."""
        return self.right / self.questions


class Chance(Record):
    """What answering at random gets right on average, of the questions of a scenario."""

    scenario: str
    questions: int = Field(ge=1)
    share: float = Field(ge=0, le=1, description="mean share of right answers among the candidates")


def choose_by_shortcuts(
    question_set: QuestionSet, places: Mapping[str, Place] | None = None
) -> tuple[ShortcutChoices, ...]:
    """Let every heuristic answer the questions of its scenario.

    Questions about a database of the user's own are answered there, others on SQLite in memory.

    Parameters
    ----------
    question_set
        What is asked.
    places
        The databases of the user's own, by name; None to open those of the set.

    Returns
    -------
    tuple of ShortcutChoices
        One a question, in the order of the set.

    Raises
    ------
    DataError
        A heuristic's statement cannot run.
    PluginError
        Two deciders have a heuristic's name.
    InfrastructureError
        A database of the user's own failed.
    """
    by_situation: dict[tuple[str, int | str], list[Question]] = {}
    for question in question_set.questions:
        in_place = question_set.is_in_place(question)
        about = question.situation if in_place else id(question_set.situation_of(question))
        by_situation.setdefault((question.scenario, about), []).append(question)
    found: dict[str, ShortcutChoices] = {}
    for (scenario, _), asked in by_situation.items():
        for question, choices in _chosen(question_set, scenario, asked, places):
            found[question.key] = ShortcutChoices(
                question=question.key,
                scenario=scenario,
                candidates=len(question.candidates) if question.candidates else None,
                choices=choices,
            )
    return tuple(found[question.key] for question in question_set.questions)


def _chosen(
    question_set: QuestionSet,
    scenario: str,
    asked: Sequence[Question],
    places: Mapping[str, Place] | None,
) -> Iterator[tuple[Question, dict[str, Candidate | None]]]:
    """Yield what the heuristics choose in the questions about one situation."""
    known = plugins.find_scenario(scenario)
    names = () if known is None else tuple(found.name for found in known.heuristics)
    deciders: dict[str, Decider] = {name: plugins.decider(name)(None, Settings()) for name in names}
    if not deciders:
        yield from ((question, {}) for question in asked)
        return
    with closing(_opened(question_set, asked[0], places)) as database:
        for question in asked:
            decided = {name: made.decide(question, database) for name, made in deciders.items()}
            for one in decided.values():
                if one.ending is Ending.INFRASTRUCTURE:  # which says nothing of the heuristic
                    raise InfrastructureError(one.error or f"{database.name} failed.")
            yield question, {name: one.choice for name, one in decided.items()}


def _opened(
    question_set: QuestionSet, question: Question, places: Mapping[str, Place] | None
) -> Database:
    """Return the database of the user's own that a question is about, or a copy in memory."""
    if not question_set.is_in_place(question):
        return plugins.backend("sqlite").load(question_set.situation_of(question))
    if places is None:
        place = question.situation
        places = places_of({place: question_set.places[place]})
    return places[question.situation].open()


def right_answers(results: Iterable[Result]) -> dict[str, RightAnswers]:
    """Return what is right in the questions of a run that were judged, by key."""
    return {
        result.question: RightAnswers.of(result.official, result.ties)
        for result in results
        if result.outcome.judged
    }


def count_shortcuts(
    choices: Iterable[ShortcutChoices],
    right: Right,
    steps: Mapping[str, int | None] | None = None,
    *,
    strict_official: bool = False,
) -> tuple[Shortcut, ...]:
    """Count how often each heuristic is right.

    Parameters
    ----------
    choices
        What they answered.
    right
        The questions that count, with what is right.
    steps
        By a question's key how many steps its answer is away; a question that is missing has none.
    strict_official
        Whether only the official answer counts, and no tie.

    Returns
    -------
    tuple of Shortcut
        In the order in which scenarios and their heuristics first appear.
    """
    answered: dict[tuple[str, str], dict[str, tuple[bool, bool]]] = {}
    for line in choices:
        if line.question in right:
            known = right[line.question]
            for name, choice in line.choices.items():
                both = choice in known.with_ties, choice in known.by_label
                answered.setdefault((line.scenario, name), {})[line.question] = both
    return tuple(
        Shortcut(
            name=name,
            scenario=scenario,
            questions=len(found),
            right=sum(both[int(strict_official)] for both in found.values()),
            with_ties=sum(with_ties for with_ties, _ in found.values()),
            by_label=sum(by_label for _, by_label in found.values()),
            by_steps=_by_steps(
                {question: both[int(strict_official)] for question, both in found.items()},
                steps or {},
            ),
        )
        for (scenario, name), found in answered.items()
    )


def _by_steps(
    counted: Mapping[str, bool], steps: Mapping[str, int | None]
) -> tuple[StepCount, ...]:
    groups: dict[int | None, list[bool]] = {}
    for question, is_right in counted.items():
        if question in steps:
            groups.setdefault(steps[question], []).append(is_right)
    return tuple(
        StepCount(steps=away, questions=len(groups[away]), right=sum(groups[away]))
        for away in sorted(groups, key=lambda away: (away is None, away))
    )


def count_chance(
    choices: Iterable[ShortcutChoices], right: Right, *, strict_official: bool = False
) -> tuple[Chance, ...]:
    """Return what chance gets right in each scenario; the parameters are `count_shortcuts`'."""
    shares: dict[str, list[float]] = {}
    for line in choices:
        if line.question in right and line.candidates is not None:
            answers = right[line.question].counting(strict_official=strict_official)
            share = min(1.0, len(answers) / line.candidates)
            shares.setdefault(line.scenario, []).append(share)
    return tuple(
        Chance(scenario=scenario, questions=len(found), share=fsum(found) / len(found))
        for scenario, found in shares.items()
    )


def best_shortcuts(shortcuts: Iterable[Shortcut]) -> dict[str, Shortcut]:
    """Return the shortcut that is right most often, by scenario; of equals the first."""
    best: dict[str, Shortcut] = {}
    for found in shortcuts:
        before = best.get(found.scenario)
        if before is None or found.share > before.share:
            best[found.scenario] = found
    return best


def measure_shortcuts(
    question_set: QuestionSet, rule_set: str | None = None, strict_official: bool = False
) -> tuple[Shortcut, ...]:
    """Measure how often each heuristic of a set's scenarios is right, and at which difficulty.

    Parameters
    ----------
    question_set
        What is asked.
    rule_set
        What simulators count by; None for what the set says, or else the first of each.
    strict_official
        Whether only the official answer is right, and no tie.

    Returns
    -------
    tuple of Shortcut
        By scenario, in the order in which its ``scenario.toml`` declares them.

    Raises
    ------
    UnknownNameError
        A scenario's simulator has no such rule set.
    DataError
        A heuristic's statement cannot run.
    """
    judge = Judge(question_set, rule_set, strict_official)
    right: dict[str, RightAnswers] = {}
    for question in question_set.questions:
        known = judge.unchosen(question)
        right[question.key] = RightAnswers.of(known.official, known.ties)
    return count_shortcuts(
        choose_by_shortcuts(question_set),
        right,
        _steps(question_set, right),
        strict_official=strict_official,
    )


def _steps(question_set: QuestionSet, right: Right) -> dict[str, int | None]:
    """Return the steps from each question's answer to what it is about, where a generator counts.

    The answer is the official one, or else the first that is right.
    """
    found: dict[str, int | None] = {}
    generated = set(plugins.names("generator"))
    for question, truth in question_set.labelled:
        if question.scenario not in generated:
            continue
        generator: object = plugins.generator(question.scenario)
        candidates = question.candidates or ()
        known = (truth.official, *right[question.key].with_ties)
        answers = [answer for answer in known if answer in candidates]
        if isinstance(generator, CountsSteps) and answers:
            away = generator.steps(question_set.situation_of(question), question)
            distance = float(away[candidates.index(answers[0])])
            found[question.key] = int(distance) if isfinite(distance) else None
    return found
