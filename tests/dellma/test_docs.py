"""The Python examples of docs/dellma.md run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dqa.cli.main import app
from dqa.deciders.base import DeciderFactory, Settings
from dqa.models.scripted import scripted_model
from tests.dellma.talking import data_of, world

DOCS = (Path(__file__).parents[2] / "docs" / "dellma.md").read_text("utf-8")
READING, REPLACING = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)


def test_a_tree_is_read_written_and_combined_from_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run was made on the command line."""
    monkeypatch.chdir(tmp_path)
    arguments = ("eval", "--generate", "1", "--scenarios", "agriculture", "--databases", "sqlite")
    farm = ("--deciders", "dellma-pairs,zero-shot", "--set", "dellma.samples=8")
    ran = CliRunner().invoke(app, [*arguments, *farm, "--out", "runs/farm"])
    assert ran.exit_code == 0, ran.output
    exec(compile(READING, "docs/dellma.md", "exec"), {})  # noqa: S102  (ours)
    assert (tmp_path / "tree.html").read_text("utf-8").startswith("<!doctype html>")
    assert "was chosen" in capsys.readouterr().out


def test_a_step_is_replaced_as_documented() -> None:
    """The decider uses its settings and the documented order of ranks."""
    names: dict[str, object] = {"__name__": "mine"}
    exec(compile(REPLACING, "docs/dellma.md", "exec"), names)  # noqa: S102  (ours)
    mine = names["MINE"]
    assert isinstance(mine, DeciderFactory)
    question, database = world()
    settings = Settings(options={"mine.samples": "4"})
    decision = mine(scripted_model("analyst"), settings).decide(question, database)
    database.close()
    assert decision.choice is not None
    shown = [event["shown"] == event["items"] for event in data_of(decision.trace, "elicitation")]
    assert shown
    assert all(shown)
