"""The figures of a report, counted from results."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.core.question import Question
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import NO_MODEL, Outcome, Result
from dqa.evaluation.shortcuts import Chance, Shortcut, best_shortcuts
from dqa.evaluation.statistics import EpochStatistics, Summary
from dqa.evaluation.statistics.same_questions import match_questions, renamed
from dqa.models.registry import is_scripted
from dqa.report.run_report.records import (
    Accuracy,
    Contestant,
    DecisionRow,
    Epochs,
    QuestionRow,
    Reference,
    Report,
    RunFacts,
)
from dqa.report.run_report.shares import shares_of
from dqa.report.run_report.standings import (
    best_of,
    compare_every_two,
    headline_of,
    total_of,
    with_front,
)

if TYPE_CHECKING:
    from dqa.models.budget import Prices

_TIES = 8
"""The most best decisions that a row of the list names."""


@dataclass(frozen=True)
class ReportedRun:
    """A run as a report takes it.

    Attributes
    ----------
    name, facts, notes
        As in `RunFacts`.
    content
        Identifies its questions if they have no contents of their own, as in older versions.
    measure
        What counts as right in it: runs by other measures are not compared.
    epochs
        The statistics of repeated questions.
    intervals
        The clusters that its intervals allow for, in words.
    questions
        The questions by key, where they can be read.
    classes
        By decision the class of its failure; None where the run was not analysed.
    """

    name: str
    results: Sequence[Result]
    summaries: Sequence[Summary]
    shortcuts: Sequence[Shortcut] = ()
    chance: Sequence[Chance] = ()
    prices: Prices | None = None
    planned: int | None = None
    complete: bool | None = None
    content: str = ""
    measure: str = ""
    epochs: Sequence[EpochStatistics] = ()
    intervals: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    questions: Mapping[str, Question] = field(default_factory=dict)
    classes: Mapping[DecisionKey, str | None] | None = None


def make_report(
    title: str,
    runs: Sequence[ReportedRun],
    *,
    pictures: str | None = None,
    traces: str | None = None,
) -> Report:
    """Return the figures of runs; a question that several asked is listed once.

    Parameters
    ----------
    title
        The title of the report.
    runs
        The runs.
    pictures, traces
        Why they are not shown, as in `Report`.
    """
    contestants = _contestants(runs)
    number = {(c.run, c.decider): place for place, c in enumerate(contestants)}
    decided: dict[int, list[Result]] = {place: [] for place in range(len(contestants))}
    compared: dict[int, list[Result]] = {place: [] for place in range(len(contestants))}
    for place, (run, names) in enumerate(zip(runs, _names(runs), strict=True)):
        for result in run.results:
            decided[number[place, result.decider]].append(result)
            compared[number[place, result.decider]].append(renamed(result, names))
    results = [result for run in runs for result in run.results]
    totals = with_front(
        [total_of(n, found, runs[contestants[n].run].prices) for n, found in decided.items()]
    )
    pairs = compare_every_two(contestants, compared, [run.measure for run in runs])
    report = Report(
        title=title,
        headline=headline_of(contestants, totals, pairs),
        runs=tuple(map(_facts, runs)),
        contestants=tuple(contestants),
        databases=tuple(dict.fromkeys(result.database for result in results)),
        scenarios=tuple(dict.fromkeys(result.scenario for result in results)),
        accuracies=tuple(_accuracies(runs, number)),
        references=tuple(_references(runs)),
        totals=totals,
        intervals=_intervals(runs),
        pairs=pairs,
        best=best_of(pairs, totals),
        epochs=tuple(
            Epochs(contestant=number[place, found.decider], figures=found)
            for place, run in enumerate(runs)
            for found in run.epochs
        ),
        shares=tuple(
            share
            for place, found in decided.items()
            for share in shares_of(place, found, runs[contestants[place].run].classes)
        ),
        questions=tuple(_questions(runs, number)),
        pictures=pictures,
        traces=traces,
    )
    digest = hashlib.sha256(report.model_dump_json().encode(errors="replace")).hexdigest()
    return report.model_copy(update={"stamp": digest[:16]})


def group_by_question(runs: Sequence[ReportedRun]) -> list[list[tuple[int, Result]]]:
    """Return the results of each question, in all runs, with the places of their runs."""
    grouped: dict[str, list[tuple[int, Result]]] = {}
    for place, (run, names) in enumerate(zip(runs, _names(runs), strict=True)):
        for result in run.results:
            name = names.get(result.question, result.question)
            grouped.setdefault(name, []).append((place, result))
    return list(grouped.values())


def _names(runs: Sequence[ReportedRun]) -> list[dict[str, str]]:
    """Return what each run's questions are called in all runs."""
    unknown = [run.content or f"run {place}" for place, run in enumerate(runs)]
    return match_questions([run.results for run in runs], [run.name for run in runs], unknown)[0]


