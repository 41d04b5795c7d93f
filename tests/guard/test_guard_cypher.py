"""The Cypher guard refuses every attack it is known by, and nothing that only reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from dqa.guard.check import judge as check
from dqa.guard.cypher import judge
from dqa.guard.policy import Policy

CASES = Path(__file__).parent / "guard_cases"
DIALECTS = ("neo4j", "ladybug")


def cases(dialect: str, *, allowed: bool) -> list[ParameterSet]:
    """Return the statements of a dialect, each named by its class and place."""
    lines = (CASES / f"{dialect}.jsonl").read_text("ascii").splitlines()
    return [
        pytest.param(dialect, case["statement"], id=f"{dialect}-{case['class']}-{number}")
        for number, case in enumerate(map(json.loads, lines))
        if case["allowed"] is allowed
    ]


ATTACKS = [case for dialect in DIALECTS for case in cases(dialect, allowed=False)]
HARMLESS = [case for dialect in DIALECTS for case in cases(dialect, allowed=True)]


@pytest.mark.parametrize(("dialect", "statement"), ATTACKS)
def test_an_attack_is_refused_with_a_reason(dialect: str, statement: str) -> None:
    """What writes, configures, loads, tells secrets, is several, or cannot be read does not run."""
    verdict = check(statement, dialect)
    assert not verdict.allowed
    assert 10 < len(verdict.reason) < 800


@pytest.mark.parametrize(("dialect", "statement"), HARMLESS)
def test_a_harmless_statement_is_allowed(dialect: str, statement: str) -> None:
    """What only reads runs, whatever its names and texts look like."""
    verdict = check(statement, dialect)
    assert verdict.allowed, verdict.reason


@pytest.mark.parametrize("dialect", DIALECTS)
def test_there_are_enough_cases(dialect: str) -> None:
    """A file that shrinks by accident is noticed."""
    assert len(cases(dialect, allowed=False)) >= 150
    assert len(cases(dialect, allowed=True)) >= 60


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("MATCH (n) SET n.x = 1", "it contains SET, and only reading is allowed"),
        ("CREATE (n)", "it begins with CREATE"),
        ("RETURN 1; RETURN 2", "one statement at a time"),
        ("RETURN toupperr('x')", "toupperr is not known to only read. Did you mean 'toupper'"),
        ("CALL db.label()", "db.label is not known to only read. Did you mean 'db.labels'"),
        ("CALL { RETURN 1 AS x } IN TRANSACTIONS RETURN x", "IN TRANSACTIONS commits"),
        ("MATCH (n RETURN n", "is never closed"),
        ("MATCH (n) WHERE n.x = 'a RETURN n", "the quotation at"),
        ("MATCH (n)", "end it with RETURN"),
        ("", "it is empty"),
    ],
)
def test_a_reason_helps_to_write_a_better_statement(statement: str, reason: str) -> None:
    """The reason names what is wrong, and what to write instead where that is known."""
    assert reason in check(statement, "neo4j").reason


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "statement",
    [
        "RETURN " + "(" * 9_000 + "1" + ")" * 9_000,
        "RETURN " + "[" * 10_000,
        "RETURN " + "CASE WHEN " * 1_900 + "1",
        "RETURN " + "COUNT{MATCH " * 1_500,
        "MATCH " + "((" * 9_000,
        "MATCH (n:" + "(" * 9_000 + "A",
        "RETURN " + "x(y{" * 4_000,
        "RETURN '" + "\\" * 19_000,
        "RETURN 1 " + "/*" * 9_000,
        "RETURN " + "`" * 19_001,
    ],
    ids=lambda text: text[:16],
)
def test_what_is_nested_or_left_open_is_refused(statement: str, dialect: str) -> None:
    """Neither depth nor length makes the guard fail."""
    assert not check(statement, dialect).allowed


@pytest.mark.parametrize("dialect", DIALECTS)
def test_long_flat_statements_are_allowed(dialect: str) -> None:
    """Only nesting is limited: lists, chains and unions may be long."""
    assert check("RETURN " + "NOT " * 4_000 + "true", dialect).allowed
    assert check("RETURN [" + "1, " * 5_000 + "1]", dialect).allowed
    assert check("MATCH " + "(a)--" * 3_000 + "(b) RETURN b", dialect).allowed
    assert check("RETURN 1 AS x" + " UNION RETURN 1 AS x" * 900, dialect).allowed


def test_users_may_add_functions_and_procedures() -> None:
    """What a policy lists may be called, by exactly its name."""
    policy = Policy(
        functions=frozenset({"own.text.join"}), procedures=frozenset({"own.meta.schema"})
    )
    function = "MATCH (n) RETURN own.text.join(collect(n.name), ',')"
    procedure = "CALL own.meta.schema() YIELD value RETURN value"
    for statement in (function, procedure):
        assert not check(statement, "neo4j").allowed
        assert check(statement, "neo4j", policy).allowed
    assert not check("RETURN own.text.joins([], '')", "neo4j", policy).allowed
    assert not check("CALL own.meta.data()", "neo4j", policy).allowed


def test_a_statement_may_use_its_own_database() -> None:
    """Where the location names it; it is left out, and another is refused."""
    own = Policy(database="sales")
    assert judge("USE sales MATCH (n) RETURN n", "neo4j", own) == "MATCH (n) RETURN n"
    for statement in (
        "USE other RETURN 1",
        "USE sales CREATE (n)",
        "USE graph.byName('sales') RETURN 1",
    ):
        assert not check(statement, "neo4j", own).allowed
    assert not check("USE sales RETURN 1", "neo4j").allowed


@pytest.mark.parametrize(
    ("statement", "runs"),
    [
        ("MATCH (n) /* all */ RETURN n.name // end", "MATCH (n) RETURN n.name"),
        ("RETURN 'caf\\u00e9' AS x;", "RETURN 'café' AS x"),
        ("MATCH (n)\u00a0RETURN n", "MATCH (n) RETURN n"),
        ("MATCH (n) RETURN n.set ORDER BY n.set", "MATCH (n) RETURN n.set ORDER BY n.set"),
        ("WITH 1 AS set RETURN set", "WITH 1 AS `set` RETURN `set` AS `set`"),
    ],
)
def test_what_runs_is_put_together_from_the_tokens(statement: str, runs: str) -> None:
    """Comments, odd spaces and escapes never reach the server, nor a word that writes as one."""
    assert judge(statement, "neo4j") == runs
