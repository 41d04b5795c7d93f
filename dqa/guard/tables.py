"""Read each table as a policy shows it: as a query of its visible columns and rows.

A denied column does not exist in that query, a mask stands in place of a value, and a row filter
leaves rows out. What stands around the table stays as it was written, so that `*`, USING, an alias
or a whole row read only what the policy shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dqa.core.errors import UsageError
from dqa.core.run_stores import is_store_table
from dqa.core.schema import TableInfo, quoted
from dqa.guard.hidden import Mask
from dqa.guard.hints import closest
from dqa.guard.lists import lists
from dqa.guard.parsing import MARK, Parsed, parse
from dqa.guard.policy import Policy
from dqa.guard.verdict import Refusal

FENCES: Mapping[str, str] = {
    "postgres": "OFFSET 0",
    "duckdb": "OFFSET 0",
    "sqlite": "LIMIT -1",
    "mysql": "LIMIT 18446744073709551615",
    "mariadb": "LIMIT 18446744073709551615",
}
"""What makes a planner apply the filter first, so that no condition sees a hidden row. Masks and
row filters work in these dialects."""
_NOTHING = "1 = 0"
_BEFORE = re.compile(r"(?:\b(?:from|join|straight_join)|[,(])\s*\Z", re.IGNORECASE)
_PLAIN = frozenset({"this", "db", "catalog", "alias", "joins"})
_ROW_NUMBERS = frozenset({"rowid", "oid", "_rowid_"})
_CONDITION = (
    *(exp.And, exp.Or, exp.Not, exp.Paren, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE),
    *(exp.In, exp.Between, exp.Is, exp.Like, exp.Null, exp.Boolean, exp.Literal, exp.Neg),
    *(exp.Identifier, exp.Column, exp.DataType, exp.CurrentDate, exp.CurrentTimestamp, exp.Tuple),
)
_CONDITION_FUNCTIONS = frozenset({"lower", "upper", "coalesce", "date"})


@dataclass(frozen=True)
class ShownTable:
    """What a policy shows of a table.

    Attributes
    ----------
    table
        With all of its columns.
    columns
        The visible ones.
    masks
        By column, the value that is shown; in a tuple, because it may be None.
    row_filter
        The condition of the visible rows; empty for all.
    is_unknown
        Whether some of it may not be read, and its columns are not known (a broken view has none).
    """

    table: TableInfo
    columns: tuple[str, ...]
    masks: Mapping[str, tuple[Mask]]
    row_filter: str
    is_unknown: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the table is read as it is."""
        is_cut = len(self.columns) != len(self.table.columns) or self.is_unknown
        return not (is_cut or self.masks or self.row_filter)

    def query(self, written: str, quote: str, dialect: str) -> str:
        """Return the query, in brackets, that stands in place of the table's name."""
        items = ", ".join(self.item(column, quote) for column in self.columns)
        rows = written
        if self.row_filter:
            fence = FENCES[dialect]
            rows = f"(SELECT * FROM {written} WHERE ({self.row_filter}) {fence}) AS dqa_rows"  # noqa: S608
        return f"(SELECT {items} FROM {rows})"  # noqa: S608

    def item(self, column: str, quote: str) -> str:
        """Return a column as it is read; a mask has its type, for the value is read in no row."""
        name = quoted(column, quote)
        mask = self.masks.get(column)
        if mask is None:
            return name
        other = "" if mask[0] is None else f" ELSE {_literal(mask[0])}"
        return f"CASE WHEN {_NOTHING} THEN {name}{other} END AS {name}"


def shown(name: str, policy: Policy) -> ShownTable | None:
    """Return what a policy shows of a table of its schema; None where it shows no such table."""
    tables = policy.schema.tables if policy.schema is not None else ()
    found = [table for table in tables if table.name.casefold() == name.casefold()]
    if len(found) != 1 or not policy.shows_table(found[0].name):
        return None
    table = found[0]
    columns = tuple(c.name for c in table.columns if policy.allows_column(table.name, c.name))
    masks = {column: mask for column in columns if (mask := policy.mask_of(table.name, column))}
    is_unknown = not table.columns and policy.restricts_columns_of(table.name)
    return ShownTable(table, columns, masks, policy.filter_of(table.name), is_unknown)


