"""From a statement to its facts."""

from __future__ import annotations

from functools import partial

from dqa.guard.cypher.clauses import ClauseParser
from dqa.guard.cypher.facts import Facts
from dqa.guard.cypher.lexer import tokens
from dqa.guard.cypher.words import FUNCTIONS, PROCEDURES
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.reading import read


def parsed(statement: str, dialect: str, policy: Policy = DEFAULT) -> Facts:
    """Return what a statement that only reads says of the graph.

    Raises
    ------
    Refusal
        It cannot be read, is no query, is several, or does more than reading.
    """
    return read(partial(parse, statement, dialect, policy))


def parse(statement: str, dialect: str, policy: Policy) -> Facts:
    """Return what `parsed` does, on the caller's own stack."""
    parser = ClauseParser(
        tokens(statement, dialect),
        dialect,
        FUNCTIONS[dialect] | policy.functions if policy.functions else FUNCTIONS[dialect],
        PROCEDURES[dialect] | policy.procedures if policy.procedures else PROCEDURES[dialect],
    )
    parser.statement()
    return parser.facts
