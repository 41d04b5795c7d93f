"""Whatever is made of statements, the SQL guard neither fails nor lets a write through."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dqa.guard import DIALECTS, GuardVerdict, Policy, check
from tests.guard.fuzz.__main__ import fuzz
from tests.guard.fuzz.mutate import Mutator, cases

SQL = ("mysql", "mariadb", "postgres", "sqlite", "duckdb")
SCOPED = Policy(tables=frozenset({"t", "u"}), denied_columns=frozenset({"t.secret", "ssn"}))


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "ladybug"])
def test_what_is_let_through_changes_nothing(dialect: str) -> None:
    """Mutants of every known attack and query, run on a database with no second line."""
    report = fuzz(dialect, seed=5, count=1_500)
    assert report.problems == []
    assert report.counts["run"] > 30


@pytest.mark.parametrize("dialect", SQL)
def test_mutants_get_a_verdict(dialect: str) -> None:
    """Nothing makes the guard fail, whether reading is scoped or not."""
    mutator = Mutator(dialect, seed=9)
    for _ in range(500):
        statement = mutator.statement()
        verdict = check(statement, dialect, SCOPED)
        assert isinstance(verdict, GuardVerdict)
        if verdict.allowed:  # a policy that only limits never allows more
            assert check(statement, dialect).allowed, statement


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(DIALECTS), st.text(max_size=300))
def test_any_text_gets_a_verdict(dialect: str, statement: str) -> None:
    """No text makes the guard fail, and a refusal has a reason."""
    verdict = check(statement, dialect)
    assert verdict.allowed or verdict.reason


PIECES = sorted({word for dialect in SQL for case in cases(dialect) for word in case.split(" ")})


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SQL), st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))
def test_any_words_in_any_order_get_a_verdict(dialect: str, statement: str) -> None:
    """No order of words makes the guard fail."""
    verdict = check(statement, dialect)
    assert verdict.allowed or verdict.reason


def test_the_same_seed_gives_the_same_statements() -> None:
    """What the fuzzer finds can be found again."""
    first, second = Mutator("duckdb", 3), Mutator("duckdb", 3)
    assert [first.statement() for _ in range(50)] == [second.statement() for _ in range(50)]
