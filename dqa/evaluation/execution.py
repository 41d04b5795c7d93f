"""Score statements by execution: run the answer and the gold statements, and compare their rows.

All statements run read-only on the same database, and the guard checks them. If a gold statement
cannot run, the data has a fault. The answer is then not scored, and the result reports the problem.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isclose, sqrt
from statistics import fmean, pstdev
from typing import TypeAlias

from sqlglot import TokenType, tokenize

from dqa.core.database import Database, Limits, Rows
from dqa.core.display import Value
from dqa.core.errors import QueryError, UsageError
from dqa.core.question import Question
from dqa.core.truth import GoldTable, MatchRule, Truth

SCORING = Limits(rows=200_000, bytes=128_000_000, seconds=30.0, cell=16_000_000)
"""Limits of each statement. In BIRD's evaluation, both statements together have 30 seconds."""
_HEXADECIMAL = re.compile(r"0x([0-9a-f]{2})*")
_THIS_YEAR = re.compile(r"YEAR\s*\(\s*CURDATE\s*\(\s*\)\s*\)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Match:
    """The result of comparing two statements.

    Attributes
    ----------
    right
        Whether the rows match; None if a gold statement returns no comparable rows.
    problem
        The reason why a statement has no comparable rows; None if all statements have such rows.
    metrics
        The metrics of the benchmark's own evaluation, by name: ``EX`` and ``Soft-F1`` for BIRD,
        ``Spider EX`` for Spider.
    """

    right: bool | None
    problem: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


_timing = threading.Lock()
"""Prevents simultaneous time measurements, which would slow each other down."""


def compare_statements(
    database: Database, question: Question, truth: Truth, statement: str, repetitions: int = 0
) -> Match:
    """Compare the rows of a statement with the rows of every gold statement.

    Parameters
    ----------
    database
        The database of the question.
    question, truth
        The question, and its gold statements or tables.
    statement
        The statement that the decider chose.
    repetitions
        How often the times of the statements are measured for BIRD's R-VES; 0 for no R-VES.
        Measured times, and therefore R-VES, differ from run to run.

    Raises
    ------
    InfrastructureError
        The database failed, independently of the statements.
    """
    if truth.match is None or not truth.is_known:
        raise UsageError(
            f"Question '{question.key}' has no gold statement, so its answers cannot be compared."
        )
    golds = {str(gold): _rows_of(database, str(gold)) for gold in truth.answers}
    usable = {gold: rows for gold, rows in golds.items() if not isinstance(rows, str)}
    where = f" ({truth.source})" if truth.source else ""
    failed = [
        f"The gold statement of '{question.key}'{where} {rows}"
        for rows in golds.values()
        if isinstance(rows, str)
    ]
    if not usable and not truth.tables:
        return Match(None, failed[0])
    answered = usable.get(statement.strip()) or _rows_of(database, statement)
    metrics = _metrics(database, truth, (statement, answered), usable)
    if isinstance(answered, str):
        return Match(False, f"The chosen statement {answered}", metrics)
    matched = [
        gold
        for gold, rows in usable.items()
        # Spider's evaluation compares the order of rows if ORDER BY occurs anywhere.
        if rows_match(answered.rows, rows.rows, truth.match, ordered=bool(_SORTED.search(gold)))
    ]
    right = bool(matched) or any(table_matches(answered.rows, table) for table in truth.tables)
    if failed and not right:
        return Match(None, failed[0])
    if repetitions and not right:
        metrics["R-VES"] = 0.0
    elif repetitions and matched:
        with _timing:
            metrics |= _time(database, statement, matched[0], repetitions)
    return Match(right, metrics=metrics)


def _rows_of(database: Database, statement: str) -> Rows | str:
    """Return all rows of a statement, or the reason why they cannot be compared."""
    try:
        rows = database.query(statement, SCORING)
    except QueryError as error:
        return f"cannot run: {error}"
    if rows.cut is not None:
        return f"returns a result that is too large to compare (limit on {rows.cut})."
    return _with_binaries(database, statement, rows)


def _with_binaries(database: Database, statement: str, rows: Rows) -> Rows:
    """Mark binary values. Otherwise they would equal texts with the same hexadecimal digits.

    In `rows`, a binary value is a hexadecimal text with two digits for each byte. The lengths of
    the values in the database show which values are binary.
    """
    found = list(map(list, rows.rows))
    names = [f"c{index}" for index in range(len(rows.columns))]
    answer = f"WITH answer ({', '.join(names)}) AS (\n{statement.strip().rstrip(';')}\n)"
    for index, name in enumerate(names):
        if not any(_HEXADECIMAL.fullmatch(str(row[index])) for row in found):
            continue
        lengths = f"{answer} SELECT DISTINCT {name}, LENGTH({name}) FROM answer"  # noqa: S608
        try:
            measured = database.query(lengths, SCORING).rows
        except QueryError:  # the engine cannot measure binary values: compare their texts
            continue
        binary = {cell for cell, length in measured if length == len(str(cell)) // 2 - 1}
        for row in found:
            if row[index] in binary:
                row[index] = {"binary": row[index]}
    return replace(rows, rows=tuple(map(tuple, found)))


def _time(database: Database, statement: str, gold: str, repetitions: int) -> dict[str, float]:
    """Return BIRD's R-VES of a right statement. Return {} if a statement exceeds a limit."""
    ratios = []
    try:
        for _ in range(repetitions):  # alternate, so that both statements run under the same load
            seconds = database.query(statement, SCORING).seconds
            ratios.append(database.query(gold, SCORING).seconds / max(seconds, 1e-9))
    except QueryError:
        return {}
    return {"R-VES": efficiency_reward(ratios)}


def _metrics(
    database: Database, truth: Truth, answer: tuple[str, Rows | str], golds: Mapping[str, Rows]
) -> dict[str, float]:
    """Return the metrics of the benchmark's own evaluation.

    If there are several gold statements, the highest value of each metric counts.
    """
    statement, answered = answer
    if truth.match == "set":
        found = () if isinstance(answered, str) else answered.rows
        failed = isinstance(answered, str)
        same = any(rows_match(found, gold.rows, "set") for gold in golds.values())
        soft = max((soft_f1(found, gold.rows) for gold in golds.values()), default=0.0)
        return {"EX": float(same and not failed), "Soft-F1": 0.0 if failed else soft}
    if truth.match == "table":
        these = _normalised_rows(database, statement, answered)
        pairs = [(gold, _normalised_rows(database, gold, rows)) for gold, rows in golds.items()]
        same = not isinstance(these, str) and any(
            rows_match(these.rows, those.rows, "table", ordered="order by" in gold.lower())
            for gold, those in pairs
            if not isinstance(those, str)
        )
        return {"Spider EX": float(same)}
    return {}


def _normalised_rows(database: Database, statement: str, rows: Rows | str) -> Rows | str:
    """Change a statement as Spider's evaluation does, and return its rows."""
    normalised = _normalised(statement)
    return rows if normalised == statement else _rows_of(database, normalised)


def _normalised(statement: str) -> str:
    """Return a statement without DISTINCT and with 2020 in place of the current year."""
    for operator in (">", "<", "!"):
        statement = statement.replace(f"{operator} =", f"{operator}=")
    statement = _THIS_YEAR.sub("2020", statement)
    for token in reversed(tokenize(statement, read="sqlite")):
        if token.token_type is TokenType.DISTINCT:
            statement = statement[: token.start] + statement[token.end + 1 :]
    return statement


_Row: TypeAlias = tuple[Hashable, ...]
_Rows: TypeAlias = Sequence[Sequence[Value]]
_SORTED = re.compile(r"\border\s+by\b", re.IGNORECASE)
_TOLERANCE = 0.01
"""Maximum difference of numbers that Spider 2's evaluation treats as equal."""


def rows_match(answered: _Rows, right: _Rows, rule: MatchRule, *, ordered: bool = False) -> bool:
    """Return whether the rows of an answer match the rows of a gold statement.

    Parameters
    ----------
    answered, right
        All rows of the answer, and all rows of the gold statement.
    rule
        The rule by which rows are compared.
    ordered
        Whether the order of rows matters. The rules "set" and "subset" ignore it.
    """
    if rule == "columns":
        table = GoldTable(tuple(tuple(map(_scalar, row)) for row in right), ordered=ordered)
        return table_matches(answered, table)
    rounded = rule == "subset"
    these, those = _hashable(answered, rounded=rounded), _hashable(right, rounded=rounded)
    if rule == "set":
        return set(these) == set(those)
    if rounded and len({*map(len, these), *map(len, those)}) == 1:
        these, those = list(dict.fromkeys(these)), list(dict.fromkeys(those))
    columns, wanted = list(zip(*these, strict=True)), list(zip(*those, strict=True))
    more = len(columns) - len(wanted)
    if len(these) != len(those) or more < 0 or (more and not rounded):
        return False
    if ordered and not rounded:
        return Counter(columns) == Counter(wanted)
    return _can_order([], columns, wanted)


def table_matches(answered: _Rows, right: GoldTable) -> bool:
    """Return whether an answer contains every column of a gold table (Spider 2)."""
    if not answered or not right.rows:
        return not answered and not right.rows
    wanted = list(zip(*right.rows, strict=True))
    indexes = right.columns or range(len(wanted))
    columns = [_numbers(column, right.ordered) for column in zip(*answered, strict=True)]
    golds = [_numbers(wanted[index], right.ordered) for index in indexes]
    return all(
        any(len(gold) == len(column) and all(map(_close, gold, column)) for column in columns)
        for gold in golds
    )


def soft_f1(answered: _Rows, right: _Rows) -> float:
    """Return BIRD's Soft-F1: the overlap of cells, row by row and without repeated rows.

    Each cell of a pair of rows has the weight ``1 / width of the gold row``. A row of the longer
    table that has no counterpart in the shorter table has the weight 1.
    """
    these = list(dict.fromkeys(_hashable(answered)))
    those = list(dict.fromkeys(_hashable(right)))
    if not these and not those:
        return 1.0
    matched, unmatched = 0.0, float(abs(len(these) - len(those)))
    for one, other in zip(these, those, strict=False):
        hits = sum(cell in other for cell in one)
        misses = len(one) - hits + sum(cell not in one for cell in other)
        matched += hits / len(other)
        unmatched += misses / len(other)
    return 2.0 * matched / (2.0 * matched + unmatched) if matched else 0.0


def efficiency_reward(ratios: Sequence[float]) -> float:
    """Return BIRD's R-VES of a right statement, in 0..1.25.

    Parameters
    ----------
    ratios
        For each repetition, the time of the gold statement divided by the time of the answer.
        Ratios that differ from the mean by three or more standard deviations are left out.
    """
    mean, spread = fmean(ratios), pstdev(ratios)
    usual = [ratio for ratio in ratios if abs(ratio - mean) < 3.0 * spread] or [mean]
    ratio = fmean(usual)
    steps = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5))
    return sqrt(next((reward for least, reward in steps if ratio >= least), 0.25))


