"""``dqa eval --spec`` and ``--epochs``."""

from __future__ import annotations

from pathlib import Path

from dqa.api.stored import read_run
from dqa.evaluation.spec import RunSpec
from dqa.loaders.sources import GeneratedQuestions
from tests.cli.conftest import Command
from tests.sqlite_files import run_script

SPEC = """\
questions: {source: generator, count: 1, seed: 0, scenarios: [locating]}
deciders: [random, first]
databases: [sqlite]
epochs: 2
"""


def test_options_go_before_what_a_spec_says(dqa: Command, tmp_path: Path) -> None:
    """So one file serves many runs."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    ran = dqa("eval", "--spec", tmp_path / "spec.yaml", "--out", tmp_path / "a")
    assert ran.code == 0
    assert len(read_run(tmp_path / "a").results) == 4
    more = ("--epochs", "3", "--deciders", "random", "--max-seconds", "60")
    ran = dqa("eval", "--spec", tmp_path / "spec.yaml", *more, "--out", tmp_path / "b")
    assert ran.code == 0
    found = read_run(tmp_path / "b")
    assert [r.epoch for r in found.results] == [1, 2, 3]
    assert found.spec is not None
    assert found.spec.budget.seconds == 60
    again = dqa("eval", "--resume", tmp_path / "b", "--max-seconds", "30")
    assert again.code == 2
    assert "budget.seconds was 60" in again.err
    assert dqa("eval", "--resume", tmp_path / "b").code == 0


def test_the_seed_of_the_command_line_generates_the_questions(dqa: Command, tmp_path: Path) -> None:
    """It is the seed of the questions, too; a run that resumes takes no spec."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    asked = ("--deciders", "first", "--epochs", "1", "--out", tmp_path / "a")
    assert dqa("eval", "--spec", tmp_path / "spec.yaml", "--seed", "9", *asked).code == 0
    found = read_run(tmp_path / "a").spec
    assert isinstance(found, RunSpec)
    assert isinstance(found.questions, GeneratedQuestions)
    assert (found.seed, found.questions.seed) == (9, 9)
    refused = dqa("eval", "--resume", tmp_path / "a", "--spec", tmp_path / "missing.yaml")
    assert refused.code == 2
    assert "leave out --spec" in refused.err


def test_a_scenario_is_used_with_the_own_questions_of_a_spec(dqa: Command, tmp_path: Path) -> None:
    """An unknown scenario is an error."""
    (tmp_path / "own.jsonl").write_text('{"question": "Which?", "candidates": ["a"]}\n')
    run_script(tmp_path / "shop.db", "CREATE TABLE t (a TEXT)")
    own = f"{{source: own, file: {tmp_path}/own.jsonl, databases: {tmp_path}/shop.db}}"
    (tmp_path / "spec.yaml").write_text(f"questions: {own}\ndeciders: [first]\n")
    assert dqa("eval", "--spec", tmp_path / "spec.yaml").code == 0
    refused = dqa("eval", "--spec", tmp_path / "spec.yaml", "--scenario", "nosuch")
    assert (refused.code, "nosuch" in refused.err) == (2, True)
