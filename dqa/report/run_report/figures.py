"""The figures of a report, counted from results."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.core.question import Question
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import NO_MODEL, OF_QUESTIONS, Outcome, Result
from dqa.evaluation.shortcuts import Chance, Shortcut, best_shortcuts
from dqa.evaluation.statistics import EpochStatistics, Summary
from dqa.models.registry import is_scripted
from dqa.report.run_report.headline import headline_of
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
"""The most best decisions that a row of the list names."""

_REGRETS = {
    "none": 0.0,
    "up to 1 %": 0.01,
    "up to 10 %": 0.1,
    "up to 50 %": 0.5,
    "up to 100 %": 1.0,
}
_HARMS, _NO_CHOICE = "more: worse than nothing", "no choice"
_REPLANNED = ("0", "1", "2", "3", "4 and more")
CLASSES = ("CAN", "MIS", "DEEP", "QUR", "OTH")


@dataclass(frozen=True)
class ReportedRun:
    """A run as a report takes it.

    Attributes
    ----------
    name, facts, notes
        As in `RunFacts`.
    content
        Identifies its questions: runs with other content have other questions of the same names.
    measure
        What counts as right in it: runs by other measures are not compared.
    epochs
        The statistics of repeated questions.
    intervals
        What its intervals allow for, in words.
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
    for place, run in enumerate(runs):
        for result in run.results:
            decided[number[place, result.decider]].append(result)
    results = [result for run in runs for result in run.results]
    totals = tuple(
        with_front(
            [total_of(n, found, runs[contestants[n].run].prices) for n, found in decided.items()]
        )
    )
    measures = [(run.content or f"run {place}", run.measure) for place, run in enumerate(runs)]
    pairs = compare_every_two(contestants, decided, measures)
    epochs = [
        Epochs(contestant=number[place, found.decider], figures=found)
        for place, run in enumerate(runs)
        for found in run.epochs
    ]
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
        epochs=tuple(epochs),
        shares=tuple(_shares(runs, contestants, decided)),
        questions=tuple(_questions(runs, number)),
        pictures=pictures,
        traces=traces,
    )
    digest = hashlib.sha256(report.model_dump_json().encode(errors="replace")).hexdigest()
    return report.model_copy(update={"stamp": digest[:16]})


def group_by_question(
    runs: Sequence[ReportedRun],
) -> dict[tuple[str, str], list[tuple[int, Result]]]:
    """Return the results of each question with the places of their runs, by content and key."""
    grouped: dict[tuple[str, str], list[tuple[int, Result]]] = {}
    for place, run in enumerate(runs):
        for result in run.results:
            grouped.setdefault((run.content, result.question), []).append((place, result))
    return grouped


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


def _shares(
    runs: Sequence[ReportedRun],
    contestants: Sequence[Contestant],
    decided: Mapping[int, Sequence[Result]],
) -> Iterator[Share]:
    outcomes = [outcome.value for outcome in OF_QUESTIONS]
    for place, results in decided.items():
        judged = [result for result in results if result.outcome.judged]
        if any(result.plans > 1 for result in judged):
            planned = [result for result in judged if result.plans]
            yield from _parts(place, "replanning", _REPLANNED, planned, _replannings)
        yield from _parts(place, "failures", outcomes, results, lambda r: r.outcome.value)
        valued = [result for result in judged if result.best_value is not None]
        yield from _parts(place, "regret", (*_REGRETS, _HARMS, _NO_CHOICE), valued, _regret)
        classes = runs[contestants[place].run].classes
        if classes is not None:
            known = {key: found or "" for key, found in classes.items()}
            analysed = [result for result in judged if result.key in known]
            yield from _parts(place, "classes", CLASSES, analysed, lambda r, k=known: k[r.key])  # type: ignore[misc]


def _parts(
    place: int,
    chart: Chart,
    parts: Sequence[str],
    results: Sequence[Result],
    part_of: Callable[[Result], str],
) -> Iterator[Share]:
    counts = Counter(map(part_of, results))
    right = Counter(part_of(r) for r in results if r.outcome is Outcome.CORRECT)
    for part in parts:
        if counts[part] or chart == "replanning":
            yield Share(
                contestant=place,
                chart=chart,
                part=part,
                count=counts[part],
                of=len(results),
                correct=right[part],
            )


def _replannings(result: Result) -> str:
    return _REPLANNED[min(result.plans, len(_REPLANNED)) - 1]


def _regret(result: Result) -> str:
    """Return how much of what could be gained a decision gave away, as a part of the chart."""
    if result.choice is None:
        return _NO_CHOICE
    share = 0.0 if result.regret == 0.0 else result.relative_regret
    if share is None:
        return _HARMS
    if share == 0.0 and result.regret != 0.0:
        share = 1e-9  # a loss is never "none"
    return next((name for name, most in _REGRETS.items() if share <= most), _HARMS)


def _questions(
    runs: Sequence[ReportedRun], number: Mapping[tuple[int, str], int]
) -> Iterator[QuestionRow]:
    asked = {
        (run.content, key): question for run in runs for key, question in run.questions.items()
    }
    times: Counter[str] = Counter()
    for key, decided in group_by_question(runs).items():
        first = decided[0][1]
        scenario = plugins.find_scenario(first.scenario)
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
