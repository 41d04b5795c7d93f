"""From a statement to its facts, or to why it may not run."""

from __future__ import annotations

from functools import partial

from dqa.guard.cypher.clauses import ClauseParser
from dqa.guard.cypher.facts import Facts
from dqa.guard.cypher.lexer import tokens
from dqa.guard.cypher.permissions import require_allowed
from dqa.guard.cypher.words import FUNCTIONS, PROCEDURES
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.reading import read


def refuse_unless_reading(statement: str, dialect: str, policy: Policy = DEFAULT) -> None:
    """Raise `NotAllowedError` unless `statement` is one Cypher query with no effect.

    Parameters
    ----------
    statement
        What somebody, or a model, wrote.
    dialect
        ``"neo4j"`` or ``"ladybug"``.
    policy
        What may be called and read beyond, or short of, what the guard allows by itself.
    """
    facts = _parsed(statement, dialect, policy)
    if policy.limits_graph:
        require_allowed(facts, policy, fold=dialect == "ladybug")


def parsed(statement: str, dialect: str, policy: Policy = DEFAULT) -> Facts:
    """Return what a statement that only reads says of the graph.

    Raises
    ------
    Refusal
        It cannot be read, is no query, is several, or does more than reading.
    """
    return read(partial(_parsed, statement, dialect, policy))


def _parsed(statement: str, dialect: str, policy: Policy) -> Facts:
    parser = ClauseParser(
        tokens(statement, dialect),
        dialect,
        FUNCTIONS[dialect] | policy.functions if policy.functions else FUNCTIONS[dialect],
        PROCEDURES[dialect] | policy.procedures if policy.procedures else PROCEDURES[dialect],
    )
    parser.statement()
    return parser.facts
