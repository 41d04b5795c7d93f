"""Calculation of a report's figures from results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

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
from dqa.evaluation.statistics.pairs import renamed
from dqa.evaluation.statistics.summaries import grouped, mean_of
from dqa.models.registry import is_scripted
from dqa.report.run_report.records import Contestant, DecisionRow, QuestionRow, Report, RunFacts
from dqa.report.table import interval_text
from dqa.report.tables import interval_lines

if TYPE_CHECKING:
    from dqa.api.runs import Run

_TIES = 8
"""Maximum number of best decisions that a row of the list names."""
_LEVEL = 0.05


@dataclass(frozen=True)
class ReportedRun:
    """A run with its name in the report.

    Attributes
    ----------
    asked
        The questions that the run asked; None if they are not available.
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
        """The judge, which knows the outcomes of candidates.

        None if the questions are unavailable.
        """
        rules = None if self.run.spec is None else self.run.spec.rule_set
        return None if self.asked is None else Judge(self.asked, rules)


class Decided(NamedTuple):
    """A decision of a report: the index of its run, and its result."""

    run: int
    result: Result


def by_question(
    runs: Sequence[ReportedRun], names: Sequence[Mapping[str, str]]
) -> list[list[Decided]]:
    """Return the decisions of all runs on each question.

    `names` contains, for each run, the new names of its questions (`match_questions`).
    """
    decided = [Decided(run, one) for run, own in enumerate(runs) for one in own.run.results]
    return [*grouped(decided, lambda one: renamed(one.result, names[one.run]).question).values()]


def make_report(
    title: str,
    runs: Sequence[ReportedRun],
    found: Mapping[tuple[int, str], comparing.Contestant],
    decided: Sequence[Sequence[Decided]],
    **missing: Any,  # noqa: ANN401  (fields of the report)
) -> Report:
    """Return the report on comparable runs. A question of several runs is listed once.

    Parameters
    ----------
    title
        Title of the report.
    runs
        Runs to report on.
    found
        Each contestant, by the index of its run and the name of its decider.
    decided
        The decisions by question.
    **missing
        Reasons why ``outcomes`` or ``traces`` are missing; see `Report`.
    """
    contestants = [
        _figures(runs[run_index], run_index, one) for (run_index, _), one in found.items()
    ]
    pairs = comparing.compare_pairs(combinations(found.values(), 2))
    number = {key: index for index, key in enumerate(found)}
    results = [result for run in runs for result in run.run.results]
    return Report(
        title=title,
        headline=_headline(runs, found, pairs),
        runs=tuple(map(_facts, runs)),
        contestants=tuple(contestants),
        databases=tuple(dict.fromkeys(result.database for result in results)),
        scenarios=tuple(dict.fromkeys(result.scenario for result in results)),
        intervals=tuple(interval_lines([one for run in runs for one in run.run.summaries])),
        pairs=pairs,
        best=_best(contestants, pairs),
        questions=tuple(_question(runs, one, number) for one in decided),
        **missing,
    )


def _figures(reported: ReportedRun, index: int, one: comparing.Contestant) -> Contestant:
    judged = [result for result in one.results if result.outcome.judged]
    figures = comparing.stand(one)
    return Contestant(
        name=one.name,
        run=index,
        scripted=figures.model != NO_MODEL and is_scripted(figures.model),
        figures=figures,
        situations=situations_of(judged),
        steps=mean_of(float(result.steps) for result in judged),
        accuracies=tuple(s for s in reported.run.summaries if s.decider == one.decider),
        epochs=tuple(e for e in reported.run.epochs if e.decider == one.decider),
    )


def _facts(reported: ReportedRun) -> RunFacts:
    run = reported.run
    figures, above = run.figures(), interval_lines(run.summaries)
    return RunFacts(
        name=reported.name,
        counts=run.counts,
        facts=tuple(_settings(run)),
        notes=tuple(line for line in figures.lines() if line not in above),
        shortcuts=tuple(best_shortcuts(figures.shortcuts).values()),
        chance=figures.chance,
    )


def _settings(run: Run) -> Iterator[tuple[str, str]]:
    """Yield the names and values of a run's settings."""
    models = ", ".join(dict.fromkeys(run.models.values()))
    spec, record = run.spec, run.record
    if not isinstance(spec, RunSpec):
        yield "Model", models
        return
    yield "Questions", spec.questions.description
    yield "Deciders", ", ".join(spec.deciders)
    yield "Databases", ", ".join(dict.fromkeys(result.database for result in run.results))
    yield "Model", models
    yield "Protocol", spec.protocol
    yield "Rule set", spec.rule_set or "default"
    yield "Right is", "the official answer" if spec.strict_official else "every best candidate"
    yield "Seed", str(spec.seed)
    if spec.epochs > 1:
        yield "Epochs", str(spec.epochs)
    yield "Maximum replies", str(spec.max_steps)
    yield from (("Setting", f"{name} = {value}") for name, value in sorted(spec.settings.items()))
    if record is None or not record.versions:
        return
    if record.began is not None:
        yield "Began", record.began.isoformat(" ")
    yield "Written by", f"dqa {record.written_by}"
    if record.content_hash:
        yield "Data", record.content_hash[:16]


