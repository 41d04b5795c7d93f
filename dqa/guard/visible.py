"""Return the part of a schema that a policy shows, and answer SHOW, DESCRIBE and PRAGMA from it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from dqa.core.database import Rows
from dqa.core.errors import UnknownReferenceError, UsageError
from dqa.core.schema import DatabaseSchema, EdgeInfo, NodeInfo, Part, TableInfo, replace_fields
from dqa.guard.check import Refusal
from dqa.guard.hints import closest
from dqa.guard.lists import lists
from dqa.guard.policy import Policy, small
from dqa.guard.policy_fields import OF_GRAPH

if TYPE_CHECKING:
    from dqa.core.situation import Schema

_NAME = re.compile(r"\w+")
_KINDS = {
    **dict.fromkeys(("tables", "unmasked", "row_filters"), "table"),
    **dict.fromkeys(("columns", "denied_columns", "masks"), "column"),
    "labels": "label",
    "relationship_types": "relationship type",
    **dict.fromkeys(("properties", "denied_properties"), "property"),
}
"""The attributes of a policy that name parts of a schema, with the kinds of these parts."""


def visible_schema(schema: DatabaseSchema, dialect: str, policy: Policy) -> DatabaseSchema:
    """Return the tables, columns, labels, relationship types and properties that may be read.

    A comment that contains a hidden name is omitted. If a table may be hidden, all notes are
    omitted.
    """
    shown, form = (policy.in_small_letters, small) if dialect == "ladybug" else (policy, str)
    repeated = schema.repeated_names or ()

    def shows(part: Part) -> bool:
        if isinstance(part, TableInfo):
            # A repeated name describes the table of the first schema, which may not be listed.
            name = part.name.casefold()
            is_other = name in repeated and policy.owner_of(name)
            return policy.shows_table(part.name) and not is_other
        if isinstance(part, EdgeInfo):
            ends = map(form, (part.source, part.target))
            return shown.shows_type(form(part.label)) and all(map(shown.shows_label, ends))
        return shown.shows_label(form(part.label))

    def visible(part: Part) -> Part:
        if isinstance(part, TableInfo):
            fields = [c for c in part.columns if policy.allows_column(part.name, c.name)]
        else:
            owner = form(part.name)
            fields = [f for f in part.fields if shown.shows_property(owner, form(f.name))]
        names = {field.name for field in fields}
        secret = hidden | {f.name.casefold() for f in part.fields if f.name not in names}
        fields = [
            replace(
                field,
                comment=_without(field.comment, secret),
                masked=f"{part.name}.{field.name}".casefold() in policy.masks,
            )
            for field in fields
        ]
        # The comment of a relationship type may count relationships of a hidden label.
        comment = "" if part.name.casefold() in hidden else _without(part.comment, secret)
        changes: dict[str, object] = {"comment": comment}
        if isinstance(part, TableInfo):
            changes["key"] = part.key if names.issuperset(part.key) else ()
            changes["references"] = tuple(
                (column, other, key)
                for column, other, key in part.references
                if column in names
                and policy.shows_table(other)
                and policy.allows_column(other, key)
            )
        elif isinstance(part, NodeInfo) and part.key not in names:
            changes["key"] = None
        return replace_fields(part, fields, **changes)

    hidden = {part.name.casefold() for part in schema.parts if not shows(part)}
    if not (hidden or policy.restricts or policy.limits_graph):
        return schema
    parts = schema.replace_parts([visible(part) for part in schema.parts if shows(part)])
    return parts if schema.nodes else replace(parts, notes=(), repeated_names=None)


def _without(comment: str, hidden: Collection[str]) -> str:
    """Return a comment, or an empty string if the comment contains a hidden name."""
    return "" if set(hidden) & set(map(str.casefold, _NAME.findall(comment))) else comment


def add_descriptions(schema: DatabaseSchema, scenario: Schema) -> DatabaseSchema:
    """Return a schema with a scenario's descriptions for parts that have no comment.

    Parameters
    ----------
    schema
        The schema of the database.
    scenario
        The tables, nodes and edges of the scenario. Parts that the database lacks are ignored.
    """
    elements = {("label", node.label): node for node in scenario.nodes} | {
        ("relationship type", edge.label): edge for edge in scenario.edges
    }
    tables = {table.name.casefold(): table for table in scenario.tables}

    def describe(part: Part) -> Part:
        element = elements.get((part.kind, part.name))
        name = part.name if isinstance(part, TableInfo) else element.table if element else ""
        table = tables.get(name.casefold())
        if table is None:
            return part
        columns = dict(element.properties) if element else {f.name: f.name for f in part.fields}
        comments = {column.name.casefold(): column.description for column in table.columns}
        found = [comments.get(columns.get(field.name, "").casefold(), "") for field in part.fields]
        pairs = zip(part.fields, found, strict=True)
        fields = [replace(field, comment=field.comment or comment) for field, comment in pairs]
        return replace_fields(part, fields, comment=part.comment or table.description)

    return schema.replace_parts([describe(part) for part in schema.parts])


def require_known(policy: Policy, schemas: Sequence[DatabaseSchema], *, fold: bool = False) -> None:
    """Refuse a policy with unknown names, because a misspelt name protects nothing.

    Parameters
    ----------
    policy
        The policy. Attributes for graphs are checked only if `schemas` contains a graph, and
        attributes for tables only if it contains a relational database. A table with a schema
        prefix is not checked, because it may be in another schema.
    schemas
        The complete schemas of all databases that use the policy.
    fold
        Whether the names in a graph are compared without regard to case.

    Raises
    ------
    UsageError
        A name of the policy is in none of the schemas; the message suggests the most similar name.
    """
    elsewhere = {name.rpartition(".")[2] for name in policy.tables or () if "." in name}
    parts = [part for schema in schemas for part in schema.parts]
    for what, kind in _KINDS.items():
        is_of_graph = what in OF_GRAPH
        here = [part for part in parts if isinstance(part, TableInfo) is not is_of_graph]
        form = (small if fold else str) if is_of_graph else str.casefold
        known = [name for part in here for name in _names_of(part, what)]
        existing = set(map(form, known))
        for name in sorted(getattr(policy, what) or ()) if here else ():
            owner = name.rpartition(".")[0]
            is_elsewhere = owner in elsewhere or (what in {"tables", "unmasked"} and owner)
            if form(name) not in existing and not is_elsewhere:
                hint = closest(name, known, whole=True)
                full = "table or view" if kind == "table" else kind
                raise UsageError(
                    f"The policy's {what} contains '{name}', but there is no such {full}.{hint}"
                )


def _names_of(part: Part, what: str) -> list[str]:
    """Return the entries of the policy attribute `what` that are valid for `part`."""
    if _KINDS[what] not in {"column", "property"}:
        return [part.name] if _KINDS[what] == part.kind else []
    names = [field.name for field in part.fields]
    return [f"{part.name}.{name}" for name in names] + names * what.startswith("denied")


# SHOW, DESCRIBE and PRAGMA are "describing statements". dqa answers them from the visible schema,
# in the same way for every SQL database. The engine never runs them.

Form: TypeAlias = tuple[str, Mapping[str, str | None]]
"""A parsed describing statement: its kind (a key of `_FORMS`), and its parts by name."""
_WRITTEN = r"(?:[\w$]+|\"[^\"]*\"|`[^`]*`|\[[^\]]*\])"
DESCRIBING = re.compile(r"(?:desc|describe|explain|pragma|show)(?!\S)", re.IGNORECASE)
"""The beginning of a describing statement."""
_TEXT = r"'[^']*'"
_NO_QUERY = r"(?!(?:select|with|values|from|pivot|summarize)\b)"
"""Excludes EXPLAIN before a query, because the engine must explain the plan of a query."""
_TABLE = rf"(?P<table>{_WRITTEN}(?: ?\. ?{_WRITTEN}){{0,2}}|{_TEXT})"
_SCHEMA = rf"(?: (?:from|in) (?P<schema>{_WRITTEN}))?"
_LIKE = (
    r"(?: (?:like|where `?(?:name|field|tables_in_[\w$]+)`? ?(?:(?P<equal>=)|like)) ?"
    rf"(?P<like>{_TEXT}))?"
)


_FORMS = {
    "tables": rf"show(?: full| extended| all)? (?:tables|table status){_SCHEMA}{_LIKE}"
    r"|pragma (?:show_tables|show_tables_expanded|table_list)|show|describe|desc",
    "schemas": rf"show (?:databases|schemas){_LIKE}",
    "columns": rf"(?:describe|desc|explain) (?:table )?{_NO_QUERY}{_TABLE}"
    rf"(?: (?P<like>{_WRITTEN}|{_TEXT}))?",
    "fields": rf"show(?: full| extended)? (?:columns|fields|index|indexes|keys) (?:from|in) "
    rf"{_TABLE}{_SCHEMA}(?:{_LIKE}| where key_name ?= ?'primary')",
    "create": rf"show create (?:table|view) {_TABLE}",
    "pragma": rf"pragma (?:{_WRITTEN} ?\. ?)?(?:table_x?info|index_list|foreign_key_list) ?"
    rf"\( ?{_TABLE} ?\)",
    "duckdb": rf"show {_TABLE}",
}
"""The patterns of describing statements by kind. All kinds after ``schemas`` describe a table."""


def describing_form(text: str, dialect: str, policy: Policy) -> Form | None:
    """Parse a statement such as SHOW or DESCRIBE; return None if the engine must run it.

    Raises
    ------
    Refusal
        The statement describes another schema or the server.
    """
    for kind, pattern in _FORMS.items():
        # A space in a pattern matches any white space; ` ?` also matches none.
        spaced = pattern.replace(" ", r"\s+").replace(r"\s+?", r"\s*")
        match = re.fullmatch(spaced, text, re.IGNORECASE)
        if match is not None and (kind != "duckdb" or dialect == "duckdb"):
            found = match.groupdict()
            _refuse_other_schema(found, dialect, policy)
            return kind, found
    first = text.split(maxsplit=1)[0].upper()
    if first in {"SHOW", "PRAGMA"}:
        raise Refusal(f"this form of {first} is not allowed; use SHOW TABLES or DESCRIBE")
    return None


def _pattern(like: str) -> str:
    """Return a LIKE pattern as a regular expression that never backtracks behind a found part."""
    parts = like.split("%")
    first, *rest = ("".join("." if c == "_" else re.escape(c) for c in part) for part in parts)
    last = [f".*{rest.pop()}"] if rest else []
    return "".join([first, *(f"(?>.*?{part})" for part in rest), *last])


def answer(form: Form, schema: DatabaseSchema, namespace: str) -> Rows:
    """Answer a statement such as SHOW or DESCRIBE.

    Raises
    ------
    UnknownReferenceError
        The table does not exist or may not be read.
    """
    kind, found = form
    written = (found.get("like") or "'%'").strip("\"`[]'")
    pattern = re.escape(written) if found.get("equal") else _pattern(written)
    like = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    if kind == "schemas":
        return Rows(("schema",), ((namespace,),) if like.fullmatch(namespace) else ())
    if kind == "tables":
        names = (table.name for table in schema.tables)
        return Rows(("table",), tuple((name,) for name in names if like.fullmatch(name)))
    table = _table(found["table"] or "", schema.tables)
    references = {column: f"{other}.{key}" for column, other, key in table.references}
    keys = dict.fromkeys(table.key, "primary key")
    return Rows(
        ("column", "type", "key", "references", "comment"),
        tuple(
            (c.name, c.type, keys.get(c.name, ""), references.get(c.name, ""), c.comment)
            for c in table.columns
            if like.fullmatch(c.name)
        ),
    )


def _refuse_other_schema(found: Mapping[str, str | None], dialect: str, policy: Policy) -> None:
    owners = [found.get("schema"), *_parts(found.get("table") or "")[:-1]]
    scope = policy.schema_scope.first if policy.schema_scope is not None else None
    for owner in filter(None, owners):
        name, is_quoted = owner.strip("\"`[]'"), not re.fullmatch(r"[\w$]+", owner)
        is_own = scope is None or scope.holds(name, dialect, quoted=is_quoted)
        if not is_own or name.lower() in lists(dialect)["system schemas"]:
            raise Refusal(
                f"{owner} could be the name of another schema, but only tables of the default "
                f"schema can be described; leave out {owner}"
            )


def _parts(written: str) -> list[str]:
    return re.findall(rf"{_WRITTEN}|{_TEXT}", written)


def _table(written: str, tables: Iterable[TableInfo]) -> TableInfo:
    name = _parts(written)[-1].strip("\"`[]'")
    found = next((table for table in tables if table.name.casefold() == name.casefold()), None)
    if found is None:
        raise UnknownReferenceError(f"there is no table {name}, or it may not be read", name)
    return found