def rewritten(parsed: Parsed, policy: Policy) -> str:
    """Return the text of a checked statement in which each table is read as the policy shows it.

    Raises
    ------
    Refusal
        It reads a table that the policy does not show, or one where no query can stand.
    """
    if policy.schema is None:
        return _without_schema(parsed, policy)
    known = {table.name.casefold() for table in policy.schema.tables}
    for node in parsed.nodes:
        if isinstance(node, exp.CTE) and node.alias.casefold() in known:
            raise Refusal(
                f"the WITH part {node.alias} has the name of a table; give it another name"
            )
    text: list[str] = []
    done = 0
    restricted: list[ShownTable] = []
    for node in sorted(parsed.tables, key=_start):
        table = _require_shown(node, parsed.dialect, policy)
        if table is None or table.is_whole:
            continue
        if table.is_unknown:
            raise Refusal(f"the columns of {table.table.name} are not known, and some are hidden")
        restricted.append(table)
        start, end, called = _place(node, parsed)
        query = table.query(parsed.text[start:end], policy.schema.quote, parsed.dialect)
        text += parsed.text[done:start], query, called
        done = end
    if restricted:
        _refuse_ways_round(parsed, restricted)
    return "".join((*text, parsed.text[done:]))


def reads_filtered(statement: str, dialect: str, policy: Policy) -> bool:
    """Whether an allowed statement reads a table of which some rows are hidden."""
    tables = parse(statement, dialect, policy.functions).tables if policy.row_filters else ()
    return any(policy.filter_of(node.name) for node in tables)


def _without_schema(parsed: Parsed, policy: Policy) -> str:
    """Check the tables alone: without a schema nobody knows which columns there are to show."""
    for node in parsed.tables:
        _refuse_unless_allowed(node, parsed.dialect, policy)
        if policy.restricts_columns_of(node.name):
            raise Refusal(
                f"the policy hides a part of {node.name}, whose columns are not known here; check "
                "the statement with its database"
            )
    return parsed.text


def _require_shown(node: exp.Table, dialect: str, policy: Policy) -> ShownTable | None:
    """Return what is shown of a table; None for one of another schema that the policy names."""
    full = f"{node.db}.{node.name}".casefold().strip(".")
    if node.db and full in (policy.tables or policy.unmasked):
        return None
    _refuse_unless_allowed(node, dialect, policy)
    own = policy.protection.namespace if policy.protection is not None else None
    if node.db and own is not None and node.db.casefold() != own.casefold():
        if policy.hides:
            raise Refusal(f"{full} is of another schema, and could show what is hidden")
        return None
    table = shown(node.name, policy)
    if table is None:
        names = [table.name for table in policy.schema.tables] if policy.schema is not None else []
        hint = closest(node.name, [name for name in names if policy.shows_table(name)])
        raise Refusal(
            f"there is no table {node.name}, or none that may be read.{hint}".rstrip(".?")
        )
    return table


def _refuse_unless_allowed(node: exp.Table, dialect: str, policy: Policy) -> None:
    known = lists(dialect)
    names = {node.name.casefold(), f"{node.db}.{node.name}".casefold().strip(".")}
    is_listed = bool(names & known.tables) or f"pg_catalog.{node.name}".casefold() in known.tables
    if (
        is_listed
        and policy.columns_of(node.name) is None
        and not names & (policy.tables or frozenset())
    ):
        raise Refusal(
            f"the catalogue {node.name} may tell what is hidden; SHOW TABLES and DESCRIBE work"
        )
    if policy.tables is None and policy.holds_store and is_store_table(node.name):
        raise Refusal(f"{node.name} is of a store of runs; the policy's tables may name it")
    if not policy.allows_table(node.name, node.db):
        raise Refusal(f"there is no table {node.name}, or none that may be read")


def _start(node: exp.Table) -> int:
    return int(node.parts[0].meta.get("start", -1))


def _place(node: exp.Table, parsed: Parsed) -> tuple[int, int, str]:
    """Return where a table's name stands, and what has to follow the query that replaces it."""
    odd = sorted(place for place, value in node.args.items() if value and place not in _PLAIN)
    start = _start(node)
    end = int(node.parts[-1].meta.get("end", -2)) + 1
    is_placed = isinstance(node.parent, exp.From | exp.Join | exp.Subquery)
    if odd or start < 0 or not is_placed or not _BEFORE.search(parsed.text[:start]):
        raise Refusal(
            f"the policy hides a part of {node.name}, which may only be read where a sub-query can "
            "stand: behind FROM or JOIN, without samples, hints and partitions"
        )
    last = parsed.text[int(node.parts[-1].meta["start"]) : end]
    return start, end, "" if node.args.get("alias") is not None else f" AS {last}"


