"""Looking up what of a long schema is not in the prompt: bounded, and nothing that is hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.display import DEFAULT_DISPLAY, Display
from dqa.core.evidence import Evidence
from dqa.core.question_set import QuestionSet
from dqa.core.text import estimate_tokens
from dqa.deciders.lookup import lookup_tools
from dqa.deciders.tools import arguments_from_text, use_tool
from dqa.guard import Policy
from dqa.loaders.generator.generate import generate
from dqa_simulators.locating.generator import LocatingSize

SECRET = Policy(denied_columns=frozenset({"staff.pay"}), tables=frozenset({"staff", "Odd Name"}))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Some tables, one of them with very many columns."""
    made = tmp_path / "staff.duckdb"
    many = ", ".join(f"measure_{number} INT" for number in range(400))
    with duckdb.connect(str(made)) as connection:
        connection.execute(
            "CREATE TABLE staff(id INT PRIMARY KEY, called VARCHAR, pay INT);"
            "COMMENT ON COLUMN staff.called IS 'full name of a worker';"
            "CREATE TABLE shifts(staff_id INT REFERENCES staff(id), hours INT);"
            'CREATE TABLE "Odd Name"("a b" INT);'
            f"CREATE TABLE wide({many});"
            "INSERT INTO staff SELECT n, 'p' || n, 77777 FROM range(50) t(n)"
        )
    return made


@pytest.fixture
def database(file: Path) -> Iterator[Database]:
    """The same, open."""
    opened = plugins.backend("duckdb").open(str(file))
    yield opened
    opened.close()


def look(database: Database, display: Display = DEFAULT_DISPLAY) -> Callable[[str, str], Evidence]:
    """Return a function that calls one of the tools with its only argument."""
    tools = {tool.name: tool for tool in lookup_tools(database, display)}
    return lambda name, text: use_tool(tools[name], arguments_from_text(tools[name], text))


def test_a_table_is_described_with_what_refers_to_it(database: Database) -> None:
    """By whatever case and quotes it is named; samples are those of the display."""
    told = look(database)("describe_table", '"STAFF"')
    assert told.observation == (
        "staff(id: INTEGER, called: VARCHAR /* full name of a worker */, pay: INTEGER) key (id)\n"
        "Referred to by: shifts"
    )
    assert (told.tool, told.error) == ("describe_table", None)
    sampled = look(database, Display(samples=1))("describe_table", "main.staff").observation
    assert 'called: VARCHAR e.g. ["p0"] /*' in sampled


def test_what_is_not_there_is_told_with_what_is_near(database: Database) -> None:
    """Each tool returns an observation that names the closest table."""
    ask = look(database)
    for told in (ask("describe_table", "stafff"), ask("sample_rows", "stafff")):
        assert told.error == "UnknownReferenceError"
        assert "there is no table 'stafff'. Did you mean 'staff'?" in told.observation


def test_columns_are_found_by_their_words_and_their_tables(database: Database) -> None:
    """The best first, and no more than twenty."""
    found = look(database)("find_columns", "names of workers").observation.splitlines()
    assert found[0] == "staff.called: VARCHAR /* full name of a worker */"
    many = look(database)("find_columns", "measure")
    assert many.row_count == len(many.observation.splitlines()) == 20
    assert "No column matches" in look(database)("find_columns", "zebra").observation


def test_a_description_is_bounded(database: Database) -> None:
    """It says how many columns are left."""
    told = look(database)("describe_table", "wide").observation
    assert "... 200 more)" in told
    assert estimate_tokens(told) < 4_000


def test_what_a_policy_hides_is_in_none_of_them(file: Path) -> None:
    """Neither names nor values."""
    with closing(plugins.backend("duckdb").open(str(file), policy=SECRET)) as opened:
        ask = look(opened, Display(samples=2))
        told = [
            *(ask("describe_table", name) for name in ("staff", "shifts", "pay")),
            *(ask("sample_rows", name) for name in ("staff", "shifts")),
            *(ask("find_columns", words) for words in ("pay", "hours", "staff")),
        ]
    text = "\n".join(one.observation for one in told)
    assert "called" in text
    for hidden in ("pay:", '"pay"', "77777", "hours:", "shifts("):
        assert hidden not in text
    assert [one.error for one in told].count("UnknownReferenceError") == 3


@pytest.fixture(scope="module")
def questions() -> QuestionSet:
    """One question on a small world."""
    return generate(("locating",), count=1, seed=3, sizes=(LocatingSize(12, 20, 20, 60),))


def test_of_a_graph_labels_and_relationships_are_looked_up(questions: QuestionSet) -> None:
    """A label with its relationships; what a type joins; rows of both."""
    world = questions.situation_of(questions.questions[0])
    with closing(plugins.backend("ladybug").load(world)) as opened:
        ask = look(opened)
        told = ask("describe_table", ":Trade_node").observation.splitlines()
        assert told[0].startswith("(:Trade_node {name: STRING key")
        assert "(:Trade_node)-[:source {flow: DOUBLE}]->(:Trade_node)" in told
        assert ask("sample_rows", "Trade_node").row_count == 5
        assert ask("sample_rows", "source").observation.startswith('["flow"]')
        found = ask("find_columns", "flow").observation
        assert found.startswith("source.flow: DOUBLE")
