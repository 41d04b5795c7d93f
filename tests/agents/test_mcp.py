"""``dqa mcp``, driven by the official client over both transports."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest
from mcp import Client, MCPError

from tests.agents.conftest import (
    ENDLESS,
    TOOLS,
    command,
    entries,
    over_http,
    processes,
    served,
    text_of,
    until,
)

WRONG: list[tuple[str, dict[str, object], str]] = [
    ("describe_table", {"name": "shops"}, "there is no table 'shops'"),
    ("query_database", {"statement": "DROP TABLE supplier"}, "only a query may run"),
    ("query_database", {"statement": "SELECT prize FROM supplier"}, "Did you mean 'price'?"),
    ("query_database", {}, '"statement": Field required. It takes statement.'),
    ("query_database", {"statement": " "}, "at least 1 character"),
    ("check", {"statement": "SELECT 1", "statment": "SELECT 1"}, '"statment"'),
    ("sample_rows", {"table": "supplier"}, '"name": Field required'),
    ("ask", {}, "No question is given"),
    ("ask", {"scenario": "/etc"}, "There is no scenario '/etc'"),
    ("ask", {"question": "?", "candidates": "DROP x"}, "only a query may run"),
]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_an_agent_looks_checks_queries_and_has_decided(
    transport: str, shop: Path, tmp_path: Path
) -> None:
    """Every tool gives data or text, wrong calls say what is wrong, all is audited."""
    audit = tmp_path / "audit.jsonl"
    before = shop.read_bytes()

    async def walk(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == TOOLS
        for tool in tools.values():
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert not tool.annotations.destructive_hint
        assert "SQL (SQLite)" in (client.instructions or "")

        async def given(name: str, /, **arguments: object) -> str:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, text_of(result)
            return text_of(result)

        assert "purchase(id: INTEGER" in await given("schema", question="Which purchase?")
        assert "supplier -> supplier.id" in await given("describe_table", name="Purchase")
        assert "[1, 1, 10]\n" in await given("sample_rows", name="purchase")
        assert (await given("find_columns", words="price")).startswith("supplier.price: ")
        assert await given("check", statement="SELECT name FROM supplier") == "Allowed."
        assert "only a query may run" in await given("check", statement="DROP TABLE supplier")
        prices = await given("query_database", statement="SELECT price FROM supplier")
        assert prices == '["price"]\n[1.123456789]\n[2.5]\n[0.75]\n(3 rows)'
        names = "SELECT name FROM supplier"
        decided = await given("ask", question="Whom do we drop?", candidates=names)
        assert decided.startswith("Choice: Ada\n")
        decided = await given("ask", question="Whom?", candidates=["Bo", "Cy"])
        assert decided.startswith("Choice: Bo\n")
        for name, arguments, said in WRONG:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert said in text_of(result)
        with pytest.raises(MCPError, match="There is no tool 'drop'"):
            await client.call_tool("drop", {})

    with served(transport, "--database", shop, "--audit", audit, "--decider", "first") as there:
        there.run(walk)
    written = entries(audit)
    refused = [one["statement"] for one in written if not one["allowed"]]
    assert refused == ["DROP TABLE supplier", "DROP x"]
    # Sampling and listing candidates are statements like any other.
    assert {one["statement"] for one in written if one["rows"] is not None} == {
        "SELECT id, supplier, units FROM purchase LIMIT 5",
        "SELECT price FROM supplier",
        "SELECT name FROM supplier",
    }
    assert shop.read_bytes() == before


HELLO = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]
HANG = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "query_database", "arguments": {"statement": ENDLESS}},
}

HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-06-18",
}


def lines(*messages: object) -> str:
    """Return messages as they go over standard input."""
    return "".join(f"{json.dumps(message)}\n" for message in messages)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes as Linux lists them")
@pytest.mark.parametrize("how", ["closed", "told to end"])
def test_it_ends_at_once_and_leaves_no_process_whatever_is_running(how: str, shop: Path) -> None:
    """When its client leaves and by SIGTERM; standard output has nothing but the protocol."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        command("--database", shop, "--seconds", 600),
        env=os.environ | {"XDG_MARK": mark},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines(*HELLO, HANG))
        process.stdin.flush()
        first = json.loads(process.stdout.readline())
        assert first["result"]["serverInfo"]["name"] == "dqa"
        assert until(lambda: len(processes(mark)) >= 2)
        time.sleep(0.5)  # the statement is on its way, or running
        if how != "closed":
            process.send_signal(signal.SIGTERM)
            process.wait(60)  # while standard input stays open
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == ({"closed": 0, "told to end": 143}[how], "")
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert until(lambda: not processes(mark))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="has one address only")
def test_a_client_does_not_wait_for_the_calls_of_another_one(shop: Path) -> None:
    """40 expensive calls from one address leave workers for another address."""

    def ask(host: str, address: str, message: object) -> str:
        connection = http.client.HTTPConnection(host, timeout=120, source_address=(address, 0))
        with closing(connection):
            connection.request("POST", "/mcp", lines(message), HEADERS)
            return connection.getresponse().read().decode()

    cheap = HANG | {"params": {"name": "query_database", "arguments": {"statement": "SELECT 42"}}}
    with over_http("--database", shop, "--seconds", 60) as there, ThreadPoolExecutor(40) as threads:
        host = urlsplit(there.url).netloc
        asked = [threads.submit(ask, host, "127.0.0.1", HANG) for _ in range(40)]
        time.sleep(3.0)
        assert "42" in ask(host, "127.0.0.2", cheap)
        assert not any(call.done() for call in asked)
        assert there.process is not None
        there.process.kill()
        assert all(call.exception() is not None for call in asked)


@pytest.mark.slow
def test_over_http_nobody_keeps_it_from_others(shop: Path) -> None:
    """No page reaches it by another name; a long statement and an open stream stop nobody."""
    answered: list[str] = []

    async def both(connect: Callable[[], Client]) -> None:
        async def hang() -> None:
            async with connect() as client:
                hanging.set()
                await client.call_tool("query_database", {"statement": ENDLESS})
                answered.append("hung")

        hanging = anyio.Event()
        async with anyio.create_task_group() as together:
            together.start_soon(hang)
            await hanging.wait()
            async with connect() as client:
                for _ in range(5):
                    result = await client.call_tool("query_database", {"statement": "SELECT 1"})
                    assert result.structured_content["rows"] == [[1]]
                answered.append("worked")
            together.cancel_scope.cancel()

    with over_http("--database", shop, "--seconds", 600) as there:
        for header, value, code in (
            ("Host", "evil.example", 421),
            ("Origin", "http://evil.example", 403),
            ("Host", "localhost:1.evil.example", 421),
            ("Origin", "http://localhost:1@evil.example", 403),
        ):
            request = urllib.request.Request(  # noqa: S310  (this machine's)
                there.url, data=lines(HELLO[0]).encode(), headers=HEADERS | {header: value}
            )
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request)  # noqa: S310
            assert refused.value.code == code
            refused.value.close()
        anyio.run(both, there.connect)
        assert answered == ["worked"]
        assert there.process is not None
        host = urlsplit(there.url).netloc
        with closing(http.client.HTTPConnection(host, timeout=60)) as open_end:
            open_end.request("POST", "/mcp", lines(HANG), HEADERS)
            time.sleep(0.5)
            there.process.send_signal(signal.SIGINT)
            assert there.process.wait(60) == 130
    if sys.platform == "linux":
        assert until(lambda: not there.left)
