"""A shop to ask about, and the real command that serves it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from tests.cli.conftest import generated
from tests.sqlite_files import run_script

__all__ = ["generated"]

CASES = Path(__file__).parents[1] / "guard" / "guard_cases"
TOOLS = [
    "schema",
    "describe_table",
    "sample_rows",
    "find_columns",
    "check",
    "query_database",
    "ask",
]
"""The tools in their order. Without a decider, the last one is missing."""
ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
SHOP = """
    CREATE TABLE supplier (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, email TEXT);
    CREATE TABLE purchase (
        id INTEGER PRIMARY KEY, supplier INTEGER REFERENCES supplier (id), units INTEGER
    );
    INSERT INTO supplier VALUES
        (1, 'Ada', 1.123456789, 'ada@example.org'), (2, 'Bo', 2.5, 'bo@example.org'),
        (3, 'Cy', 0.75, 'cy@example.org');
    INSERT INTO purchase VALUES (1, 1, 10), (2, 3, 20);
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A database of somebody's own."""
    return run_script(tmp_path / "shop.db", SHOP)


def attacks(dialect: str, count: int = 50) -> list[str]:
    """Return so many of the guard's attacks, of every class that there is."""
    lines = (CASES / f"{dialect}.jsonl").read_text("utf-8").splitlines()
    read = [case for case in map(json.loads, lines) if not case["allowed"] and "runs" not in case]
    found = [case["statement"] for case in read]
    # What no JSON can carry never comes this way.
    found = [one for one in found if one.strip() and one.isprintable()]
    return [found[place * len(found) // count] for place in range(count)]


@dataclass
class Served:
    """A running ``dqa mcp``: how to connect to it, and who it is."""

    connect: Callable[[], Client]
    mark: str
    url: str = ""
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def run(self, act: Callable[[Client], Awaitable[Any]]) -> Any:
        """Connect a client, and return what `act` does with it."""

        async def connected() -> Any:
            async with self.connect() as client:
                return await act(client)

        return anyio.run(connected)

    @property
    def left(self) -> list[int]:
        """The processes that it, or anything that it started, still has."""
        return processes(self.mark)


def processes(mark: str) -> list[int]:
    """Return the processes whose environment has a mark and that have not ended."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if mark.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


def command(*arguments: object) -> list[str]:
    """Return the real command's words."""
    return [sys.executable, "-m", "dqa", "mcp", *map(str, arguments)]


def over_stdio(*arguments: object, env: Mapping[str, str] | None = None) -> Served:
    """Return how to start the command for each client, with variables beside a few usual ones."""
    mark = uuid.uuid4().hex
    words = command(*arguments)
    variables = {"XDG_MARK": mark, **(env or {})}
    started = StdioServerParameters(command=words[0], args=words[1:], env=variables)
    return Served(lambda: Client(started), mark)


@contextmanager
def over_http(*arguments: object) -> Iterator[Served]:
    """Start the command, and return where it is."""
    mark = uuid.uuid4().hex
    words = command(*arguments, "--transport", "http", "--port", 0)
    process = subprocess.Popen(
        words, env=os.environ | {"XDG_MARK": mark}, stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            assert "Serving at http" in line, line + process.stderr.read()
            url = line.split()[-1]
            yield Served(lambda: Client(url), mark, url, process)
        finally:
            process.terminate()


@contextmanager
def served(transport: str, *arguments: object) -> Iterator[Served]:
    """Serve over either transport."""
    with ExitStack() as stack:
        if transport == "http":
            yield stack.enter_context(over_http(*arguments))
        else:
            yield over_stdio(*arguments)


def text_of(result: CallToolResult) -> str:
    """Return the text that a model reads."""
    (said,) = result.content
    assert said.type == "text"
    return said.text


def entries(audit: Path) -> Sequence[dict[str, Any]]:
    """Return what an audit has written down."""
    return [json.loads(line) for line in audit.read_text("utf-8").splitlines()]


def until(is_so: Callable[[], bool]) -> bool:
    """Wait until something is so; False where it does not come to be."""
    for _ in range(300):
        if is_so():
            return True
        time.sleep(0.1)
    return False