def _hashable(rows: _Rows, *, rounded: bool = False) -> list[_Row]:
    return [tuple(_cell(value, rounded=rounded) for value in row) for row in rows]


def _cell(value: Value, *, rounded: bool = False) -> Hashable:
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True, default=str)
    if rounded and isinstance(value, float):
        return float(f"{value:.5g}")
    return value


def _can_order(chosen: list[int], columns: Sequence[_Row], wanted: Sequence[_Row]) -> bool:
    """Return whether the columns can be arranged so that their rows are the wanted rows.

    The order of rows does not matter, but each row must occur as often as in the wanted rows.

    `chosen` contains the indexes of the columns at the first positions. The function tries each
    remaining column at the next position. Of identical columns, it tries only the first.
    """
    count = len(chosen)
    if count == len(wanted):
        return True
    goal, tried = Counter(zip(*wanted[: count + 1], strict=True)), set[_Row]()
    for index, column in enumerate(columns):
        if index in chosen or column in tried:
            continue
        tried.add(column)
        here = [*chosen, index]
        rows = zip(*(columns[n] for n in here), strict=True)
        if Counter(rows) == goal and _can_order(here, columns, wanted):
            return True
    return False


def _numbers(column: Sequence[Value], ordered: bool) -> list[Value]:
    """Return a column with 0 for missing values. Without `ordered`, the column is sorted."""
    cells: list[Value] = [0 if cell is None else cell for cell in column]
    return cells if ordered else sorted(cells, key=_order)


def _order(cell: Value) -> tuple[bool, float, str]:
    if isinstance(cell, int | float):
        return False, float(cell), ""
    return True, 0.0, str(cell)


def _close(gold: Value, value: Value) -> bool:
    if isinstance(gold, int | float) and isinstance(value, int | float):
        return isclose(gold, value, abs_tol=_TOLERANCE)
    return gold == value


def _scalar(value: Value) -> str | float | int | None:
    return json.dumps(value, sort_keys=True) if isinstance(value, list | dict) else value
