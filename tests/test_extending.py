"""docs/extending.md as written: its package is installed, and its commands run."""

from __future__ import annotations

import json
import os
import re
from importlib import import_module
from pathlib import Path

import pytest

from dqa import Settings
from dqa.core.database import Database
from dqa.core.decision import Ending
from dqa.testing.models import PreparedReplies
from tests.programs import run_python
from tests.suppliers import BUY, suppliers

__all__ = ["suppliers"]

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
_NAMED_BLOCK = re.compile(r"`(?P<name>[\w.]+)`:\n\n```\w*\n(?P<text>.*?)```", re.DOTALL)
_PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"^dqa (.+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the documented package into a folder."""
    source, site = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    files = {m["name"]: m["text"] for m in _NAMED_BLOCK.finditer(PAGE.read_text("utf-8"))}
    assert set(files) == {"pyproject.toml", "most_named.py"}
    assert all(len(text.splitlines()) <= 30 for text in files.values())
    for name, text in files.items():
        (source / name).write_text(text, "utf-8")
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation")
    run_python(*pip, "--target", site, source, check=True)
    return site


@pytest.mark.slow
def test_the_documented_decider_is_evaluated(installed: Path) -> None:
    """By the page's command, without a change of dqa."""
    (command,) = _COMMAND.findall(PAGE.read_text("utf-8"))
    done = run_python(
        "-m", "dqa", *command.split(), "--json", env={**os.environ, "PYTHONPATH": str(installed)}
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["results"]
    ours = [line for line in results if line["decider"] == "most-named"]
    assert len(ours) == 2
    assert all(line["questions"] == 2 and not line["crashed"] for line in ours)


def test_the_first_decider_of_the_page_needs_no_package(capsys: pytest.CaptureFixture[str]) -> None:
    """An object is evaluated next to a name."""
    first = _PYTHON.findall(PAGE.read_text("utf-8"))[0]
    exec(compile(first, "first", "exec"), {})  # noqa: S102  (our own documentation)
    assert "first-named" in capsys.readouterr().out


def test_the_documented_method_is_small_asks_again_and_answers(
    suppliers: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most 25 lines and one prompt; the second reply names a candidate."""
    page = PAGE.read_text("utf-8")
    text = next(block for block in _PYTHON.findall(page) if "OnePrompt" in block)
    (prompt,) = re.findall(r"```jinja\n(.*?)```", page, re.DOTALL)
    assert len(text.splitlines()) <= 25
    prompts = tmp_path / "one_prompt" / "prompts"
    prompts.mkdir(parents=True)
    (prompts.parent / "__init__.py").touch()
    (prompts.parent / "deciders.py").write_text(text, "utf-8")
    (prompts / "choose.md").write_text(prompt, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    factory = import_module("one_prompt.deciders").FACTORY
    model = PreparedReplies(['{"action": "Zoe"}', '{"action": "bob", "reasoning": "7.5"}'])
    decision = factory(model, Settings()).decide(BUY, suppliers)
    assert (decision.ending, decision.choice, decision.steps) == (Ending.ANSWERED, "Bob", 2)
    assert '["Bob", 7.5]' in model.requests[0].text
    assert "'Zoe' names no action" in model.requests[-1].last


def test_the_documented_event_survives_json() -> None:
    from dqa.core.events import event_from_json

    text = next(b for b in _PYTHON.findall(PAGE.read_text("utf-8")) if "CountedEvent" in b)
    space: dict[str, object] = {"__name__": "documented"}
    exec(compile(text, str(PAGE), "exec", dont_inherit=True), space)  # noqa: S102  (the page's own code)
    event = space["CountedEvent"](step=1, names={"kiev": 2})  # type: ignore[operator]
    read = event_from_json(event.to_json())
    assert (read.kind, read.step, read.data) == ("counted", 1, event.data)
