"""Answer statements that describe a database (SHOW, DESCRIBE, PRAGMA) from its visible schema.

The same forms work on every SQL database. The engine runs none of them, so they name nothing that a
policy hides. Statements about settings run on the engine, if the setting is on the dialect's list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dqa.core.database import Rows
from dqa.core.display import Value
from dqa.core.errors import UnknownReferenceError
from dqa.core.schema import DatabaseSchema, TableInfo, sql_name
from dqa.guard.lists import lists
from dqa.guard.policy import Policy
from dqa.guard.verdict import Refusal

_NAME = r"(?:[\w$]+|\"[^\"]*\"|`[^`]*`|\[[^\]]*\])"
_TEXT = r"'[^']*'"
_TABLE = rf"(?P<table>{_NAME}(?: ?\. ?{_NAME}){{0,2}}|{_TEXT})"
_SCHEMA = rf"(?: (?:from|in) (?P<schema>{_NAME}))?"
_LIKE = rf"(?: like (?P<like>{_TEXT}))?"


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace(" ", r"\s+").replace(r"\s+?", r"\s*"), re.IGNORECASE)


_FORMS = {
    "tables": _form(
        rf"show(?: full| extended| all)? tables{_SCHEMA}{_LIKE}"
        rf"|show table status(?: (?:from|in) (?P<of>{_NAME}))?"
        r"|pragma (?:show_tables|show_tables_expanded|table_list)|show|describe|desc"
    ),
    "schemas": _form(rf"show (?:databases|schemas){_LIKE}"),
    "columns": _form(
        rf"(?:describe|desc|explain) (?:table )?{_TABLE}(?: (?P<like>{_NAME}|{_TEXT}))?"
    ),
    "fields": _form(
        rf"show(?: full| extended)? (?:columns|fields) (?:from|in) {_TABLE}{_SCHEMA}{_LIKE}"
    ),
    "info": _form(rf"pragma (?:{_NAME} ?\. ?)?table_x?info ?\( ?{_TABLE} ?\)"),
    "create": _form(rf"show create (?:table|view) {_TABLE}"),
    "index": _form(rf"show(?: extended)? (?:index|indexes|keys) (?:from|in) {_TABLE}{_SCHEMA}"),
    "keys": _form(rf"pragma (?:{_NAME} ?\. ?)?(?:index_list|foreign_key_list) ?\( ?{_TABLE} ?\)"),
}
_SHOW_TABLE = _form(rf"show {_TABLE}")
"""DuckDB's."""
_SETTING = {
    "mysql": _form(rf"show(?: global| session| local)? variables like (?P<setting>{_TEXT})"),
    "postgres": _form(r"show (?P<setting>\w+|time zone|transaction isolation level)"),
}
_SERVER = {
    "mysql": _form(
        rf"show (?:collation|charset|character set|engines|storage engines|warnings|errors){_LIKE}"
        rf"|show(?: global| session)? status like {_TEXT}"
    ),
    "sqlite": _form(r"pragma (?P<pragma>\w+)"),
    "duckdb": _form(r"pragma (?P<pragma>\w+)(?: ?\( ?\))?"),
}
_ALIKE = {"mariadb": "mysql"}


def is_description(text: str, dialect: str, policy: Policy) -> bool:
    """Whether a statement describes the database, and may run.

    Raises
    ------
    Refusal
        It describes another schema, or a setting that is not on the list.
    """
    known = lists(dialect)
    dialect = _ALIKE.get(dialect, dialect)
    match = _match(text, dialect)
    if match is not None:
        _refuse_other_schema(match, dialect, policy)
        return True
    setting = _SETTING[dialect].fullmatch(text) if dialect in _SETTING else None
    if setting is not None and _plain(setting["setting"]) in known.settings:
        return True
    server = _SERVER[dialect].fullmatch(text) if dialect in _SERVER else None
    if server is not None and not policy.restricts:
        pragma = server.groupdict().get("pragma")
        if pragma is None or pragma.lower() in known.pragmas:
            return True
    first = text.split(maxsplit=1)[0].lower()
    if first in {"show", "pragma"} or setting is not None or server is not None:
        raise Refusal(
            f"this {first.upper()} is not one that may run; SHOW TABLES, DESCRIBE and SHOW CREATE "
            "TABLE describe the tables"
        )
    return False


