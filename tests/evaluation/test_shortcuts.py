"""How far heuristics and chance get is counted on the questions that are scored, and no other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import dqa
from dqa.core.errors import DataError
from dqa.core.question_set import QuestionSet
from dqa.evaluation.results import Outcome
from dqa.evaluation.score import Assessment
from dqa.evaluation.shortcuts import (
    Chance,
    Shortcut,
    ShortcutChoices,
    best_shortcuts,
    count_chance,
    count_shortcuts,
    measure_shortcuts,
)
from dqa.loaders.generator.generate import generate
from dqa.loaders.reading import read_questions
from dqa.scenarios import register

FIFTH = Path(__file__).parents[1] / "scenarios" / "fifth"


def line(number: int, candidates: int | None = 4, **choices: str | int | None) -> ShortcutChoices:
    """Return what the heuristics chose in a question of the scenario "shops"."""
    return ShortcutChoices(
        question=f"shops/{number}", scenario="shops", candidates=candidates, choices=choices
    )


LINES = (line(1, near="a", far="b"), line(2, near="a", far=None), line(3, near="c", far="c"))
RIGHT = {
    "shops/1": Assessment(Outcome.WRONG, official="b", ties=("a", "b")),
    "shops/2": Assessment(Outcome.WRONG, ties=("c",)),
}


def test_only_questions_that_were_judged_count() -> None:
    """Any right answer will do; naming no candidate is wrong."""
    near, far = count_shortcuts(LINES, RIGHT)
    assert near == Shortcut(
        name="near", scenario="shops", questions=2, right=1, with_ties=1, by_label=0
    )
    assert far == near.changed(name="far", by_label=1)
    strict = count_shortcuts(LINES, RIGHT, strict_official=True)
    assert strict == (near.changed(right=0), far)
    assert best_shortcuts([near, far, far.changed(right=2)]) == {"shops": far.changed(right=2)}
    assert best_shortcuts([near, far]) == {"shops": near}


def test_a_heuristic_of_some_questions_only_is_left_out() -> None:
    """Its share of right answers is not comparable with the share of a decider."""
    (near,) = count_shortcuts((line(1, near="a", far="b"), line(2, near="a")), RIGHT)
    assert near.name == "near"


def test_chance_is_the_mean_share_of_right_answers() -> None:
    """A question that does not list its candidates has none."""
    lines = (*LINES, line(4, candidates=None))
    right = RIGHT | {"shops/4": Assessment(Outcome.WRONG, ties=("a",))}
    chance = Chance(scenario="shops", questions=2, share=0.375)
    assert count_chance(lines, right) == (chance,)
    assert count_chance(lines, right, strict_official=True) == (chance.changed(share=0.25),)


@pytest.fixture(scope="module")
def questions() -> QuestionSet:
    """Four questions of each generated scenario."""
    return generate(count=4, seed=2)


def test_a_run_keeps_what_the_shortcuts_chose_and_counts_it(
    questions: QuestionSet, tmp_path: Path
) -> None:
    """Read back it says the same; a decider of the same name has the same score."""
    name = "maker-most-per-level"
    run = dqa.evaluate(questions, ["first", name], databases=["sqlite"], out=tmp_path / "run")
    assert run.shortcuts == measure_shortcuts(questions)
    scored = {s.decider: s.correct for s in run.summaries if s.scenario == "building"}
    assert scored[name] == {s.name: s.right for s in run.shortcuts}[name]
    again = dqa.read_run(tmp_path / "run")
    assert again.figures().chance == run.figures().chance
    assert again.shortcuts == run.shortcuts
    assert again.report() == run.report()
    assert {found.name for found in run.figures().shortcuts} >= {name}


def test_a_heuristic_that_cannot_run_stops_a_run_before_anything_is_asked(tmp_path: Path) -> None:
    """Its file is named, and no folder is left in the way of the next start."""
    folder = tmp_path / "suppliers"
    shutil.copytree(FIFTH / "suppliers", folder)
    statement = folder / "heuristics" / "cheapest-piece.sql"
    statement.write_text("SELECT no_such_column FROM offer;", "utf-8")
    register(folder)
    read = read_questions(FIFTH / "release", strict=True)
    with pytest.raises(DataError, match=r"heuristics/cheapest-piece\.sql cannot run: "):
        dqa.evaluate(read, "first", databases=["sqlite"], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