def _refuse_ways_round(parsed: Parsed, restricted: list[ShownTable]) -> None:
    """Refuse what a query in place of a table does not stop."""
    names = {table.table.name.casefold() for table in restricted}
    columns = {column.casefold() for table in restricted for column in table.columns}
    known = lists(parsed.dialect)
    for node in parsed.nodes:
        if isinstance(node, exp.Column) and node.db and node.table.casefold() in names:
            raise Refusal(f"write {node.table}.{node.name} without a schema before it")
        name = node.name.casefold() if isinstance(node, exp.Column | exp.Anonymous) else ""
        if (
            parsed.dialect == "sqlite"
            and name in _ROW_NUMBERS - columns
            and isinstance(node, exp.Column)
        ):
            raise Refusal(f"{name} is not a column that may be read; name a column")
        # SQLite looks through the query that stands for a table, and searches the whole index.
        if isinstance(node, exp.Match) or name.removeprefix(MARK) in known.index_functions:
            raise Refusal("a search of an index may look into what is hidden; write LIKE")


def probes(table: ShownTable, quote: str, dialect: str) -> Iterator[str]:
    """Yield queries that read no row of a table, to see that its masks and its filter work."""
    name = quoted(table.table.name, quote)
    yield f"SELECT 1 FROM {table.query(name, quote, dialect)} AS {name} WHERE {_NOTHING}"  # noqa: S608
    if (
        table.masks
    ):  # of a row in which all is null: some engines look at a mask only when it is shown
        items = ", ".join(table.item(column, quote) for column in table.masks)
        one = f"(SELECT 1 AS dqa_one) AS dqa_rows LEFT JOIN {name} ON {_NOTHING}"
        yield f"SELECT {items} FROM {one}"  # noqa: S608


def require_condition(table: TableInfo, condition: str, dialect: str, policy: Policy) -> None:
    """Raise `UsageError` unless a row filter compares a table's own columns with plain values."""
    try:
        _refuse_unless_plain(table, condition, dialect, policy)
    except Refusal as refusal:
        raise UsageError(
            f"The policy's row filter of {table.name} cannot be used: {refusal}. Write "
            "comparisons, IN, BETWEEN, LIKE and IS NULL of its columns with plain values, joined "
            f"by AND, OR and NOT. It is: {condition}"
        ) from refusal


def _refuse_unless_plain(table: TableInfo, condition: str, dialect: str, policy: Policy) -> None:
    statement = f"SELECT 1 FROM {quoted(table.name, policy.quote)} WHERE ({condition})"  # noqa: S608
    parsed = parse(statement, dialect)
    if parsed.text != statement:
        raise Refusal("it has a comment, or a text with a backslash")
    where = parsed.tree.args.get("where")
    filled = {place for place, value in parsed.tree.args.items() if value}
    if (
        where is None
        or not isinstance(where.this, exp.Paren)
        or filled != {"expressions", "from_", "where"}
    ):
        raise Refusal("it is not a single condition")
    columns = {column.name.casefold(): column.name for column in table.columns}
    for node in where.this.walk():
        if isinstance(node, exp.Column) and (
            len(node.parts) > 1 or node.name.casefold() not in columns
        ):
            hint = closest(node.name, columns.values())
            raise Refusal(
                f"'{node.sql()}' is not a column of it, written alone.{hint}".rstrip(".?")
            )
        is_cast = isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal)
        is_call = (
            isinstance(node, exp.Anonymous) and node.name.removeprefix(MARK) in _CONDITION_FUNCTIONS
        )
        if type(node) not in _CONDITION and not is_cast and not is_call:
            kind = (
                node.name.removeprefix(MARK)
                if isinstance(node, exp.Anonymous)
                else type(node).__name__
            )
            raise Refusal(f"it may not have {kind.upper()}")
        if isinstance(node, exp.In) and (node.args.get("query") or node.args.get("field")):
            raise Refusal("IN needs a list of values")


def _literal(mask: Mask) -> str:
    if isinstance(mask, bool):
        return "TRUE" if mask else "FALSE"
    return "'" + mask.replace("'", "''") + "'" if isinstance(mask, str) else repr(mask)