def answer(text: str, dialect: str, schema: DatabaseSchema, namespace: str) -> Rows | None:
    """Return what a describing statement shows; None where the engine has to run the statement.

    Raises
    ------
    UnknownReferenceError
        There is no such table, or none that may be read.
    """
    match = _match(text, _ALIKE.get(dialect, dialect))
    if match is None:
        return None
    kind = match.re.pattern
    found = match.groupdict()
    like = _pattern(found.get("like"))
    if found.get("table") is None:
        is_schemas = kind == _FORMS["schemas"].pattern
        names = [namespace] if is_schemas else [table.name for table in schema.tables]
        return Rows(
            ("schema",) if is_schemas else ("table",), tuple((n,) for n in names if like(n))
        )
    table = _table(found["table"], schema)
    if kind == _FORMS["create"].pattern:
        return Rows(("table", "create"), ((table.name, _create(table, schema.quote)),))
    if kind in {_FORMS["index"].pattern, _FORMS["keys"].pattern}:
        return Rows(("key", "column", "references"), tuple(_keys(table)))
    return Rows(
        ("column", "type", "key", "references", "comment"),
        tuple(row for row in _columns(table) if like(str(row[0]))),
    )


def _match(text: str, dialect: str) -> re.Match[str] | None:
    matches = (form.fullmatch(text) for form in _FORMS.values())
    match = next(filter(None, matches), None)
    if match is None and dialect == "duckdb":
        match = _SHOW_TABLE.fullmatch(text)
    return match


def _refuse_other_schema(match: re.Match[str], dialect: str, policy: Policy) -> None:
    found = match.groupdict()
    owners = [found.get("schema") or found.get("of") or "", *_names(found.get("table") or "")[:-1]]
    scope = policy.schema_scope
    for owner in filter(None, owners):
        is_quoted = not re.fullmatch(r"[\w$]+", owner)
        is_own = scope is None or scope.holds(_bare(owner), dialect, quoted=is_quoted)
        if not is_own or _bare(owner).lower() in lists(dialect).system_schemas:
            raise Refusal(
                f"only the database's own schema is described, and {owner} is another one; a "
                "policy may let its tables be read"
            )


def _names(written: str) -> list[str]:
    return re.findall(rf"{_NAME}|{_TEXT}", written)


def _plain(setting: str) -> str:
    return setting.strip("'").replace(" ", "").lower()


def _bare(name: str) -> str:
    return name.strip("\"`[]'")


def _table(written: str, schema: DatabaseSchema) -> TableInfo:
    name = _bare(_names(written)[-1])
    for table in schema.tables:
        if table.name.casefold() == name.casefold():
            return table
    raise UnknownReferenceError(f"there is no table {name}, or none that may be read", name)


def _pattern(like: str | None) -> re.Pattern[str].fullmatch:  # type: ignore[valid-type]
    """Return what tests a name against the pattern of a LIKE."""
    written = "%" if like is None else _bare(like)
    parts = (".*" if sign == "%" else "." if sign == "_" else re.escape(sign) for sign in written)
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL).fullmatch


def _columns(table: TableInfo) -> Iterator[tuple[Value, ...]]:
    references = {column: f"{other}.{key}" for column, other, key in table.references}
    for column in table.columns:
        is_key = "primary key" if column.name in table.key else ""
        yield column.name, column.type, is_key, references.get(column.name, ""), column.comment


def _keys(table: TableInfo) -> Iterator[tuple[Value, ...]]:
    for column in table.key:
        yield "primary key", column, ""
    for column, other, key in table.references:
        yield "foreign key", column, f"{other}.{key}"


def _create(table: TableInfo, quote: str) -> str:
    """Return a CREATE TABLE that has the visible columns and keys."""

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
