"""Agents may look up what of a schema is not shown, and only where something is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dqa.core.database import Database
from dqa.core.display import Display
from dqa.core.evidence import LOOKING_UP
from dqa.core.question_set import QuestionSet
from dqa.core.schema import Field
from tests.planrag.conftest import calling, run

TIGHT = Display(schema_tokens=300)


@pytest.fixture
def long(database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A database whose schema is longer than 300 tokens."""
    schema = database.schema()
    more = tuple(Field(f"measure_{number}", "INTEGER") for number in range(40))
    wide = replace(
        schema,
        tables=tuple(replace(t, columns=(*t.columns, *more)) for t in schema.tables),
        nodes=tuple(replace(n, properties=(*n.properties, *more)) for n in schema.nodes),
    )
    monkeypatch.setattr(database, "schema", lambda: wide)
    return database


def a_name(database: Database) -> str:
    """A table, or a label."""
    schema = database.schema()
    return schema.tables[0].name if schema.tables else schema.nodes[0].label


def test_in_text_they_are_actions(questions: QuestionSet, long: Database) -> None:
    """Their input is a text; what they return is evidence, and no retrieval."""
    name = a_name(long)
    decision, model = run(
        "iterrag",
        questions,
        long,
        f"Action: describe_table\nAction Input: {name}",
        "Action: find_columns\nAction Input: measure",
        "Final Answer: x",
        display=TIGHT,
    )
    text = model.shown[0][0].text
    assert "The schema is too long to be shown whole." in text
    assert "The action may also be sample_rows. Its input is a table, or of a graph " in text
    assert name in model.shown[1][-1].text
    assert "measure_0" in model.shown[2][-1].text
    assert [one.tool for one in decision.evidence] == ["describe_table", "find_columns"]
    assert [e.kind for e in decision.trace if e.kind in {"tool", "retrieval"}] == ["tool", "tool"]


def test_as_tools_they_are_offered(questions: QuestionSet, long: Database) -> None:
    """Beside the agent's own."""
    decision, model = run(
        "iterrag",
        questions,
        long,
        calling(("describe_table", {"name": "nothing"})),
        calling(("decide", {"decision": "x"})),
        display=TIGHT,
        protocol="tools",
    )
    assert model.offered[0] == ["query_database", *LOOKING_UP, "decide"]
    assert "Call `find_columns`: It returns the 20 columns" in model.shown[0][0].text
    assert "Error: there is no " in model.shown[1][-1].text
    assert decision.evidence[0].error == "UnknownReferenceError"
