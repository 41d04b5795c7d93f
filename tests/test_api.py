"""The public API and the examples of its docstring."""

from __future__ import annotations

import ast
import importlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa.core.errors import PluginError
from dqa.evaluation.games import GameSetup
from dqa.evaluation.prepare import PreparedRun
from tests.programs import run_python
from tests.sqlite_files import run_script


def test_every_public_name_is_documented() -> None:
    """Names of types have no docstring."""
    assert {"ask", "evaluate", "open_database", "read_run"} < set(dir(dqa))
    bare = {name for name in dir(dqa) if not (getattr(dqa, name).__doc__ or "").strip()}
    assert bare <= {"Candidate", "Reviewer"}


def test_every_name_is_that_of_its_module() -> None:
    """Type checkers read the stub; the names are imported from its modules."""
    tree = ast.parse(Path(dqa.__file__).with_suffix(".pyi").read_text("utf-8"))
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            assert alias.asname == alias.name
            module = importlib.import_module(node.module or "")
            assert getattr(module, alias.name) is getattr(dqa, alias.name)


def test_importing_it_imports_nothing_else() -> None:
    script = (
        "import sys, dqa; print([n for n in sys.modules if n.startswith(('dqa.', 'pydantic'))])"
    )
    done = run_python("-c", script, check=True)
    assert done.stdout.strip() == "[]"


def examples() -> list[str]:
    """Return the examples of the docstring."""
    blocks = re.findall(r"::\n\n((?:    .*\n|\n)+)", dqa.__doc__ or "")
    return ["\n".join(line[4:] for line in block.splitlines()).strip() for block in blocks]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a user's database and a run, in the folder where the examples run."""
    run_script(
        tmp_path / "shop.db",
        "CREATE TABLE supplier (name TEXT, defects INTEGER);"
        "INSERT INTO supplier VALUES ('Ash', 3), ('Birch', 9);",
    )
    monkeypatch.chdir(tmp_path)
    questions = dqa.generate(("locating",), 1)
    dqa.evaluate(questions, ["first"], databases=["sqlite"], out="runs/first")
    return tmp_path


