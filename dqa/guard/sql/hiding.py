"""Rewrites a query so that masked values and rows that a filter leaves out are never read.

Every table that hides something becomes a derived table of the same name, columns and order, in
which masks stand for values and the filter has left its rows out. What is around it stays as it
was written, so whatever reads the table reads what may be read: by name, by `*`, by place, as a
whole row, through `USING` or an alias. Nothing has to be known of the statement but where it names
a table; and that is checked twice, for the statement with those names gone must name none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from dqa.core.schema import TableInfo, quoted
from dqa.guard.hidden import Mask
from dqa.guard.names import closest
from dqa.guard.policy import Policy
from dqa.guard.sql import describing, parsing, text
from dqa.guard.sql.lists import lists
from dqa.guard.sql.scope import (
    SEARCHED,
    real_tables,
    refuse_sources_of_functions,
    searches,
)
from dqa.guard.verdict import Refusal

FENCES: Mapping[str, str] = {
    "postgres": "OFFSET 0",
    "duckdb": "OFFSET 0",
    "sqlite": "LIMIT -1",
    "mysql": "LIMIT 18446744073709551615",
    "mariadb": "LIMIT 18446744073709551615",
}
"""What keeps a planner from looking at a row, and failing on it, before the filter has. The
dialects that can be rewritten."""
_NOTHING = "1 = 0"
_BEFORE = re.compile(r"(?:\b(?:from|join|straight_join)|[,(])\s*\Z", re.IGNORECASE)
"""What stands before a table that may be replaced by a query."""
_PLAIN = frozenset({"this", "db", "catalog", "alias", "joins"})
_TELLS = re.compile(r"\s*show\b.*?\b(?:warnings|errors|status)\b", re.IGNORECASE | re.DOTALL)
_SPARE = frozenset({"sqlite_master", "sqlite_schema"})
"""Catalogues that tell of structure alone."""
_ROW_NUMBERS = frozenset({"rowid", "oid", "_rowid_"})
_KEPT = 1_024


@dataclass(frozen=True, slots=True)
class _Reference:
    """Where a statement names a table that hides something."""

    node: exp.Table
    start: int
    end: int
    written: str
    called: str
    """What has to be written behind it, so that it keeps its name."""


@lru_cache(maxsize=_KEPT)
def rewritten(statement: str, dialect: str, policy: Policy, *, empty: bool = False) -> str:
    """Return an allowed statement as it may run: without what `policy` hides.

    Parameters
    ----------
    statement, dialect
        What was written, and in what.
    policy
        What hides it, with the database's schema.
    empty
        Whether filtered tables have no rows at all: what fails then, fails whatever they hold.

    Raises
    ------
    Refusal
        It cannot be told with certainty what it reads.
    """
    read = text.read(statement, dialect)
    references = _references(read, dialect, policy)
    parts: list[str] = []
    done = 0
    for reference in references:
        parts += read.sql[done : reference.start], _derived(reference, dialect, policy, empty=empty)
        parts.append(reference.called)
        done = reference.end
    return "".join((*parts, read.sql[done:])) if parts else statement


def refuse_unless_certain(statement: str, dialect: str, policy: Policy) -> None:
    """Refuse a statement that cannot be rewritten with certainty."""
    _references(text.read(statement, dialect), dialect, policy)


def probes(table: TableInfo, dialect: str, policy: Policy) -> Iterator[str]:
    """Yield queries that read no row of a table, to see that it can be rewritten."""
    quote = policy.schema.quote if policy.schema is not None else '"'
    name = quoted(table.name, quote)
    rows = _query_of(table, name, dialect, policy, _filter_of(table.name, policy))
    yield f"SELECT 1 FROM {rows} AS {name} WHERE {_NOTHING}"  # noqa: S608
    masked = [
        _item(quoted(column.name, quote), mask)
        for column in table.columns
        if (mask := _mask_of(table.name, column.name, policy)) is not None
    ]
    if masked:  # of a row in which all is null: some engines look at a mask only when it is shown
        one = f"(SELECT 1 AS dqa_one) AS dqa_rows LEFT JOIN {name} ON {_NOTHING}"
        yield f"SELECT {', '.join(masked)} FROM {one}"  # noqa: S608


def reads_filtered(statement: str, dialect: str, policy: Policy) -> bool:
    """Whether an allowed statement names a table of which not all rows may be read."""
    filtered = {name.casefold() for name in policy.row_filters}
    read = text.read(statement, dialect)
    return any(r.node.name.casefold() in filtered for r in _references(read, dialect, policy))


def hiding(policy: Policy) -> frozenset[str]:
    """Return the tables that hide something, in lower case."""
    masked = {name.rpartition(".")[0].casefold() for name in policy.masks}
    if policy.schema is not None:
        masked = {
            table.name.casefold()
            for table in policy.schema.tables
            for column in table.columns
            if _mask_of(table.name, column.name, policy) is not None
        }
    return frozenset({*masked, *(name.casefold() for name in policy.row_filters)})


def _references(read: text.StatementText, dialect: str, policy: Policy) -> list[_Reference]:
    query = describing.query_of(read, dialect, policy)
    hidden = hiding(policy)
    if query is None:
        if _TELLS.match(read.code):
            raise Refusal("it may tell of what other statements have met, which may be hidden")
        return []
    parsed = parsing.parse(query, dialect)
    tree = parsed.tree
    tables = (node for node in parsed.nodes if isinstance(node, exp.Table))
    found = [node for node in tables if node.name.casefold() in hidden]
    _refuse_others(tree, dialect, policy, hidden)
    if query is not read and found:
        raise Refusal(
            f"{found[0].name} hides some of what it holds, and what describes it or its plan may "
            "tell of that; write a query of it"
        )
    if not found:
        return []
    # SQLite looks through the query that a table becomes, and searches the index within.
    if dialect == "sqlite" and any(map(searches, parsed.nodes)):
        raise Refusal(SEARCHED)
    _refuse_schemas(tree, hidden, dialect)
    references = sorted((_reference(node, read) for node in found), key=lambda r: r.start)
    _refuse_unless_all(read, references, hidden, dialect)
    return references


def _refuse_others(tree: exp.Expr, dialect: str, policy: Policy, hidden: frozenset[str]) -> None:
    """Refuse what might show the same rows under another name."""
    telling = policy.protection.telling if policy.protection is not None else frozenset[str]()
    for part in tree.find_all(exp.CTE):
        if part.alias.casefold() in hidden | telling:
            raise Refusal(
                f"the WITH part {part.alias} has the name of a table that hides some of what it "
                "holds; give it another name"
            )
    refuse_sources_of_functions(tree)
    for node in real_tables(tree):
        if node.name.casefold() not in hidden:
            _refuse_other(node, dialect, policy, telling)


def _refuse_other(node: exp.Table, dialect: str, policy: Policy, telling: frozenset[str]) -> None:
    name, owner = node.name.casefold(), node.db.casefold()
    if name in policy.unmasked or f"{owner}.{name}" in policy.unmasked:
        return
    if name in telling:
        raise Refusal(
            f"{node.name} reads a table that hides some of what it holds; the policy may give it "
            "masks of its own, or name it in unmasked"
        )
    known = lists(dialect)
    if f"{owner}.{name}".strip(".") in known.tables or f"pg_catalog.{name}" in known.tables:
        if name not in _SPARE and policy.columns_of(name) is None:
            raise Refusal(f"the catalogue {node.name} may tell of what is hidden; leave it out")
        return
    if policy.schema is None:
        return
    own = policy.protection.namespace if policy.protection is not None else None
    if owner and own is not None and owner != own.casefold():
        raise Refusal(
            f"{node.db}.{node.name} is of another schema, and could show what is hidden; the "
            f"policy's unmasked may name it"
        )
    if policy.columns_of(name) is None:
        hint = closest(name, [table.name for table in policy.schema.tables])
        raise Refusal(
            f"there is no table {node.name}, or none that may be read.{hint}".rstrip(".?")
        )


def _refuse_schemas(tree: exp.Expr, hidden: frozenset[str], dialect: str) -> None:
    """Refuse columns that are written in a way that a query in a table's place has not."""
    for column in tree.find_all(exp.Column):
        if column.db and column.table.casefold() in hidden:
            raise Refusal(f"write {column.table}.{column.name} without a schema before it")
        if dialect == "sqlite" and column.name.casefold() in _ROW_NUMBERS:
            raise Refusal(f"{column.name} may be a value that is hidden; name a column")


