"""`dqa compare`, and the same in Python."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dqa as api
from dqa.core.errors import UsageError
from tests.cli.conftest import Command
from tests.sqlite_files import run_script
from tests.stored import change_results


@pytest.fixture(scope="module")
def finished(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of three deciders on 4 questions and one database."""
    folder = tmp_path_factory.mktemp("compared") / "run"
    api.evaluate(
        api.QuestionFolder(folder=generated),
        ["planrag", "iterrag", "first"],
        databases=["sqlite"],
        out=folder,
    )
    return folder


Change = Callable[[dict[str, Any]], dict[str, Any] | None]


@pytest.fixture
def another(finished: Path, tmp_path: Path) -> Callable[[Change], Path]:
    """Return what copies the run with other results; a line that is None is left out."""

    def copied(change: Change) -> Path:
        folder = Path(shutil.copytree(finished, tmp_path / "another"))
        change_results(folder, change)
        return folder

    return copied


def test_deciders_of_a_run_are_compared_in_pairs(dqa: Command, finished: Path) -> None:
    """Tables, what they rest on, and who answered."""
    ran = dqa("compare", finished)
    assert (ran.code, ran.err) == (0, "")
    for words in (
        "Each decider",
        "first decider minus second",
        "planrag\n",
        "- first",
        "(McNemar)",
    ):
        assert words in ran.out.replace(" │", "\n")
    assert "4 pairs of question and database" in ran.out
    assert "All 3 deciders, by questions: Cochran's Q" in ran.out
    assert "A scripted program, not a language model." in ran.out


def test_runs_are_compared_by_their_names(
    finished: Path, another: Callable[[Change], Path]
) -> None:
    """A decider that took part in both is told apart by its run; in memory as from folders."""

    def spoilt(line: dict[str, Any]) -> dict[str, Any]:
        return line | ({"outcome": "wrong"} if line["decider"] == "planrag" else {})

    other = another(spoilt)
    found = api.compare(api.read_run(finished), other, deciders=["planrag"])
    (pair,) = found.pairs
    assert (pair.first, pair.second) == ("run:planrag", "another:planrag")
    assert pair.by_questions.worse == 0
    assert pair.accuracy.value == found.standings[0].correct / found.standings[0].judged
    found = api.compare(finished, other)
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        (f"run:{name}", f"another:{name}") for name in ("planrag", "iterrag", "first")
    ]
    named = ["run:first", "run:planrag", "another:planrag"]
    assert len(api.compare(finished, other, deciders=named).pairs) == 3


def test_other_questions_are_refused_and_counted(
    dqa: Command, finished: Path, another: Callable[[Change], Path]
) -> None:
    """With how many they share, and the option that compares these."""

    def fewer(line: dict[str, Any]) -> dict[str, Any] | None:
        return None if line["question"] == "locating/1" else line

    other = another(fewer)
    ran = dqa("compare", finished, other, "--deciders", "first")
    assert ran.code == 2
    assert (
        "run:first 4 questions on sqlite, another:first 3 questions on sqlite. All contestants "
        "share 3" in ran.err
    )
    assert "--shared" in ran.err
    ran = dqa("compare", finished, other, "--deciders", "first", "--shared")
    assert ran.code == 0
    assert "Left out: 1 pair of question and database that only some" in ran.out


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [("strict_official", True, "--strict-official"), ("rule_set", "another", "another rules")],
)
def test_runs_that_count_otherwise_are_refused(
    finished: Path, field: str, value: object, words: str
) -> None:
    """A figure of one is not a figure of the other."""
    run = api.read_run(finished)
    assert run.spec is not None
    other = replace(run, spec=run.spec.changed(**{field: value}))
    with pytest.raises(UsageError, match=words):
        api.compare(run, other)


def test_a_run_without_a_spec_is_compared(finished: Path) -> None:
    """Nothing is known about its rules, and it cannot be evaluated again."""
    run = api.read_run(finished)
    assert run.spec is not None
    clean = replace(run, spec=run.spec.changed(rule_set="clean"))
    assert api.compare(clean, replace(run, spec=None)).standings


