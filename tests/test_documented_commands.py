"""The commands of README and docs that need neither a model nor a server, on small inputs.

Commands of the README and of one block of each page run in this process. ``--deep`` runs every
command of every page in a shell, as written.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dqa.cli.main import app
from examples.make_warehouse import main as make_warehouse
from tests.confirming import confirm
from tests.text_to_sql import write_bird, write_spider

HOME = Path(__file__).parents[1]
PAGES = [HOME / "README.md", *sorted((HOME / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(
    r"^(?:\$ )?(?P<line>(?:(?:echo .*\| )?dqa|python -m examples\.) ?.+)$", re.MULTILINE
)

NEEDS = {
    "openai:": "a language model",
    "sales.db": "a database of the reader's",
    "@host/sales": "a server of the reader's",
    "shop.sql": "files of the reader's",
    "./branches": "a folder of the page, tested in tests/scenarios",
    "closing.jsonl": "questions of the page",
    "buying": "questions of the page",
    "most-named": "a package of the page, tested in tests/test_extending.py",
    "runs/first": "a run of a language model",
    "head:6379": "a cluster of the reader's",
    "dqa games tournament": "trained players",
    "memory.db": "a memory of a model or of the reader's Python",
    "runs/far": "a run of the reader's cluster",
}
"""Parts of commands that cannot run here, and their missing needs."""

FEWER = (
    (re.compile(r"--games \d+"), "--games 2"),
    (re.compile(r"--(questions|generate) (?!1\b)\d+"), r"--\1 2"),
    (re.compile(r"(eval (?!.*--generate \d)(?!.*--limit).*?)(?= \||$)"), r"\1 --limit 1"),
    (re.compile(r"(data (?:audit|annotate) --release \S+)"), r"\1 --scenarios building"),
    (re.compile(r"--lines \d+"), "--lines 2000"),
)
"""Replacements that reduce the number of questions."""


LONG = ("hard-1", "dqa games train")
"""Parts of commands that are slow on the smallest input and run only with ``--deep``."""


def blocks_of(page: Path) -> Iterator[list[str]]:
    """Yield the commands of each block, with continued lines joined and without comments."""
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        shell = block["text"] if block["language"] in {"", "console", "bash", "sh"} else ""
        yield [
            re.sub(r"\s+# .*$", "", match["line"]).strip()
            for match in _COMMAND.finditer(shell.replace("\\\n", " "))
        ]


def runnable(page: Path) -> list[list[str]]:
    """Return the commands that can run here, by block and on small inputs."""
    found = []
    for block in blocks_of(page):
        lines = [line for line in block if not any(part in line for part in NEEDS)]
        for pattern, fewer in FEWER:
            lines = [pattern.sub(fewer, line) for line in lines]
        found.append(lines)
    return [lines for lines in found if lines]


def test_the_pages_have_commands_and_every_exception_is_used() -> None:
    every = [line for page in PAGES for block in blocks_of(page) for line in block]
    assert len(every) > 40
    assert sum(len(block) for page in PAGES for block in runnable(page)) > 25
    assert [part for part in NEEDS if not any(part in line for line in every)] == []


def quick(page: Path) -> list[str]:
    """Return the commands of every test run: the first block of a page, or the whole README."""
    blocks = [
        [line for line in block if not any(part in line for part in LONG)]
        for block in runnable(page)
    ]
    blocks = [block for block in blocks if block]
    chosen = blocks if page.stem == "README" else blocks[:1]
    return [line for block in chosen for line in block]


@pytest.fixture
def folder(
    tmp_path: Path, release_dir: Path, dellma_release_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Create a folder that has the releases under the names of the pages, and no server."""
    (tmp_path / "PlanRAG").symlink_to(release_dir)
    (tmp_path / "DeLLMa").symlink_to(dellma_release_dir)
    write_bird(tmp_path / "bird")
    write_spider(tmp_path / "spider")
    (tmp_path / "examples").symlink_to(HOME / "examples")
    for name in [name for name in os.environ if name.endswith("_URL")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RAY_ADDRESS", "local")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_spec(page: Path, folder: Path) -> None:
    """Write the last spec of a page into a folder."""
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        if block["language"] == "yaml":
            (folder / "spec.yaml").write_text(block["text"], "utf-8")


def run_here(line: str) -> str:
    """Run a command in this process, without its pipe; return a failure."""
    before, _, command = line.rpartition("| dqa ")
    words = shlex.split(command.partition(" | ")[0])
    if words[0] == "python":
        make_warehouse(words[3:])
        return ""
    words = words[1:] if words[0] == "dqa" else words
    ran = CliRunner().invoke(app, words, input=before.removeprefix("echo ").strip(" '"))
    if ran.exit_code == 0 and ran.stdout:
        return ""
    return f"{line}: {ran.output[-2000:]} {ran.exception!r}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if quick(page)], ids=lambda page: page.stem
)
def test_the_readme_and_a_block_of_each_page_run(page: Path, folder: Path) -> None:
    """Slow commands are left out."""
    write_spec(page, folder)
    failures = [failure for failure in map(run_here, quick(page)) if failure]
    assert failures == []


@pytest.mark.deep
@pytest.mark.parametrize(
    "page", [page for page in PAGES if runnable(page)], ids=lambda page: page.stem
)
def test_every_command_of_a_page_runs_as_written(page: Path, folder: Path) -> None:
    """In their order, in a shell."""
    write_spec(page, folder)
    python = shlex.quote(sys.executable)
    here = f'set -o pipefail; dqa() {{ {python} -m dqa "$@"; }}; python() {{ {python} "$@"; }}; '
    for line in (line for block in runnable(page) for line in block):
        done = subprocess.run(
            ["/bin/bash", "-c", here + line], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        assert done.stdout, line
        if written := re.search(r"^dqa init .*--out (\S+)", line):
            confirm(folder / written[1])  # as the page asks its reader to do
