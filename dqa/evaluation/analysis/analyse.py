"""All measures of a run's folder, put together as data that tables and JSON are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dqa.core.errors import UnknownNameError, UsageError
from dqa.evaluation.analysis.cases import Case, Cases, Share
from dqa.evaluation.analysis.critical_values import (
    Found,
    critical,
    found_values,
)
from dqa.evaluation.analysis.failures import Failure, FailureClass, failure_of
from dqa.evaluation.analysis.replanning import GROUPS, Kind, Replanning, replannings
from dqa.evaluation.analysis.retrievals import QuestionType, Retrievals, question_types

__all__ = [
    "MOST_REPLANNINGS",
    "Analysis",
    "FailureRow",
    "KindRow",
    "Measured",
    "MissedRow",
    "ReplanningRow",
    "TypeRow",
    "analyse",
]

MOST_REPLANNINGS = 4
"""The last row of Table 7 holds this number of re-plannings and more."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One judged run and all that is measured of it."""

    case: Case
    retrievals: Retrievals
    replannings: tuple[Replanning, ...]
    found: Mapping[str, Found]
    failure: Failure | None

    @property
    def missed(self) -> bool:
        """Whether any critical value was missed."""
        return Found.MISSED in self.found.values()

    def to_json(self) -> dict[str, Any]:
        """Return the run as ``--json`` prints it."""
        result, asked = self.case.result, self.retrievals
        return {
            "question": result.question,
            "scenario": result.scenario,
            "database": result.database,
            "decider": result.decider,
            "model": result.model,
            "outcome": result.outcome.value,
            "retrievals": asked.returned,
            "failed": asked.failed,
            "simulations": asked.simulations,
            "replannings": [{"group": r.group, "kind": r.kind.value} for r in self.replannings],
            "critical_values": {name: how.value for name, how in self.found.items()},
            "failure": self.failure and self.failure.kind.value,
            "reason": self.failure and self.failure.reason,
        }


@dataclass(frozen=True, slots=True)
class TypeRow:
    """Accuracy of a decider on the questions of one type (Figure 5)."""

    decider: str
    type: QuestionType
    correct: Share


@dataclass(frozen=True, slots=True)
class ReplanningRow:
    """Accuracy by number of re-plannings (Table 7): 0, 1, 2, 3, and 4 or more."""

    scenario: str
    decider: str
    counts: tuple[Share, ...]

    @property
    def total(self) -> Share:
        """All questions."""
        return Share(sum(s.count for s in self.counts), sum(s.of for s in self.counts))


@dataclass(frozen=True, slots=True)
class KindRow:
    """How often one kind of re-planning happened (Table 12).

    Attributes
    ----------
    times
        Re-plannings of this kind.
    questions
        Questions with at least one, of those that were re-planned at all.
    """

    scenario: str
    decider: str
    group: str
    kind: Kind
    times: int
    questions: Share

    @property
    def per_question(self) -> float:
        """Re-plannings of this kind by re-planned question: Table 12's caption, taken literally."""
        return self.times / self.questions.of


@dataclass(frozen=True, slots=True)
class MissedRow:
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
    values: Mapping[str, Mapping[Found, int]]
    missed: Share


