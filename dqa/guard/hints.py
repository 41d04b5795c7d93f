"""Help the author of a statement that failed: propose names, and list tables and columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from dqa.core.errors import QueryError, StatementError
from dqa.core.fitting import rank_parts
from dqa.core.parts import part_fields, part_name
from dqa.core.schema import DatabaseSchema, NodeInfo, Part, TableInfo, cypher_name, sql_name
from dqa.core.secrets import redact
from dqa.core.text import visible
from dqa.guard.lists import lists
from dqa.guard.parsing import parse
from dqa.guard.verdict import Refusal

_LONGEST_LISTING = 1_500
"""Characters of a list of names."""
_OWNERS = 3
"""Tables or labels that are named as owners of a name."""
_SHOWN = 32
"""Characters of a statement that are shown on either side of a word."""
_OF_PART = re.compile(r"^(?!.*(?:column|property)).*\b(?:table|relation|label)\b", re.IGNORECASE)
"""A problem with the name of a table, a label or a type."""
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
    # SQLite's message, a pattern of the statement, and the function with the advice
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

    alias: str
    table: str | None
    columns: Sequence[str]

    @property
    def has_alias(self) -> bool:
        """Whether it is a table with another name."""
        return self.table is not None and self.table.casefold() != self.alias.casefold()


def closest(
    unknown: str, known: Iterable[str], cutoff: float = 0.5, quote: str = "", *, whole: bool = False
) -> str:
    """Return `` Did you mean 'x'?``, or nothing where no known name is as close as `cutoff`.

    With `quote`, a name that a statement has to quote is shown with its quotes. Of a name with dots
    only the last part is compared, unless it is compared as a `whole`.
    """
    by_lower = {name.lower(): name for name in sorted(known, reverse=True)}
    wanted = (unknown if whole else unknown.rsplit(".", 1)[-1]).lower()
    found = get_close_matches(wanted, by_lower, n=1, cutoff=cutoff)
    if not found:
        return ""
    name = by_lower[found[0]]
    spelled = sql_name(name, quote) if quote else name
    return visible(
        f" Did you mean '{name}'?" + (f" Write it as {spelled}." if spelled != name else "")
    )


def instead_of(function: str, dialect: str) -> str:
    """Return ``In place of f use ...``, or nothing where no advice is known."""
    advice = _advice().get(({"mariadb": "mysql"}.get(dialect, dialect), function.lower()))
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
    """Return `problem` with the most likely name, and the names that exist."""
    parts, named = rank_parts(schema, statement)
    quote = schema.quote if schema.tables else ""
    bare = name.rsplit(".", 1)[-1]
    alias = name.rpartition(".")[0].rpartition(".")[-1].casefold()
    sources = _sources(statement, dialect, schema) if alias and quote else []
    meant = [source for source in sources if source.alias.casefold() == alias]
    if _OF_PART.search(problem):
        hint = closest(bare, map(part_name, parts), quote=quote)
    else:
        hint = _owning(bare, parts, quote)
        if not hint and sources:
            hint = closest(bare, [c for source in meant for c in source.columns], quote=quote)
        elif not hint:
            fields = [f.name for part in parts[:named] or parts for f in part_fields(part)]
            hint = closest(name, [*map(part_name, parts), *fields], quote=quote)
    known = [source for source in meant if source.columns]
    described = "".join(f" {_described(source, quote)}" for source in known[:1])
    rest = [p for p in parts if part_name(p) not in {source.table for source in known}]
    what = "Tables" if schema.tables else "There is"
    what = "Other tables" if len(rest) < len(parts) else what
    listing = f" {what}: {_shortened([_listed(p, quote) for p in rest])}" if rest else ""
    return StatementError(f"{problem}.{visible(hint + described + listing)}")


def _owning(name: str, parts: Sequence[Part], quote: str) -> str:
    """Return which tables or labels have a column or property; nothing where none has it."""
    owners = {
        part_name(part): field.name
        for part in reversed(parts)
        for field in part_fields(part)
        if field.name.lower() == name.lower()
    }
    if not owners:
        return ""
    names = [*reversed(owners)]
    more = f" and {len(names) - _OWNERS} more" if len(names) > _OWNERS else ""
    spelled = owners[names[0]]
    written = sql_name(spelled, quote) if quote else spelled
    advice = "" if written == spelled else f" Write {written}."
    return f" '{name}' is in {', '.join(names[:_OWNERS])}{more}.{advice}"


def _described(source: _Source, quote: str) -> str:
    columns = _shortened([sql_name(column, quote) for column in source.columns], ", ")
    if source.has_alias:
        return f"{source.alias} is {source.table}, whose columns are {columns}"
    return f"The columns of {source.alias} are {columns}"


def with_hints(
    error: QueryError, statement: str, dialect: str, schema: Callable[[], DatabaseSchema | None]
) -> QueryError:
    """Return an engine's error with what helps its statement's author.

    Parameters
    ----------
    error, statement, dialect
        The engine's error, and the statement as it was written.
    schema
        Reads the visible schema; None where it cannot in time.
    """
    advice = " ".join(filter(None, _hints(str(error), statement, dialect, schema)))
    return type(error)(f"{error} {visible(advice)}") if advice else error


def _hints(
    problem: str, statement: str, dialect: str, schema: Callable[[], DatabaseSchema | None]
) -> Iterator[str]:
    near = _NEAR.search(problem)
    if near is not None:
        yield _around(near["word"], near["place"], statement)
    function = _first_group(_NO_FUNCTION, problem)
    if function is not None:
        others = lists(dialect)["functions"] - {function.lower()}
        yield instead_of(function, dialect) or closest(function, others, cutoff=0.8).strip()
    column = _first_group(_AMBIGUOUS, problem)
    known = None if column is None else schema()
    if column is not None and known is not None:
        found = [
            source
            for source in _sources(statement, dialect, known)
            if column.casefold() in map(str.casefold, source.columns)
        ]
        names = " and ".join(s.alias + f" ({s.table})" * s.has_alias for s in found)
        if found:
            yield (
                f"'{column}' is in {names}: write which one is meant, as in "
                f"{found[0].alias}.{column}."
            )
    if _RECURSIVE.search(problem):
        yield "Let the recursive part give plain rows, and aggregate in the SELECT that reads it."
    for said, written, instead in _CLAUSES if dialect == "sqlite" else ():
        if re.search(said, problem) and re.search(written, statement, re.IGNORECASE):
            yield instead_of(instead, dialect)


def _first_group(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return None if found is None else next(filter(None, found.groups()), None)


def _around(word: str, position: str | None, statement: str) -> str:
    """Return what stands around a word, if it is clear which one is meant."""
    found = [match.start() for match in re.finditer(re.escape(word), statement)]
    if position is None and len(found) != 1:
        return ""
    start = found[0] if position is None else int(position) - 1
    begin, end = max(0, start - _SHOWN), start + len(word) + _SHOWN
    shown = " ".join(statement[begin:end].split())
    if not shown or redact(statement) != statement:  # a part of a secret could be shown
        return ""
    return f"It is in: {'...' * (begin > 0)}{shown}{'...' * (end < len(statement))}"


def _sources(statement: str, dialect: str, schema: DatabaseSchema) -> list[_Source]:
    """Return the sources of a statement; nothing where it cannot be parsed."""
    known = {table.name.casefold(): table for table in schema.tables}
    found: dict[str, _Source] = {}
    try:
        for scope in traverse_scope(parse(statement, dialect).tree):
            for alias, (_, source) in scope.selected_sources.items():
                table = known.get(source.name.casefold()) if isinstance(source, exp.Table) else None
                name = None if table is None else table.name
                found.setdefault(alias.casefold(), _Source(alias, name, _columns(source, known)))
    except (Refusal, SqlglotError):
        return []
    return list(found.values())


def _columns(source: exp.Expr | Scope, known: dict[str, TableInfo]) -> Sequence[str]:
    """Return the columns of a table or a query; of ``SELECT *`` only those of one source."""
    if isinstance(source, Scope):
        query = source.expression
        outer = query.parent.args.get("alias") if query.parent is not None else None
        if outer is not None and outer.args.get("columns"):
            return [column.name for column in outer.args["columns"]]
        if isinstance(query, exp.Query) and not query.is_star:
            return query.named_selects
        inner = list(source.selected_sources.values())
        return _columns(inner[0][1], known) if len(inner) == 1 else ()
    table = known.get(source.name.casefold())
    return () if table is None else [column.name for column in table.columns]


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
