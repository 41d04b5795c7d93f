"""Help the author of a statement that failed: what was meant, and what there is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from sqlglot import exp

from dqa.core.errors import QueryError, StatementError
from dqa.core.fitting import rank_parts
from dqa.core.parts import part_fields, part_name
from dqa.core.schema import DatabaseSchema, NodeInfo, Part, TableInfo, cypher_name, sql_name
from dqa.core.secrets import redact
from dqa.guard.lists import lists
from dqa.guard.parsing import Parsed, parse
from dqa.guard.verdict import Refusal

_LONGEST_LISTING = 1_500
"""Characters of a list of names."""
_OF_PART = re.compile(r"^(?!.*(?:column|property)).*\b(?:table|relation|label)\b", re.IGNORECASE)
"""A problem with the name of a table, a label or a type."""
_OWNERS = 3
"""Tables or labels that are named as owners of a name."""
_SHOWN = 32
"""Characters of a statement that are shown on either side of a place."""
_NEAR = re.compile(r'(?:near |at or near )"(?P<word>[^"]+)"(?: at character (?P<place>\d+))?')
_NO_FUNCTION = re.compile(
    r"no such function: (\w+)|function (\w+)\(.*\) does not exist|FUNCTION (?:\w+\.)?(\w+) does not"
    r"|Function with name (\w+) does not exist",
    re.IGNORECASE,
)
_AMBIGUOUS = re.compile(
    r"ambiguous column name: (?:\w+\.)?(\w+)|column reference \"([^\"]+)\" is ambiguous"
    r"|Column '(?:\w+\.)?([^']+)' in .* is ambiguous"
)
_CLAUSES = (
    # what SQLite says, what the statement has, and the function whose advice helps
    ('near "FROM"', r"\bextract\s*\(", "extract"),
    (r'near "\("', r"\bleft\s*\(", "left"),
    (r'near "\("', r"\bright\s*\(", "right"),
    (r'near "\("', r"\bwithin\s+group\b", "percentile_cont"),
    ('near "SETS"', "", "cube"),
)
_RECURSIVE = re.compile(
    "recursive aggregate queries not|aggregate functions are not allowed in a rec"
)


@dataclass(frozen=True, slots=True)
class _Source:
    """Something that a statement reads: its name there, the table that it is, and its columns."""

    called: str
    table: str | None
    columns: tuple[str, ...]

    @property
    def text(self) -> str:
        has_alias = self.table is not None and self.table.casefold() != self.called.casefold()
        return f"{self.called} ({self.table})" if has_alias else self.called


def closest(unknown: str, known: Iterable[str], cutoff: float = 0.5, quote: str = "") -> str:
    """Return `` Did you mean 'x'?``, or nothing where no known name is as close as `cutoff`.

    With `quote`, a name that a statement has to quote is shown with its quotes.
    """
    by_lower = {name.lower(): name for name in sorted(known, reverse=True)}
    found = get_close_matches(unknown.rsplit(".", 1)[-1].lower(), by_lower, n=1, cutoff=cutoff)
    if not found:
        return ""
    name = by_lower[found[0]]
    spelled = sql_name(name, quote) if quote else name
    if spelled != name:
        return f" Did you mean '{name}'? Write it as {spelled}."
    return f" Did you mean '{name}'?"


def instead_of(function: str, dialect: str) -> str:
    """Return ``In place of f use ...``, or nothing where no advice is known."""
    dialect = {"mariadb": "mysql"}.get(dialect, dialect)
    advice = _advice().get((dialect, function.lower()))
    return f"In place of {function} use {advice}." if advice else ""


@cache
def _advice() -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    dialect = ""
    for line in files(lists.__module__).joinpath("instead.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            dialect = line.strip("[]")
        elif ": " in line and not line.startswith("#"):
            name, _, advice = line.partition(": ")
            found[dialect, name] = advice
    return found


def unknown_name(
    problem: str, name: str, schema: DatabaseSchema, statement: str, dialect: str
) -> StatementError:
    """Return `problem` with what was most likely meant, and what there is."""
    parts, named = rank_parts(schema, statement)
    alias, _, column = name.rpartition(".")
    alias = alias.rpartition(".")[-1].casefold()
    sources = _sources(statement, dialect, schema) if alias and column and schema.tables else []
    behind = [source for source in sources if source.called.casefold() == alias]
    meant = _near_part(problem, name, parts, schema)
    meant = meant or _meant(name, parts, named, behind if sources else None, schema)
    known = [source for source in behind if source.columns]
    columns = "".join(f" {text}" for text in dict.fromkeys(_columns(s, schema) for s in known))
    shown = {source.table for source in known}
    rest = [_listed(part, schema.quote) for part in parts if part_name(part) not in shown]
    what = "Tables" if schema.tables else "There is"
    what = "Other tables" if len(rest) < len(parts) else what
    listing = f" {what}: {_shortened(rest)}" if rest else ""
    return StatementError(f"{problem}.{meant}{columns}{listing}")


def with_hints(
    error: QueryError, statement: str, dialect: str, schema: Callable[[], DatabaseSchema | None]
) -> QueryError:
    """Return an engine's error with what helps its statement's author.

    Parameters
    ----------
    error, statement, dialect
        What the engine said of what was written.
    schema
        Reads what may be read; None where it cannot in time.
    """
    advice = " ".join(filter(None, _hints(str(error), statement, dialect, schema)))
    return type(error)(f"{error} {advice}") if advice else error


def _hints(
    problem: str, statement: str, dialect: str, schema: Callable[[], DatabaseSchema | None]
) -> Iterator[str]:
    near = _NEAR.search(problem)
    if near is not None:
        yield _place(near["word"], near["place"], statement)
    function = _first_group(_NO_FUNCTION, problem)
    if function is not None:
        others = lists(dialect).functions - {function.lower()}
        yield instead_of(function, dialect) or closest(function, others, cutoff=0.8).strip()
    column = _first_group(_AMBIGUOUS, problem)
    known = None if column is None else schema()
    if column is not None and known is not None:
        yield _owners(column, _sources(statement, dialect, known))
    if _RECURSIVE.search(problem):
        yield "Let the recursive part give plain rows, and aggregate in the SELECT that reads it."
    for said, written, instead in _CLAUSES:
        if (
            dialect == "sqlite"
            and re.search(said, problem)
            and re.search(written, statement, re.IGNORECASE)
        ):
            yield instead_of(instead, dialect)


def _first_group(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return None if found is None else next(filter(None, found.groups()), None)


def _place(word: str, place: str | None, statement: str) -> str:
    """Return what stands around a word, if it is clear which one is meant."""
    found = [match.start() for match in re.finditer(re.escape(word), statement)]
    if place is None and len(found) != 1:
        return ""
    start = found[0] if place is None else int(place) - 1
    begin, end = max(0, start - _SHOWN), start + len(word) + _SHOWN
    shown = " ".join(statement[begin:end].split())
    if not shown or redact(statement) != statement:  # a part of a secret could be shown
        return ""
    return f"It is in: {'...' * (begin > 0)}{shown}{'...' * (end < len(statement))}"


def _owners(column: str, sources: Sequence[_Source]) -> str:
    """Return which sources of the statement have a column."""
    found = [s.text for s in sources if column.casefold() in map(str.casefold, s.columns)]
    if not found:
        return ""
    first = found[0].partition(" ")[0]
    names = " and ".join(dict.fromkeys(found))
    return f"'{column}' is in {names}: write which one is meant, as in {first}.{column}."


def _sources(statement: str, dialect: str, schema: DatabaseSchema) -> list[_Source]:
    """Return what a statement reads; nothing where it cannot be parsed."""
    try:
        parsed = parse(statement, dialect)
    except Refusal:
        return []
    known = {table.name.casefold(): table for table in schema.tables}
    found = [
        _Source(node.alias or node.name, table.name, tuple(c.name for c in table.columns))
        for node in parsed.tables
        if (table := known.get(node.name.casefold())) is not None
    ]
    return [*found, *_results(parsed, {source.called.casefold(): source for source in found})]


def _results(parsed: Parsed, tables: dict[str, _Source]) -> Iterator[_Source]:
    """Yield parts of WITH, and sub-queries of FROM."""
    parts: dict[str, tuple[str, ...]] = {}
    for node in parsed.nodes:
        if (
            isinstance(node, exp.CTE | exp.Subquery)
            and node.alias
            and isinstance(node.this, exp.Query)
        ):
            columns = tuple(node.alias_column_names) or _selected(node.this, tables)
            parts[node.alias.casefold()] = columns
            yield _Source(node.alias, None, columns)
    for node in parsed.nodes:
        if isinstance(node, exp.Table) and node.alias and node.name.casefold() in parts:
            yield _Source(node.alias, None, parts[node.name.casefold()])


def _selected(query: exp.Query, tables: dict[str, _Source]) -> tuple[str, ...]:
    """Return the columns of a query; of ``SELECT *`` only those of one table."""
    if not query.is_star:
        return tuple(query.named_selects)
    from_ = query.args.get("from_")
    if from_ is None or query.args.get("joins") or len(query.selects) != 1:
        return ()
    source = tables.get(from_.this.alias_or_name.casefold())
    return source.columns if source is not None else ()


def _columns(source: _Source, schema: DatabaseSchema) -> str:
    columns = _shortened([sql_name(column, schema.quote) for column in source.columns], ", ")
    if source.table is None or source.table.casefold() == source.called.casefold():
        return f"The columns of {source.called} are {columns}"
    return f"{source.called} is {source.table}, whose columns are {columns}"


def _near_part(problem: str, name: str, parts: Sequence[Part], schema: DatabaseSchema) -> str:
    """Return the closest table, label or type, where a problem says that one is meant."""
    if _OF_PART.search(problem) is None:
        return ""
    quote = schema.quote if schema.tables else ""
    return closest(name.rsplit(".", 1)[-1], map(part_name, parts), quote=quote)


def _meant(
    name: str,
    parts: Sequence[Part],
    named: int,
    behind: Sequence[_Source] | None,
    schema: DatabaseSchema,
) -> str:
    """Return where a name is, or the closest one to it."""
    bare = name.rsplit(".", 1)[-1]
    quote = schema.quote if schema.tables else ""
    owners = [
        part for part in parts if any(f.name.lower() == bare.lower() for f in part_fields(part))
    ]
    if owners:
        spelled = next(f.name for f in part_fields(owners[0]) if f.name.lower() == bare.lower())
        written = sql_name(spelled, quote) if quote else spelled
        more = f" and {len(owners) - _OWNERS} more" if len(owners) > _OWNERS else ""
        names = ", ".join(map(part_name, owners[:_OWNERS]))
        return f" '{bare}' is in {names}{more}." + (
            "" if written == spelled else f" Write {written}."
        )
    if behind is not None:
        return closest(
            bare, [column for source in behind for column in source.columns], quote=quote
        )
    near = parts[:named] or parts
    fields = [field.name for part in near for field in part_fields(part)]
    return closest(name, [*map(part_name, parts), *fields], quote=quote)


def _listed(part: Part, quote: str) -> str:
    """Return a part and its fields, spelled as a statement has to spell them."""
    if isinstance(part, TableInfo):
        columns = ", ".join(sql_name(column.name, quote) for column in part.columns)
        return f"{sql_name(part.name, quote)}({columns})"
    fields = ", ".join(cypher_name(field.name) for field in part.properties)
    element = f":{cypher_name(part.label)} {{{fields}}}"
    if isinstance(part, NodeInfo):
        return f"({element})"
    return f"(:{cypher_name(part.source)})-[{element}]->(:{cypher_name(part.target)})"


def _shortened(items: Sequence[str], between: str = "; ") -> str:
    length, shown = 0, []
    for item in items:
        length += len(item)
        if length > _LONGEST_LISTING:
            break
        shown.append(item)
    more = len(items) - len(shown)
    return between.join(shown) + (f"{between}and {more} more" if more else "") + "."
