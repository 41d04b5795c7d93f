"""From a statement to its facts and its verdict."""

from __future__ import annotations

from dqa.guard.cypher.clauses import ClauseParser
from dqa.guard.cypher.facts import Facts
from dqa.guard.cypher.failure import NotAllowedError
from dqa.guard.cypher.lexer import tokens
from dqa.guard.cypher.permissions import require_allowed
from dqa.guard.cypher.words import FUNCTIONS, PROCEDURES
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.verdict import ALLOWED, GuardVerdict, refused


def check(statement: str, dialect: str, policy: Policy = DEFAULT) -> GuardVerdict:
    """Return whether `statement` is one Cypher query of `dialect` with no effect.

    Parameters
    ----------
    statement
        What somebody, or a model, wrote.
    dialect
        ``"neo4j"`` or ``"ladybug"``.
    policy
        What may be called and read beyond, or short of, what the guard allows by itself.
    """
    try:
        facts = parsed(statement, dialect, policy)
        if policy.limits_graph:
            require_allowed(facts, policy, fold=dialect == "ladybug")
    except NotAllowedError as error:
        return refused(str(error))
    return ALLOWED


def parsed(statement: str, dialect: str, policy: Policy = DEFAULT) -> Facts:
    """Return what a statement that only reads says of the graph.

    Raises
    ------
    NotAllowedError
        It cannot be read, is no query, is several, or does more than reading.
    """
    parser = ClauseParser(
        tokens(statement, dialect),
        dialect,
        FUNCTIONS[dialect] | policy.functions if policy.functions else FUNCTIONS[dialect],
        PROCEDURES[dialect] | policy.procedures if policy.procedures else PROCEDURES[dialect],
    )
    try:
        parser.statement()
    except RecursionError as error:  # the caller's own stack was nearly used up
        raise NotAllowedError("it is nested too deeply; write it flatter") from error
    return parser.facts
