"""All measures of a run's folder, put together as data that tables and JSON are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from pydantic import ConfigDict, Field, SkipValidation

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.evaluation.analysis.cases import Case, Cases, Share
from dqa.evaluation.analysis.critical_values import (
    Found,
    critical,
    found_values,
)
from dqa.evaluation.analysis.failures import FailureClass, failure_of
from dqa.evaluation.analysis.relevance import Relevance, Relevances
from dqa.evaluation.analysis.replanning import GROUPS, Replanning, ReplanningKind, replannings
from dqa.evaluation.analysis.retrievals import QuestionType, Retrievals, question_types
from dqa.evaluation.analysis.statements import asked_in
from dqa.evaluation.results import Outcome
from dqa.models.registry import is_scripted


class _Place(TypedDict):
    scenario: str
    decider: str


MOST_REPLANNINGS = 4
"""The last row of Table 7 holds this number of re-plannings and more."""


class Measured(Record):
    """One judged run and all that is measured of it.

    Attributes
    ----------
    case
        The run itself; what is written holds its names and its outcome alone.
    retrievals, failed
        Statements that ran, and those that did not.
    simulations
        Answers of the simulator.
    critical_values
        By critical value, how the run came by it.
    failure, reason
        Why it failed, where it did.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    case: SkipValidation[Case] = Field(exclude=True, repr=False)
    question: str
    scenario: str
    database: str
    decider: str
    model: str
    outcome: Outcome
    retrievals: int = Field(ge=0)
    failed: int = Field(ge=0)
    simulations: int = Field(ge=0)
    replannings: tuple[Replanning, ...]
    critical_values: dict[str, Found]
    failure: FailureClass | None
    reason: str | None

    @property
    def missed(self) -> bool:
        """Whether any critical value was missed."""
        return Found.MISSED in self.critical_values.values()


class TypeRow(Record):
    """Accuracy of a decider on the questions of one type (Figure 5)."""

    decider: str
    type: QuestionType
    correct: Share


class ReplanningRow(Record):
    """Accuracy by number of re-plannings (Table 7): 0, 1, 2, 3, and 4 or more."""

    scenario: str
    decider: str
    correct: tuple[Share, ...] = Field(min_length=5, max_length=5)
    total: Share = Field(description="all questions")


class KindRow(Record):
    """How often one kind of re-planning happened (Table 12).

    Attributes
    ----------
    times
        Re-plannings of this kind.
    per_question
        Re-plannings of this kind by re-planned question: Table 12's caption, taken literally.
    questions
        Questions with at least one, of those that were re-planned at all.
    """

    scenario: str
    decider: str
    group: str
    kind: ReplanningKind
    times: int = Field(ge=1)
    per_question: float = Field(gt=0)
    questions: Share


class MissedRow(Record):
    """Rate of missed data analysis (Table 6).

    Attributes
    ----------
    values
        Runs by critical value and how they came by it.
    missed
        Runs that missed at least one value.
    """

    scenario: str
    decider: str
    values: dict[str, dict[Found, int]]
    missed: Share


class FailureRow(Record):
    """Failures by class (Figure 6), each as a share of all judged questions."""

    scenario: str
    decider: str
    can: Share = Field(serialization_alias="CAN")
    mis: Share = Field(serialization_alias="MIS")
    deep: Share = Field(serialization_alias="DEEP")
    qur: Share = Field(serialization_alias="QUR")
    oth: Share = Field(serialization_alias="OTH")
    failed: Share


class ModelName(Record):
    """Something that answered, and whether a program did."""

    name: str
    scripted: bool


class Analysis(Record):
    """What is measured of a run's folder.

    Attributes
    ----------
    models
        Everything that answered, by name.
    unjudged, without_trace, without_result
        As in `Cases`.
    without_data
        Judged runs with critical values whose questions are not at hand: what a question turns on
        is not known of these, so any node or goods counts.
    lacking
        Why the questions are not at hand, where somebody looked for them in vain.
    untold
        Judged runs, by decider, whose traces do not tell how they decided.
    reference
        The decider whose retrievals tell SR questions from MR ones; None where there is none.
    question_types
        Questions and databases by type; empty without a reference.
    runs
        Every judged run with a trace, in the order of the results.
    """

    models: tuple[ModelName, ...]
    unjudged: int = Field(ge=0)
    without_trace: int = Field(ge=0)
    without_result: int = Field(ge=0)
    without_data: int = Field(ge=0, default=0)
    lacking: str | None = None
    untold: dict[str, int]
    reference: str | None
    question_types: dict[QuestionType, int]
    accuracy: tuple[TypeRow, ...]
    replannings: tuple[ReplanningRow, ...]
    kinds: tuple[KindRow, ...]
    missed: tuple[MissedRow, ...]
    failures: tuple[FailureRow, ...]
    runs: tuple[Measured, ...]


