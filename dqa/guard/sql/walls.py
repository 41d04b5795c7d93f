"""What lies outside of a database's own schemas, where it has walls.

A situation that is loaded on a server, and anybody's database that is opened there, sees its own
schema alone. Names are not resolved as a server would: one that could lie outside is refused. So
are the catalogues, which tell of everything that the user may see.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlglot import exp

from dqa.guard.names import closest
from dqa.guard.policy import Policy
from dqa.guard.sql.calls import calls
from dqa.guard.sql.lists import AllowLists, lists
from dqa.guard.sql.scope import real_tables
from dqa.guard.sql.text import StatementText
from dqa.guard.verdict import Refusal
from dqa.guard.walls import Walls

_NAME = r"(?:[\w$]+|\"\s*\"|`\s*`)"
_DESCRIBES = re.compile(
    r"\s*(?:show|describe|desc|pragma)\b\s*(?P<what>.*)", re.IGNORECASE | re.DOTALL
)
_QUERY = re.compile(
    r"(?:(?:analyze|extended|partitions|format\s*=\s*\w+)\s*)*"
    r"(?:(?:select|with|from|values|table(?!\s+status))\b|\()",
    re.IGNORECASE,
)
_LIKE = re.compile(r"\b(?:like|where)\b", re.IGNORECASE)
_FROM = re.compile(rf"\b(?:from|in)\b\s*(?P<name>{_NAME}(?:\s*\.\s*{_NAME})*)", re.IGNORECASE)
_OF_A_TABLE = re.compile(
    r"(?:(?:extended|full)\s+)*(?:columns|fields|index|indexes|keys)\b", re.IGNORECASE
)
_CREATE = re.compile(rf"create\s+(?:database|schema)\s+(?P<name>{_NAME})\s*\Z", re.IGNORECASE)
_EVERYTHING = re.compile(r"(?:databases|schemas|all\s+tables)\b", re.IGNORECASE)
_OWN_TABLES = re.compile(r"(?:show_)?tables\b", re.IGNORECASE)
_DUCKDB_EVERYTHING = re.compile(
    r"\Z|(?:show_tables_expanded|show_databases|database_list|database_size)\b", re.IGNORECASE
)
_TABLE_INFO = re.compile(
    r"table_info\s*\(\s*(?P<table>['\"]\s*['\"]|[\w$]+)\s*\)\s*\Z", re.IGNORECASE
)
_OBJECTS = re.compile(
    r"_?reg(?:class|collation|config|dictionary|namespace|oper|operator|proc|procedure|role|type)",
    re.IGNORECASE,
)
"""PostgreSQL's types that take a text for the name of something, or a number for its place; with
an underscore before them the types of their arrays."""
_WORD = re.compile(r"(?P<attribute>\.\s*)?(?:(?<![\w$])(?P<word>[^\W\d][\w$]*)|(?P<quote>\"))")
_SHOWING = frozenset({"desc", "describe", "pragma", "show", "summarize"})
"""What the parser takes for a table in ``FROM (SHOW SCHEMAS)``; DuckDB wants quotes around one."""
_STRUCTURED = frozenset(
    {"from_json", "from_json_strict", "json_transform", "json_transform_strict"}
)
"""DuckDB's functions whose last argument is a text of JSON with the names of types."""
_BUILT_IN = "pg_catalog"
"""The schema of PostgreSQL's own types and collations."""
_DESCRIBED = "the tables that may be read are described already, so write a query of those"
_TWO_ARGUMENTS = frozenset({"format_type", "col_description"})
"""Functions that are never an attribute, which has one argument: a column may have the name."""


class _Name(NamedTuple):
    """A part of a name, as it was written without its quotes."""

    text: str
    quoted: bool


def refuse_outside(
    tree: exp.Expr, text: StatementText, dialect: str, policy: Policy, walls: Walls
) -> None:
    """Refuse a query that names, or could name, what is not the database's own.

    Parameters
    ----------
    tree, text
        The query.
    dialect
        What it is written in.
    policy
        Which other schemas and tables may be read.
    walls
        The policy's.
    """
    inside = _Inside(dialect, policy, walls)
    known = lists(dialect)
    for node in tree.walk():
        if isinstance(node, exp.Table):
            inside.check_table(node, known)
        elif isinstance(node, exp.DataType):
            inside.check_type(node, known)
        elif isinstance(node, exp.Collate) and isinstance(node.expression, exp.Column):
            owner = [_name(part) for part in node.expression.parts[:-1]]
            if [part.text.lower() for part in owner] != [_BUILT_IN]:
                inside.check_owner(owner, "collation")
        elif isinstance(node, exp.Func) and dialect == "duckdb":
            inside.check_structure(node, known)
    if walls.finds_others:
        for table in real_tables(tree):
            if not table.db:
                inside.check_found(table.name)
    _refuse_lookups(text, known, policy)
    if dialect == "postgres":
        _refuse_objects(text, known)