def _question(
    runs: Sequence[ReportedRun], decided: Sequence[Decided], number: Mapping[tuple[int, str], int]
) -> QuestionRow:
    results = [one.result for one in decided]
    key, scenario = results[0].question, plugins.find_scenario(results[0].scenario)
    questions = (runs[one.run].questions.get(one.result.question) for one in decided)
    question = next(filter(None, questions), None)
    judged = [result for result in results if result.outcome.judged]
    known = next((r for r in results if r.ties or r.official is not None), results[0])
    same = ("scenario", "official", "best_value", "baseline", "goal")
    return QuestionRow(
        key=key,
        text=None if question is None else question.text,
        tags=results[0].tags,
        ties=known.ties[:_TIES],
        tied=len(known.ties),
        **{name: getattr(known, name) for name in same},
        unit="value" if scenario is None else scenario.unit,
        judged=len(judged),
        correct=sum(result.outcome is Outcome.CORRECT for result in judged),
        mean_relative_regret=mean_of(result.relative_regret for result in judged),
        decisions=tuple(_decision(number[one.run, one.result.decider], one) for one in decided),
    )


def _decision(contestant: int, one: Decided) -> DecisionRow:
    known = dict(one.result)
    fields = {name: known[name] for name in DecisionRow.model_fields.keys() & known.keys()}
    return DecisionRow(contestant=contestant, tokens=one.result.usage.tokens, **fields)


def _best(contestants: Sequence[Contestant], pairs: Sequence[PairComparison]) -> str | None:
    """Return the name of the contestant with the highest accuracy among those in `pairs`."""
    names = {name for pair in pairs for name in (pair.first, pair.second)}
    compared = {one.name: one.accuracy or 0.0 for one in contestants if one.name in names}
    return max(compared, key=lambda name: compared[name], default=None)


def _headline(
    runs: Sequence[ReportedRun],
    found: Mapping[tuple[int, str], comparing.Contestant],
    pairs: Sequence[PairComparison],
) -> str:
    """Name the best decider and its lead over the second; "" if nothing was judged.

    The sentence compares deciders only on the questions to which every decider has a judged answer
    on the same database.
    """
    found = {key: one for key, one in found.items() if one.means["accuracy"]}
    if not found:
        return ""
    asked = [one.means["accuracy"].keys() for one in found.values()]
    shared = set(asked[0]).intersection(*asked)
    if not shared:
        common = "no judged question on the same database in common"
        return f"The deciders have {common}, so they are not compared."
    on = ""
    if any(one != shared for one in asked):
        on = f"On the {counted(len(dict(shared)), 'question')} that all deciders answered, "
        same = comparing.limited(found.values(), lambda one: (one.question, one.database) in shared)
        found = dict(zip(found, same, strict=True))
        pairs = comparing.compare_pairs(combinations(same, 2))
    judged = [_figures(runs[run], run, one) for (run, _), one in found.items()]
    best, *others = sorted(judged, key=lambda one: -(one.accuracy or 0.0))
    share = f"{100 * (best.accuracy or 0.0):.1f} %"
    if best.interval is not None:
        share += f", 95 % interval {interval_text(*best.interval)}"
    of = f"{best.figures.correct} of {best.figures.judged:,} judged decisions"
    sentence = f"{on}{best.name} is right in {of} ({share})"
    equal = [other.name for other in others if other.accuracy == best.accuracy]
    if equal:
        sentence += f", as often as {' and '.join(equal)}"
    elif others:
        sentence += f", more often than {counted(len(others), 'other decider')}"
    second = others[len(equal)].name if len(others) > len(equal) else None
    pair = next((one for one in pairs if {one.first, one.second} == {best.name, second}), None)
    if pair is None:
        return f"{sentence}."
    # As in the tables of pairs: without shared situations, only the test by questions counts.
    p, by_situations = pair.holm_by_questions, pair.holm_by_situations
    if by_situations is not None and pair.accuracy.clusters < pair.accuracy.pairs:
        p = by_situations
    verdict = "is statistically significant" if p < _LEVEL else "may be due to chance"
    points = f"{100 * abs(pair.accuracy.value):.1f} points"
    p_text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    return f"{sentence}. The difference to {second} (second) is {points} and {verdict} ({p_text})."
