"""Calculation of a report's figures from results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.text import counted
from dqa.evaluation.results import NO_MODEL, Outcome, Result
from dqa.evaluation.score import Judge
from dqa.evaluation.shortcuts import best_shortcuts
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.statistics import comparing
from dqa.evaluation.statistics.clusters import situations_of
from dqa.evaluation.statistics.comparing import PairComparison
from dqa.evaluation.statistics.pairs import match_questions, renamed
from dqa.evaluation.statistics.summaries import grouped, mean_of
from dqa.models.registry import is_scripted
from dqa.report.run_report.records import (
    Contestant,
    DecisionRow,
    QuestionRow,
    Reference,
    Report,
    RunFacts,
)
from dqa.report.spending import reports_tokens
from dqa.report.table import interval_text, listed
from dqa.report.tables import interval_lines

if TYPE_CHECKING:
    from dqa.api.figures import Evaluation
    from dqa.api.runs import Run
    from dqa.core.decision import Usage

_TIES = 8
"""Maximum number of best decisions that a row of the list names."""


@dataclass(frozen=True)
class ReportedRun:
    """A run with its name in the report.

    Attributes
    ----------
    asked
        Questions of the run; None if they are not available.
    lacking
        Reason why the questions are not available.
    """

    run: Run
    name: str
    asked: QuestionSet | None = None
    lacking: str | None = None

    @cached_property
    def questions(self) -> Mapping[str, Question]:
        """Questions by key; empty if they are not available."""
        return {} if self.asked is None else {one.key: one for one in self.asked.questions}

    @cached_property
    def judge(self) -> Judge | None:
        """Judge of the candidates' outcomes; None if the questions are not available."""
        rules = None if self.run.spec is None else self.run.spec.rule_set
        return None if self.asked is None else Judge(self.asked, rules)

    @cached_property
    def figures(self) -> Evaluation:
        """Summary statistics of the run."""
        return self.run.figures()

    @property
    def measure(self) -> str:
        """Rule of scoring. Only runs with the same rule are compared."""
        spec, ties = self.run.spec, "official" if self.run.strict_official else "ties"
        return "" if spec is None else f"{spec.rule_set or ''} {ties}"

    @property
    def content(self) -> str:
        """Identifier of the questions of runs from older versions, which record no content."""
        return "" if self.run.record is None else self.run.record.content_hash


def make_report(
    title: str,
    runs: Sequence[ReportedRun],
    *,
    outcomes: str | None = None,
    traces: str | None = None,
) -> Report:
    """Return the report on runs. A question that occurs in several runs is listed once.

    Parameters
    ----------
    title
        Title of the report.
    runs
        Runs to report on.
    outcomes, traces
        Reasons why outcomes or traces are missing; see `Report`.
    """
    decided = _decided(runs)
    contestants = tuple(_contestants(runs, decided))
    number = {key: place for place, key in enumerate(decided)}
    pairs = _pairs(contestants, runs, decided)
    results = [result for run in runs for result in run.run.results]
    lines = {run.name: tuple(interval_lines(run.run.summaries)) for run in runs}
    intervals = lines[runs[0].name]
    if len(set(lines.values())) > 1:
        intervals = tuple(f"{name}: {line}" for name, own in lines.items() for line in own)
    return Report(
        title=title,
        headline=headline_of(contestants, pairs),
        runs=tuple(map(_facts, runs)),
        contestants=contestants,
        databases=tuple(dict.fromkeys(result.database for result in results)),
        scenarios=tuple(dict.fromkeys(result.scenario for result in results)),
        intervals=intervals,
        pairs=pairs,
        best=best_of(contestants, pairs),
        questions=tuple(_questions(runs, number)),
        outcomes=outcomes,
        traces=traces,
    )


def group_by_question(runs: Sequence[ReportedRun]) -> list[list[tuple[int, Result]]]:
    """Return for each question its results in all runs, with the indexes of the runs."""
    grouped: dict[str, list[tuple[int, Result]]] = {}
    for place, (run, names) in enumerate(zip(runs, _names(runs), strict=True)):
        for result in run.run.results:
            name = names.get(result.question, result.question)
            grouped.setdefault(name, []).append((place, result))
    return list(grouped.values())


