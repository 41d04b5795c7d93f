"""The guard for Cypher, of Neo4j and of LadybugDB.

The server receives text that is put together from the statement's tokens, with what a policy
restricts written into its patterns. Clauses, words, functions and procedures are those of the lists
beside this module; there is no grammar, for a statement that makes no sense harms nobody.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from dqa.core.cypher import quote_name
from dqa.guard.cypher_patterns import Call
from dqa.guard.cypher_policy import restrict
from dqa.guard.cypher_reading import CypherReader
from dqa.guard.cypher_tokens import NUMBER, decoded, gap, spans
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.verdict import Refusal

__all__ = ["judge", "read_statement", "spans"]

_MOST = 1_000_000
"""Items of a list, and letters of a text, that a call may make."""
_REPEATING = frozenset(
    {"repeat", "lpad", "rpad", "apoc.text.repeat", "apoc.text.lpad", "apoc.text.rpad"}
)


def judge(statement: str, dialect: str, policy: Policy = DEFAULT) -> str:
    """Return the text that runs in place of a statement that only reads.

    Parameters
    ----------
    statement
        What was written.
    dialect
        ``"neo4j"`` or ``"ladybug"``.
    policy
        What may be called and read beyond, or short of, what the guard allows by itself.

    Raises
    ------
    Refusal
        The statement does more than reading, reads what it may not, or cannot be read.
    """
    reader = read_statement(statement, dialect, policy)
    restrict(reader, policy)
    return _written(reader)


def read_statement(statement: str, dialect: str, policy: Policy = DEFAULT) -> CypherReader:
    """Return what a statement that only reads says; `Refusal` where it does more."""
    reader = CypherReader(statement, dialect, policy.functions, policy.procedures)
    if reader.used and reader.used.lower() != (policy.database or "").lower():
        raise Refusal("it begins with USE, which could read another database; leave it out")
    _require_bounded(reader)
    return reader


def _written(reader: CypherReader) -> str:
    """Return the text of a statement; what changed keeps the name of its column."""
    statement, found, spelled = reader.statement, reader.found, list(reader.spelled)
    for first, last in reader.items:
        original = decoded(statement[found.starts[first] : found.ends[last]])
        if any(
            spelled[i] != statement[found.starts[i] : found.ends[i]] for i in range(first, last + 1)
        ):
            spelled[last] += f" AS {quote_name(original)}"
    end = len(found.keys) - 1
    return "".join(gap(statement, found, i) + spelled[i] for i in range(end)).lstrip()


def _require_bounded(reader: CypherReader) -> None:
    """Refuse calls that make a list or a text too long for a server's memory.

    Servers look at neither clock nor memory while they make one, so calls within others, and within
    one list, may make no more than `_MOST` together, as far as their numbers are plain.
    """
    sizes: dict[int, float] = {}
    for call in reader.calls:
        size = 1.0
        if call.name == "range":
            size = _length(reader, call)
        elif call.name in _REPEATING:
            size = max(_numbers(reader, call.opening, call.end), default=1.0)
        elif call.name == "reduce":
            _require_growing_slowly(reader, call)
        sizes[call.group] = sizes.get(call.group, 1.0) * max(size, 1.0)
        if sizes[call.group] > _MOST:
            raise Refusal(
                f"{call.name}() may make {_MOST} items or letters, together with those around it; "
                "match what is counted, or write smaller numbers"
            )


def _length(reader: CypherReader, call: Call) -> float:
    """Return how long a range is: as its numbers say, or at most as the longest of them."""
    arguments = list(_arguments(reader, call))
    plain = [_plain(reader, first, last) for first, last in arguments]
    if len(plain) in {2, 3} and None not in plain:
        start, stop, step = [*(p or 0.0 for p in plain), 1.0][:3]
        return abs((stop - start) / (step or 1.0)) + 1
    keys = reader.keys[call.opening : call.end]
    if reader.ladybug and {"*", "^"} & set(keys):
        return math.inf
    return 1.0 if max(_numbers(reader, call.opening, call.end), default=0.0) <= _MOST else math.inf


def _arguments(reader: CypherReader, call: Call) -> Iterator[tuple[int, int]]:
    """Yield where each argument of a call begins and ends."""
    begin = i = call.opening + 1
    while i < call.end:
        if reader.keys[i] == ",":
            yield begin, i
            begin = i + 1
        i = reader.closing.get(i, i) + 1
    yield begin, i


def _plain(reader: CypherReader, first: int, last: int) -> float | None:
    """Return the number that an argument is; None where it is computed."""
    sign = -1.0 if reader.keys[first] == "-" else 1.0
    first += reader.keys[first] in {"-", "+"}
    is_number = last - first == 1 and reader.keys[first] == NUMBER
    return sign * _number(reader.texts[first]) if is_number else None


def _numbers(reader: CypherReader, begin: int, end: int) -> list[float]:
    return [_number(reader.texts[i]) for i in range(begin, end) if reader.keys[i] == NUMBER]


def _number(text: str) -> float:
    try:
        return float(int(text.replace("_", ""), 0))
    except ValueError:
        return float(text.replace("_", "").rstrip("dDfF"))


def _require_growing_slowly(reader: CypherReader, call: Call) -> None:
    """Refuse what doubles at each step, as ``reduce(s = 'a', x IN list | s + s)``."""
    name = reader.folded(call.opening + 1)
    added = [
        i
        for i in range(call.opening + 3, call.end)
        if reader.folded(i) == name
        and reader.keys[i - 1] != "."
        and {reader.keys[i - 1], reader.keys[i + 1]} & {"+", "||"}
    ]
    if len(added) > 1:
        raise Refusal(
            f"reduce() adds {name} to itself, which doubles it at each step; add it once, or "
            "multiply numbers"
        )