@dataclass(frozen=True, slots=True)
class FailureRow:
    """Failures by class (Figure 6), each as a share of all judged questions."""

    scenario: str
    decider: str
    classes: Mapping[FailureClass, Share]
    failed: Share


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is measured of a run's folder.

    Attributes
    ----------
    reference
        The decider whose retrievals tell SR questions from MR ones; None where there is none.
    types
        Questions and databases by type; empty without a reference.
    models
        Everything that answered, by name.
    runs
        Every judged run with a trace, in the order of the results.
    unjudged, without_trace, without_result
        As in `Cases`.
    untold
        Judged runs, by decider, whose traces do not tell how they decided.
    """

    reference: str | None
    types: Mapping[QuestionType, int]
    models: tuple[str, ...]
    runs: tuple[Measured, ...]
    accuracy: tuple[TypeRow, ...]
    replannings: tuple[ReplanningRow, ...]
    kinds: tuple[KindRow, ...]
    missed: tuple[MissedRow, ...]
    failures: tuple[FailureRow, ...]
    unjudged: int
    without_trace: int
    without_result: int
    untold: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """Return everything as ``dqa analyse --json`` prints it."""
        from dqa.models.registry import is_scripted

        return {
            "models": [{"name": name, "scripted": is_scripted(name)} for name in self.models],
            "unjudged": self.unjudged,
            "without_trace": self.without_trace,
            "without_result": self.without_result,
            "untold": dict(self.untold),
            "reference": self.reference,
            "question_types": {kind.value: count for kind, count in self.types.items()},
            "accuracy": [
                {"decider": row.decider, "type": row.type.value, "correct": row.correct.to_json()}
                for row in self.accuracy
            ],
            "replannings": [
                _place(row) | {"correct": [share.to_json() for share in row.counts]}
                for row in self.replannings
            ],
            "kinds": [
                _place(row)
                | {"group": row.group, "kind": row.kind.value, "times": row.times}
                | {"per_question": row.per_question, "questions": row.questions.to_json()}
                for row in self.kinds
            ],
            "missed": [
                _place(row) | {"values": row.values, "missed": row.missed.to_json()}
                for row in self.missed
            ],
            "failures": [
                _place(row)
                | {kind.value: share.to_json() for kind, share in row.classes.items()}
                | {"failed": row.failed.to_json()}
                for row in self.failures
            ],
            "runs": [run.to_json() for run in self.runs],
        }


def analyse(cases: Cases, reference: str | None = None) -> Analysis:
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

    Raises
    ------
    UnknownNameError
        The reference decided nothing here.
    UsageError
        The reference's traces tell of no statement, as a baseline's do.
    """
    if reference is not None and reference not in _deciders(cases.judged):
        raise UnknownNameError("judged decider of this run", reference, _deciders(cases.judged))
    runs = tuple(_measured(case) for case in cases.judged)
    types = question_types(cases.judged, reference) if reference else {}
    if reference and not types:
        raise UsageError(
            f"The traces of '{reference}' do not tell how often it retrieved: name a decider that "
            "asks the database in statements of its own, such as iterrag."
        )
    told = [run for run in runs if run.case.told]
    kinds = Counter(types.values())
    return Analysis(
        reference=reference,
        types={kind: kinds[kind] for kind in QuestionType} if reference else {},
        models=tuple(dict.fromkeys(case.result.model for case in cases.judged)),
        runs=runs,
        accuracy=_accuracy(cases.judged, types) if reference else (),
        replannings=tuple(map(_replanning_row, _planning(told))),
        kinds=tuple(row for group in _planning(told) for row in _kind_rows(group)),
        missed=tuple(_missed_row(group) for group in _grouped(told) if group[0].found),
        failures=tuple(map(_failure_row, _grouped(told))),
        unjudged=cases.unjudged,
        without_trace=cases.without_trace,
        without_result=cases.without_result,
        untold=dict(Counter(case.result.decider for case in cases.judged if not case.told)),
    )


def _measured(case: Case) -> Measured:
    scenario = case.result.scenario
    values = critical(scenario) if case.told else ()
    found = found_values(case.trace, scenario, values)
    return Measured(
        case=case,
        retrievals=Retrievals.of(case.trace),
        replannings=replannings(case.trace),
        found=found,
        failure=failure_of(case, found),
    )


def _accuracy(
    cases: Sequence[Case], types: Mapping[tuple[str, str], QuestionType]
) -> tuple[TypeRow, ...]:
    rows = []
    for decider in _deciders(cases):
        for kind in QuestionType:
            asked = [c for c in cases if c.result.decider == decider]
            asked = [c for c in asked if types.get(c.key[:2]) is kind]
            rows.append(TypeRow(decider, kind, Share(sum(c.correct for c in asked), len(asked))))
    return tuple(rows)


def _replanning_row(group: Sequence[Measured]) -> ReplanningRow:
    counts = []
    for number in range(MOST_REPLANNINGS + 1):
        runs = [r for r in group if min(len(r.replannings), MOST_REPLANNINGS) == number]
        counts.append(Share(sum(run.case.correct for run in runs), len(runs)))
    return ReplanningRow(*group[0].case.group, tuple(counts))


def _kind_rows(group: Sequence[Measured]) -> Iterable[KindRow]:
    """Yield the kinds that happened, group by group in the paper's order."""
    replanned = sum(bool(run.replannings) for run in group)
    for title in GROUPS:
        for kind in Kind:
            wanted = Replanning(title, kind)
            times = sum(run.replannings.count(wanted) for run in group)
            having = sum(wanted in run.replannings for run in group)
            if times:
                place = group[0].case.group
                yield KindRow(*place, title, kind, times, Share(having, replanned))


def _missed_row(group: Sequence[Measured]) -> MissedRow:
    values = {
        name: {how: sum(run.found[name] is how for run in group) for how in Found}
        for name in group[0].found
    }
    missed = Share(sum(run.missed for run in group), len(group))
    return MissedRow(*group[0].case.group, values, missed)


def _failure_row(group: Sequence[Measured]) -> FailureRow:
    counts = Counter(run.failure.kind for run in group if run.failure is not None)
    return FailureRow(
        *group[0].case.group,
        {kind: Share(counts[kind], len(group)) for kind in FailureClass},
        Share(counts.total(), len(group)),
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


def _place(row: ReplanningRow | KindRow | MissedRow | FailureRow) -> dict[str, Any]:
    return {"scenario": row.scenario, "decider": row.decider}