@pytest.mark.parametrize("answers", [("a", "ab"), ("ba", "bc")], ids=" ".join)
def test_other_right_answers_are_refused(tmp_path: Path, answers: tuple[str, str]) -> None:
    """Also if some of them are the same."""
    run_script(tmp_path / "shop.db", "CREATE TABLE s (n)")
    asked = {"id": "1", "question": "Which?", "candidates": list("abc")}
    databases = {"shop": tmp_path / "shop.db"}
    runs = [
        api.evaluate(api.read_questions([asked | {"answer": list(right)}], databases), "first")
        for right in answers
    ]
    with pytest.raises(UsageError, match="different right answers"):
        api.compare(*runs)


def _asked(folder: Path, name: str, *texts: tuple[str, str]) -> api.Run:
    """Evaluate a file of questions about a shop, each with its text and rules."""
    shop = run_script(
        folder / "shop.db", "CREATE TABLE IF NOT EXISTS supplier(name TEXT PRIMARY KEY)"
    )
    lines = [
        {"question": text, "rules": rules, "candidates": ["Bell", "Castle"], "answer": "Bell"}
        for text, rules in texts
    ]
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    source = api.OwnQuestions(file=file, databases=str(shop))
    return api.evaluate(source, ["first", "random"], out=folder / f"run-{name}")


def test_questions_are_compared_by_their_content(dqa: Command, tmp_path: Path) -> None:
    """In a file of another name, at another line, next to a new and a changed question."""
    old = [("Who is cheap?", ""), ("Who is fast?", ""), ("Who is kind?", "Be fair.")]
    new = [("Who is new?", ""), *old[:2], ("Who is kind?", "Be strict.")]
    _asked(tmp_path, "v1", *old)
    _asked(tmp_path, "v2", *new)
    _asked(tmp_path, "v3", *reversed(old))
    folders = [tmp_path / f"run-v{number}" for number in (1, 2, 3)]
    with pytest.raises(UsageError, match="All contestants share 2"):
        api.compare(*folders[:2])
    refused = dqa("report", *folders[:2], "--out", tmp_path / "report.html")
    assert (refused.code, "--shared" in refused.err) == (2, False)
    shared = api.compare(*folders[:2], only_shared=True, times=True)
    assert (shared.questions, shared.only_shared) == (2, 3)
    assert [pair.accuracy.value for pair in shared.pairs if pair.first.endswith("first")] == [0.0]
    assert all(one.efficiency.seconds is not None for one in shared.standings)
    assert api.compare(folders[0], folders[2]).questions == 3
    ran = dqa("compare", *folders[:2], "--shared")
    assert ran.code == 0
    assert "Left out: 3 pairs of question and database that only some" in ran.out


def test_tokens_that_a_server_did_not_report_are_unknown(another: Callable[[Change], Path]) -> None:
    """They are not 0 or a mean of the others in the comparison, the report and the summary."""

    def change(line: dict[str, Any]) -> dict[str, Any]:
        known = {"input_tokens": 90, "output_tokens": 10, "calls": 2, "uncounted": 0}
        is_hidden = line["decider"] == "planrag" and line["question"].endswith("/1")
        return line | (known | {"uncounted": 1} if is_hidden else known)

    folder = another(change)
    found = {one.decider: one.efficiency.tokens for one in api.compare(folder).standings}
    page = {one.name: one.figures.efficiency.tokens for one in api.read_report(folder).contestants}
    assert found["planrag"] is None
    assert found["iterrag"] is not None
    assert found["iterrag"].per_question is not None
    assert found["iterrag"].per_question.value == 100.0
    assert page == found
    means = {(one.decider, one.mean_tokens) for one in api.read_run(folder).summaries}
    assert means == {("planrag", None), ("iterrag", 100.0), ("first", 100.0)}
