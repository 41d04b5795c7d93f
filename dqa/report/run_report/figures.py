"""The figures of a report, counted from results."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import fsum, isfinite
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.core.question import Question
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import NO_MODEL, OF_QUESTIONS, Outcome, Result
from dqa.evaluation.shortcuts import Chance, Shortcut, best_shortcuts
from dqa.evaluation.statistics import (
    EpochStatistics,
    Summary,
)
from dqa.models.registry import is_scripted
from dqa.report.run_report.pairs import best_of, compare_every_two
from dqa.report.run_report.records import (
    Accuracy,
    Chart,
    Contestant,
    DecisionRow,
    Epochs,
    QuestionRow,
    Reference,
    Report,
    RunFacts,
    Share,
)
from dqa.report.run_report.totals import total_of, with_front

if TYPE_CHECKING:
    from dqa.models.budget import Prices

_TIES = 8
"""Best decisions that a row of the list names."""

_REGRETS: tuple[tuple[str, float], ...] = (
    ("none", 0.0),
    ("up to 1 %", 0.01),
    ("up to 10 %", 0.1),
    ("up to 50 %", 0.5),
    ("up to 100 %", 1.0),
)
_HARMS, _NO_CHOICE = "more: worse than nothing", "no choice"
_REPLANNINGS = 4
"""The last part of the chart of re-plannings holds this number of them and more."""

CLASSES = ("CAN", "MIS", "DEEP", "QUR", "OTH")


@dataclass(frozen=True)
class ReportedRun:
    """A run as a report takes it.

    Attributes
    ----------
    name, facts, notes
        As in `RunFacts`.
    content
        What tells its questions from another run's of the same names.
    measure
        What counts as right in it: runs by other measures are not compared.
    epochs
        What asking every question several times tells.
    intervals
        What its intervals allow for, in words.
    questions
        What was asked, by key, where it is at hand.
    classes
        By decision the class of its failure, where runs were analysed; None
        where they were not.
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
    """Return the figures of runs; a question that several asked stands in the list once.

    Parameters
    ----------
    title
        What the report is called.
    runs
        The runs.
    pictures, traces
        Why they are not shown, as in `Report`.
    """
    contestants = _contestants(runs)
    number = {(c.run, c.decider): place for place, c in enumerate(contestants)}
    decided: dict[int, list[Result]] = {place: [] for place in range(len(contestants))}
    for run, of in enumerate(runs):
        for result in of.results:
            decided[number[run, result.decider]].append(result)
    results = [result for run in runs for result in run.results]
    totals = [
        total_of(place, of, runs[contestants[place].run].prices) for place, of in decided.items()
    ]
    measures = [_measure(run, place) for place, run in enumerate(runs)]
    pairs = compare_every_two(contestants, decided, measures)
    report = Report(
        title=title,
        runs=tuple(map(_facts, runs)),
        contestants=tuple(contestants),
        databases=tuple(dict.fromkeys(result.database for result in results)),
        scenarios=tuple(dict.fromkeys(result.scenario for result in results)),
        accuracies=tuple(_accuracies(runs, number)),
        references=tuple(_references(runs)),
        totals=tuple(with_front(totals)),
        intervals=_intervals(runs),
        pairs=pairs,
        best=best_of(pairs, totals),
        epochs=tuple(
            Epochs(contestant=number[place, found.decider], figures=found)
            for place, run in enumerate(runs)
            for found in run.epochs
        ),
        shares=tuple(_shares(runs, contestants, decided)),
        questions=tuple(_questions(runs, number)),
        pictures=pictures,
        traces=traces,
    )
    digest = hashlib.sha256(report.model_dump_json().encode(errors="replace")).hexdigest()
    return report.model_copy(update={"stamp": digest[:16]})


def _contestants(runs: Sequence[ReportedRun]) -> list[Contestant]:
    found = [
        (place, result.decider, result.model)
        for place, run in enumerate(runs)
        for result in {result.decider: result for result in run.results}.values()
    ]
    names = [decider for _, decider, _ in found]
    return [
        Contestant(
            name=decider if names.count(decider) == 1 else f"{decider} ({runs[place].name})",
            run=place,
            decider=decider,
            model=model,
            scripted=model != NO_MODEL and is_scripted(model),
        )
        for place, decider, model in found
    ]


def _measure(run: ReportedRun, place: int) -> tuple[str, ...]:
    """Return what two runs have to have in common for their questions to be the same ones."""
    return (run.content or f"run {place}", run.measure)


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