def _contestants(runs: Sequence[ReportedRun]) -> list[Contestant]:
    found = [
        (place, result.decider, result.model)
        for place, run in enumerate(runs)
        for result in {result.decider: result for result in run.results}.values()
    ]
    names = Counter(decider for _, decider, _ in found)
    return [
        Contestant(
            name=decider if names[decider] == 1 else f"{decider} ({runs[place].name})",
            run=place,
            decider=decider,
            model=model,
            scripted=model != NO_MODEL and is_scripted(model),
        )
        for place, decider, model in found
    ]


def _intervals(runs: Sequence[ReportedRun]) -> tuple[str, ...]:
    if len({run.intervals for run in runs}) == 1:
        return runs[0].intervals
    return tuple(f"{run.name}: {line}" for run in runs for line in run.intervals)


def _facts(run: ReportedRun) -> RunFacts:
    outcomes = [result.outcome for result in run.results]
    return RunFacts(
        name=run.name,
        planned=run.planned,
        made=len(outcomes),
        judged=sum(outcome.judged for outcome in outcomes),
        correct=outcomes.count(Outcome.CORRECT),
        failed=sum(outcome.repeated for outcome in outcomes),
        unlabelled=outcomes.count(Outcome.UNLABELLED),
        complete=run.complete,
        facts=run.facts,
        notes=run.notes,
    )


_OF_SUMMARY = (
    *("scenario", "database", "kind", "judged", "correct", "accuracy", "situations"),
    *("mean_relative_regret", "mean_tokens", "mean_steps"),
)


def _accuracies(
    runs: Sequence[ReportedRun], number: Mapping[tuple[int, str], int]
) -> Iterator[Accuracy]:
    for place, run in enumerate(runs):
        for summary in run.summaries:
            low, high = summary.interval or (None, None)
            yield Accuracy(
                contestant=number[place, summary.decider],
                decisions=summary.questions,
                low=low,
                high=high,
                wilson_low=summary.low,
                wilson_high=summary.high,
                **{name: getattr(summary, name) for name in _OF_SUMMARY},
            )


def _references(runs: Sequence[ReportedRun]) -> Iterator[Reference]:
    for place, run in enumerate(runs):
        best = best_shortcuts(run.shortcuts)
        chance = {one.scenario: one.share for one in run.chance}
        for scenario in dict.fromkeys((*best, *chance)):
            shortcut = best.get(scenario)
            yield Reference(
                run=place,
                scenario=scenario,
                shortcut=None if shortcut is None else shortcut.name,
                shortcut_share=None if shortcut is None else shortcut.share,
                chance=chance.get(scenario),
            )


def _questions(
    runs: Sequence[ReportedRun], number: Mapping[tuple[int, str], int]
) -> Iterator[QuestionRow]:
    times: Counter[str] = Counter()
    for decided in group_by_question(runs):
        first = decided[0][1]
        scenario = plugins.find_scenario(first.scenario)
        asked = (runs[place].questions.get(result.question) for place, result in decided)
        question = next(filter(None, asked), None)
        judged = [result for _, result in decided if result.outcome.judged]
        times[first.question] += 1
        again = times[first.question]
        yield QuestionRow(
            id=first.question if again == 1 else f"{first.question} ({again})",
            key=first.question,
            scenario=first.scenario,
            text=None if question is None else question.text,
            tags=first.tags,
            official=first.official,
            ties=first.ties[:_TIES],
            tied=len(first.ties),
            best_value=first.best_value,
            baseline=first.baseline,
            goal=first.goal,
            unit="value" if scenario is None else scenario.unit,
            judged=len(judged),
            correct=sum(result.outcome is Outcome.CORRECT for result in judged),
            mean_relative_regret=_mean(result.relative_regret for result in judged),
            decisions=tuple(_decision(number[place, r.decider], r) for place, r in decided),
        )


_OF_RESULT = (
    *("database", "epoch", "outcome", "choice", "value", "regret", "relative_regret", "rank"),
    *("steps", "statements", "plans", "error", "ended_by"),
)


def _decision(contestant: int, result: Result) -> DecisionRow:
    known = {name: getattr(result, name) for name in _OF_RESULT}
    tokens = result.input_tokens + result.output_tokens
    return DecisionRow(contestant=contestant, tokens=tokens, **known)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None and isfinite(value)]
    return fsum(known) / len(known) if known else None
