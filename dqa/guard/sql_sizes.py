"""Refuse SQL functions that build or search long values: a time limit cannot always stop them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from sqlglot import exp

from dqa.guard.check import Refusal
from dqa.guard.lists import lists
from dqa.guard.parsing import Parsed, called

_LARGEST = 1_000_000
"""The maximum number of characters or values that a call may process."""
_WIDE_BRACES = re.compile(r"\{[^{}]*\d{4}|\{[^}]*\{|\{[^{}]*:\}[<>=^]", re.DOTALL)
"""Matches a format that may contain a width of four digits or a computed width.

In ``{:}>5}``, the first brace is a fill character.
"""
_WIDE_PERCENT = re.compile(r"%[^a-zA-Z%]*(?:\d{4}|\*)", re.DOTALL)
_FORMATS: Mapping[tuple[str, str], re.Pattern[str]] = {
    ("duckdb", "format"): _WIDE_BRACES,
    ("duckdb", "printf"): _WIDE_PERCENT,
    ("mariadb", "sformat"): _WIDE_BRACES,
    ("postgres", "format"): _WIDE_PERCENT,
}
"""The functions that format values. SQLite limits the length of a text itself."""
_FORMATTED = 1_000.0
"""The assumed length of a formatted value, because widths of four digits are refused."""
_PAIRWISE = (exp.ArrayContainsAll, exp.ArrayContainedBy, exp.ArrayOverlaps)
"""PostgreSQL operators that compare all pairs of two arrays."""
_COMPUTED = (exp.Anonymous, exp.Column, exp.Query)
_SERIES = frozenset({"array_fill", "generate_series"})
_SPLITTERS = frozenset({"string_to_array", "regexp_split_to_array"})
"""PostgreSQL functions that build arrays of any length."""


def require_short_values(parsed: Parsed) -> None:
    """Refuse calls that build texts of millions of characters before a time limit stops them.

    The product of the literals in a call is an upper bound of the length of its result.
    """
    sizes: dict[int, float] = {}
    known = lists(parsed.dialect)
    for node in reversed(parsed.nodes):  # children before their parents
        inner = [max(sizes.get(id(child), 1.0), 1.0) for child in node.iter_expressions()]
        size, cost = max(inner, default=1.0), 1.0
        name = called(node)
        if isinstance(node, exp.Literal):
            size = abs(float(node.this)) if node.is_number else float(len(node.this))
        elif name in known["functions of long texts"]:
            size = cost = math.prod(inner)
        elif isinstance(node, exp.Mul | exp.Array):  # the dimensions of array_fill
            size = math.prod(inner)
        elif len(inner) == 2 and (isinstance(node, exp.Pow) or name in {"pow", "power"}):
            size = min(inner[0], 1e4) ** min(inner[1], 64.0)
        elif len(inner) == 2 and isinstance(node, exp.BitwiseLeftShift):
            size = inner[0] * 2.0 ** min(inner[1], 64.0)
        elif wide := _FORMATS.get((parsed.dialect, name)):
            _require_narrow(name, next(node.iter_expressions(), exp.Null()), wide)
            size = max(size, _FORMATTED)
        elif name in {"lpad", "rpad"}:
            cost = size
        elif name in {"replace", "regexp_replace"} and len(inner) > 2:
            size = cost = inner[0] * max(1.0, inner[2] / inner[1])
        elif name in known["functions that search"] or isinstance(node, exp.Trim | exp.Overlay):
            size, cost = inner[0], math.prod(inner)
        sizes[id(node)] = size
        if cost > _LARGEST:
            raise Refusal(
                f"{name or 'it'} could process more than {_LARGEST:,} values; use smaller numbers"
            )


def _require_narrow(name: str, text: exp.Expr, wide: re.Pattern[str]) -> None:
    """Refuse a format that is not a plain text, or that contains a large or computed width."""
    parts = list(text.flatten()) if isinstance(text, exp.DPipe) else [text]
    is_plain = all(isinstance(p, exp.ByteString) or p.is_string for p in parts)
    if not is_plain or wide.search("".join(part.name for part in parts).replace("%%", "")):
        raise Refusal(f"write the format of {name} as one string constant without large widths")


def require_short_arrays(nodes: Sequence[exp.Expr]) -> None:
    """Refuse a PostgreSQL operator on two long arrays if the statement builds arrays."""
    pairs = [node for node in nodes if isinstance(node, _PAIRWISE)]
    is_long = any(all(x.find(*_COMPUTED) for x in pair.iter_expressions()) for pair in pairs)
    if is_long and any(map(_builds_array, nodes)):
        raise Refusal(
            "@>, <@ and && compare each element of one array with each element of the other, and a "
            "time limit cannot stop them; write one of the arrays as a literal"
        )


def _builds_array(node: exp.Expr) -> bool:
    """Return whether a call can build a long array from a few numbers or from a long text."""
    if called(node) in _SPLITTERS or isinstance(node, exp.StringToArray):
        return any(not isinstance(one, exp.Literal) for one in node.iter_expressions())
    is_series = isinstance(node, exp.GenerateSeries | exp.ExplodingGenerateSeries)
    return is_series or called(node) in _SERIES
