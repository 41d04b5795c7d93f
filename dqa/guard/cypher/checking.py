"""Whether a statement may run, or why not."""

from __future__ import annotations

from dqa.guard.cypher.hiding import refuse_unless_certain, rewritten
from dqa.guard.cypher.parsing import parse
from dqa.guard.cypher.permissions import require_allowed
from dqa.guard.policy import DEFAULT, Policy


def judge(statement: str, dialect: str, policy: Policy = DEFAULT) -> str:
    """Return the text that runs in place of a Cypher query; `Refusal` unless it only reads.

    Parameters
    ----------
    statement
        What somebody, or a model, wrote.
    dialect
        ``"neo4j"`` or ``"ladybug"``.
    policy
        What may be called and read beyond, or short of, what the guard allows by itself.
    """
    facts = parse(statement, dialect, policy)
    if policy.limits_graph:
        require_allowed(facts, policy, fold=dialect == "ladybug")
    if policy.hides:
        refuse_unless_certain(facts, statement, dialect, policy)
        return rewritten(statement, dialect, policy)
    return statement
