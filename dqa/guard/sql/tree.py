"""The syntax tree: every part must be known to only read, and every table to be one."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError, TokenError

from dqa.guard.names import closest
from dqa.guard.policy import Policy
from dqa.guard.sql.dialects import dialect_of
from dqa.guard.sql.lists import AllowLists
from dqa.guard.sql.text import StatementText
from dqa.guard.verdict import Refusal

# sqlglot warns of what it does not know; it is refused here, with a reason.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())

QUERIES = (exp.Query, exp.Values, exp.Pivot, exp.Summarize)
"""What a statement may be as a whole."""

_UNREADABLE = (
    *(ParseError, TokenError, ArithmeticError, AssertionError, AttributeError, LookupError),
    *(TypeError, ValueError),
)
"""What sqlglot raises on text that it does not expect: its own errors, and its slips."""

_READ_AS = {"mariadb": "mysql", "ansi": ""}
_STARTS_WITH_VALUES = re.compile(r"\s*values\b", re.IGNORECASE)
_SILENT = {
    "postgres": re.compile(
        r"\b(?:box|cidr|circle|datemultirange|daterange|inet|int4range|int8range|line|lseg|macaddr"
        r"|money|numrange|point|polygon|tsquery|tsrange|tstzrange|tsvector|xml)(?=\s+')",
        re.IGNORECASE,
    ),
    "mysql": re.compile(r"\bsql_(?:(?:big|small|buffer)_result|no_cache|cache)\b", re.IGNORECASE),
    "mariadb": re.compile(
        r"\bsql_(?:(?:big|small|buffer)_result|no_cache|cache)\b|\brows\s+examined\s+\d+",
        re.IGNORECASE,
    ),
}
"""Words that change nothing and that sqlglot does not know: a type before a literal, hints."""
_MOST_TOKENS = 5_000
"""What can be parsed in well under a tenth of a second."""
_NO_UTF8 = re.compile("[\ud800-\udfff]")
_QUOTES = frozenset("'\"`]$")
_CLASS = re.compile(r"<class '[\w.]*\.(\w+)'>")
_PLAIN_NAME = re.compile(r"[\w $#-]+")
_SEQUENCES = frozenset({"nextval", "currval", "lastval"})
"""What Oracle, and MariaDB in its mode, take as attributes of a sequence."""


_SYSTEM_FUNCTIONS = ("pg_", "pgp_", "lo_", "loread", "lowrite", "lastval", "dblink", "txid_")
"""How PostgreSQL's own functions that touch the server begin."""
_LONGEST_TEXT = 1_000_000


def parse(text: StatementText, dialect: str) -> exp.Expr:
    """Return the tree of one statement.

    Raises
    ------
    Refusal
        sqlglot cannot read it, or reads quotes or comments where this guard's lexer does not.
    """
    read_as = _READ_AS.get(dialect, dialect)
    if dialect == "mariadb" and _STARTS_WITH_VALUES.match(text.code):
        read_as = ""  # MySQL has VALUES ROW(...) only
    parser = dialect_of(read_as)
    try:
        text = _without_silent_words(text, dialect)
        tokens = parser.tokenize(text.sql)
        if len(tokens) > _MOST_TOKENS:
            raise Refusal(f"it has more than {_MOST_TOKENS} words and signs; write a shorter one")
        _refuse_disagreement(text, tokens)
        trees = parser.parser().parse(tokens, text.sql)
    except RecursionError as error:
        raise Refusal("it is nested too deeply; write it flatter") from error
    except _UNREADABLE as error:
        raise Refusal(f"it cannot be read as {dialect}: {_first_line(error)}") from error
    tree = trees[0] if len(trees) == 1 else None
    if tree is None:
        raise Refusal("it is more than one statement; write one statement at a time")
    return tree


def is_one(statement: str, dialect: str) -> bool:
    """Return whether sqlglot finds no end of a statement inside a part of a script."""
    readable = _NO_UTF8.sub("?", statement)
    try:
        tokens = dialect_of(_READ_AS.get(dialect, dialect)).tokenize(readable)
    except _UNREADABLE:
        return False
    return all(token.token_type is not TokenType.SEMICOLON for token in tokens)


def _without_silent_words(text: StatementText, dialect: str) -> StatementText:
    pattern = _SILENT.get(dialect)
    found = [] if pattern is None else [match.span() for match in pattern.finditer(text.code)]
    if not found:
        return text
    sql = text.sql
    for start, end in found:
        sql = sql[:start] + " " * (end - start) + sql[end:]
    return StatementText(sql, text.code, text.quoted)


