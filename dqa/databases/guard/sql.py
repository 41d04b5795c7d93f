"""The guard for SQL: sqlglot parses the statement, and every part of it must be known to read."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError

from dqa.databases.guard.verdict import ALLOWED, Verdict, refused
from dqa.databases.hints import closest

__all__ = ["check"]

_OPENINGS = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.VALUES, TokenType.L_PAREN})
_CLASS = re.compile(r"<class '[\w.]*\.(\w+)'>")
_QUERIES = (exp.Query, exp.Values)
_NEVER = (exp.DML, exp.DDL, exp.Command, exp.Into, exp.Lock, exp.Pragma, exp.Attach, exp.Set)
"""What must not occur anywhere."""

_SQLITE_FUNCTIONS = """
abs acos acosh asin asinh atan atan2 atanh avg bm25 ceil ceiling changes char coalesce concat
concat_ws cos cosh count cume_dist current_date current_time current_timestamp date datetime
degrees dense_rank exp first_value floor format generate_series glob group_concat hex
highlight if ifnull iif instr json json_array json_array_length json_each json_error_position
json_extract json_group_array json_group_object json_insert json_object json_patch json_pretty
json_quote json_remove json_replace json_set json_tree json_type json_valid julianday lag
last_insert_rowid last_value lead length like likelihood likely ln log log10 log2 lower ltrim
max median min mod nth_value ntile nullif octet_length percent_rank percentile percentile_cont
percentile_disc pi pow power pragma_foreign_key_list pragma_index_info pragma_index_list
pragma_table_info pragma_table_list pragma_table_xinfo printf quote radians random rank
replace round row_number rtrim sign sin sinh snippet soundex sqlite_version sqrt strftime
string_agg substr substring subtype sum tan tanh time timediff total total_changes trim trunc
typeof unhex unicode unixepoch unlikely upper
"""
_FUNCTIONS: Mapping[str, frozenset[str]] = {"sqlite": frozenset(_SQLITE_FUNCTIONS.split())}
"""Functions, by dialect, that neither change nor read anything but their arguments and the data."""


def check(statement: str, dialect: str) -> Verdict:
    """Return whether `statement` is one query of `dialect` with no effect."""
    parser = Dialect.get_or_raise(dialect)
    try:
        tokens = _without_ending(parser.tokenize(statement))
        problem = _shape_problem(tokens)
        if problem is not None:
            return refused(problem)
        tree = parser.parser().parse(tokens, statement)[0]
    except (ParseError, TokenError) as error:
        return refused(f"it cannot be read as {dialect}: {_first_line(error)}")
    except RecursionError:
        return refused("it is nested too deeply; write it flatter")
    if not isinstance(tree, _QUERIES):
        return refused("only a query may run: SELECT, WITH ... SELECT, or VALUES")
    return _tree_verdict(tree, dialect)


def _without_ending(tokens: list[Token]) -> list[Token]:
    end = len(tokens)
    while end and tokens[end - 1].token_type is TokenType.SEMICOLON:
        end -= 1
    return tokens[:end]


def _shape_problem(tokens: list[Token]) -> str | None:
    if not tokens:
        return "it is empty; write a SELECT"
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        return "it is more than one statement; write one statement at a time"
    if tokens[0].token_type not in _OPENINGS:
        return (
            f"it begins with {tokens[0].text.upper()}, and only a query may run: "
            "SELECT, WITH ... SELECT, or VALUES"
        )
    return None


def _tree_verdict(tree: exp.Expr, dialect: str) -> Verdict:
    for node in tree.walk():
        if isinstance(node, _NEVER) and not isinstance(node, _QUERIES):
            kind = type(node).__name__.upper()
            return refused(f"it contains {kind}, and only reading is allowed")
        if isinstance(node, exp.CTE) and not isinstance(node.this, _QUERIES):
            return refused(f"the WITH part '{node.alias}' is no query")
        name = _called(node)
        if name is not None and name.lower() not in _FUNCTIONS[dialect]:
            hint = closest(name, _FUNCTIONS[dialect], cutoff=0.75)
            return refused(f"the function {name} is not known to only read.{hint}".rstrip(".?"))
    return ALLOWED


def _called(node: exp.Expr) -> str | None:
    """Return the name of a function that sqlglot has no class for, or of a PRAGMA's table."""
    if isinstance(node, exp.Anonymous):
        return node.name
    if isinstance(node, exp.Table) and node.name.lower().startswith("pragma_"):
        return node.name
    return None


def _first_line(error: ParseError | TokenError) -> str:
    details = getattr(error, "errors", None)
    if details:
        first = details[0]
        near = first.get("highlight") or ""
        where = f" (line {first.get('line')}, column {first.get('col')}, near '{near}')"
        problem = _CLASS.sub(lambda match: match[1].upper(), str(first.get("description", "")))
        return problem.rstrip(".") + where
    return str(error).splitlines()[0].rstrip(".")
