"""docs/testing.md as written: its test modules pass, and its failure reads as it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[1] / "docs" / "testing.md"
README = Path(__file__).parents[1] / "README.md"
_NAMED_BLOCK = re.compile(r"`(?P<name>test_\w+\.py)`:\n\n```python\n(?P<text>.*?)```", re.DOTALL)
_REPORT = re.compile(r"```text\n(.*?)```", re.DOTALL)
PASSING = {
    "test_suppliers.py": 1,
    "test_databases.py": 7,
    "test_scripted.py": 3,
    "test_recorded.py": 1,
}


def blocks(page: Path = PAGE) -> dict[str, str]:
    """The page's test modules by name."""
    return {m["name"]: m["text"] for m in _NAMED_BLOCK.finditer(page.read_text("utf-8"))}


def run(folder: Path, *arguments: str) -> str:
    """Run pytest there; return what it printed."""
    command = [sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The folder with the page's modules; the recorded model is one that needs no key."""
    for name, text in blocks().items():
        (tmp_path / name).write_text(text.replace("openai:gpt-5", "scripted:analyst"), "utf-8")
    return tmp_path


def test_every_block_of_python_is_a_module_that_is_run() -> None:
    """None is forgotten here."""
    assert set(blocks()) == {*PASSING, "test_servers.py"}
    assert PAGE.read_text("utf-8").count("```python") == len(blocks())


def test_the_documented_modules_pass(written: Path) -> None:
    """All of them at once; the first run records, the second one plays."""
    for recording in ("missing", "none"):
        said = run(written, *PASSING, f"--dqa-record={recording}")
        assert f"{sum(PASSING.values())} passed" in said, said
    kept = "cassettes/test_recorded/test_the_agent_decides_right.scripted-analyst.jsonl"
    assert (written / kept).is_file()


def test_the_documented_failure_is_what_pytest_shows(written: Path) -> None:
    """Line by line, and the decision stands under its title."""
    module = written / "test_suppliers.py"
    module.write_text(module.read_text("utf-8").replace('answer("south")', 'answer("north")'))
    said = run(written, "test_suppliers.py")
    (report,) = _REPORT.findall(PAGE.read_text("utf-8"))
    shown = [line.removeprefix("E").strip() for line in said.splitlines()]
    assert all(line.strip() in shown for line in report.splitlines()), said
    assert "dqa: 1 decision -" in said


@pytest.mark.parametrize(("mode", "outcome"), [("skip", "2 skipped"), ("require", "2 failed")])
def test_the_documented_servers_are_skipped_only_where_that_is_asked_for(
    written: Path, mode: str, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without testcontainers: an installed package of that name is hidden."""
    for name in ("MYSQL", "POSTGRES"):
        monkeypatch.delenv(f"DQA_TEST_{name}_URL", raising=False)
    (written / "conftest.py").write_text("import sys\nsys.modules['testcontainers'] = None\n")
    said = run(written, "test_servers.py", f"--dqa-containers={mode}")
    assert outcome in said, said
    assert ('pip install "decision-qa[testing]"' in said) is (mode == "require")


def test_the_readme_has_the_first_module() -> None:
    """The ten lines are the same in both places."""
    assert blocks()["test_suppliers.py"] in README.read_text("utf-8")
    assert len(blocks()["test_suppliers.py"].splitlines()) <= 10