def _names(runs: Sequence[ReportedRun]) -> list[dict[str, str]]:
    """Return for each run the common names of its questions in all runs."""
    unknown = [run.content or f"run {place}" for place, run in enumerate(runs)]
    return match_questions([run.run.results for run in runs], [run.name for run in runs], unknown)[
        0
    ]


def _decided(runs: Sequence[ReportedRun]) -> dict[tuple[int, str], list[Result]]:
    """Return the results of each contestant, by the index of its run and its decider."""
    found = ((place, result) for place, run in enumerate(runs) for result in run.run.results)
    groups = grouped(found, lambda one: (one[0], one[1].decider))
    return {key: [result for _, result in results] for key, results in groups.items()}


def _contestants(
    runs: Sequence[ReportedRun], decided: Mapping[tuple[int, str], Sequence[Result]]
) -> Iterator[Contestant]:
    names = Counter(decider for _, decider in decided)
    for (place, decider), results in decided.items():
        run = runs[place]
        name = decider if names[decider] == 1 else f"{decider} ({run.name})"
        judged = [result for result in results if result.outcome.judged]
        figures = comparing.stand(
            comparing.Contestant(name, tuple(results), cost=_cost(run, judged))
        )
        yield Contestant(
            name=name,
            run=place,
            scripted=figures.model != NO_MODEL and is_scripted(figures.model),
            figures=figures,
            situations=situations_of(judged),
            steps=mean_of(float(result.steps) for result in judged),
            accuracies=tuple(one for one in run.run.summaries if one.decider == decider),
            epochs=tuple(one for one in run.run.epochs if one.decider == decider),
        )


def _cost(run: ReportedRun, judged: Sequence[Result]) -> Callable[[Usage], float] | None:
    """Return the cost function of a run; None without prices or if tokens are unknown."""
    prices = run.run.prices
    is_known = prices is not None and all(reports_tokens(result.usage) for result in judged)
    return prices.cost if prices is not None and is_known else None


def _facts(reported: ReportedRun) -> RunFacts:
    run = reported.run
    above = interval_lines(run.summaries)
    return RunFacts(
        name=reported.name,
        counts=run.counts,
        facts=tuple(_settings(run)),
        notes=tuple(line for line in reported.figures.lines() if line not in above),
        references=tuple(_references(reported)),
    )


def _settings(run: Run) -> list[tuple[str, str]]:
    """Return the names and values of a run's settings."""
    models = ", ".join(dict.fromkeys(run.models.values()))
    spec = run.spec
    if not isinstance(spec, RunSpec):
        return [("Model", models)]
    found = [
        ("Questions", spec.questions.description),
        ("Deciders", ", ".join(spec.deciders)),
        ("Databases", ", ".join(dict.fromkeys(result.database for result in run.results))),
        ("Model", models),
        *(("Label", model.description) for model in spec.models if model.label),
        ("Protocol", spec.protocol),
        ("Rule set", spec.rule_set or "default"),
        ("Right is", "the official answer" if spec.strict_official else "every best candidate"),
        ("Seed", str(spec.seed)),
        *([("Epochs", str(spec.epochs))] if spec.epochs > 1 else []),
        ("Maximum replies", str(spec.max_steps)),
        *(("Setting", f"{name} = {value}") for name, value in sorted(spec.settings.items())),
    ]
    record = run.record
    if record is not None and record.versions:
        if record.began is not None:
            found.append(("Began", record.began.isoformat(" ")))
        found.append(("Written by", f"dqa {record.written_by}"))
        if record.content_hash:
            found.append(("Data", record.content_hash[:16]))
    return found


