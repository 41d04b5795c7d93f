"""Every command of README and docs that needs no model and no server, run as it is written."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.text_to_sql import write_bird, write_spider

HOME = Path(__file__).parents[1]
PAGES = [HOME / "README.md", *sorted((HOME / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(
    r"^(?:\$ )?(?P<line>(?:(?:echo .*\| )?dqa|python -m examples\.) ?.+)$", re.MULTILINE
)

NEEDS = {
    "openai:": "a language model",
    "DQA_MYSQL_URL": "a server",
    "mysql,neo4j": "a server",
    "postgresql://": "a server",
    "sales.db": "a database of the reader's",
    "queries/*.sql": "files of the reader's",
    "shop.sql": "files of the reader's",
    "./branches": "a folder of the page, which tests/scenarios makes",
    "closing.jsonl": "questions of the page",
    "buying": "questions of the page",
    "most-named": "a package of the page, which tests/test_extending.py makes",
    "runs/first": "a run of a language model",
    "head:6379": "a cluster of the reader's",
    "dqa view": "a reader who ends it",
    "dqa tournament": "players that are trained",
    "memory.db": "a memory that models or the reader's Python forms",
    "runs/far": "a run of the reader's cluster",
}
"""What a command has that cannot be run here, and why."""

FEWER = (
    (re.compile(r"--games \d+"), "--games 2"),
    (re.compile(r"--(questions|generate) (?!1\b)\d+"), r"--\1 2"),
    (re.compile(r"(eval (?!.*--generate \d)(?!.*--limit).*?)(?= \||$)"), r"\1 --limit 1"),
    (re.compile(r"(--resist \S+),planrag\b"), r"\1"),
)
"""What keeps it short: fewer questions, and nothing else is changed."""


def commands_of(page: Path) -> Iterator[str]:
    """Yield a page's commands, with lines that go on in one piece and without comments."""
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        shell = block["text"] if block["language"] in {"", "console", "bash", "sh"} else ""
        for match in _COMMAND.finditer(shell.replace("\\\n", " ")):
            yield re.sub(r"\s+# .*$", "", match["line"]).strip()


def runnable(page: Path) -> list[str]:
    """Return those that can be run here."""
    return [line for line in commands_of(page) if not any(part in line for part in NEEDS)]


def test_the_pages_have_commands_and_every_excuse_is_used() -> None:
    """A page that is renamed, or an excuse that nobody needs any more, is seen."""
    every = [line for page in PAGES for line in commands_of(page)]
    assert len(every) > 40
    assert sum(len(runnable(page)) for page in PAGES) > 25
    for part in NEEDS:
        assert any(part in line for line in every), part


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if runnable(page)], ids=lambda page: page.stem
)
def test_the_commands_of_a_page_run_in_their_order(
    page: Path, tmp_path: Path, release_dir: Path, dellma_release_dir: Path
) -> None:
    """In one folder, beside the releases under the names that the pages call them."""
    (tmp_path / "PlanRAG").symlink_to(release_dir)
    (tmp_path / "DeLLMa").symlink_to(dellma_release_dir)
    write_bird(tmp_path / "bird")
    write_spider(tmp_path / "spider")
    (tmp_path / "examples").symlink_to(HOME / "examples")
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        if block["language"] == "yaml":
            (tmp_path / "spec.yaml").write_text(block["text"], "utf-8")
    python = shlex.quote(sys.executable)
    here = f'set -o pipefail; dqa() {{ {python} -m dqa "$@"; }}; python() {{ {python} "$@"; }}; '
    for line in runnable(page):
        short = line
        for pattern, fewer in FEWER:
            short = pattern.sub(fewer, short)
        done = subprocess.run(
            ["/bin/bash", "-c", here + short],
            cwd=tmp_path,
            # A cluster that is asked for is one of its own, whatever else runs on this machine.
            env={k: v for k, v in os.environ.items() if not k.endswith("_URL")}
            | {"RAY_ADDRESS": "local"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stderr[-2000:]}"
        assert done.stdout, line
