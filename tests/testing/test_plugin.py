"""The pytest plug-in, by test runs of its own."""

from __future__ import annotations

import pytest
import sqlalchemy.dialects.postgresql  # noqa: F401  (a run in this process imports it once)

import dqa
import dqa.testing

pytest_plugins = ("pytester",)

SHOP = """
from dqa.testing import answer, assert_choice, query

SHOP = {"supplier": {"name": ["north", "south"], "price": [3, 2]}}
ASKED = "Which supplier is the cheapest?"
"""


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    """Import what the runs will, for they forget their imports and NumPy cannot be had twice."""
    questions = dqa.generate(["locating"], count=1)
    dqa.evaluate(questions, ["planrag", "first"], databases=["sqlite", "duckdb"])
    for name in dir(dqa.testing):
        getattr(dqa.testing, name)


def run(pytester: pytest.Pytester, test: str, *arguments: str) -> pytest.RunResult:
    """Run a module that has a shop; warnings are errors."""
    pytester.makepyfile(test_shop=SHOP + test)
    return pytester.runpytest_inprocess("-W", "error", "-p", "no:cacheprovider", *arguments)


def test_a_failing_decision_reads_as_words_and_step_by_step(pytester: pytest.Pytester) -> None:
    """The message says what was expected, the report how the decision came about."""
    done = run(
        pytester,
        """
def test_it(dqa_database, dqa_scripted, dqa_ask):
    model = dqa_scripted([query("SELECT name FROM supplier", "See who."), answer("north")])
    assert_choice(dqa_ask(dqa_database(SHOP), ASKED, model=model), "south", "east")
""",
    )
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "E *AssertionError: The decision is 'north', but 'south' or 'east' was expected.",
            "E *  Ended: answered after 2 replies",
            "E *    SELECT name FROM supplier",
            "E *      -> 2 rows",
            "*- dqa: last decisions -*",
            "custom/1 | temporary | planrag",
            "Step 1: thought",
            "  See who.",
            "  -> 2 rows",
            "Answer",
            "  north",
        ]
    )
    assert "dqa/testing/decisions.py" not in done.stdout.str()


def test_an_error_of_an_agent_shows_its_line_and_its_decision(pytester: pytest.Pytester) -> None:
    """The error of a refused statement also shows the statement."""
    test = """
import dqa
class Agent(dqa.Decider):
    name = "own"
    def decide(self, question, database):
        database.query(question.text)
        raise KeyError("unknown")
def test_it(dqa_database, dqa_ask):
    dqa_ask(dqa_database(SHOP), "STATEMENT", decider=Agent())
"""
    refused = ["> *database.query*", "E *RefusedStatementError*", "E *Statement: DELETE*"]
    failed = {"SELECT 1": ["> *raise KeyError*", "E *KeyError*"], "DELETE FROM supplier": refused}
    for statement, lines in failed.items():
        done = run(pytester, test.replace("STATEMENT", statement))
        assert done.ret == pytest.ExitCode.TESTS_FAILED
        done.stdout.fnmatch_lines([*lines, "*- dqa: last decisions -*"])


def test_databases_are_closed_when_the_test_ends(pytester: pytest.Pytester) -> None:
    """Several may be open. A setting names the default engine; a test may name another one."""
    pytester.makeini("[pytest]\ndqa_engine = duckdb\n")
    done = run(
        pytester,
        """
import dqa
import pytest

KEPT = []

def test_open(dqa_database):
    KEPT.extend([dqa_database(SHOP), dqa_database(SHOP, engine="sqlite")])
    assert [shop.dialect for shop in KEPT] == ["duckdb", "sqlite"]
    assert all(shop.query("SELECT * FROM supplier").rows for shop in KEPT)

def test_closed():
    for shop in KEPT:
        with pytest.raises(dqa.DqaError):
            shop.query("SELECT * FROM supplier")
""",
    )
    done.assert_outcomes(passed=2)


SERVED = """
import pytest

@pytest.mark.parametrize("engine", ["postgres", "sqlite"])
def test_engine(dqa_database, engine):
    dqa_database(SHOP, engine=engine)

def test_url(dqa_server):
    dqa_server("mysql")
"""


@pytest.mark.parametrize(
    ("mode", "outcomes"),
    [("require", {"passed": 1, "failed": 2}), ("auto", {"passed": 1, "skipped": 2})],
)
def test_without_containers_tests_fail_unless_they_may_be_skipped(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, mode: str, outcomes: dict[str, int]
) -> None:
    """The reason says what to install, and which variable names a server in its place."""
    import sys

    monkeypatch.setitem(sys.modules, "testcontainers", None)
    for name in ("POSTGRES", "MYSQL"):
        monkeypatch.delenv(f"DQA_TEST_{name}_URL", raising=False)
    pytester.makeini(f"[pytest]\ndqa_containers = {mode}\n")
    done = run(pytester, SERVED, "-rs")
    done.assert_outcomes(**outcomes)
    if mode == "require":
        done.stdout.fnmatch_lines(
            [
                "No postgres server: The package 'testcontainers' is not installed: pip install *",
                "Or set DQA_TEST_POSTGRES_URL to the URL of a server that tests may write to, *",
            ]
        )
        assert "Traceback" not in done.stdout.str()
    else:
        done.stdout.fnmatch_lines(["*no mysql server: The package 'testcontainers' is not *"])