def _reference(node: exp.Table, read: text.StatementText) -> _Reference:
    """Return where a table stands, if it can be replaced there."""
    odd = sorted(place for place, held in node.args.items() if held and place not in _PLAIN)
    if odd:
        raise Refusal(f"{node.name} hides some of what it holds, and may not have {odd[0].upper()}")
    places = [part.meta for part in node.parts]
    if not all("start" in place and "end" in place for place in places):
        raise _unclear(node)
    start, end = min(p["start"] for p in places), max(p["end"] for p in places) + 1
    last = read.sql[places[-1]["start"] : places[-1]["end"] + 1]
    is_named = last == node.name or last[1:-1] == node.name.replace(last[-1], 2 * last[-1])
    is_placed = isinstance(node.parent, exp.From | exp.Join | exp.Subquery)
    if not is_named or not is_placed or _BEFORE.search(read.code[:start]) is None:
        raise _unclear(node)
    called = "" if node.args.get("alias") is not None else f" AS {last}"
    return _Reference(node, start, end, read.sql[start:end], called)


def _unclear(node: exp.Table) -> Refusal:
    return Refusal(
        f"{node.name} hides some of what it holds, and may only be read where a sub-query could "
        "stand: behind FROM or JOIN"
    )


def _refuse_unless_all(
    read: text.StatementText, references: list[_Reference], hidden: frozenset[str], dialect: str
) -> None:
    """Refuse a statement that still names what hides something, when all that was found is gone."""
    sql, code = read.sql, read.code
    for number, reference in reversed(list(enumerate(references))):
        name = f"dqa_hidden_{number}{reference.called}"
        sql = sql[: reference.start] + name + sql[reference.end :]
        code = code[: reference.start] + name + code[reference.end :]
    again = text.read(sql, dialect)
    nodes = parsing.parse(again, dialect).nodes
    left = [node.name.casefold() for node in nodes if isinstance(node, exp.Table)]
    expected = {f"dqa_hidden_{number}" for number in range(len(references))}
    replaced = [name for name in left if name.startswith("dqa_hidden_")]
    if hidden & set(left) or set(replaced) != expected or len(replaced) != len(expected):
        raise _unclear(references[0].node)