def _accuracies(
    runs: Sequence[ReportedRun], number: Mapping[tuple[int, str], int]
) -> Iterator[Accuracy]:
    for place, run in enumerate(runs):
        for summary in run.summaries:
            yield Accuracy(
                contestant=number[place, summary.decider],
                scenario=summary.scenario,
                database=summary.database,
                kind=summary.kind,
                decisions=summary.questions,
                judged=summary.judged,
                correct=summary.correct,
                accuracy=summary.accuracy,
                low=None if summary.interval is None else summary.interval[0],
                high=None if summary.interval is None else summary.interval[1],
                wilson_low=summary.low,
                wilson_high=summary.high,
                situations=summary.situations,
                mean_relative_regret=summary.mean_relative_regret,
                mean_tokens=summary.mean_tokens,
                mean_steps=summary.mean_steps,
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


def _shares(
    runs: Sequence[ReportedRun],
    contestants: Sequence[Contestant],
    decided: Mapping[int, Sequence[Result]],
) -> Iterator[Share]:
    for place, results in decided.items():
        judged = [result for result in results if result.outcome.judged]
        if any(result.plans > 1 for result in judged):
            planned = [result for result in judged if result.plans]
            parts = [*map(str, range(_REPLANNINGS)), f"{_REPLANNINGS} and more"]
            yield from _parts(place, "replanning", parts, planned, _replannings)
        ended = [outcome.value for outcome in OF_QUESTIONS]
        yield from _parts(place, "failures", ended, results, lambda result: result.outcome.value)
        of_regret = [result for result in judged if result.best_value is not None]
        regrets = [*(name for name, _ in _REGRETS), _HARMS, _NO_CHOICE]
        yield from _parts(place, "regret", regrets, of_regret, _regret)
        classes = runs[contestants[place].run].classes
        if classes is not None:
            told = [result for result in judged if result.key in classes]
            yield from _parts(place, "classes", CLASSES, told, partial(_class, classes))


def _parts(
    place: int,
    chart: Chart,
    parts: Sequence[str],
    results: Sequence[Result],
    part_of: Callable[[Result], str],
) -> Iterator[Share]:
    by_part: dict[str, list[Result]] = {part: [] for part in parts}
    for result in results:
        by_part.setdefault(part_of(result), []).append(result)
    for part in parts:
        found = by_part[part]
        if found or chart == "replanning":
            yield Share(
                contestant=place,
                chart=chart,
                part=part,
                count=len(found),
                of=len(results),
                correct=sum(result.outcome is Outcome.CORRECT for result in found),
            )


def _class(classes: Mapping[DecisionKey, str | None], result: Result) -> str:
    return classes[result.key] or ""


def _replannings(result: Result) -> str:
    count = result.plans - 1
    return str(count) if count < _REPLANNINGS else f"{_REPLANNINGS} and more"


def _regret(result: Result) -> str:
    """Return how much of what could be gained a decision gave away, as a part of the chart."""
    if result.choice is None:
        return _NO_CHOICE
    if result.regret == 0.0:
        return _REGRETS[0][0]
    share = result.relative_regret
    return next((name for name, most in _REGRETS if share is not None and share <= most), _HARMS)


def group_by_question(
    runs: Sequence[ReportedRun],
) -> dict[tuple[str, str], list[tuple[int, Result]]]:
    """Return the results of each question, with the places of their runs.

    By what tells the run's questions from others and by the question's key, in the order in which
    they come.
    """
    grouped: dict[tuple[str, str], list[tuple[int, Result]]] = {}
    for place, run in enumerate(runs):
        for result in run.results:
            grouped.setdefault((run.content, result.question), []).append((place, result))
    return grouped


def _questions(
    runs: Sequence[ReportedRun], number: Mapping[tuple[int, str], int]
) -> Iterator[QuestionRow]:
    asked = {
        (run.content, key): question for run in runs for key, question in run.questions.items()
    }
    units: dict[str, str] = {}
    times: Counter[str] = Counter()
    for key, decided in group_by_question(runs).items():
        first = decided[0][1]
        if first.scenario not in units:
            scenario = plugins.find_scenario(first.scenario)
            units[first.scenario] = "value" if scenario is None else scenario.unit
        question = asked.get(key)
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
            unit=units[first.scenario],
            judged=len(judged),
            correct=sum(result.outcome is Outcome.CORRECT for result in judged),
            mean_relative_regret=_mean(result.relative_regret for result in judged),
            decisions=tuple(_decision(number[place, r.decider], r) for place, r in decided),
        )


def _decision(contestant: int, result: Result) -> DecisionRow:
    return DecisionRow(
        contestant=contestant,
        database=result.database,
        epoch=result.epoch,
        outcome=result.outcome,
        choice=result.choice,
        value=result.value,
        regret=result.regret,
        relative_regret=result.relative_regret,
        rank=result.rank,
        steps=result.steps,
        statements=result.statements,
        plans=result.plans,
        tokens=result.input_tokens + result.output_tokens,
        error=result.error,
        ended_by=result.ended_by,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None and isfinite(value)]
    return fsum(known) / len(known) if known else None
