"""docs/mcp.md as it is written: its blocks of Python run, and its clients' configurations start."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from dqa.testing import PreparedReplies, answer, query
from tests.agents.test_langchain import Caller
from tests.sqlite_files import WAREHOUSES, run_script

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
SETTINGS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
DEAREST = "SELECT name FROM warehouse ORDER BY cost DESC LIMIT 1"
SAID = [
    "[[2]]",
    'It is: ["name"]\n["North"]\n(1 row)',
    "North",
    f"{DEAREST}\nNorth",
    "('North', 7.5)",
]
"""What each block prints, in their order."""


@pytest.fixture
def sales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page's database, in the folder where we are."""
    monkeypatch.chdir(tmp_path)
    run_script("sales.db", WAREHOUSES)
    Path("cities.csv").write_text("city\nUlm\n", "utf-8")
    Path("policy.json").write_text('{"tables": ["warehouse"]}', "utf-8")
    return tmp_path


def test_every_block_is_run_here() -> None:
    """None is forgotten."""
    assert len(PYTHON) == len(SAID)
    assert len(SETTINGS) == 2


@pytest.mark.parametrize("place", range(len(SAID)))
def test_the_blocks_of_python_run(
    place: int, sales: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With scripted models in the place of a language model, and nothing else changed."""
    first = place - 1 if "InMemorySaver" in PYTHON[place] else place  # it uses the block before
    block = "\n".join(PYTHON[first : place + 1])
    block = block.replace('model="openai:gpt-5"', "model=DECIDING")
    block = block.replace('"openai:gpt-5"', "CALLING")
    given: dict[str, Any] = {
        "CALLING": Caller(calls=[("query_database", {"statement": DEAREST})]),
        "DECIDING": PreparedReplies([query(DEAREST), answer("North")] * 2),
        "__name__": "documented",
    }
    exec(compile(block, "mcp.md", "exec", dont_inherit=True), given)  # noqa: S102
    assert SAID[place] in capsys.readouterr().out
    if "database" in given:
        given["database"].close()


def started(settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the servers of a configuration that a client starts."""
    for servers in settings.values():
        for server in servers.values():
            if "command" in server:
                yield server


@pytest.mark.slow
def test_a_client_s_configuration_starts_the_server(sales: Path) -> None:
    """As it is written, but for where `dqa` and the files are."""
    every = [server for one in SETTINGS for server in started(one)]
    assert {server["command"] for server in every} == {"dqa"}
    words = max((server["args"] for server in every), key=len)
    words = [word.replace("/data/", f"{sales}/") for word in words]
    there = StdioServerParameters(command=sys.executable, args=["-m", "dqa", *words])

    async def look() -> None:
        async with Client(there) as client:
            found = await client.call_tool(
                "query_database", {"statement": "SELECT count(*) FROM warehouse"}
            )
            assert found.structured_content["rows"] == [[2]]

    anyio.run(look)


def test_the_other_one_names_the_address_that_the_server_has() -> None:
    """By default."""
    from dqa.api.mcp_server import PATH

    url = SETTINGS[1]["mcpServers"]["sales"]["url"]
    assert url == f"http://127.0.0.1:8000{PATH}"
    assert url in PAGE.split("--transport http --port 8000")[1]
