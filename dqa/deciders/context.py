"""Read the context of a decision: the results of the question's queries."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any, TypeAlias

from dqa import plugins
from dqa.core.database import Database, Kind
from dqa.core.errors import UsageError
from dqa.core.events import WarningEvent
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.deciders.candidates import MOST_COMPARED, among, check_listed, nouns_of
from dqa.deciders.prompting import fold
from dqa.deciders.tools import observe

_FEW = 10
"""Lists of at most this length are compared completely."""


@dataclass(frozen=True, slots=True)
class Context:
    """The texts of a question and the rows of its queries.

    Attributes
    ----------
    goal
        The question's text, usually without the scenario's instruction on how to answer.
    actions
        The actions that are compared.
    left_out
        The actions that are not compared, because no row names them.
    rules
        The business rules.
    tables
        The results of the queries that could run.
    failed, cut
        The number of queries that could not run, and the number of results that a limit shortened.
    noun
        The noun for an action.
    states_form
        Whether `goal` is the exact text of the question. This text may prescribe the form of the
        answer.
    """

    goal: str
    actions: tuple[Candidate, ...]
    left_out: tuple[Candidate, ...]
    rules: str
    tables: tuple[str, ...]
    failed: int
    cut: int
    noun: str = "action"
    states_form: bool = False


def read_context(  # noqa: PLR0913, PLR0917  (the parts of a decision)
    method: str,
    question: Question,
    actions: tuple[Candidate, ...],
    database: Database,
    recorder: Recorder,
    settings: Settings,
) -> Context:
    """Run the queries of a question or of its scenario, and record their results.

    If there are very many actions, only the actions in the rows are compared.

    Parameters
    ----------
    method
        The name of the method in messages.
    question, actions, database
        The question, its actions, and its database.
    recorder
        Records the statements.
    settings
        The limits of statements, and the display of rows.

    Raises
    ------
    UsageError
        No statement is known, or no statement can run. Also raised if there are very many actions,
        and no column of the rows lists actions.
    InfrastructureError
        The database failed.
    """
    found: list[Evidence] = []
    short = actions if len(actions) <= MOST_COMPARED else ()
    for query in _queries(question, database.kind, method):
        if found and recorder.over_budget() is not None:
            recorder.close_by_budget()
            break
        found.append(observe(database, query, settings.limits, settings.display, short))
        recorder.add_evidence(found[-1])
    shown = tuple(one for one in found if one.error is None)
    if not shown:
        first = found[0]
        raise UsageError(
            f"None of the statements of the context could run. The first is {first.statement!r}: "
            f"{first.observation}"
        )
    compared = _compared(question, actions, shown, method)
    cut = sum(one.cut is not None for one in shown)
    if len(compared) < len(actions):
        recorder.note(_warning(len(compared), len(actions)))
    goal, stays = goal_of(question), set(compared)
    return Context(
        goal=goal,
        actions=compared,
        left_out=tuple(action for action in short if action not in stays),
        rules=question.rules,
        tables=tuple(one.observation for one in shown),
        failed=len(found) - len(shown),
        cut=cut,
        noun=nouns_of(question)[0],
        states_form=goal == question.text,
    )


def _compared(
    question: Question, actions: tuple[Candidate, ...], tables: tuple[Evidence, ...], method: str
) -> tuple[Candidate, ...]:
    """Return the actions to compare: all of a short list, otherwise the actions in the rows."""
    if len(actions) <= _FEW:  # no row names the candidate "none"
        return actions
    found = find_named_actions(actions, tables)
    if len(actions) > MOST_COMPARED and not found:
        raise UsageError(
            f"Question '{question.key}' has {len(actions):,} candidates. {method} compares "
            "only candidates that a column of the context lists, but there is no such column. Give "
            "a statement whose first column lists the few best candidates "
            "(--context 'SELECT id, ... ORDER BY ... LIMIT 20', or context.sql of the scenario), "
            "or use an agent, which narrows the candidates by queries."
        )
    return found or actions


def _warning(compared: int, total: int) -> WarningEvent:
    """Return the warning that only some candidates were compared."""
    text = (
        f"Only {compared:,} of {total:,} candidates were compared: those that the rows of "
        "the context name. To compare others, select rows that name them (--context, or 'context' "
        "of a question in a file), or raise --row-limit."
    )
    return WarningEvent(about="candidates", text=text, considered=compared, total=total)


def check_question(question: Question, method: str) -> None:
    """Raise `UsageError` for a question without candidates, or without statements to read data."""
    check_listed(question, method)
    if (
        question.scenario in plugins.names("world")
        and plugins.scenario_of(question) is None
        and not question.context_queries
    ):
        raise _without_rows(question, method)


def _without_rows(question: Question, method: str) -> UsageError:
    return UsageError(
        f"{method} cannot decide '{question.key}', because no statement reads its data: give "
        "statements with --context, or use a decider that writes its own statements. For a move of "
        "a game, use a decider that reads the game's history."
    )


def _queries(question: Question, kind: Kind, method: str) -> tuple[str, ...]:
    if question.context_queries:
        return question.context_queries
    scenario = plugins.scenario_of(question)
    queries = () if scenario is None else scenario.context(question, kind)
    if not queries:
        raise _without_rows(question, method)
    return queries


def goal_of(question: Question) -> str:
    """Return the question's text without the scenario's instruction on how to answer."""
    scenario = plugins.scenario_of(question)
    return question.text if scenario is None else scenario.goal_of(question)


def cut_rows(rows: str, most: int, recorder: Recorder, setting: str) -> str:
    """Return the first lines of `rows` that have at most `most` characters together.

    If lines are omitted, record a warning that names the setting to increase.
    """
    if len(rows) <= most:
        return rows
    shown = rows[:most].rpartition("\n")[0] or rows[:most]
    recorder.warn_once(
        WarningEvent(
            step=recorder.steps,
            about="candidates",
            text=f"The model saw only the first {len(shown):,} of {len(rows):,} characters of "
            f"the rows: select fewer rows (--context), or increase --set {setting}.",
            considered=len(shown),
            total=len(rows),
        )
    )
    return shown


_NEARLY_ALL = 0.9
"""The minimum share of actions in a column that lists actions."""
_HALF = 0.5
"""If a column lists actions, other columns with more than this share of actions are used, too."""
_FEWEST = 2
"""The minimum number of different actions in a column that lists actions."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]{1,3})?")

