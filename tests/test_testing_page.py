"""docs/testing.md as written: its test modules pass, and its example of a failure is exact."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.programs import run_python

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[1] / "docs" / "testing.md"
README = Path(__file__).parents[1] / "README.md"
_NAMED_BLOCK = re.compile(r"`(?P<name>test_\w+\.py)`:\n\n```python\n(?P<text>.*?)```", re.DOTALL)
_REPORT = re.compile(r"```text\n(.*?)```", re.DOTALL)
PASSING = {
    "test_suppliers.py": 1,
    "test_databases.py": 6,
    "test_scripted.py": 3,
    "test_recorded.py": 1,
    "test_own_agent.py": 1,
}


def blocks(page: Path = PAGE) -> dict[str, str]:
    """Return the page's test modules by name."""
    return {m["name"]: m["text"] for m in _NAMED_BLOCK.finditer(page.read_text("utf-8"))}


def run(folder: Path, *arguments: str) -> str:
    """Run pytest in a folder, without the servers of these tests; return its output."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("DQA_TEST")}
    done = run_python(
        "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", *arguments, cwd=folder, env=env
    )
    return done.stdout + done.stderr


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Write the page's modules into a folder; the recorded model needs no key."""
    for name, text in blocks().items():
        scripted = text.replace("openai:gpt-5", "scripted:analyst")
        (tmp_path / name).write_text(scripted.replace('"planrag",', '"planrag-sim",'), "utf-8")
    recorded = tmp_path / "test_recorded.py"
    recorded.write_text(recorded.read_text("utf-8").replace("replay=", "record="), "utf-8")
    return tmp_path


def test_every_block_of_python_is_tested() -> None:
    assert set(blocks()) == {*PASSING, "test_servers.py"}
    assert PAGE.read_text("utf-8").count("```python") == len(blocks())


def test_the_documented_modules_behave_as_the_page_says(written: Path) -> None:
    """They pass, the first run records, servers are skipped, a failure is shown line by line."""
    right = (written / "test_suppliers.py").read_text("utf-8")
    wrong = right.replace('answer("south")', 'answer("north")')
    (written / "test_wrong.py").write_text(wrong, "utf-8")
    (written / "conftest.py").write_text("import sys\nsys.modules['testcontainers'] = None\n")
    options = ("--dqa-containers=skip",)
    output = run(written, *PASSING, "test_servers.py", "test_wrong.py", *options)
    assert f"1 failed, {sum(PASSING.values())} passed, 3 skipped" in output, output
    (report,) = _REPORT.findall(PAGE.read_text("utf-8"))
    shown = [line.removeprefix("E").strip() for line in output.splitlines()]
    assert all(line.strip() in shown for line in report.splitlines()), output
    assert "dqa: last decisions -" in output
    recorded = written / "test_recorded.py"
    recorded.write_text(recorded.read_text("utf-8").replace("record=", "replay="), "utf-8")
    assert "1 passed" in run(written, "test_recorded.py")


def test_the_readme_has_the_first_module() -> None:
    assert blocks()["test_suppliers.py"] in README.read_text("utf-8")
    assert len(blocks()["test_suppliers.py"].splitlines()) <= 10


def test_the_readme_has_the_start_of_the_module_of_an_own_agent() -> None:
    start, _, _ = blocks()["test_own_agent.py"].partition("\n\ndef test_my_agent_in_an_embedded")
    assert start in README.read_text("utf-8")
