"""Agents may look up hidden parts of a schema, but only if the schema was shortened."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dqa.core.database import Database
from dqa.core.display import Display
from dqa.core.question_set import QuestionSet
from dqa.core.schema import Field
from tests.planrag.conftest import run

TIGHT = Display(schema_tokens=300)


@pytest.fixture
def long_schema(database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """Return a database whose schema is longer than 300 tokens."""
    schema = database.schema()
    more = tuple(Field(f"measure_{number}", "INTEGER") for number in range(40))
    wide = replace(
        schema,
        tables=tuple(replace(t, columns=(*t.columns, *more)) for t in schema.tables),
        nodes=tuple(replace(n, properties=(*n.properties, *more)) for n in schema.nodes),
    )
    monkeypatch.setattr(database, "schema", lambda: wide)
    return database


def name_in(database: Database) -> str:
    """Return the name of a table or a label."""
    schema = database.schema()
    return schema.tables[0].name if schema.tables else schema.nodes[0].label


def test_text_agents_look_up_by_actions(questions: QuestionSet, long_schema: Database) -> None:
    """The input is text; the result is evidence, but not a retrieval."""
    name = name_in(long_schema)
    decision, model = run(
        "iterrag",
        questions,
        long_schema,
        f"Action: describe_table\nAction Input: {name}",
        "Action: find_columns\nAction Input: measure",
        "Final Answer: x",
        display=TIGHT,
    )
    text = model.requests[0].messages[0].text
    assert "Look up a missing part" in text
    assert "The action can also be sample_rows. Its input is " in text
    assert name in model.requests[1].last
    assert "measure_0" in model.requests[2].last
    assert [one.tool for one in decision.evidence] == ["describe_table", "find_columns"]
    assert [e.kind for e in decision.trace if e.kind in {"tool", "retrieval"}] == ["tool", "tool"]