def refuse_outside_listing(text: StatementText, dialect: str, policy: Policy, walls: Walls) -> None:
    """Refuse SHOW, DESCRIBE and PRAGMA of what is not the database's own.

    The tables that they name themselves are judged as a query's.
    """
    match = _DESCRIBES.match(text.code)
    if match is None or _QUERY.match(match["what"]):
        return
    inside = _Inside(dialect, policy, walls)
    start, what = match.start("what"), match["what"]
    if _EVERYTHING.match(what) or (dialect == "duckdb" and _DUCKDB_EVERYTHING.match(what)):
        raise Refusal(f"it would list what lies outside of {inside.own}; {_DESCRIBED}")
    tables = _OWN_TABLES.match(what)
    end = start + len(_LIKE.split(what, maxsplit=1)[0])
    named = list(_FROM.finditer(text.code, start, end))
    lists_others = dialect == "ansi" or (dialect == "duckdb" and walls.finds_others)
    if tables and not named and lists_others:
        raise Refusal(f"it could list tables outside of {inside.own}; {_DESCRIBED}")
    if _OF_A_TABLE.match(what):
        named = named[1:]
    created = _CREATE.match(text.code, start)
    for found in [*named, *([created] if created else [])]:
        parts = _names(text, found.start("name"), found.end("name"))
        inside.check_owner(parts, "schema")
    if dialect == "duckdb" and what.lower().startswith("table_info"):
        _check_table_info(text, start, inside)


def _check_table_info(text: StatementText, start: int, inside: _Inside) -> None:
    info = _TABLE_INFO.match(text.code, start)
    if info is None:
        raise Refusal("PRAGMA table_info needs a table's name")
    written = text.sql[info.start("table") : info.end("table")]
    parts = written.strip("'\"").split(".")
    inside.check_owner([_Name(part, quoted=False) for part in parts[:-1]], "schema")
    if len(parts) == 1:
        inside.check_found(parts[0])


class _Inside:
    """What a statement may name."""

    def __init__(self, dialect: str, policy: Policy, walls: Walls) -> None:
        self._dialect = dialect
        self._policy = policy
        self._walls = walls
        self.own = " or ".join(sorted(walls.schemas)) or "this database"

    def check_table(self, node: exp.Table, known: AllowLists) -> None:
        """Refuse a table that is outside, and a catalogue that needs no schema's name."""
        if not isinstance(node.this, exp.Identifier):
            if isinstance(node.this, exp.Dot) and isinstance(node.this.expression, exp.Identifier):
                raise Refusal("a table's name has too many parts; write its own name alone")
            if self._dialect == "duckdb":  # where the function was looked up by its name alone
                places = (node.args.get(place) for place in ("catalog", "db"))
                self.check_owner([_name(part) for part in places if part], "function")
            return
        owner = [_name(part) for part in node.parts[:-1]]
        name = node.name.casefold()
        if self._dialect == "duckdb" and name in _SHOWING and not node.this.args.get("quoted"):
            raise Refusal(f"{name.upper()} may only stand at the beginning of a statement")
        qualifier = ".".join(part.text for part in owner).casefold()
        if owner and f"{qualifier}.{name}" not in (self._policy.tables or ()):
            self.check_owner(owner, "table", node.name)
        if (
            (not owner or (self._dialect == "duckdb" and self._is_own(owner)))  # main has views
            and self._is_catalogue(name, known)
            and self._policy.columns_of(name) is None
        ):
            raise Refusal(
                f"{name} is a catalogue, and tells of more than {self.own}; {_DESCRIBED} (or let "
                f"the policy's schemas have '*')"
            )

    def _is_catalogue(self, name: str, known: AllowLists) -> bool:
        if name in known.outside_tables or name.startswith(known.system_prefixes):
            return True
        return name in known.tables or f"pg_catalog.{name}" in known.tables

    def check_type(self, node: exp.DataType, known: AllowLists) -> None:
        """Refuse a type that is, or could be, outside: a table's row is one in PostgreSQL."""
        kind = node.args.get("kind")
        if node.this != exp.DType.USERDEFINED or kind is None:
            return
        if isinstance(kind, exp.Expr):
            parts = list(_dotted(kind))
        else:
            parts = [_Name(part.strip('"'), '"' in part) for part in str(kind).split(".")]
        if [part.text.lower() for part in parts[:-1]] != [_BUILT_IN]:
            self.check_owner(parts[:-1], "type", parts[-1].text)
        is_plain = len(parts) == 1 and parts[0].text.lower() in known.syntax
        if len(parts) == 1 and self._walls.finds_others and not is_plain:
            raise Refusal(f"the type {parts[0].text} could be found outside of {self.own}")

    def check_structure(self, node: exp.Func, known: AllowLists) -> None:
        """Refuse types that DuckDB reads from a text, of which one is, or could be, outside."""
        is_anonymous = isinstance(node, exp.Anonymous)
        if (node.name if is_anonymous else node.sql_name()).lower() not in _STRUCTURED:
            return
        arguments = list(node.expressions) if is_anonymous else [node.this, node.expression]
        structure = arguments[-1] if arguments else None
        if not isinstance(structure, exp.Literal) or "\\" in structure.name:
            raise Refusal("the structure of JSON must be a plain text of JSON")
        try:
            types = _texts(json.loads(structure.name))
        except ValueError as error:
            raise Refusal("the structure of JSON must be a plain text of JSON") from error
        for written in types:
            words = {word.lower() for word in re.findall(r"[^\W\d]\w*", written)}
            could_be_outside = "." in written or '"' in written or self._walls.finds_others
            if could_be_outside and not words <= known.syntax:
                raise Refusal(f"the type {written} could be found outside of {self.own}")

    def check_owner(self, owner: Sequence[_Name], what: str, name: str = "") -> None:
        """Refuse a schema that is, or could be, another one; so that what it owns is."""
        if not owner or self._is_named(owner) or self._is_own(owner):
            return
        schema = ".".join(part.text for part in owner)
        written = f"{what} {schema}.{name}" if name else f"{what} {schema}"
        if schema.casefold() in lists(self._dialect).system_schemas:
            raise Refusal(
                f"the {written} is of a catalogue, which tells of more than {self.own}; "
                f"{_DESCRIBED} (or let the policy's schemas name '{schema}')"
            )
        raise Refusal(
            f"the {written} lies outside of {self.own}, whose tables are written without a schema; "
            f"it may be read where the policy's schemas name '{schema}'"
        )

    def _is_named(self, owner: Sequence[_Name]) -> bool:
        """Whether the policy names a schema."""
        return ".".join(part.text for part in owner).casefold() in (self._policy.schemas or ())

    def _is_own(self, owner: Sequence[_Name]) -> bool:
        # Before the schema PostgreSQL takes the name of the database that it is in, and no other.
        if len(owner) > 1 and self._dialect != "postgres":
            return False
        return self._walls.hold(owner[-1].text, self._dialect, quoted=owner[-1].quoted)

    def check_found(self, name: str) -> None:
        """Refuse a table without a schema that may be found in another one."""
        own = self._policy.schema.tables if self._policy.schema is not None else ()
        is_own = self._policy.columns_of(name) is not None
        if not self._walls.finds_others or (is_own and self._walls.finds_own_first):
            return
        if is_own or not self._walls.finds_own_first:
            full = f"{next(iter(sorted(self._walls.schemas)), 'SCHEMA')}.{name}"
            raise Refusal(f"the table {name} could be found outside of {self.own}; write {full}")
        hint = closest(name, [table.name for table in own]) or " Name one that is described"
        raise Refusal(f"the table {name} is no table of {self.own}.{hint}".rstrip(".?"))


