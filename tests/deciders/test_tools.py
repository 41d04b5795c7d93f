"""The tools an agent is given."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from dqa.core.database import Database, Limits
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.evidence import Evidence
from dqa.deciders.tools import QueryArguments, observe, query_tool, schema_tool


def call(statement: str) -> dict[str, object]:
    """Return a tool call as a chat model makes it."""
    name = "query_database"
    return {"type": "tool_call", "id": "1", "name": name, "args": {"statement": statement}}


def test_rows_are_content_and_evidence_is_the_artifact(relational: Database) -> None:
    """The model reads the text; the trace keeps the whole."""
    message = query_tool(relational).invoke(call("SELECT dest FROM flow ORDER BY 1"))
    assert message.content == '["dest"]\n["kiev"]\n["lubeck"]\n(2 rows)'
    assert isinstance(message.artifact, Evidence)
    assert message.artifact.row_count == 2
    assert message.artifact.error is None


def test_a_statement_is_text_even_where_it_is_a_number(relational: Database) -> None:
    """Ids come as numbers from some models; what is no text otherwise is told to the caller."""
    assert QueryArguments.model_validate({"statement": 7}).statement == "7"
    for wrong in (None, ["SELECT 1"], {"sql": "SELECT 1"}):
        with pytest.raises(ValidationError, match="valid string"):
            QueryArguments.model_validate({"statement": wrong})
    message = query_tool(relational).invoke({**call(""), "args": {"statement": 7}})
    assert str(message.content).startswith("Error: ")


def test_a_wrong_statement_is_an_error_the_model_can_act_on(database: Database) -> None:
    """Nothing is raised, and the evidence names the error."""
    message = query_tool(database).invoke(call("DROP everything"))
    assert str(message.content).startswith("Error: The statement was not run")
    assert message.artifact.error == "RefusedStatementError"


def test_cuts_are_part_of_the_evidence(relational: Database) -> None:
    """By rows, and by seconds where the statement was stopped."""
    assert observe(relational, "SELECT * FROM trade_node", Limits(rows=1)).cut == "rows"
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r"
    assert observe(relational, endless, Limits(seconds=0.05)).cut == "seconds"


def test_a_failing_database_is_no_observation(database: Database) -> None:
    """It propagates, so that nobody takes it for a wrong answer."""
    tool = query_tool(database)
    database.close()
    with pytest.raises(DatabaseUnavailableError):
        tool.invoke(call({"graph": "RETURN 1", "relational": "SELECT 1"}[database.kind]))


def test_the_schema_tool_shows_the_schema(database: Database) -> None:
    """As the database describes itself."""
    assert schema_tool(database).invoke({}) == database.schema().to_text()
