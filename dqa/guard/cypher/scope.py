"""Keeps a statement to the nodes of one label, for several situations in one Neo4j database.

Relationships only join nodes of one situation, so a statement whose every node pattern requires
the situation's label reaches nothing of another: paths cannot leave it.
"""

from __future__ import annotations

from dqa.core.cypher import quote_name
from dqa.core.errors import RefusedStatementError
from dqa.guard.cypher.facts import NodeSpot
from dqa.guard.cypher.parsing import parsed
from dqa.guard.cypher.words import STATIC
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.verdict import Refusal


def scoped(statement: str, label: str, policy: Policy = DEFAULT) -> str:
    """Return `statement`, of Neo4j, with every node pattern limited to nodes that have `label`.

    Parameters
    ----------
    statement
        A statement that the guard allows.
    label
        What the nodes have that it may reach, as it would be without quotes.
    policy
        What the guard allowed it by.

    Raises
    ------
    RefusedStatementError
        The guard does not allow the statement; or it calls a procedure or uses SHOW, which would
        tell of other nodes.
    """
    try:
        facts = parsed(statement, "neo4j", policy)
    except Refusal as error:
        raise RefusedStatementError(f"The statement was not run: {error}.") from error
    telling = [f"the procedure {name}" for name in facts.procedures if name not in STATIC]
    telling += ["SHOW"] if facts.shows else []
    if telling:
        raise RefusedStatementError(
            f"The statement was not run: {telling[0]} tells of the whole database; use MATCH."
        )
    edits = [edit for spot in facts.spots for edit in _edits(spot, quote_name(label))]
    # One statement may not mix `A:B` with `A&B`, so older spellings become the one that is added.
    edits += [(position, 1, text) for position, text in facts.colons]
    parts: list[str] = []
    done = 0
    for position, length, text in sorted(edits):
        parts += statement[done:position], text
        done = position + length
    parts.append(statement[done:])
    return "".join(parts)


def _edits(spot: NodeSpot, label: str) -> list[tuple[int, int, str]]:
    """Return what limits one node pattern: positions, characters to leave out, text to put in."""
    if spot.begin < 0:
        return [(spot.position, 0, f":{label}")]
    if "|" in spot.symbols:
        return [(spot.begin, 0, "("), (spot.position, 0, f")&{label}")]
    return [(spot.position, 0, f"&{label}")]
