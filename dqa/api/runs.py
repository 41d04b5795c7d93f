"""Define the class of runs, which `evaluate`, `play` and `read_run` return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dqa import plugins
from dqa.core.decision import Usage
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question_set import Defect
from dqa.core.text import counted
from dqa.evaluation.location import RunLocation
from dqa.evaluation.play_spec import PlaySpec
from dqa.evaluation.record import AnySpec, RunRecord
from dqa.evaluation.results import DecisionKey, Outcome, Result, hash_results
from dqa.evaluation.shortcuts import (
    Shortcut,
    ShortcutChoices,
    count_chance,
    count_shortcuts,
    judged_results,
)
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.statistics.games import PlayFigures, count_games
from dqa.evaluation.statistics.summaries import (
    EpochStatistics,
    Summary,
    count_epochs,
    count_tags,
    kind_means,
    summarise,
    total_matches,
)
from dqa.evaluation.traces import Trace
from dqa.models.registry import is_scripted
from dqa.report.counts import RunCounts, count_decisions
from dqa.report.hints import resume_command
from dqa.report.reading import Passage
from dqa.report.spending import Spending, spending
from dqa.report.tables import Evaluation, failures, how_to_report
from dqa.scenarios import scenario_name

if TYPE_CHECKING:
    from dqa.core.budgets import Prices
    from dqa.evaluation.stored_runs import RunReader


_WHY = {
    Outcome.INFRASTRUCTURE: "a server or provider failed",
    Outcome.BUDGET: "the budget was spent",
    Outcome.STOPPED: "a person ended it",
    Outcome.CRASHED: "of a bug",
}


@dataclass(frozen=True)
class Run:
    """The results of decisions that were made and judged.

    Attributes
    ----------
    results
        One result per decision, in the order of the plan.
    spec
        The spec of the run; None if it was not stored.
    location
        Where results and traces are stored; None for a run in memory.
    planned
        The number of planned decisions; None if an older version did not record it.
    crashed
        The traces of the decisions that ended in a bug.
    defects
        The defects in the data of the questions.
    prices
        The prices of tokens; None if they are unknown.
    shortcut_choices
        The choices of the scenarios' heuristics.
    abandoned
        The tokens and calls of attempts that led to no decision.
    made
        The number of decisions that were made by the call that returned this object. None if the
        run was only read.
    """

    results: tuple[Result, ...]
    spec: AnySpec | None = None
    location: RunLocation | None = None
    planned: int | None = None
    crashed: tuple[Trace, ...] = ()
    defects: tuple[Defect, ...] = ()
    prices: Prices | None = None
    shortcut_choices: tuple[ShortcutChoices, ...] = ()
    abandoned: Usage = Usage()  # noqa: RUF009  (frozen)
    made: int | None = None
    _asked: tuple[Trace, ...] = field(default=(), repr=False)

    @property
    def folder(self) -> Path | None:
        """The folder of the run; None for a run in memory or in a store."""
        return None if self.location is None else self.location.folder

    @property
    def content_hash(self) -> str:
        """The hash of all results in the order of the plan, without times.

        Runs with equal decisions have equal hashes, even if their locations differ or a run was
        interrupted.
        """
        return hash_results(self.results)

    @property
    def name(self) -> str | None:
        """The name of the run's folder, or the run's name in a store; None for a run in memory."""
        if self.folder is not None:
            return self.folder.resolve().name
        return None if self.location is None else self.location.name

    @property
    def where(self) -> str:
        """The location of the run, as messages show it."""
        return "The run" if self.location is None else str(self.location)

    def require_results(self, why: str) -> None:
        """Raise `UsageError` with the reason `why` if no decision is finished."""
        if not self.results:
            raise UsageError(f"{self.where} does not contain a finished decision yet: {why}.")

    @cached_property
    def reader(self) -> RunReader:
        """The reader of a stored run. Raises `UsageError` for a run in memory."""
        from dqa.evaluation.stored_runs import RunReader  # importing SQLAlchemy is slow

        if self.location is None:
            raise UsageError(
                "This run and its traces are not stored: evaluate again with a folder or a store "
                "as out (--out)."
            )
        return RunReader(self.location)

    @cached_property
    def record(self) -> RunRecord | None:
        """The record of the settings, the time and the versions; None for a run in memory."""
        return None if self.location is None else self.reader.record

    def each_trace(self, question: str | None = None) -> Iterator[Trace]:
        """Yield the traces of one question or of all questions, in the order of the results.

        Use this method for large runs, because the list of all traces needs much memory.

        Raises
        ------
        UsageError
            The run is not stored.
        """
        if self._asked:
            return iter(self._asked)
        return (one for one in self.reader.traces(question) if one.key in self.by_key)

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        """The traces in the order of the results.

        Raises
        ------
        UsageError
            The run is not stored, or there is no finished decision.
        """
        traces = tuple(self.each_trace())
        if not traces:
            raise UsageError(f"{self.where} has no finished decision yet.")
        return traces

    @cached_property
    def by_key(self) -> Mapping[DecisionKey, Result]:
        """The results by question, database and decider."""
        return {result.key: result for result in self.results}

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """The summary of every decider on each scenario and database, in the order of the spec.

        For a run of games, the result is empty.
        """
        if isinstance(self.spec, PlaySpec):
            return ()
        named = self.spec.questions.scenarios or () if isinstance(self.spec, RunSpec) else ()
        found = summarise(self.results)
        order = {scenario_name(name): index for index, name in enumerate(named)}
        return tuple(sorted(found, key=lambda summary: order.get(summary.scenario, len(order))))

    @property
    def strict_official(self) -> bool:
        """Whether an answer that is as good as the official answer counts as wrong."""
        return isinstance(self.spec, RunSpec) and self.spec.strict_official

    @cached_property
    def games(self) -> PlayFigures | None:
        """The summary statistics of games; None for a run of questions."""
        if not isinstance(self.spec, PlaySpec):
            return None
        return count_games(self.results, mirrored=self.spec.mirror)

    @cached_property
    def shortcuts(self) -> tuple[Shortcut, ...]:
        """The accuracy of each heuristic on the judged questions.

        Heuristics are scored like deciders.
        """
        right = judged_results(self.results)
        return count_shortcuts(self.shortcut_choices, right, strict_official=self.strict_official)

    @cached_property
    def is_repeated(self) -> bool:
        """Whether questions were asked several times (in epochs)."""
        return any(result.epoch > 1 for result in self.results)

    @cached_property
    def epochs(self) -> tuple[EpochStatistics, ...]:
        """The statistics of repeated questions; empty if the run has a single epoch."""
        return count_epochs(self.results)

    @cached_property
    def seconds(self) -> Mapping[DecisionKey, float]:
        """The duration of each decision in seconds, by the key of the decision.

        Raises
        ------
        UsageError
            The run is not stored.
        """
        took = self.reader.seconds()
        return {key: took[key] for key in self.by_key if key in took}

    @property
    def models(self) -> Mapping[str, str]:
        """The models that answered for each decider."""
        return {result.decider: result.model for result in self.results}

    @property
    def spent(self) -> Spending:
        """The tokens and calls of all models, including failed attempts."""
        return spending(self.results, self.prices, self.abandoned)

    @cached_property
    def counts(self) -> RunCounts:
        """The progress of the run."""
        return count_decisions(Counter(result.outcome for result in self.results), self.planned)

    @property
    def stopped_by(self) -> str | None:
        """The message about the budget that stopped the run; None if no budget stopped it."""
        ended = (r.error for r in self.results if r.outcome is Outcome.BUDGET)
        return next(ended, None)

    @property
    def resuming(self) -> str:
        """The command, or the call in Python, that resumes the stored run."""
        own = self.record is not None and bool(self.record.sources)
        return resume_command(self.where, games=self.games is not None, own=own)

    def how_to_resume(self) -> str | None:
        """Return a text on the decisions that were not judged, and on how to resume the run.

        Return None if all decisions were judged.
        """
        failed = Counter(result.outcome for result in self.results if result.outcome.repeated)
        if not failed:
            return None
        games, missing = isinstance(self.spec, PlaySpec), self.counts.missing
        why = ", ".join(f"{count} because {_WHY[outcome]}" for outcome, count in failed.items())
        of = len(self.results) if self.planned is None else self.planned
        ended = "games were not finished" if games else "decisions could not be judged"
        text = f"{failed.total()} of {of} {ended}: {why}."
        if missing:
            text += f" {missing} more were not {'played' if games else 'made'}."
        if self.location is None:
            return (
                f"{text} Nothing was stored: give a folder as out (--out), so that the run can be "
                "resumed."
            )
        more = " with a higher budget" if Outcome.BUDGET in failed else ""
        return f"{text} All other results are stored; '{self.resuming}'{more} resumes the run."

    def report(self) -> str:
        """Return a text with the tables, the lines below the tables, and the failures."""
        figures = self.figures()
        shown = [f"{table.title}\n{table.to_text()}".rstrip("\n") for table in figures.tables()]
        return "\n".join([*shown, *figures.lines(), *self.failures()])

    def failures(self) -> list[str]:
        """Return a line for each server error and each bug, and lines on how to report bugs."""
        lines = failures(self.results)
        if self.crashed:
            where = self.location, self.resuming
            lines.append(how_to_report(self.crashed, *where, repeated=self.is_repeated))
        return lines

    def figures(self) -> Evaluation:
        """Return the summary statistics of the run."""
        spec, right = self.spec, judged_results(self.results)
        same = ("games", "strict_official", "counts", "spent", "shortcuts", "epochs")
        return Evaluation(
            model=None if spec is None else spec.model.name,
            models=dict(self.models),
            scripted=any(is_scripted(model) for model in self.models.values()),
            rule_set=None if spec is None else spec.rule_set,
            out=None if self.location is None else str(self.location),
            results=self.summaries,
            means=kind_means(self.summaries),
            chance=count_chance(self.shortcut_choices, right, strict_official=self.strict_official),
            totals=total_matches(self.results),
            tags=count_tags(self.results),
            **{name: getattr(self, name) for name in same},
        )

    def find(  # noqa: PLR0913  (each narrows the results down by itself)
        self,
        question: str | None = None,
        database: str | None = None,
        decider: str | None = None,
        *,
        scenario: str | None = None,
        epoch: int | None = None,
        outcomes: Collection[Outcome] = (),
        wrong: bool = False,
        failed: bool = False,
    ) -> tuple[Result, ...]:
        """Return the selected results, in the order of the run.

        Parameters
        ----------
        question, database, decider, scenario, epoch
            Select only results with these values; None selects all. Epochs are counted from 1.
        outcomes, wrong, failed
            `outcomes` selects results with one of these outcomes. `wrong` selects wrong results.
            `failed` selects results that could not be judged because a server failed, the budget
            was spent or a bug occurred. If several of these arguments are set, a result has to
            match only one of them.

        Raises
        ------
        UnknownNameError
            No result of the run has one of the given values.
        """
        asked = {"question": question, "database": database, "decider": decider, "epoch": epoch}
        wanted = _narrow(self.results, scenario=scenario, **asked)
        ended = set(outcomes)
        ended |= {o for o in Outcome if wrong and o.judged and o is not Outcome.CORRECT}
        ended |= {o for o in Outcome if failed and o.repeated}
        any_outcome = not (outcomes or wrong or failed)
        return tuple(result for result in wanted if any_outcome or result.outcome in ended)

    def select(
        self,
        question: str | None = None,
        database: str | None = None,
        decider: str | None = None,
        *,
        epoch: int | None = None,
    ) -> tuple[Trace, ...]:
        """Return the traces (at least one) of one question. `find` explains the parameters.

        Raises
        ------
        UnknownNameError
            The run has no matching question, database, decider or epoch.
        UsageError
            The traces belong to several questions, or no decision is finished.
        """
        if self._asked:
            named = {"question": question, "database": database, "decider": decider}
            return tuple(_narrow(self._asked, **named, epoch=epoch))
        self.require_results("it has no traces")
        results = self.find(question, database, decider, epoch=epoch)
        questions = sorted({result.question for result in results})
        if len(questions) > 1:
            raise UsageError(
                f"Give one of the {counted(len(questions), 'question')} of this run, e.g. "
                f"{questions[0]}."
            )
        wanted = {result.key for result in results}
        return tuple(one for one in self.each_trace(*questions) if one.key in wanted)

    def passages(self, trace: Trace) -> list[Passage]:
        """Return the text of one decision, in sections, for a person to read."""
        from dqa.report.reading import read

        scenario = plugins.find_scenario(trace.question.partition("/")[0])
        unit = "value" if scenario is None else scenario.unit
        return read(trace, self.by_key.get(trace.key), unit, repeated=self.is_repeated)


def name_runs(runs: Sequence[Run]) -> list[str]:
    """Return the names of runs in a report or comparison. Equal names get numbers."""
    names = [
        run.name or (str(number) if runs[1:] else "this run") for number, run in enumerate(runs, 1)
    ]
    if len(set(names)) == len(names):
        return names
    return [f"{number}-{name}" for number, name in enumerate(names, 1)]


_Item = TypeVar("_Item")


def _narrow(items: Sequence[_Item], **wanted: str | int | None) -> list[_Item]:
    """Return the items whose fields have the wanted values.

    A wanted value of None matches any value.
    """
    found = list(items)
    for name, value in wanted.items():
        known = {getattr(item, name) for item in found}
        if value is not None and value not in known:
            raise UnknownNameError(name, str(value), map(str, known))
        found = [item for item in found if value in {None, getattr(item, name)}]
    return found