def _references(run: ReportedRun) -> Iterator[Reference]:
    best = best_shortcuts(run.figures.shortcuts)
    chance = {one.scenario: one.share for one in run.figures.chance}
    for scenario in dict.fromkeys((*best, *chance)):
        shortcut = best.get(scenario)
        yield Reference(
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
        known = next((r for _, r in decided if r.ties or r.official is not None), first)
        times[first.question] += 1
        again = times[first.question]
        yield QuestionRow(
            id=first.question if again == 1 else f"{first.question} ({again})",
            key=first.question,
            scenario=first.scenario,
            text=None if question is None else question.text,
            tags=first.tags,
            official=known.official,
            ties=known.ties[:_TIES],
            tied=len(known.ties),
            best_value=known.best_value,
            baseline=known.baseline,
            goal=known.goal,
            unit="value" if scenario is None else scenario.unit,
            judged=len(judged),
            correct=sum(result.outcome is Outcome.CORRECT for result in judged),
            mean_relative_regret=mean_of(result.relative_regret for result in judged),
            decisions=tuple(_decision(number[place, r.decider], r) for place, r in decided),
        )


def _decision(contestant: int, result: Result) -> DecisionRow:
    same = DecisionRow.model_fields.keys() & Result.model_fields.keys()
    tokens = result.input_tokens + result.output_tokens
    known = {name: getattr(result, name) for name in same}
    return DecisionRow(contestant=contestant, tokens=tokens, **known)


_LEVEL = 0.05


def _pairs(
    contestants: Sequence[Contestant],
    runs: Sequence[ReportedRun],
    decided: Mapping[tuple[int, str], Sequence[Result]],
) -> tuple[PairComparison, ...]:
    """Compare all pairs of contestants on the questions that both answered.

    Contestants are compared only if their runs have the same rule of scoring.
    """
    names = _names(runs)
    measured: dict[str, list[comparing.Contestant]] = {}
    for one, ((place, _), results) in zip(contestants, decided.items(), strict=True):
        same = tuple(renamed(result, names[place]) for result in results)
        found = comparing.Contestant(one.name, same)
        measured.setdefault(runs[place].measure, []).append(found)
    pairs = [pair for alike in measured.values() for pair in comparing.every_two(alike, None)]
    return comparing.compare_pairs(pairs)


def best_of(contestants: Sequence[Contestant], pairs: Sequence[PairComparison]) -> str | None:
    """Return the first contestant with the highest accuracy among those in `pairs`."""
    names = {name for pair in pairs for name in (pair.first, pair.second)}
    compared = [one for one in contestants if one.name in names]
    best = max(compared, key=lambda one: one.accuracy or 0.0, default=None)
    return None if best is None else best.name


def headline_of(contestants: Sequence[Contestant], pairs: Sequence[PairComparison]) -> str:
    """Name the best decider and its lead over the second; "" if nothing was judged."""
    judged = [one for one in contestants if one.accuracy is not None]
    if not judged:
        return ""
    best, *others = sorted(judged, key=lambda one: -(one.accuracy or 0.0))
    equal = [other.name for other in others if other.accuracy == best.accuracy]
    sentence = f"{best.name} is right in {_share(best)}"
    if equal:
        sentence += f". {listed(equal)} {'is' if len(equal) == 1 else 'are'} right equally often"
    elif others:
        sentence += f", more often than {counted(len(others), 'other decider')}"
    worse = [other.name for other in others if other.name not in equal]
    return f"{sentence}.{_next(best.name, worse[0], pairs) if worse else ''}"


def _share(one: Contestant) -> str:
    share = f"{100 * (one.accuracy or 0.0):.1f} %"
    if one.interval is not None:
        share += f", 95 % interval {interval_text(*one.interval)}"
    return f"{one.figures.correct} of {one.figures.judged:,} judged decisions ({share})"


def _next(best: str, second: str, pairs: Sequence[PairComparison]) -> str:
    """Compare the best contestant with the second on the questions that both answered."""
    pair = next((one for one in pairs if {one.first, one.second} == {best, second}), None)
    if pair is None:
        return ""
    by_situations = pair.holm_by_situations
    p = pair.holm_by_questions if by_situations is None else by_situations
    verdict = "is statistically significant" if p < _LEVEL else "may be due to chance"
    points = f"{100 * abs(pair.accuracy.value):.1f} points"
    p_text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    return f" The difference to {second} (second) is {points} and {verdict} ({p_text})."
