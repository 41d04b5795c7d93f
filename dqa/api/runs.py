"""Runs: what an evaluation returns, and what is read back of one that was written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dqa import plugins
from dqa.api.figures import Evaluation, RunCounts, count_decisions
from dqa.core.decision import Usage
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question_set import Defect
from dqa.core.text import counted
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.location import RunLocation
from dqa.evaluation.playing.metrics import PlayFigures, count_games
from dqa.evaluation.playing.spec import PlaySpec
from dqa.evaluation.prompts import Prompts
from dqa.evaluation.record import (
    AnySpec,
    RunRecord,
)
from dqa.evaluation.results import Outcome, Result, hash_results
from dqa.evaluation.shortcuts import (
    Chance,
    Shortcut,
    ShortcutChoices,
    count_chance,
    count_shortcuts,
    right_answers,
)
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.statistics import (
    EpochStatistics,
    KindMean,
    Summary,
    TagCount,
    count_epochs,
    count_tags,
    kind_means,
    summarise,
    total_matches,
)
from dqa.evaluation.traces import Trace
from dqa.models.registry import is_scripted
from dqa.report.game_tables import game_lines, game_tables
from dqa.report.hints import resume_command
from dqa.report.passages import Passage
from dqa.report.spending import Spending, spending
from dqa.report.table import Table
from dqa.report.tables import (
    accuracy_tables,
    epoch_lines,
    epoch_tables,
    interval_lines,
    lines_below,
    scoring_lines,
    tag_lines,
)
from dqa.scenarios import scenario_name

if TYPE_CHECKING:
    from dqa.evaluation.stored_runs import RunReader
    from dqa.models.budget import Prices


@dataclass(frozen=True)
class Run:
    """Decisions that were made and judged.

    Attributes
    ----------
    results
        One a decision, in the order of the plan.
    spec
        What was evaluated, or played; None where the folder does not say.
    place
        Where results and traces are: a folder, or a run in a store; None where they are kept
        nowhere.
    planned
        How many decisions there are to make; None where an older version did not say.
    crashed
        The traces of the decisions that ended in a bug.
    defects
        What was wrong in the data that was read.
    prices
        What tokens cost, where the caller said so.
    shortcut_choices
        What the scenarios' heuristics answer to the questions; nothing of an older run.
    abandoned
        What was used on the way to the decisions and led to none of them.
    made
        How many of the decisions the call made that returned this; None of a run that was read.
    """

    results: tuple[Result, ...]
    spec: AnySpec | None = None
    place: RunLocation | None = None
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
        """The folder that the run is kept in; None where there is none, as of a store's run."""
        return None if self.place is None else self.place.folder

    @property
    def content_hash(self) -> str:
        """The hash of all results in the order of the plan; no time is in it.

        Runs that decided the same have the same, wherever they are kept and however often they were
        interrupted.
        """
        return hash_results(self.results)

    @property
    def name(self) -> str | None:
        """What the run is called among others: its folder's name, or its own in its store."""
        if self.place is None or self.place.folder is None:
            return None if self.place is None else self.place.name
        return self.place.folder.resolve().name

    @cached_property
    def record(self) -> RunRecord | None:
        """What was run, when and with which versions; None of a run that was kept nowhere."""
        return None if self.place is None else _read(self.place).record

    @cached_property
    def prompts(self) -> Prompts:
        """In which words each decider asks its models: texts by name."""
        return {} if self.place is None else _read(self.place).prompts()

    def each_trace(self) -> Iterator[Trace]:
        """Yield the traces in the order of the results, a few at a time.

        All traces of a large run together need much memory.

        Raises
        ------
        UsageError
            The run was kept nowhere.
        """
        if self._asked:
            yield from self._asked
            return
        for trace in _read(self._kept()).traces():
            if trace.key in self.by_key:
                yield trace

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        """The traces in the order of the results.

        Raises
        ------
        UsageError
            The run was kept nowhere, or there is no finished decision.
        """
        return self._asked or self._traces_of(None)

    def _traces_of(self, question: str | None) -> tuple[Trace, ...]:
        """Read the traces of a question, or of all; `UsageError` if there is none."""
        location = self._kept()
        found = _read(location).traces(question)
        traces = tuple(trace for trace in found if trace.key in self.by_key)
        if not traces:
            of = "" if question is None else f" of {question}"
            raise UsageError(f"{location} has no finished decision yet{of}.")
        return traces

    def _kept(self) -> RunLocation:
        if self.place is None:
            raise UsageError(
                "This run was kept nowhere, and neither were its traces: evaluate with a folder "
                "or a store (out, --out)."
            )
        return self.place

    @cached_property
    def by_key(self) -> Mapping[DecisionKey, Result]:
        """The results by question, database and decider."""
        return {result.key: result for result in self.results}

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """How every decider did on each scenario and database, in the order they were named.

        Empty of games, of which none is right or wrong.
        """
        if isinstance(self.spec, PlaySpec):
            return ()
        named = self.spec.questions.scenarios or () if isinstance(self.spec, RunSpec) else ()
        found = summarise(self.results)
        order = {scenario_name(name): place for place, name in enumerate(named)}
        return tuple(sorted(found, key=lambda summary: order.get(summary.scenario, len(order))))

    @property
    def means(self) -> tuple[KindMean, ...]:
        """Accuracies as means over both kinds of database, where there are both (Table 4)."""
        return kind_means(self.summaries)

    @property
    def strict_official(self) -> bool:
        """Whether only the official answer was right, and no tie."""
        return isinstance(self.spec, RunSpec) and self.spec.strict_official

    @cached_property
    def games(self) -> PlayFigures | None:
        """What the games came to; None of a run of questions."""
        if not isinstance(self.spec, PlaySpec):
            return None
        return count_games(self.results, mirrored=self.spec.mirror)

    @cached_property
    def shortcuts(self) -> tuple[Shortcut, ...]:
        """How often each heuristic is right on the judged questions, scored as the deciders are."""
        right = right_answers(self.results)
        return count_shortcuts(self.shortcut_choices, right, strict_official=self.strict_official)

    @cached_property
    def chance(self) -> tuple[Chance, ...]:
        """What answering at random gets right on average, on the same questions."""
        right = right_answers(self.results)
        return count_chance(self.shortcut_choices, right, strict_official=self.strict_official)

    @cached_property
    def tags(self) -> tuple[TagCount, ...]:
        """How every decider did on the questions of each tag; empty where none has a tag."""
        return count_tags(self.results)

    @cached_property
    def is_repeated(self) -> bool:
        """Whether questions were asked several times, so that a decision is of some epoch."""
        return any(result.epoch > 1 for result in self.results)

    @cached_property
    def epochs(self) -> tuple[EpochStatistics, ...]:
        """What asking every question several times tells; empty of a single epoch."""
        return count_epochs(self.results)

    @cached_property
    def seconds(self) -> Mapping[DecisionKey, float]:
        """How long each decision took, by its result's key, from the traces.

        Raises
        ------
        UsageError
            The run was kept nowhere, and so were its traces.
        """
        took = _read(self._kept()).seconds()
        return {key: took[key] for key in self.by_key if key in took}

    def scoring(self) -> list[str]:
        """Return what counts as right, the figures by the other count, and the best shortcuts."""
        return scoring_lines(self.summaries, self.shortcuts, strict_official=self.strict_official)

    @property
    def models(self) -> Mapping[str, str]:
        """What answered behind each decider."""
        return {result.decider: result.model for result in self.results}

    @property
    def spent(self) -> Spending:
        """Tokens and calls of all models together, and of every attempt."""
        return spending(self.results, self.prices, self.abandoned)

    @cached_property
    def counts(self) -> RunCounts:
        """How far the run is."""
        return count_decisions(self.results, self.planned)

    @property
    def stopped_by(self) -> str | None:
        """What the budget said where that stopped the run; None where it came to its end."""
        ended = (r.error for r in self.results if r.outcome is Outcome.BUDGET)
        return next(ended, None)

    def how_to_go_on(self) -> str | None:
        """Return what could not be judged, why, and how it is asked again; None where all was."""
        said = Counter(_WHY[r.outcome] for r in self.results if r.outcome.repeated)
        if not said:
            return None
        why = ", ".join(f"{count} because {reason}" for reason, count in said.items())
        of = len(self.results) if self.planned is None else self.planned
        played = isinstance(self.spec, PlaySpec)
        told = f"{said.total()} of {of} decisions could not be judged: {why}."
        if played:
            told = f"{said.total()} of {of} games did not come to their end: {why}."
        missing = self.counts.missing
        if missing:
            told += f" {missing} more were not {'played' if played else 'asked'}."
        if self.place is None:
            return f"{told} Nothing was kept: give a folder as out (--out) to be able to go on."
        more = "" if self.stopped_by is None else " with a higher budget"
        how = resume_command(self.place, games=played)
        return (
            f"{told} What was {'played' if played else 'decided'} is kept; '{how}'{more} goes on."
        )

    def tables(self) -> list[Table]:
        """Return the tables of accuracies and of epochs, or of games."""
        if self.games is not None:
            return game_tables(self.games)
        accuracies = accuracy_tables(self.summaries, self.shortcuts, self.chance)
        return [*accuracies, *epoch_tables(self.epochs)]

    def table(self) -> str:
        """Return the accuracies as text: a row a decider, a column a scenario and database."""
        return self.tables()[0].to_text()

    def lines(self) -> list[str]:
        """Return what is said below the tables: what counts, who answered, what it took."""
        if self.games is not None:
            return game_lines(self.games, self.spent, self.models)
        return [
            *self.scoring(),
            *interval_lines(self.summaries),
            *epoch_lines(self.epochs),
            *tag_lines(self.tags),
            *lines_below(self.summaries, self.spent),
        ]

    def report(self) -> str:
        """Return the tables, with what counts in them, who answered, and what it took."""
        shown = [f"{table.title}\n{table.to_text()}".rstrip("\n") for table in self.tables()]
        return "\n".join([*shown, *self.lines()])

    def figures(self) -> Evaluation:
        """Return the run in figures."""
        spec = self.spec
        return Evaluation(
            model=None if spec is None else spec.model.name,
            models=dict(self.models),
            scripted=any(is_scripted(model) for model in self.models.values()),
            rule_set=None if spec is None else spec.rule_set,
            games=self.games,
            strict_official=self.strict_official,
            out=None if self.place is None else str(self.place),
            counts=self.counts,
            spent=self.spent,
            results=self.summaries,
            means=self.means,
            shortcuts=self.shortcuts,
            chance=self.chance,
            totals=total_matches(self.summaries),
            tags=self.tags,
            epochs=self.epochs,
        )

    def find(  # noqa: PLR0913  (each narrows the results down by itself)
        self,
        question: str | None = None,
        database: str | None = None,
        decider: str | None = None,
        *,
        scenario: str | None = None,
        outcomes: Collection[Outcome] = (),
        wrong: bool = False,
        failed: bool = False,
    ) -> tuple[Result, ...]:
        """Return the results that are asked for, in the order of the run.

        Parameters
        ----------
        question, database, decider, scenario
            Only those of this one.
        outcomes, wrong, failed
            Only those that ended so: in one of these outcomes, judged and not right, or not judged
            as a failing server, a spent budget or a bug ended them. Of several, in any of them.

        Raises
        ------
        UnknownNameError
            The run has no such question, database, decider or scenario.
        """
        wanted: Sequence[Result] = self.results
        wanted = _those(wanted, "scenario", scenario, lambda result: result.scenario)
        wanted = _those(wanted, "question", question, lambda result: result.question)
        wanted = _those(wanted, "database", database, lambda result: result.database)
        wanted = _those(wanted, "decider", decider, lambda result: result.decider)
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
        several: bool = False,
    ) -> tuple[Trace, ...]:
        """Return the traces that are asked for, at least one.

        Parameters
        ----------
        question, database, decider
            Only those of this one.
        epoch
            Only those of this repeat, counted from 1.
        several
            Whether they may be of several questions.

        Raises
        ------
        UnknownNameError
            The run has no such question, database, decider or epoch.
        UsageError
            They are of several questions.
        """
        if self._asked and question is not None:
            raise UsageError(
                "A file of 'dqa ask --trace' holds one decision: it needs no QUESTION."
            )
        if self.results:
            _those(self.results, "question", question, lambda result: result.question)
        wanted: Sequence[Trace] = self.traces if question is None else self._traces_of(question)
        of = "" if question is None else f" that decided {question}:"
        wanted = _those(wanted, f"database{of}", database, lambda trace: trace.database)
        wanted = _those(wanted, f"decider{of}", decider, lambda trace: trace.decider)
        repeat = None if epoch is None else str(epoch)
        wanted = _those(wanted, f"epoch{of}", repeat, lambda trace: str(trace.epoch))
        questions = sorted({trace.question for trace in wanted})
        if not several and question is None and len(questions) > 1:
            raise UsageError(
                f"Name one of the "
                f"{counted(len(questions), 'question')} of this run, e.g. {questions[0]}."
            )
        return tuple(wanted)

    def passages(self, trace: Trace) -> list[Passage]:
        """Return one decision as a person reads it, piece by piece."""
        from dqa.report.reading import read

        scenario = plugins.find_scenario(trace.question.partition("/")[0])
        unit = "value" if scenario is None else scenario.unit
        return read(trace, self.by_key.get(trace.key), unit, repeated=self.is_repeated)


def _read(location: RunLocation) -> RunReader:
    from dqa.evaluation.stored_runs import RunReader  # SQLAlchemy takes a while to import

    return RunReader(location)


_WHY = {
    Outcome.INFRASTRUCTURE: "a server or provider failed",
    Outcome.BUDGET: "the budget was spent",
    Outcome.STOPPED: "a person ended it",
    Outcome.CRASHED: "of a bug",
}
_Item = TypeVar("_Item")


def _those(
    items: Sequence[_Item], what: str, name: str | None, of: Callable[[_Item], str]
) -> Sequence[_Item]:
    known = {of(item) for item in items}
    if name is not None and name not in known:
        raise UnknownNameError(what, name, known)
    return [item for item in items if name in {None, of(item)}]
