"""The guard for Cypher, of Neo4j and of LadybugDB.

The server receives text that the guard writes from the statement's tokens, with the policy's limits
in its patterns. Clauses, words, functions and procedures are those of
`lists/*.txt`; there is no grammar, for a statement that makes no sense harms nothing.
"""

from __future__ import annotations

import math

from dqa.core.cypher import quote_name
from dqa.guard.cypher_policy import restrict
from dqa.guard.cypher_reading import Call, CypherReader
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
        The text of the author.
    dialect
        ``"neo4j"`` or ``"ladybug"``.
    policy
        Additions to the guard's lists, and limits on reading.

    Raises
    ------
    Refusal
        The statement does more than reading, reads hidden data, or cannot be parsed.
    """
    reader = read_statement(statement, dialect, policy)
    restrict(reader, policy)
    return _written(reader)


def read_statement(statement: str, dialect: str, policy: Policy = DEFAULT) -> CypherReader:
    """Parse a statement; `Refusal` where it does more than read."""
    reader = CypherReader(statement, dialect, policy)
    if reader.used and reader.used.lower() != (policy.database or "").lower():
        raise Refusal("it begins with USE, which could read another database; leave it out")
    _require_bounded(reader)
    return reader


def _written(reader: CypherReader) -> str:
    """Return the text of a statement; what changed keeps the name of its column."""
    statement, found, spelled = reader.statement, reader.found, list(reader.spelled)
    end = len(found.keys) - 1
    stops = [*(start for _, start, _ in reader.clauses[1:]), end]
    for (clause, _, begin), stop in zip(reader.clauses, stops, strict=False):
        for first, last in reader.split(begin, stop) if clause == "RETURN" else ():
            spans = ((found.starts[i], found.ends[i]) for i in range(first, last))
            written = [statement[start:stop] for start, stop in spans]
            is_named = found.keys[first] == "*" or found.keys[last - 2] == "AS"
            if written != spelled[first:last] and not is_named:
                original = decoded(statement[found.starts[first] : found.ends[last - 1]])
                spelled[last - 1] += f" AS {quote_name(original)}"
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
            raise Refusal(f"{call.name}() may make at most {_MOST} items; use smaller numbers")


def _length(reader: CypherReader, call: Call) -> float:
    """Return how long a range is: as its numbers say, or at most as the longest of them."""
    plain: list[float] = []
    for first, last in reader.split(call.opening + 1, call.end):
        sign = -1.0 if reader.keys[first] == "-" else 1.0
        first += reader.keys[first] in {"-", "+"}  # noqa: PLW2901
        if last - first == 1 and reader.keys[first] == NUMBER:
            plain.append(sign * _numbers(reader, first, last)[0])
        else:
            plain.append(math.nan)
    if len(plain) in {2, 3} and not any(map(math.isnan, plain)):
        start, stop, step = [*plain, 1.0][:3]
        return abs((stop - start) / (step or 1.0)) + 1
    is_computed = reader.ladybug and bool({"*", "^"} & set(reader.keys[call.opening : call.end]))
    longest = max(_numbers(reader, call.opening, call.end), default=0.0)
    return math.inf if is_computed or longest > _MOST else 1.0


def _numbers(reader: CypherReader, begin: int, end: int) -> list[float]:
    texts = [
        reader.texts[i].replace("_", "") for i in range(begin, end) if reader.keys[i] == NUMBER
    ]
    return [
        float(int(t, 0)) if t[:2].lower() in {"0x", "0o"} else float(t.rstrip("dDfF"))
        for t in texts
    ]


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
        raise Refusal(f"reduce() doubles {name} at each step; add it once")
