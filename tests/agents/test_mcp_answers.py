"""What the server of ``dqa mcp`` answers, what it hides, and where it does not start."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError

import dqa
from dqa import plugins
from dqa.guard import Audit
from tests.agents.conftest import text_of


def test_whole_numbers_beyond_json_readers_are_text(shop: Path) -> None:
    """JavaScript would round them."""
    database = dqa.open_database(shop)

    async def look(client: Client) -> None:
        statement = "SELECT 9007199254740993 AS a, -9007199254740991 AS b, 1.5 AS c"
        found = await client.call_tool("query_database", {"statement": statement})
        assert found.structured_content["rows"] == [["9007199254740993", -9007199254740991, 1.5]]

    in_process(dqa.mcp_server(database), look)
    database.close()


def in_process(server: object, act: Callable[[Client], object]) -> None:
    """Talk to a server in this process."""

    async def connected() -> None:
        async with Client(server) as client:  # type: ignore[arg-type]
            await act(client)  # type: ignore[misc]

    anyio.run(connected)


def test_only_the_servers_own_scenario_can_be_asked(generated: Path, tmp_path: Path) -> None:
    """A scripted agent with the simulator decides right; another scenario cannot be named."""
    questions = dqa.read_generated(generated)
    question = questions.find("locating/1")
    database = plugins.backend("sqlite").load(
        questions.situation_of(question), str(tmp_path / "q.db")
    )
    decisions = dqa.Decisions("planrag-sim", model="scripted:analyst", scenarios=["locating"])

    async def ask(client: Client) -> None:
        asked = {"scenario": "locating", "target": {"country": question.target["country"]}}
        decided = await client.call_tool("ask", asked)
        assert not decided.is_error, text_of(decided)
        assert decided.structured_content["choice"] == questions.truth_of(question).official
        assert "scripted:analyst" in text_of(decided)
        other = await client.call_tool("ask", {"scenario": "building", "target": {"goods": "x"}})
        assert "There is no scenario 'building'. There are: locating." in text_of(other)

    in_process(dqa.mcp_server(database, decisions=decisions), ask)
    database.close()


def test_what_a_policy_hides_is_in_no_answer(shop: Path) -> None:
    """Not in the schema, a description, a sample, a refusal."""
    policy = dqa.Policy(denied_columns=frozenset({"supplier.email"}))
    database = dqa.open_database(shop, policy=policy)

    async def look(client: Client) -> None:
        for name, arguments in (
            ("schema", {}),
            ("describe_table", {"name": "supplier"}),
            ("sample_rows", {"name": "supplier"}),
            ("find_columns", {"words": "price or email of a supplier"}),
        ):
            result = await client.call_tool(name, arguments)
            assert not result.is_error
            assert "price" in text_of(result)
            assert "email" not in result.model_dump_json()
            assert "example.org" not in result.model_dump_json()
        whole = await client.call_tool("query_database", {"statement": "SELECT * FROM supplier"})
        hidden = await client.call_tool(
            "query_database", {"statement": "SELECT email FROM supplier"}
        )
        assert (whole.is_error, hidden.is_error) == (False, True)
        assert "email" not in text_of(whole)
        assert "example.org" not in text_of(whole) + text_of(hidden)

    in_process(dqa.mcp_server(database), look)
    database.close()


def test_a_failing_database_is_an_error_of_the_protocol(shop: Path) -> None:
    """No agent takes it for something that it can mend."""
    database = dqa.open_database(shop)
    database.close()

    async def look(client: Client) -> None:
        with pytest.raises(MCPError, match="is closed"):
            await client.call_tool("query_database", {"statement": "SELECT 1"})

    in_process(dqa.mcp_server(database), look)


def test_without_its_audit_no_statement_is_answered(shop: Path, tmp_path: Path) -> None:
    """That is nothing that an agent can mend."""
    audit = tmp_path / "audit.jsonl"
    database = dqa.open_database(shop, audit=audit)
    audit.unlink()
    audit.mkdir()

    async def look(client: Client) -> None:
        with pytest.raises(MCPError, match="cannot be recorded return no rows"):
            await client.call_tool("query_database", {"statement": "SELECT 1"})

    in_process(dqa.mcp_server(database), look)
    database.close()


def test_a_bug_tells_the_client_its_kind_and_nothing_else(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it says may hold anything; whoever runs the server reads it on standard error."""

    def broken(_entry: object) -> None:
        raise ZeroDivisionError("postgresql://ada:secret@host/db")

    database = dqa.open_database(shop, audit=Audit(sink=broken))

    async def look(client: Client) -> None:
        with pytest.raises(MCPError) as told:
            await client.call_tool("query_database", {"statement": "SELECT 1"})
        assert "bug in dqa (ZeroDivisionError)" in str(told.value)

    in_process(dqa.mcp_server(database), look)
    database.close()
    said = capsys.readouterr().err
    assert "ZeroDivisionError" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--database", "nowhere.db"), "nowhere.db"),
        (("--policy", "nowhere.json"), "nowhere.json"),
        (("--tables", "nothing"), "nothing"),
        (("--decider", "nobody"), "There is no decider 'nobody'"),
        (("--decider", "planrag"), "'planrag' needs a chat model"),
        (("--decider", "first", "--record", "kept.jsonl"), "leave out the option"),
        (("--transport", "http", "--host", "0.0.0.0"), "--allow-host"),  # noqa: S104
        (("--transport", "http", "--port", "TAKEN"), "Cannot listen"),
    ],
)
def test_what_cannot_be_served_is_one_line_at_the_start(
    arguments: tuple[str, ...],
    said: str,
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Before any client comes."""
    from dqa.cli.main import run

    monkeypatch.chdir(shop.parent)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        given = [port if one == "TAKEN" else one for one in arguments]
        if "--database" not in given:
            given += ["--database", "shop.db"]
        monkeypatch.setattr(sys, "argv", ["dqa", "mcp", *given])
        with pytest.raises(SystemExit) as ended:
            run()
    captured = capsys.readouterr()
    assert ended.value.code in {1, 2}
    assert captured.out == ""
    assert said in captured.err
    assert "Traceback" not in captured.err
    assert len(captured.err.strip().splitlines()) == 1
