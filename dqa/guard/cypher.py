"""The guard for Cypher, of Neo4j and of LadybugDB.

The server receives text that the guard writes from the statement's tokens, with the policy's limits
in its patterns. Clauses, words, functions and procedures are those of `lists/*.txt`; there is no
full grammar, for a statement that makes no sense harms nothing.
"""

from __future__ import annotations

from dqa.core.cypher import quote_name
from dqa.guard.check import Refusal
from dqa.guard.cypher_policy import restrict
from dqa.guard.cypher_reading import CypherReader
from dqa.guard.cypher_tokens import decoded, gap, spans
from dqa.guard.policy import DEFAULT, Policy

__all__ = ["judge", "read_statement", "spans"]


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
    found, spelled = reader.found, reader.spelled
    for first, last in reader.returned:  # what changed keeps the name of its column
        written = [statement[found.starts[i] : found.ends[i]] for i in range(first, last)]
        if written != spelled[first:last]:
            original = decoded(statement[found.starts[first] : found.ends[last - 1]])
            spelled[last - 1] += f" AS {quote_name(original)}"
    end = len(found.keys) - 1
    return "".join(gap(statement, found, i) + spelled[i] for i in range(end)).lstrip()


def read_statement(statement: str, dialect: str, policy: Policy = DEFAULT) -> CypherReader:
    """Parse a statement; `Refusal` where it does more than read."""
    reader = CypherReader(statement, dialect, policy)
    if reader.used and reader.used.lower() != (policy.database or "").lower():
        raise Refusal("it begins with USE, which could read another database; leave it out")
    return reader
