"""Statements laid out over lines: each clause on its own, subqueries indented, no word changed.

SQL and Cypher are laid out by their own words alone. A parser's pretty printer would show another
statement than the one that ran: it writes `<>` for `!=`, adds `AS`, and moves comments.
"""

from __future__ import annotations

import re
from itertools import pairwise

_LONGEST = 100
"""Characters of a line that stays as it is."""
_QUOTED = re.compile(r"('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`)")
_UNCERTAIN = {"sql": re.compile(r"--|#|/\*|['\"`\\]"), "cypher": re.compile(r"//|/\*|['\"`\\]")}
"""Signs after which only the engine knows where texts end."""
_IS_CYPHER = re.compile(
    r"\s*(?:MATCH|OPTIONAL|UNWIND|CALL|RETURN|WITH(?!.*\bSELECT\b))\b", re.IGNORECASE | re.DOTALL
)
_BEGINNINGS = r"SELECT|WITH|MATCH|OPTIONAL|UNWIND|CALL|VALUES"
_PIECE = re.compile(
    rf"""\b(?P<clause>
      (?:UNION|INTERSECT|EXCEPT)(?:\ (?:ALL|DISTINCT))?(?:\ (?:SELECT|MATCH|RETURN)\b)?
      |(?:(?:NATURAL|LEFT|RIGHT|INNER|OUTER|FULL|CROSS)\ )*JOIN
      |(?:OPTIONAL\ )?MATCH |(?<!STARTS\ )(?<!ENDS\ )WITH |(?<!DISTINCT\ )FROM
      |SELECT|WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|FETCH|WINDOW|VALUES|UNWIND|CALL|RETURN|SKIP)\b
    |(?P<opens>[(\[{{]|\bCASE\b)(?P<inner>(?<=[({{])(?=\ ?(?:{_BEGINNINGS})\b))?
    |(?P<closes>[)\]}}]|\bEND\b) |\b(?P<between>BETWEEN)\b |\b(?P<condition>AND|OR)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def lay_out(statement: str) -> str:
    """Return a statement over lines, if one of its lines is long; else as it is.

    Nothing but white space between words is changed. A statement with comments, backslashes or
    quotes that do not end stays as it is, as only its own engine knows where its texts end.
    """
    if all(len(line) <= _LONGEST for line in statement.split("\n")):
        return statement
    uncertain = _UNCERTAIN["cypher" if _IS_CYPHER.match(statement) else "sql"]
    parts = _QUOTED.split(statement)
    if any(map(uncertain.search, parts[::2])):
        return statement
    parts[::2] = [re.sub(r"\s+", " ", part) for part in parts[::2]]
    # Texts have no words to break at.
    masked = "".join("_" * len(part) if place % 2 else part for place, part in enumerate(parts))
    shown = "".join(parts)
    breaks = [(0, 0), *_breaks(masked), (len(shown), 0)]
    lines = [
        "  " * depth + shown[start:end].strip()
        for (start, depth), (end, _) in pairwise(breaks)
        if shown[start:end].strip()
    ]
    return "\n".join(lines)


def _breaks(masked: str) -> list[tuple[int, int]]:
    """Return where lines begin, each with its depth."""
    found: list[tuple[int, int]] = []
    brackets: list[bool] = []  # whether a statement is inside
    between = False
    for piece in _PIECE.finditer(masked):
        inside = not brackets or brackets[-1]
        if piece["opens"]:
            brackets.append(piece["inner"] is not None)
        elif piece["closes"] and brackets:
            if brackets.pop():
                found.append((piece.start(), sum(brackets)))
        elif piece["between"]:
            between = True
        elif piece["condition"] and between and piece["condition"].upper() == "AND":
            between = False
        elif inside and (piece["clause"] or piece["condition"]):
            found.append((piece.start(), sum(brackets) + bool(piece["condition"])))
    return found