def _refuse_lookups(text: StatementText, known: AllowLists, policy: Policy) -> None:
    """Refuse functions that take a text or a number for a table, wherever that is."""
    for call in calls(text):
        if call.name in known.outside_functions and call.full not in policy.functions:
            raise Refusal(
                f"the function {call.full} tells of tables that may be outside; {_DESCRIBED}"
            )


def _refuse_objects(text: StatementText, known: AllowLists) -> None:
    """Refuse what else PostgreSQL takes for a table or a type, by its text."""
    attributes = known.outside_functions - _TWO_ARGUMENTS
    for name, is_attribute in _written_names(text):
        if _OBJECTS.fullmatch(name):
            raise Refusal(f"{name} tells of tables that may be outside; {_DESCRIBED}")
        if is_attribute and name in attributes:
            raise Refusal(f".{name} would call a function that tells of what may be outside")


def _written_names(text: StatementText) -> Iterator[tuple[str, bool]]:
    """Yield every word and quoted name, in lower case, and whether it stands behind a dot."""
    ends = {part.start: part.end for part in text.quoted}
    for match in _WORD.finditer(text.code):
        is_attribute = match["attribute"] is not None
        if match["word"] is not None:
            yield match["word"].lower(), is_attribute
        elif (end := ends.get(match.start("quote"))) is not None:
            yield text.sql[match.start("quote") + 1 : end].lower(), is_attribute


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a value of JSON, but for the names of its fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _name(part: exp.Expr) -> _Name:
    return _Name(part.name, bool(part.args.get("quoted")))


def _dotted(node: exp.Expr) -> Iterator[_Name]:
    """Yield the parts of a name with dots, which the parser keeps in pairs."""
    if isinstance(node, exp.Dot):
        yield from _dotted(node.this)
        yield from _dotted(node.expression)
    else:
        yield _name(node)


def _names(text: StatementText, start: int, end: int) -> list[_Name]:
    """Return the parts of a name with dots."""
    found = []
    for part in re.finditer(_NAME, text.code[start:end]):
        written = text.sql[start + part.start() : start + part.end()]
        quote = written[0] if written[0] in '"`' else ""
        inner = written[1:-1].replace(quote * 2, quote) if quote else written
        found.append(_Name(inner, bool(quote)))
    return found
