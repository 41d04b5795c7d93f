"""Statements laid out over lines: each clause on its own, subqueries indented, no word changed.

SQL and Cypher are laid out by their own words alone. A parser's pretty printer would show another
statement than the one that ran: it writes `<>` for `!=`, adds `AS`, and moves comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_LONGEST = 100
"""Characters of a line that stays as it is."""

_INDENT = "  "
_WORD = (
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|(?P<uncertain>%s|['\"`\\]|/\*)"
    r"|[\w$@:.]+|[^\s]"
)
_SQL, _CYPHER = re.compile(_WORD % "--|#"), re.compile(_WORD % "//")
_IS_CYPHER = re.compile(
    r"\s*(?:MATCH|OPTIONAL|UNWIND|CALL|RETURN|WITH(?!.*\bSELECT\b))\b", re.IGNORECASE | re.DOTALL
)
_PIECE = re.compile(_WORD % "--" + r"|\s+")
_CLAUSES = frozenset(
    """
    SELECT FROM WHERE GROUP HAVING ORDER LIMIT OFFSET FETCH WINDOW UNION INTERSECT EXCEPT VALUES
    JOIN LEFT RIGHT INNER OUTER FULL CROSS NATURAL WITH
    MATCH OPTIONAL UNWIND CALL RETURN SKIP
    """.split()  # noqa: SIM905  (a page of words reads better than a column)
)
_BEGINS = frozenset({"SELECT", "WITH", "MATCH", "OPTIONAL", "UNWIND", "CALL", "VALUES"})
"""What the inside of a bracket begins with where it is a statement."""

_CONTINUED = {
    "JOIN": {"LEFT", "RIGHT", "INNER", "OUTER", "FULL", "CROSS", "NATURAL"},
    "OUTER": {"LEFT", "RIGHT", "FULL", "NATURAL"},
    "LEFT": {"NATURAL"},
    "RIGHT": {"NATURAL"},
    "INNER": {"NATURAL"},
    "MATCH": {"OPTIONAL"},
    "WITH": {"STARTS", "ENDS"},
    "SELECT": {"UNION", "INTERSECT", "EXCEPT"},
    "FROM": {"DISTINCT"},
}
"""Words before which a clause has begun already, by its next word."""


def lay_out(statement: str) -> str:
    """Return a statement over lines, where one of its lines is long; else as it is.

    Nothing but white space between words is changed. A statement with comments, backslashes or
    quotes that do not end stays as it is, as only its own engine knows where its texts end.
    """
    if all(len(line) <= _LONGEST for line in statement.split("\n")):
        return statement
    words = _words(statement)
    if words is None:
        return statement
    return "\n".join(line for clause in _clauses(words) for line in _folded(*clause))


def _words(statement: str) -> list[tuple[str, bool]] | None:
    """Return every word, and whether white space stands before it; None where it is uncertain."""
    words: list[tuple[str, bool]] = []
    end = 0
    language = _CYPHER if _IS_CYPHER.match(statement) else _SQL
    for found in language.finditer(statement):
        if found["uncertain"]:
            return None
        words.append((found[0], found.start() > end))
        end = found.end()
    return words


def _clauses(words: Sequence[tuple[str, bool]]) -> Iterator[tuple[int, str]]:
    """Yield the lines, each with its depth; a clause begins a line where statements are."""
    open_brackets: list[bool] = []  # whether a statement is inside
    line, depth, between, before = "", 0, False, ""
    for place, (word, apart) in enumerate(words):
        upper = word.upper()
        following = words[place + 1][0].upper() if place + 1 < len(words) else ""
        inside = not open_brackets or open_brackets[-1]
        closes = upper in {")", "}", "]", "END"} and bool(open_brackets)
        ends_statement = closes and open_brackets.pop()
        begins = inside and _begins_clause(upper, before, following)
        condition = inside and upper in {"AND", "OR"} and not (upper == "AND" and between)
        between = upper == "BETWEEN" or (between and upper != "AND")
        if line and (begins or condition or ends_statement):
            yield depth, line
            line = ""
        if not line:
            depth = sum(open_brackets) + condition
        line += f" {word}" if apart and line else word
        if upper in {"(", "{", "[", "CASE"}:
            open_brackets.append(upper in {"(", "{"} and following in _BEGINS)
        before = upper
    yield depth, line


def _begins_clause(word: str, before: str, following: str) -> bool:
    if word not in _CLAUSES or before in _CONTINUED.get(word, ()):
        return False
    if word in {"LEFT", "RIGHT"} and following == "(":  # the functions of these names
        return False
    return not (before == "ALL" and word in {"SELECT", "MATCH", "RETURN"})


def _folded(depth: int, line: str) -> Iterator[str]:
    """Yield a line, cut after commas outside of brackets where it is long."""
    indent = _INDENT * depth
    if len(indent) + len(line) <= _LONGEST:
        yield indent + line
        return
    part, open_brackets = "", 0
    for found in _PIECE.finditer(line):
        open_brackets += (found[0] in "([{") - (found[0] in ")]}")
        part += found[0]
        if found[0] == "," and open_brackets == 0 and len(indent) + len(part) > _LONGEST // 2:
            yield indent + part.strip()
            part, indent = "", _INDENT * (depth + 2)
    if part.strip():
        yield indent + part.strip()
