"""How large a statement may be, so that reading it takes a bounded time and stack.

sqlglot is a recursive-descent parser that tries one reading after another. What it tries twice at
each level of nesting, it does a million times at twenty. Most of that is stopped by the number of
nodes that it may make (`parsing`); what makes none, and what is slow without trying, is told here
from the text, before anything recursive sees it.
"""

from __future__ import annotations

import re
from functools import cache

from dqa.guard.sql.dialects import dialect_of, read_as
from dqa.guard.verdict import Refusal

_DEEPEST = 50
"""Brackets and CASEs inside each other: a query of a person has a dozen."""
_LONGEST_RUN = 30
"""Prefix operators in a row."""
_MOST_JOINS = 80
"""sqlglot calls itself once for each that has no ON yet."""
_LONGEST_CHAIN = 24
"""Calls behind calls, subscripts behind subscripts: sqlglot copies the chain at each."""
_MOST_SETS = 200
"""UNIONs and their like."""
_MOST_SELECTS = 400
_MOST_READ = 20_000
"""Characters, each counted as often as a parser may have to read it."""

_PIECE = re.compile(
    r"(?P<open>(?:(?<![\w$])(?P<word>[^\W\d]\w*+)\s*+|[\"`]\s*+)?[(\[{])|(?P<close>[)\]}])"
    r"|(?P<case>\bcase\b)|(?P<end>\bend\b)",
    re.IGNORECASE,
)
_CHAINED = re.compile(r"\s*[.\[]")
_RUN = re.compile(
    r"(?:(?:[-+~!@]|\b(?:not|binary|interval|distinct|all|any|some|exists|prior|case|explain|with"
    r"|select|values|from|lateral|table|in|is|as|of|if|when|else|then|array|row)\b)\s*)"
    rf"{{{_LONGEST_RUN}}}",
    re.IGNORECASE,
)
_COUNTED = {
    "joins": (_MOST_JOINS, re.compile(r"\bjoin\b", re.IGNORECASE)),
    "set operations": (_MOST_SETS, re.compile(r"\b(?:union|intersect|except)\b", re.IGNORECASE)),
    "SELECTs": (_MOST_SELECTS, re.compile(r"\bselect\b", re.IGNORECASE)),
}


def refuse_too_large(code: str, dialect: str) -> None:
    """Refuse what would nest a parser's calls too deeply, or make it try too much.

    Parameters
    ----------
    code
        The statement, with blanks for its comments and for what is in quotes.
    dialect
        Whose it is.
    """
    for what, (most, pattern) in _COUNTED.items():
        if len(pattern.findall(code)) > most:
            raise Refusal(f"it has more than {most} {what}; write it in parts")
    if _RUN.search(code):
        raise Refusal(f"it has {_LONGEST_RUN} operators in a row; write it flatter")
    _refuse_nested(code, _types(dialect))


def _refuse_nested(code: str, types: frozenset[str]) -> None:
    """Refuse brackets, CASEs, types and chains of calls that go too deep."""
    weights, chains = [1], [0]
    cases = read = position = 0
    for piece in _PIECE.finditer(code):
        start, end = piece.span()
        read += (start - position) * weights[-1]
        position = start
        if piece["open"]:
            if not _continues(code, start):
                chains[-1] = 0
            is_type = code[start] in '"`' or (piece["word"] or "").lower() in types
            weights.append(weights[-1] << is_type)
            chains.append(0)
        elif piece["close"]:
            weights.pop()
            chains.pop()
            if not weights:
                raise Refusal(f"it has a '{piece['close']}' that closes nothing; leave it out")
            chains[-1] = chains[-1] + 1 if _CHAINED.match(code, end) else 0
            if chains[-1] > _LONGEST_CHAIN:
                raise Refusal(
                    f"it has {_LONGEST_CHAIN} calls or subscripts in one chain; write it in parts"
                )
        else:
            cases = max(0, cases + (1 if piece["case"] else -1 if piece["end"] else 0))
        if len(weights) - 1 + cases > _DEEPEST:
            raise Refusal(f"it is nested more than {_DEEPEST} deep; write it flatter with WITH")
        if read > _MOST_READ:
            raise Refusal(
                "names of types are nested in it so deeply that it takes too long to read; write "
                "it flatter with WITH, or as casts"
            )
    if len(weights) > 1:
        raise Refusal("a bracket is left open; close it")


def _continues(code: str, position: int) -> bool:
    """Whether what begins there stands behind a dot or a closing bracket."""
    return code[max(0, position - 100) : position].rstrip().endswith((".", ")", "]"))


@cache
def _types(dialect: str) -> frozenset[str]:
    """Return the words that sqlglot may take for a type, which it reads twice before a bracket."""
    read_by = dialect_of(read_as(dialect))
    keywords = read_by.tokenizer_class.KEYWORDS.items()
    types = read_by.parser_class.TYPE_TOKENS
    return frozenset(words.split()[-1].lower() for words, token in keywords if token in types)