def _refuse_disagreement(text: StatementText, tokens: Sequence[Token]) -> None:
    """Both lexers must see the same quotes, and sqlglot must have left nothing out."""
    quoted = iter(text.quoted)
    position = 0
    part = next(quoted, None)
    for token in tokens:
        gap = text.sql[position : token.start]
        if gap and not gap.isspace():
            raise Refusal(f"{gap.strip()[:40]!r} can be read in two ways; leave it out")
        position = token.end + 1
        if part is not None and token.start <= part.start <= token.end:
            if token.end != part.end or part.start - token.start > 2:
                raise Refusal("its quotes can be read in two ways; write ' in text as ''")
            part = next(quoted, None)
        elif text.sql[token.end] in _QUOTES and token.end - token.start > 0 and _is_quoted(token):
            raise Refusal("its quotes can be read in two ways; write ' in text as ''")
    if part is not None or text.sql[position:].strip():
        raise Refusal("its end can be read in two ways; leave out what is unusual")


def _is_quoted(token: Token) -> bool:
    return token.token_type.name.endswith(("STRING", "IDENTIFIER"))


@dataclass(frozen=True, slots=True)
class _NodeContext:
    """What the checks of single nodes need to know."""

    dialect: str
    known: AllowLists
    policy: Policy
    attributes: frozenset[str]


def refuse_unless_reading(tree: exp.Expr, dialect: str, known: AllowLists, policy: Policy) -> None:
    """Refuse a tree with any part that is not known to only read."""
    attributes = known.attributes or _SEQUENCES
    context = _NodeContext(dialect, known, policy, attributes)
    clauses = known.clauses
    for node in tree.walk():
        kind = type(node)
        check = _CHECKS.get(kind)
        if check is not None:
            check(node, context)
        elif kind.__name__ not in clauses:
            _refuse_clause(node)


def _refuse_clause(node: exp.Expr) -> None:
    name = type(node).__name__
    if isinstance(node, exp.Lock):
        raise Refusal("it locks what it reads; leave out FOR UPDATE, FOR SHARE and LOCK")
    if isinstance(node, (exp.Parameter, exp.PropertyEQ)):
        raise Refusal("it uses a session's variable (@name); write the value itself, or a WITH")
    if isinstance(node, exp.Into):
        raise Refusal("it writes its result with INTO; leave that out, the rows are returned")
    if isinstance(node, exp.Func):
        raise Refusal(f"the function {name} is not known to only read")
    raise Refusal(f"it contains {name.upper()}, and only reading is allowed")


def _check_variable(node: exp.SessionParameter, context: _NodeContext) -> None:
    name = node.name.lower()
    if name not in context.known.variables:
        raise Refusal(f"the system variable {name} is not one that may be read")


def _check_parameter(node: exp.Parameter, context: _NodeContext) -> None:
    if context.dialect != "postgres":  # where @ is an operator
        _refuse_clause(node)


def _check_anonymous(_node: exp.Anonymous, _context: _NodeContext) -> None:
    """Do nothing: the function has been looked up by the name it was written with."""


def _check_part(node: exp.CTE, _context: _NodeContext) -> None:
    if not isinstance(node.this, QUERIES):
        raise Refusal(f"the WITH part '{node.alias}' is no query")


def _check_operator(node: exp.Operator, _context: _NodeContext) -> None:
    if not node.args["operator"].startswith("pg_catalog."):
        raise Refusal("OPERATOR(...) may only name an operator of pg_catalog")


def _check_applied(node: exp.Expr, _context: _NodeContext) -> None:
    """Refuse what DuckDB applies to a table where a text would name a file."""
    if node.this is not None and not isinstance(node.this, (exp.Table, exp.Query, exp.Values)):
        raise Refusal(f"{type(node).__name__.upper()} needs a table or a query, not text")


def _check_attribute(node: exp.Column | exp.Dot, context: _NodeContext) -> None:
    """Refuse ``x.f`` where PostgreSQL would call f(x), or MariaDB would use a sequence."""
    if not context.attributes:
        return
    parts = node.parts[1:] if isinstance(node, exp.Column) else [node.expression]
    # A call behind a dot has been looked up by its own name; a bare name behind one has not.
    bare = bool(parts) and isinstance(parts[-1], exp.Identifier)
    last = parts[-1].name.lower() if bare else ""
    if context.dialect == "postgres" and last.startswith(_SYSTEM_FUNCTIONS):
        raise Refusal(f".{last} would call the function {last}, which is not known to only read")
    for part in parts:
        if part.name.lower() in context.attributes:
            raise Refusal(f".{part.name} calls a function that is not known to only read")


