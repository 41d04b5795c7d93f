"""Statements that are no queries but only describe: EXPLAIN, DESCRIBE, SHOW, PRAGMA.

Each has one narrow form per dialect. What a form contains (a query, a table, a condition) is
handed on as a query, so that the same rules hold for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dqa.guard.policy import Policy
from dqa.guard.quotes import QuotedPart
from dqa.guard.sql.lists import lists
from dqa.guard.sql.text import StatementText
from dqa.guard.verdict import Refusal

_WORD = re.compile(r"\s*(\w+|\()")
_OPENINGS = frozenset({"select", "with", "values", "("})
_MORE_OPENINGS: Mapping[str, frozenset[str]] = {
    "mysql": frozenset({"table"}),
    "postgres": frozenset({"table"}),
    "duckdb": frozenset({"from", "pivot", "unpivot", "summarize", "table"}),
}

_NAME = r"(?:[\w$]+|\"\s*\"|`\s*`|\[\s*\])"
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME}){{0,2}}"
_TEXT = r"(?:'\s*'|\"\s*\")"
_OF = rf"(?:\s+(?:from|in)\s+(?P<schema>{_NAME}))?"
_TAIL = rf"(?:\s+like\s+{_TEXT}|\s+where\b(?P<condition>.+))?"


def _form(pattern: str) -> re.Pattern[str]:
    spaced = pattern.replace(" ", r"\s+")
    return re.compile(rf"\s*{spaced}\s*", re.IGNORECASE | re.DOTALL)


_MYSQL = (
    _form(
        r"(?:explain|describe|desc)(?: extended| partitions| analyze)?"
        r"(?: format\s*=\s*(?:json|tree|traditional))?(?P<query>[\s(].*)"
    ),
    _form(rf"(?:explain|describe|desc) (?P<table>{_NAMES})(?:\s+{_NAME}|\s*{_TEXT})?"),
    _form(rf"show(?: extended)?(?: full)? tables{_OF}{_TAIL}"),
    _form(
        r"show(?: extended)?(?: full)? (?:columns|fields) (?:from|in) "
        rf"(?P<table>{_NAMES}){_OF}{_TAIL}"
    ),
    _form(
        rf"show(?: extended)? (?:index|indexes|keys) (?:from|in) (?P<table>{_NAMES}){_OF}{_TAIL}"
    ),
    _form(rf"show create (?:table|view) (?P<table>{_NAMES})"),
    _form(rf"show create (?:database|schema) (?P<schema>{_NAME})"),
    _form(rf"show (?:table status|triggers|events){_OF}{_TAIL}"),
    _form(
        rf"show (?:databases|schemas|collation|charset|character set|engines|storage engines"
        rf"|warnings|errors){_TAIL}"
    ),
    _form(rf"show (?:global |session |local )?variables like (?P<setting>{_TEXT})"),
    _form(rf"show (?:global |session |local )?status like {_TEXT}"),
)
_MARIADB = (
    *_MYSQL,
    _form(r"analyze(?! table\b)(?: format\s*=\s*(?:json|traditional))?(?P<query>[\s(].*)"),
)
_OPTIONS = r"\s*\((?P<options>(?!\s*(?:select|with|values|table|from)\b)[^()]*)\)"
_POSTGRES = (
    _form(rf"explain(?:{_OPTIONS}|(?: analy[sz]e)?(?: verbose)?)(?P<query>[\s(].*)"),
    _form(r"show (?:time zone|transaction isolation level|(?P<setting>\w+))"),
)
_SQLITE = (
    _form(r"explain(?: query plan)? (?P<query>.*)"),
    _form(
        rf"pragma (?:{_NAME}\s*\.\s*)?(?P<pragma>\w+)\s*"
        rf"(?P<argument>\(\s*(?:{_NAMES}|{_TEXT})\s*\))?"
    ),
)
_DUCKDB = (
    _form(rf"explain(?:{_OPTIONS}| analyze)?(?P<query>[\s(].*)"),
    _form(r"(?:describe|desc|show) (?P<query>(?:(?:select|with|from|values|table)\b|\().*)"),
    _form(r"(?:show|describe|desc) (?:all )?(?:tables|databases|schemas)"),
    _form(rf"show tables from (?P<schema>{_NAMES})"),
    _form(r"(?:describe|desc|show)"),
    _form(rf"(?:describe|desc|show) (?P<table>{_NAMES})"),
    _form(rf"pragma (?P<pragma>\w+)\s*(?P<argument>\(\s*{_TEXT}\s*\)|\(\s*{_NAME}\s*\)|\(\s*\))?"),
)
_SETTINGS: Mapping[str, frozenset[str]] = {
    "mysql": frozenset(
        {
            *("version", "version%", "version_comment", "character_set%", "collation%", "sql_mode"),
            *("lower_case%", "time_zone", "%time_zone", "max_allowed_packet", "autocommit"),
            *("transaction_isolation", "tx_isolation", "lc_%", "default_storage_engine"),
            *("max_connections", "wait_timeout", "max_execution_time", "max_statement_time"),
            *("group_concat_max_len", "foreign_key_checks", "sql_safe_updates", "innodb_version"),
            *("character%", "%character%", "%collation%", "innodb_buffer_pool_size"),
        }
    ),
    "postgres": frozenset(
        {
            *("server_version", "server_version_num", "server_encoding", "client_encoding"),
            *("search_path", "timezone", "datestyle", "intervalstyle", "lc_collate", "lc_ctype"),
            *("transaction_isolation", "default_transaction_isolation", "transaction_read_only"),
            *("default_transaction_read_only", "standard_conforming_strings", "bytea_output"),
            *("statement_timeout", "work_mem", "max_connections", "integer_datetimes"),
            *("extra_float_digits", "max_identifier_length", "row_security"),
        }
    ),
}
"""Settings that tell how statements are read and values shown, and nothing of the machine."""

_ANSI = (
    _form(r"explain(?: analyze)? (?!plan\b)(?P<query>.*)"),
    _form(rf"(?:describe|desc)(?: table)? (?P<table>{_NAMES})"),
    _form(r"show (?:tables|schemas|databases)"),
)
_FORMS = {
    "mysql": _MYSQL, "mariadb": _MARIADB, "postgres": _POSTGRES, "sqlite": _SQLITE,
    "duckdb": _DUCKDB, "ansi": _ANSI,
}  # fmt: skip

_OPTION = re.compile(
    r"\s*(?:(?:analy[sz]e|verbose|costs|settings|generic_plan|buffers|summary|timing|memory|wal)"
    r"(?:\s+(?:true|false|on|off|1|0))?"
    r"|format\s+(?:text|xml|json|yaml|html|graphviz|mermaid)"
    r"|serialize(?:\s+(?:none|text|binary))?)\s*",
    re.IGNORECASE,
)


def query_of(text: StatementText, dialect: str, policy: Policy) -> StatementText | None:
    """Return the query that a statement is or contains; None where it contains none.

    Raises
    ------
    Refusal
        It is neither a query nor one of the forms that describe.
    """
    first = _first(text)
    if first in _OPENINGS | _MORE_OPENINGS.get(dialect, frozenset()):
        return text
    for form in _FORMS[dialect]:
        match = form.fullmatch(text.code)
        if match is None:
            continue
        groups = match.groupdict()
        if groups.get("query") is not None:
            return _explained(text, match, dialect)
        if groups.get("pragma") is not None:
            return _described(text, match, dialect, policy)
        if groups.get("setting") is not None:
            _check_setting(text, match, dialect)
        if groups.get("table") is None:
            _refuse_listing(policy)
            if groups.get("schema") is not None:
                _check_schema(text, match, dialect)
        return _as_query(text, match)
    raise Refusal(
        f"it begins with {first.upper()}, and only a query may run: "
        "SELECT, WITH ... SELECT, or VALUES, or EXPLAIN of one"
    )


def _check_setting(text: StatementText, match: re.Match[str], dialect: str) -> None:
    asked = text.sql[match.start("setting") : match.end("setting")].strip("'\"").lower()
    read_as = "mysql" if dialect == "mariadb" else dialect
    if asked not in _SETTINGS[read_as] | lists(dialect).variables:
        raise Refusal(f"the setting {asked} is not one that may be shown")


def _first(text: StatementText) -> str:
    match = _WORD.match(text.code)
    return match[1].lower() if match is not None else text.code.strip()[:1]


def _explained(text: StatementText, match: re.Match[str], dialect: str) -> StatementText:
    """Return what is explained, or run to be measured: in either case it must be a query."""
    for option in (match.groupdict().get("options") or "").split(","):
        if option.strip() and not _OPTION.fullmatch(option):
            raise Refusal(f"EXPLAIN may not have the option {option.strip()}")
    query = _cut(text, match.start("query"))
    first = _first(query)
    known = _OPENINGS | _MORE_OPENINGS.get(dialect, frozenset())
    if first in known:
        return query
    if dialect in {"mysql", "mariadb"} and (table := _MYSQL[1].fullmatch(text.code)):
        return _assembled(text, "SELECT 1 FROM ", table.span("table"))
    if first in {"analyze", "analyse"}:
        raise Refusal("EXPLAIN cannot measure a statement here; write EXPLAIN alone")
    raise Refusal(f"it explains {first.upper()}, and only a query may be explained")


def _as_query(text: StatementText, match: re.Match[str]) -> StatementText | None:
    """Return what a form names as a query of it, so that tables and functions are checked."""
    groups = match.groupdict()
    condition = groups.get("condition")
    if groups.get("table") is None:
        return _assembled(text, "SELECT 1 WHERE ", match.span("condition")) if condition else None
    pieces: list[str | tuple[int, int]] = ["SELECT 1 FROM ", match.span("table")]
    if groups.get("schema") is not None:
        # FROM a table FROM a schema: that schema holds, whatever the table is written with.
        last = re.compile(rf"{_NAME}\s*\Z").search(text.code, *match.span("table"))
        own = last.span() if last is not None else match.span("table")
        pieces = ["SELECT 1 FROM ", match.span("schema"), ".", own]
    if condition is not None:
        pieces += [" WHERE ", match.span("condition")]
    return _assembled(text, *pieces)


def _assembled(text: StatementText, *pieces: str | tuple[int, int]) -> StatementText:
    """Return a query made of words of ours and of parts of the statement."""
    sql = code = ""
    quoted: list[QuotedPart] = []
    for piece in pieces:
        if isinstance(piece, str):
            sql, code = sql + piece, code + piece
            continue
        start, end = piece
        moved = len(sql) - start
        quoted += (
            QuotedPart(part.start + moved, part.end + moved)
            for part in text.quoted
            if start <= part.start < end
        )
        sql, code = sql + text.sql[start:end], code + text.code[start:end]
    return StatementText(sql, code, tuple(quoted))


def _cut(text: StatementText, start: int) -> StatementText:
    """Return the text from `start` on, where everything keeps its position."""
    blank = " " * start
    quoted = tuple(part for part in text.quoted if part.start >= start)
    return StatementText(blank + text.sql[start:], blank + text.code[start:], quoted)


def _check_schema(text: StatementText, match: re.Match[str], dialect: str) -> None:
    """Refuse to list a schema of the server's, of which no table may be read."""
    known = lists(dialect)
    name = text.sql[match.start("schema") : match.end("schema")].strip('`"').lower()
    if name in known.system_schemas and not any(t.startswith(f"{name}.") for t in known.tables):
        raise Refusal(f"the schema {name} is the server's own, and may not be looked into")


def _described(
    text: StatementText, match: re.Match[str], dialect: str, policy: Policy
) -> StatementText | None:
    """Return the table that a PRAGMA is about, as a query of it; None where it is about none."""
    known = lists(dialect)
    name = match["pragma"].lower()
    argument = match["argument"] is not None
    if name not in known.pragmas or (
        dialect == "sqlite" and argument and name not in known.pragmas_with_argument
    ):
        raise Refusal(f"PRAGMA {name} is not known to only describe")
    _refuse_listing(policy)
    written = text.sql[match.start("argument") : match.end("argument")].strip("() \t\r\n")
    if not argument or not written or name.startswith("index_"):
        return None
    if dialect == "duckdb" and re.search(r"[./:*]", written):
        raise Refusal(f"PRAGMA {name} may only be about a table, not a file")
    table = written.strip("'\"`[]").replace('"', '""')
    before = "SELECT 1 FROM "
    blank = " " * len(table)
    quoted = QuotedPart(len(before), len(before) + len(table) + 1)
    return StatementText(f'{before}"{table}"', f'{before}"{blank}"', (quoted,))


def _refuse_listing(policy: Policy) -> None:
    if policy.limits_tables:
        raise Refusal("only some tables may be read here, so they cannot be listed")
