"""Runs: what an evaluation returns, and what is read back of one that was written down."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from dqa import plugins
from dqa.api.figures import Evaluation, RunCounts, count_decisions
from dqa.core.decision import Usage
from dqa.core.errors import ParseError, UnknownNameError, UsageError
from dqa.core.files import DATA_BYTES, parse_json, read_text
from dqa.core.paths import problem_of_path, require_folder
from dqa.core.question_set import Defect
from dqa.core.records import problem_of
from dqa.core.text import counted
from dqa.evaluation.folders import (
    RESULTS,
    RUN,
    SHORTCUTS,
    TRACES,
    RunRecord,
    read_record,
    read_results,
    read_shortcuts,
    read_traces,
    register_scenarios,
    usage_abandoned,
)
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.shortcuts import (
    Chance,
    Shortcut,
    ShortcutChoices,
    count_chance,
    count_shortcuts,
    right_answers,
)
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.stats import (
    KindMean,
    Summary,
    TagCount,
    count_tags,
    kind_means,
    summarise,
    total_matches,
)
from dqa.evaluation.traces import Trace
from dqa.models.registry import is_scripted
from dqa.report.hints import resume_command
from dqa.report.passages import Passage
from dqa.report.tables import (
    Spending,
    accuracy_tables,
    lines_below,
    scoring_lines,
    spending,
    tag_lines,
)
from dqa.report.widths import as_text
from dqa.scenarios import scenario_name

if TYPE_CHECKING:
    from rich.table import Table

    from dqa.models.budget import Prices


@dataclass(frozen=True)
class Run:
    """Decisions that were made and judged.

    Attributes
    ----------
    results
        One a decision, in the order of the plan.
    spec
        What was evaluated; None where the folder does not say.
    folder
        Where results and traces are; None where they are kept nowhere.
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
    """

    results: tuple[Result, ...]
    spec: RunSpec | None = None
    folder: Path | None = None
    planned: int | None = None
    crashed: tuple[Trace, ...] = ()
    defects: tuple[Defect, ...] = ()
    prices: Prices | None = None
    shortcut_choices: tuple[ShortcutChoices, ...] = ()
    abandoned: Usage = Usage()  # noqa: RUF009  (frozen)
    _asked: tuple[Trace, ...] = field(default=(), repr=False)

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        """Every decision with all that led to it, in the order of the results.

        A trace without a result is of a decision that was not kept, and is none of them.

        Raises
        ------
        UsageError
            The run was kept in no folder, or that holds no finished decision.
        """
        return self._asked or self._traces_of(None)

    def _traces_of(self, question: str | None) -> tuple[Trace, ...]:
        """Read the traces of a question, or of all; `UsageError` where there is none."""
        if self.folder is None:
            raise UsageError("This run was kept in no folder, and so were its traces: give one.")
        found = {trace.key: trace for trace in read_traces(self.folder, question)}
        if not self.by_key.keys() & found.keys():
            of = "" if question is None else f" of {question}"
            raise UsageError(f"{self.folder} holds no finished decision yet{of}.")
        # Traces stand in the order of their ends, which no run repeats; results in the plan's.
        return tuple(found[key] for key in self.by_key if key in found)

    @cached_property
    def by_key(self) -> Mapping[tuple[str, str, str], Result]:
        """The results by question, database and decider."""
        return {result.key: result for result in self.results}

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """How every decider did on each scenario and database, in the order they were named."""
        named = () if self.spec is None else self.spec.questions.scenarios or ()
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
        return self.spec is not None and self.spec.strict_official

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
        told = f"{said.total()} of {of} decisions could not be judged: {why}."
        missing = self.counts.missing
        if missing:
            told += f" {missing} more were not asked."
        if self.folder is None:
            return f"{told} Nothing was kept: give a folder as out (--out) to be able to go on."
        more = "" if self.stopped_by is None else " with a higher budget"
        return f"{told} What was decided is kept; '{resume_command(self.folder)}'{more} goes on."

    def tables(self) -> list[tuple[str, Table]]:
        """Return the tables of accuracies, each under its title."""
        return accuracy_tables(self.summaries, self.shortcuts, self.chance)

    def table(self) -> str:
        """Return the accuracies as text: a row a decider, a column a scenario and database."""
        return as_text(self.tables()[0][1])

    def lines(self) -> list[str]:
        """Return what is said below the tables: what counts, who answered, what it took."""
        return [
            *self.scoring(),
            *tag_lines(self.tags),
            *lines_below(self.summaries, self.spent),
        ]

    def report(self) -> str:
        """Return the tables, with what counts in them, who answered, and what it took."""
        shown = [f"{title}\n{as_text(table)}".rstrip("\n") for title, table in self.tables()]
        return "\n".join([*shown, *self.lines()])

    def figures(self) -> Evaluation:
        """Return the run in figures."""
        spec = self.spec
        return Evaluation(
            model=None if spec is None else spec.model.name,
            models=dict(self.models),
            scripted=any(is_scripted(model) for model in self.models.values()),
            rule_set=None if spec is None else spec.rule_set,
            strict_official=self.strict_official,
            out=None if self.folder is None else str(self.folder),
            counts=self.counts,
            spent=self.spent,
            results=self.summaries,
            means=self.means,
            shortcuts=self.shortcuts,
            chance=self.chance,
            totals=total_matches(self.summaries),
            tags=self.tags,
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
        several: bool = False,
    ) -> tuple[Trace, ...]:
        """Return the traces that are asked for, at least one.

        Parameters
        ----------
        question, database, decider
            Only those of this one.
        several
            Whether they may be of several questions.

        Raises
        ------
        UnknownNameError
            The run has no such question, database or decider.
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
        return read(trace, self.by_key.get(trace.key), unit)