def analyse(
    cases: Cases,
    reference: str | None = None,
    questions: QuestionSet | None = None,
    lacking: str | None = None,
) -> Analysis:
    """Measure a folder's runs.

    Databases are counted together, as the paper does; unjudged runs are counted nowhere. Runs that
    do not tell how they decided, such as a baseline's, count in the accuracies only. A scenario
    whose folder names no critical values has no table of them, and no failure of class MIS.

    Parameters
    ----------
    cases
        What `read_cases` returns.
    reference
        The decider whose retrievals tell SR questions from MR ones; None for no such table.
    questions
        What was asked, with the data. Without it nobody knows which of them matter, and all count.
    lacking
        Why the questions are not at hand, where the caller knows.

    Raises
    ------
    UnknownNameError
        The reference decided nothing here.
    UsageError
        The reference's traces tell of no statement, as a baseline's do.
    """
    if reference is not None and reference not in _deciders(cases.judged):
        raise UnknownNameError("judged decider of this run", reference, _deciders(cases.judged))
    turning = Relevances(questions)
    runs = tuple(_measured(case, turning.of(case.result.question)) for case in cases.judged)
    types = question_types(cases.judged, reference) if reference else {}
    if reference and not types:
        raise UsageError(
            f"The traces of '{reference}' do not tell how often it retrieved: name a decider that "
            "asks the database in statements of its own."
        )
    told = [run for run in runs if run.case.told]
    kinds = Counter(types.values())
    models = dict.fromkeys(case.result.model for case in cases.judged)
    return Analysis(
        models=tuple(ModelName(name=name, scripted=is_scripted(name)) for name in models),
        unjudged=cases.unjudged,
        without_trace=cases.without_trace,
        without_result=cases.without_result,
        without_data=sum(
            bool(run.critical_values) and turning.of(run.question).data is None for run in runs
        ),
        lacking=lacking,
        untold=dict(Counter(case.result.decider for case in cases.judged if not case.told)),
        reference=reference,
        question_types={kind: kinds[kind] for kind in QuestionType} if reference else {},
        accuracy=_accuracy(cases.judged, types) if reference else (),
        replannings=tuple(map(_replanning_row, _planning(told))),
        kinds=tuple(row for group in _planning(told) for row in _kind_rows(group)),
        missed=tuple(_missed_row(group) for group in _grouped(told) if group[0].critical_values),
        failures=tuple(map(_failure_row, _grouped(told))),
        runs=runs,
    )


def _measured(case: Case, relevance: Relevance) -> Measured:
    known = plugins.find_scenario(case.result.scenario)
    values = critical(case.result.scenario) if case.told else ()
    asked = asked_in(case.trace, known.schema if known is not None and values else None)
    found = found_values(asked, values, relevance)
    retrievals, result = Retrievals.of(case.trace), case.result
    failure = failure_of(case, found, asked, relevance)
    return Measured(
        case=case,
        question=result.question,
        scenario=result.scenario,
        database=result.database,
        decider=result.decider,
        model=result.model,
        outcome=result.outcome,
        retrievals=retrievals.returned,
        failed=retrievals.failed,
        simulations=retrievals.simulations,
        replannings=replannings(case.trace),
        critical_values=dict(found),
        failure=None if failure is None else failure.kind,
        reason=None if failure is None else failure.reason,
    )


def _accuracy(
    cases: Sequence[Case], types: Mapping[tuple[str, str], QuestionType]
) -> tuple[TypeRow, ...]:
    rows = []
    for decider in _deciders(cases):
        for kind in QuestionType:
            asked = [c for c in cases if c.result.decider == decider]
            asked = [c for c in asked if types.get(c.key[:2]) is kind]
            correct = Share.among((c.result.question, c.correct) for c in asked)
            rows.append(TypeRow(decider=decider, type=kind, correct=correct))
    return tuple(rows)


def _replanning_row(group: Sequence[Measured]) -> ReplanningRow:
    counts = []
    for number in range(MOST_REPLANNINGS + 1):
        runs = [r for r in group if min(len(r.replannings), MOST_REPLANNINGS) == number]
        counts.append(_correct(runs))
    return ReplanningRow(**_place(group), correct=tuple(counts), total=_correct(group))


def _correct(runs: Iterable[Measured]) -> Share:
    return Share.among((run.question, run.case.correct) for run in runs)


def _kind_rows(group: Sequence[Measured]) -> Iterable[KindRow]:
    """Yield the kinds that happened, group by group in the paper's order."""
    replanned = [run for run in group if run.replannings]
    for title in GROUPS:
        for kind in ReplanningKind:
            wanted = Replanning(title, kind)
            times = sum(run.replannings.count(wanted) for run in group)
            if times:
                yield KindRow(
                    **_place(group),
                    group=title,
                    kind=kind,
                    times=times,
                    per_question=times / len(replanned),
                    questions=Share.among(
                        (run.question, wanted in run.replannings) for run in replanned
                    ),
                )


def _missed_row(group: Sequence[Measured]) -> MissedRow:
    values = {
        name: {how: sum(run.critical_values[name] is how for run in group) for how in Found}
        for name in group[0].critical_values
    }
    missed = Share.among((run.question, run.missed) for run in group)
    return MissedRow(**_place(group), values=values, missed=missed)


def _failure_row(group: Sequence[Measured]) -> FailureRow:
    def share(kind: FailureClass) -> Share:
        return Share.among((run.question, run.failure is kind) for run in group)

    return FailureRow(
        **_place(group),
        can=share(FailureClass.CAN),
        mis=share(FailureClass.MIS),
        deep=share(FailureClass.DEEP),
        qur=share(FailureClass.QUR),
        oth=share(FailureClass.OTH),
        failed=Share.among((run.question, run.failure is not None) for run in group),
    )


def _grouped(runs: Iterable[Measured]) -> list[list[Measured]]:
    """Return the runs by scenario and decider, in the order they first appear."""
    groups: dict[tuple[str, str], list[Measured]] = {}
    for run in runs:
        groups.setdefault(run.case.group, []).append(run)
    return list(groups.values())


def _planning(runs: Iterable[Measured]) -> list[list[Measured]]:
    """Return the groups of deciders that plan."""
    return [group for group in _grouped(runs) if any(run.case.trace.plans for run in group)]


def _deciders(cases: Iterable[Case]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(case.result.decider for case in cases))


def _place(group: Sequence[Measured]) -> _Place:
    return {"scenario": group[0].scenario, "decider": group[0].decider}