def _check_in(node: exp.In, context: _NodeContext) -> None:
    """Refuse ``x IN name``, which SQLite reads as a table that nothing else here would see."""
    if context.dialect == "sqlite" and node.args.get("field") is not None:
        raise Refusal("IN needs a list or a query: write IN (SELECT column FROM table)")


def _check_length(node: exp.Func, context: _NodeContext) -> None:
    """Refuse a text of millions of signs, which no limit on rows or seconds stops in time."""
    for literal in node.find_all(exp.Literal):
        if literal.is_number and float(literal.this) > _LONGEST_TEXT:
            raise Refusal(f"a text of {literal.this} signs is too long; stay below {_LONGEST_TEXT}")
    if type(node).__name__ not in context.known.clauses:
        _refuse_clause(node)


def _check_table(node: exp.Table, context: _NodeContext) -> None:
    """Refuse system tables that are not on the list, and what would be read from a file."""
    known, dialect = context.known, context.dialect
    if not isinstance(node.this, exp.Identifier):
        if isinstance(node.this, exp.Func | exp.Dot) or node.args.get("rows_from"):
            _check_source(node.this, context)
            return
        raise Refusal("a table's name must be a name, not a variable or a parameter")
    name, schema = node.name.lower(), node.db.lower()
    if dialect == "duckdb":
        _refuse_file(node, context)
    full = f"{schema}.{name}" if schema else name
    if full in known.tables or (not schema and f"pg_catalog.{name}" in known.tables):
        return
    if schema in {"main", "temp"} and name in known.tables and dialect in {"sqlite", "duckdb"}:
        return
    is_system = schema in known.system_schemas or schema.startswith("pg_toast")
    is_system |= name.startswith(("sqlite_", *known.system_prefixes))
    if (is_system or name in known.refused_tables) and context.policy.columns_of(name) is None:
        hint = closest(full, known.tables, cutoff=0.7)
        raise Refusal(f"the system table {full} is not one that may be read.{hint}".rstrip(".?"))


def _check_source(function: exp.Expr | None, context: _NodeContext) -> None:
    """Refuse a function that may not stand in FROM; elsewhere its name has been looked up."""
    known = context.known.table_functions
    name = function.name if isinstance(function, exp.Anonymous) else type(function).__name__
    name = name.lower()
    if known and name not in known | context.policy.functions:
        raise Refusal(f"the function {name} may not stand in FROM")


def _refuse_file(node: exp.Table, context: _NodeContext) -> None:
    """Refuse a name that DuckDB would take for a file, where no table of it is known."""
    if context.policy.columns_of(node.name) is not None:
        return
    is_plain = all(_PLAIN_NAME.fullmatch(part.name) for part in node.parts)
    if not is_plain or (node.db and node.name.lower() in context.known.file_endings):
        raise Refusal(f"'{'.'.join(p.name for p in node.parts)}' would be read as a file")


_CHECKS: Mapping[type[exp.Expr], Callable[[Any, _NodeContext], None]] = {
    exp.Anonymous: _check_anonymous,
    exp.CTE: _check_part,
    exp.Column: _check_attribute,
    exp.Dot: _check_attribute,
    exp.In: _check_in,
    exp.Pad: _check_length,
    exp.Repeat: _check_length,
    exp.Space: _check_length,
    exp.Operator: _check_operator,
    exp.Parameter: _check_parameter,
    exp.Pivot: _check_applied,
    exp.SessionParameter: _check_variable,
    exp.Summarize: _check_applied,
    exp.Table: _check_table,
}
"""Nodes that are allowed under a condition; all others are, or are not, on the list of clauses."""


def column_list_starts(tree: exp.Expr) -> frozenset[int]:
    """Return where names stand that have a list of columns: ``WITH t(a, b)``, ``AS t(a, b)``."""
    starts = set()
    for alias in tree.find_all(exp.TableAlias):
        if alias.args.get("columns") and alias.this is not None:
            starts.add(alias.this.meta.get("start", -1))
    return frozenset(starts)


def _first_line(error: Exception) -> str:
    details = getattr(error, "errors", None)
    if details:
        first = details[0]
        near = first.get("highlight") or ""
        where = f" (line {first.get('line')}, column {first.get('col')}, near '{near}')"
        problem = _CLASS.sub(lambda match: match[1].upper(), str(first.get("description", "")))
        return problem.rstrip(".") + where
    return "; ".join(str(error).splitlines()[:1]).rstrip(".") or "write it more simply"