_WHY = {
    Outcome.INFRASTRUCTURE: "a server or provider failed",
    Outcome.BUDGET: "the budget was spent",
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


def read_run(run: Path | str) -> Run:
    """Read a run back.

    Parameters
    ----------
    run
        The folder that an evaluation wrote, or the file of one decision (``dqa ask --trace``).

    Raises
    ------
    UsageError
        There is no run, or one of a newer version.
    ParseError
        A line is no result or no trace.
    """
    path = Path(run)
    if path.name in {RESULTS, RUN, SHORTCUTS, TRACES} and (path.parent / TRACES).is_file():
        raise UsageError(f"{path} is a part of a run: name its folder, {path.parent}.")
    if path.is_file():
        return Run((), planned=1, _asked=(_read_asked(path),))
    require_folder(path, "Name the folder of 'dqa eval --out', or the file of 'dqa ask --trace'.")
    if not (path / TRACES).is_file():
        raise UsageError(
            f"{path} holds no run: there is no {TRACES}. Name the folder of "
            "one ('dqa runs' lists them)."
        )
    results = tuple(read_results(path))
    register_scenarios(path)
    record = read_record(path) if (path / RUN).exists() else RunRecord(spec=None)
    return Run(
        results,
        record.spec,
        path,
        planned=record.planned,
        prices=record.calls.prices,
        shortcut_choices=read_shortcuts(path),
        abandoned=usage_abandoned(path, recorded=record.calls.record is not None),
    )


def _read_asked(file: Path) -> Trace:
    """Read what ``dqa ask --trace`` wrote."""
    problem = "not written by 'dqa ask --trace' of this version"
    try:
        written = parse_json(read_text(file, most=DATA_BYTES))
        # What a file of the first form does not tell is not shown either.
        return Trace.from_json({"question": "custom/1", "kind": "relational"} | written)
    except OSError as error:
        raise UsageError(f"{problem_of_path(file, error)}.") from error
    except UnicodeDecodeError as error:
        raise ParseError(file, None, f"{problem}: it is no UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise ParseError(file, error.lineno, f"{problem}: it is no JSON ({error.msg})") from error
    except ValidationError as error:
        raise ParseError(file, None, f"{problem}: {problem_of(error)}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ParseError(file, None, f"{problem}: {error!r}") from error