def _derived(reference: _Reference, dialect: str, policy: Policy, *, empty: bool) -> str:
    table = _table(reference.node.name, policy)
    condition = _filter_of(table.name, policy)
    if empty and condition:
        condition = _NOTHING
    return _query_of(table, reference.written, dialect, policy, condition)


def _table(name: str, policy: Policy) -> TableInfo:
    tables = policy.schema.tables if policy.schema is not None else ()
    found = [table for table in tables if table.name.casefold() == name.casefold()]
    if len(found) != 1:
        raise Refusal(f"the columns of {name} are not known, so nothing of it can be masked")
    return found[0]


def _query_of(table: TableInfo, written: str, dialect: str, policy: Policy, condition: str) -> str:
    """Return a query in brackets that gives a table as it may be read."""
    quote = policy.schema.quote if policy.schema is not None else '"'
    items = ", ".join(
        _item(quoted(column.name, quote), _mask_of(table.name, column.name, policy))
        for column in table.columns
    )
    if condition:
        fence = FENCES[dialect]
        rows = f"(SELECT * FROM {written} WHERE ({condition}) {fence}) AS dqa_rows"  # noqa: S608
    else:
        rows = written
    return f"(SELECT {items} FROM {rows})"  # noqa: S608


def _item(column: str, mask: tuple[Mask] | None) -> str:
    """Return a column as it is read: a mask has its type, for the value is read in no row."""
    if mask is None:
        return column
    other = "" if mask[0] is None else f" ELSE {_literal(mask[0])}"
    return f"CASE WHEN {_NOTHING} THEN {column}{other} END AS {column}"


def _literal(mask: Mask) -> str:
    if isinstance(mask, bool):
        return "TRUE" if mask else "FALSE"
    return "'" + mask.replace("'", "''") + "'" if isinstance(mask, str) else repr(mask)


def _mask_of(table: str, column: str, policy: Policy) -> tuple[Mask] | None:
    """Return the mask of a column in a tuple, since it may be None."""
    return _masks(policy).get(f"{table}.{column}".casefold())


@lru_cache(maxsize=64)
def _masks(policy: Policy) -> Mapping[str, tuple[Mask]]:
    return {name.casefold(): (mask,) for name, mask in policy.masks.items()}


def _filter_of(table: str, policy: Policy) -> str:
    by_name = {name.casefold(): condition for name, condition in policy.row_filters.items()}
    return by_name.get(table.casefold(), "")