_Key: TypeAlias = Decimal | str


def find_named_actions(
    actions: tuple[Candidate, ...], tables: Sequence[Evidence]
) -> tuple[Candidate, ...]:
    """Return the actions in the rows; () if no column lists actions.

    A column lists actions if nearly all of its cells are actions, and at least two are different.
    Therefore a column of quantities is ignored, even if some quantities equal ids by chance.
    Columns with the same name are combined.

    In addition to a column that lists actions, columns with actions in more than half of their
    cells are used. An unnecessary action costs only one more comparison, but an omitted action
    cannot be chosen.

    If the list of actions is very long, nearly every number is an id. Then, only one column of each
    table is used: the first that lists actions. The returned actions then have the order of the
    rows.

    Parameters
    ----------
    actions
        The actions.
    tables
        The results of queries.
    """
    columns: defaultdict[tuple[int, object], list[Any]] = defaultdict(list)
    for number, table in enumerate(tables):
        for column, leaf in _cells(table):
            columns[number, column].append(leaf)
    known, is_long = actions, len(actions) > MOST_COMPARED
    if is_long:
        known = among(actions, {str(leaf) for leaves in columns.values() for leaf in leaves})
    keys = {_key(action): action for action in known}
    listed: defaultdict[object, set[_Key]] = defaultdict(set)
    leading: dict[int, list[_Key]] = {}
    named: set[_Key] = set()
    for (number, column), leaves in columns.items():
        found = [key for key in map(_key, leaves) if key in keys]
        if len(found) >= _NEARLY_ALL * len(leaves):
            listed[column].update(found)
            if len(found) >= _FEWEST:
                leading.setdefault(number, found)
        if len(found) > _HALF * len(leaves):
            named.update(found)
    if is_long:
        return tuple(keys[key] for key in dict.fromkeys(chain.from_iterable(leading.values())))
    if max(map(len, listed.values()), default=0) < _FEWEST:
        return ()
    return tuple(action for action in known if _key(action) in named)


def _key(value: object) -> _Key:
    """Return a name for comparisons. The names ``1``, ``1.0`` and ``"1"`` are equal."""
    text = fold(value)
    return Decimal(text) if _NUMBER.fullmatch(text) else text


def _cells(table: Evidence) -> Iterator[tuple[object, object]]:
    """Yield each value of a table, except NULL, as a pair ``(column, value)``.

    Each element of a list is a value of the list's column. Each field of an object is a column.
    """
    names = table.columns
    for row in table.rows:
        for name, cell in zip(names, row, strict=True):
            yield from _leaves(cell, (name,))


def _leaves(
    cell: Any,  # noqa: ANN401  (any JSON value)
    column: tuple[object, ...],
) -> Iterator[tuple[object, object]]:
    if isinstance(cell, dict):
        for name, inner in cell.items():
            yield from _leaves(inner, (*column, name))
    elif isinstance(cell, list):
        for inner in cell:
            yield from _leaves(inner, column)
    elif cell is not None:
        yield column, cell
