"""Answer statements that describe a database (SHOW, DESCRIBE, PRAGMA) from its visible schema.

The same statements work on every SQL database. The engine does not run them, so they never name
anything that a policy hides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from dqa.core.database import Rows
from dqa.core.errors import UnknownReferenceError
from dqa.core.schema import DatabaseSchema, TableInfo, sql_name
from dqa.guard.check import Refusal
from dqa.guard.lists import lists
from dqa.guard.policy import Policy

Form: TypeAlias = tuple[str, Mapping[str, str | None]]
"""The kind of a describing statement, and its named parts."""
_NAME = r"(?:[\w$]+|\"[^\"]*\"|`[^`]*`|\[[^\]]*\])"
DESCRIBING = re.compile(r"(?:desc|describe|explain|pragma|show)(?!\S)", re.IGNORECASE)
"""The beginning of a describing statement."""
_TEXT = r"'[^']*'"
_NO_QUERY = r"(?!(?:select|with|values|from|pivot|summarize)\b)"
"""Excludes words that begin a query: the engine shows the plan of a query."""
_TABLE = rf"(?P<table>{_NAME}(?: ?\. ?{_NAME}){{0,2}}|{_TEXT})"
_SCHEMA = rf"(?: (?:from|in) (?P<schema>{_NAME}))?"
_LIKE = rf"(?: like (?P<like>{_TEXT}))?"


_FORMS = {
    "tables": rf"show(?: full| extended| all)? tables{_SCHEMA}{_LIKE}"
    rf"|show table status(?: (?:from|in) (?P<of>{_NAME}))?"
    r"|pragma (?:show_tables|show_tables_expanded|table_list)|show|describe|desc",
    "schemas": rf"show (?:databases|schemas){_LIKE}",
    "columns": rf"(?:describe|desc|explain) (?:table )?{_NO_QUERY}{_TABLE}"
    rf"(?: (?P<like>{_NAME}|{_TEXT}))?",
    "fields": rf"show(?: full| extended)? (?:columns|fields) (?:from|in) "
    rf"{_TABLE}{_SCHEMA}{_LIKE}",
    "info": rf"pragma (?:{_NAME} ?\. ?)?table_x?info ?\( ?{_TABLE} ?\)",
    "create": rf"show create (?:table|view) {_TABLE}",
    "keys": rf"show(?: extended)? (?:index|indexes|keys) (?:from|in) {_TABLE}{_SCHEMA}"
    r"(?P<primary> where key_name ?= ?'primary')?",
    "lists": rf"pragma (?:{_NAME} ?\. ?)?(?:index_list|foreign_key_list) ?\( ?{_TABLE} ?\)",
    "duckdb": rf"show {_TABLE}",
}


def describing_form(text: str, dialect: str, policy: Policy) -> Form | None:
    """Return the form of a describing statement; None if the engine must answer the statement.

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
        raise Refusal(f"this {first} may not run; use SHOW TABLES or DESCRIBE")
    return None


def answer(form: Form, schema: DatabaseSchema, namespace: str) -> Rows:
    """Answer a describing statement.

    Raises
    ------
    UnknownReferenceError
        The table does not exist or may not be read.
    """
    kind, found = form
    written = (found.get("like") or "'%'").strip("\"`[]'")
    signs = (".*" if sign == "%" else "." if sign == "_" else re.escape(sign) for sign in written)
    like = re.compile("".join(signs), re.IGNORECASE | re.DOTALL)
    if kind == "schemas":
        return Rows(("schema",), ((namespace,),) if like.fullmatch(namespace) else ())
    if kind == "tables":
        names = (table.name for table in schema.tables)
        return Rows(("table",), tuple((name,) for name in names if like.fullmatch(name)))
    table = _table(found["table"] or "", schema.tables)
    references = {column: f"{other}.{key}" for column, other, key in table.references}
    if kind == "create":
        return Rows(("table", "create"), ((table.name, _create(table, schema.quote)),))
    keyed = dict.fromkeys(table.key, "primary key")
    if kind in {"keys", "lists"}:
        keys = [(key, column, "") for column, key in keyed.items()]
        if not found.get("primary"):
            keys += [("foreign key", column, other) for column, other in references.items()]
        return Rows(("key", "column", "references"), tuple(keys))
    return Rows(
        ("column", "type", "key", "references", "comment"),
        tuple(
            (c.name, c.type, keyed.get(c.name, ""), references.get(c.name, ""), c.comment)
            for c in table.columns
            if like.fullmatch(c.name)
        ),
    )


def _refuse_other_schema(found: Mapping[str, str | None], dialect: str, policy: Policy) -> None:
    owners = [found.get("schema"), found.get("of"), *_names(found.get("table") or "")[:-1]]
    scope = policy.schema_scope.first if policy.schema_scope is not None else None
    for owner in filter(None, owners):
        name, is_quoted = owner.strip("\"`[]'"), not re.fullmatch(r"[\w$]+", owner)
        is_own = scope is None or scope.holds(name, dialect, quoted=is_quoted)
        if not is_own or name.lower() in lists(dialect)["system schemas"]:
            raise Refusal(
                f"a description may not name another schema, and {owner} may be one; leave out "
                f"{owner}"
            )


def _names(written: str) -> list[str]:
    return re.findall(rf"{_NAME}|{_TEXT}", written)


def _table(written: str, tables: Iterable[TableInfo]) -> TableInfo:
    name = _names(written)[-1].strip("\"`[]'")
    found = next((table for table in tables if table.name.casefold() == name.casefold()), None)
    if found is None:
        raise UnknownReferenceError(f"there is no table {name}, or it may not be read", name)
    return found


def _create(table: TableInfo, quote: str) -> str:
    """Return a CREATE TABLE statement with the visible columns and keys."""

    def spelled(names: Iterable[str]) -> str:
        return ", ".join(sql_name(name, quote) for name in names)

    lines = [f"{spelled([column.name])} {column.type}" for column in table.columns]
    if table.key:
        lines.append(f"PRIMARY KEY ({spelled(table.key)})")
    for column, other, key in table.references:
        lines.append(
            f"FOREIGN KEY ({spelled([column])}) REFERENCES {spelled([other])} ({spelled([key])})"
        )
    inner = ",\n  ".join(lines)
    return f"CREATE TABLE {spelled([table.name])} (\n  {inner}\n)"
