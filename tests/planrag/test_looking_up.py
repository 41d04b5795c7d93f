"""Agents may look up what of a schema is not shown, and only where something is not."""

from __future__ import annotations

from typing import Literal

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.display import Display
from dqa.core.evidence import LOOKING_UP
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from tests.planrag.conftest import Replies, assert_sendable, calling, open_question

TIGHT = Display(schema_tokens=300)


def run(
    protocol: Literal["react", "tools"],
    questions: QuestionSet,
    database: Database,
    *replies: object,
    agent: str = "iterrag",
    display: Display = TIGHT,
) -> tuple[Decision, Replies]:
    """Let an agent decide an open question with the given replies."""
    model = Replies(replies=list(replies))
    decider = plugins.decider(agent)(model, Settings(protocol=protocol, display=display))
    decision = decider.decide(open_question(questions), database)
    for messages in model.shown:
        assert_sendable(messages)
    return decision, model


@pytest.fixture
def long(database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A database of which not all is shown within 300 tokens."""
    from dataclasses import replace

    from dqa.core.schema import Field

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
        "react",
        questions,
        long,
        f"Action: describe_table\nAction Input: {name}",
        "Action: find_columns\nAction Input: measure",
        "Final Answer: x",
    )
    told = model.shown[0][0].text
    assert "The schema is too long to be shown whole." in told
    assert "The action may also be sample_rows. Its input is a table, or of a graph " in told
    assert name in model.shown[1][-1].text
    assert "measure_0" in model.shown[2][-1].text
    assert [one.tool for one in decision.evidence] == ["describe_table", "find_columns"]
    assert [e.kind for e in decision.trace if e.kind in {"tool", "retrieval"}] == ["tool", "tool"]


def test_as_tools_they_are_offered(questions: QuestionSet, long: Database) -> None:
    """Beside the agent's own."""
    decision, model = run(
        "tools",
        questions,
        long,
        calling(("describe_table", {"name": "nothing"})),
        calling(("decide", {"decision": "x"})),
    )
    assert model.offered[0] == ["query_database", *LOOKING_UP, "decide"]
    assert "Call `find_columns`: It returns the 20 columns" in model.shown[0][0].text
    assert "Error: there is no " in model.shown[1][-1].text
    assert decision.evidence[0].error == "UnknownReferenceError"
