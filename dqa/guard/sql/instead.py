"""What to use instead of functions and clauses of other dialects, for whoever wrote them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SQLITE: Mapping[str, str] = {
    "array_agg": "group_concat(x, ', ') or json_group_array(x)",
    "bool_and": "min(x)",
    "bool_or": "max(x)",
    "concat": "a || b",
    "cube": "one SELECT for each grouping, joined by UNION ALL",
    "curdate": "date('now')",
    "date_add": "date(d, '+1 day')",
    "date_part": "CAST(strftime('%Y', d) AS INTEGER)",
    "date_sub": "date(d, '-1 day')",
    "date_trunc": "strftime('%Y-%m-01', d)",
    "datediff": "julianday(b) - julianday(a)",
    "day": "CAST(strftime('%d', d) AS INTEGER)",
    "extract": "CAST(strftime('%Y', d) AS INTEGER)",
    "generate_series": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9)",
    "greatest": "max(a, b)",
    "if": "iif(condition, a, b) or CASE",
    "least": "min(a, b)",
    "left": "substr(x, 1, n)",
    "lpad": "substr('0000' || x, -4)",
    "median": "row_number() and count(*) OVER, and avg of the middle rows",
    "month": "CAST(strftime('%m', d) AS INTEGER)",
    "now": "datetime('now')",
    "percentile_cont": "row_number() and count(*) OVER, and the row at that share",
    "right": "substr(x, -n)",
    "rollup": "one SELECT for each grouping, joined by UNION ALL",
    "split_part": "substr and instr",
    "stddev": "the variance avg(x * x) - avg(x) * avg(x)",
    "string_agg": "group_concat(x, ', '), over a sorted subquery where the order matters",
    "to_char": "printf('%.2f', x), or strftime('%Y-%m', d) of a date",
    "to_date": "date(x)",
    "variance": "avg(x * x) - avg(x) * avg(x)",
    "year": "CAST(strftime('%Y', d) AS INTEGER)",
}
_FUNCTIONS: Mapping[str, Mapping[str, str]] = {
    "sqlite": _SQLITE,
    "duckdb": {
        "curdate": "current_date",
        "date_format": "strftime(d, '%Y-%m')",
        "iif": "if(condition, a, b) or CASE",
        "julianday": "julian(d)",
        "to_char": "printf('%.2f', x), or strftime(d, '%Y-%m') of a date",
        "to_date": "CAST(x AS DATE)",
    },
    "postgres": {
        "datediff": "b - a of dates",
        "group_concat": "string_agg(x, ', ')",
        "ifnull": "coalesce(a, b)",
        "iif": "CASE",
        "julianday": "b - a of dates",
        "median": "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)",
        "strftime": "to_char(d, 'YYYY-MM')",
    },
    "mysql": {
        "array_agg": "group_concat(x)",
        "date_trunc": "date_format(d, '%Y-%m-01')",
        "iif": "if(condition, a, b) or CASE",
        "julianday": "datediff(b, a)",
        "median": "row_number() and count(*) OVER, and avg of the middle rows",
        "rollup": "GROUP BY x WITH ROLLUP",
        "strftime": "date_format(d, '%Y-%m')",
        "string_agg": "group_concat(x SEPARATOR ', ')",
        "to_char": "format(x, 2), or date_format(d, '%Y-%m') of a date",
        "to_date": "str_to_date(x, '%Y-%m-%d')",
    },
}


def _of_both(problem: str, statement: str) -> re.Pattern[str]:
    """Return the pattern of what an engine says of a statement that has something."""
    return re.compile(rf"{problem}.*\n(?s:.*){statement}", re.IGNORECASE)


_CLAUSES: Mapping[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "sqlite": (
        (
            _of_both('near "FROM"', r"\bextract\s*\("),
            f"In place of EXTRACT use {_SQLITE['extract']}.",
        ),
        (
            _of_both(r'near "\("', r"\b(?:left|right)\s*\("),
            f"In place of LEFT and RIGHT use {_SQLITE['left']} and {_SQLITE['right']}.",
        ),
        (
            _of_both(r'near "\("', r"\bwithin\s+group\b"),
            f"In place of WITHIN GROUP use {_SQLITE['percentile_cont']}.",
        ),
        (
            re.compile('near "SETS"'),
            "In place of GROUPING SETS write one SELECT for each grouping, joined by UNION ALL.",
        ),
        (
            re.compile("recursive aggregate queries not supported"),
            "Let the recursive part give plain rows, and aggregate in the SELECT that reads it.",
        ),
    ),
    "postgres": (
        (
            re.compile("aggregate functions are not allowed in a recursive query"),
            "Let the recursive part give plain rows, and aggregate in the SELECT that reads it.",
        ),
    ),
}
_ALIKE = {"mariadb": "mysql"}


def instead_of(function: str, dialect: str) -> str:
    """Return ``In place of f use ...``, or nothing where that is not known."""
    known = _FUNCTIONS.get(_ALIKE.get(dialect, dialect), {}).get(function.lower())
    return f"In place of {function} use {known}." if known else ""


def instead_of_clause(problem: str, statement: str, dialect: str) -> str:
    """Return what to write in place of what the engine's words are about, or nothing."""
    for pattern, advice in _CLAUSES.get(_ALIKE.get(dialect, dialect), ()):
        if pattern.search(f"{problem}\n{statement}"):
            return advice
    return ""