@pytest.mark.parametrize("example", examples(), ids=lambda text: text.splitlines()[-1][:40])
def test_the_examples_run_as_they_stand(
    example: str, shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has at most five statements, and prints something."""
    del shop
    assert len(ast.parse(example).body) <= 5
    # Without a key, the first candidate decides.
    monkeypatch.setattr(dqa, "ask", _ask_first, raising=False)
    exec(compile(example, "example", "exec"), {})  # noqa: S102  (our own documentation)
    assert capsys.readouterr().out.strip()


def _ask_first(*arguments: Any, model: str, **options: Any) -> dqa.Trace:
    from dqa.api.asking import ask

    assert ":" in model
    return ask(*arguments, decider="first", **options)


class Last(dqa.Decider):
    """A decider that chooses the last candidate."""

    name = "last"

    def decide(self, question: dqa.Question, database: dqa.Database) -> dqa.Decision:
        choice = (question.candidates or ())[-1]
        rows = database.query("SELECT 1")
        evidence = (dqa.Evidence.of("SELECT 1", rows),)
        return dqa.Decision(dqa.Ending.ANSWERED, str(choice), choice, evidence)


LAST = dqa.DeciderFactory("later", "the last", lambda *_: Last(), needs_model=False)


def test_own_deciders_are_evaluated_with_installed_ones() -> None:
    """As an object or a factory, without a package."""
    questions = dqa.generate(("building",), 2)
    run = dqa.evaluate(questions, [Last(), LAST, "first"], databases=["sqlite"])
    assert [row.decider for row in run.summaries] == ["last", "later", "first"]
    mine, later = (
        [r.choice for r in run.results if r.decider == name] for name in ("last", "later")
    )
    assert mine == later
    assert run.models == {"last": "none", "later": "none", "first": "none"}
    makes: dict[str, Any] = {"ZeroDivisionError": lambda *_: 1 // 0, "7": lambda *_: 7}
    for problem, make in makes.items():
        with pytest.raises(PluginError, match=f"'later' .*{problem}"):
            dqa.evaluate(questions, replace(LAST, make=make), databases=["sqlite"])
    mine_too, factory = Last(), replace(LAST, name="first")
    mine_too.name = "first"
    for one in (mine_too, factory):
        with pytest.raises(dqa.UsageError, match="Two deciders have the name 'first'"):
            dqa.evaluate(questions, one, databases=["sqlite"])


def test_a_watcher_receives_the_start_and_every_decision() -> None:
    received: list[object] = []

    class Mine(dqa.Watcher):
        def started(self, setup: PreparedRun | GameSetup, done: int) -> None:
            received.append((len(setup.tasks), done))

        def decided(self, result: dqa.Result) -> None:
            received.append(result)

    questions = dqa.generate(("locating",), 2)
    run = dqa.evaluate(questions, ["first"], databases=["sqlite"], watcher=Mine())
    assert received[0] == (2, 0)
    assert sorted(received[1:], key=str) == sorted(run.results, key=str)


def test_a_policy_and_an_audit_reach_every_statement(tmp_path: Path) -> None:
    """Of a run, and of one question."""
    questions = dqa.generate(("locating",), 1)
    audit = tmp_path / "audit.jsonl"

    class Curious(Last):
        def decide(self, question: dqa.Question, database: dqa.Database) -> dqa.Decision:
            with pytest.raises(dqa.QueryError):
                database.query("SELECT total_power FROM trade_node")
            return super().decide(question, database)

    run = dqa.evaluate(
        questions,
        [Curious()],
        databases=["sqlite", "ladybug"],
        policy={"denied_columns": ["total_power"], "denied_properties": ["total_power"]},
        options=dqa.RunOptions(audit=audit),
    )
    assert len(run.results) == 2
    entries = [json.loads(line) for line in audit.read_text("utf-8").splitlines()]
    denied = [entry for entry in entries if "total_power" in entry["statement"]]
    assert len(denied) == 2
    assert all(entry.get("error") or not entry["allowed"] for entry in denied)
    assert "SELECT 1" in {entry["statement"] for entry in entries}
    policy = tmp_path / "policy.json"
    policy.write_text('{"denied_columns": ["name"]}', "utf-8")
    with (
        dqa.temporary_database({"supplier": {"name": ["north"]}}, policy=policy) as shop,
        pytest.raises(dqa.UsageError, match="name"),
    ):
        dqa.ask(shop, "Who?", candidates="SELECT name FROM supplier", decider="first")


def test_a_bug_of_a_decider_is_recorded_or_raised(tmp_path: Path) -> None:
    """As a crashed decision, or with `debug` as its exception."""

    class Broken(Last):
        def decide(self, question: dqa.Question, database: dqa.Database) -> dqa.Decision:
            raise ZeroDivisionError("no luck")

    file = run_script(tmp_path / "own.db", "CREATE TABLE t (a)")
    asked = dqa.UserQuestion(question="Which?", candidates="SELECT 'x'")
    first = dqa.ask(file, asked, decider="first", candidates=["y", "z"], record=False)
    assert first.asked is not None
    assert (first.asked.text, first.choice) == ("Which?", "y")
    with pytest.raises(dqa.UsageError, match="there is no field 'rule'"):
        dqa.ask(file, "Which?", rule="None.", decider="first")
    crashed = dqa.ask(file, asked, decider=Broken())
    assert (crashed.ending, crashed.error) == (dqa.Ending.CRASHED, "ZeroDivisionError: no luck")
    assert "ZeroDivisionError" in crashed.events[0].data["traceback"]
    with pytest.raises(ZeroDivisionError):
        dqa.ask(file, asked, decider=Broken(), debug=True)


def test_a_record_replaces_no_file(tmp_path: Path) -> None:
    """The error comes before the decision."""
    (tmp_path / "record.json").write_text("precious")
    with (
        dqa.temporary_database({"supplier": {"name": ["north"]}}) as shop,
        pytest.raises(dqa.UsageError, match="exists"),
    ):
        dqa.ask(shop, "Which?", candidates=["north"], record=tmp_path / "record.json")
    assert (tmp_path / "record.json").read_text() == "precious"
