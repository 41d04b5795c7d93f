"""`dqa data generate`: mixes, questions that deciders get wrong, and named sets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dqa as api
from dqa.core.decision import Decision, Ending
from dqa.core.errors import CrashError, InfrastructureError, UsageError
from dqa.core.question import Question
from dqa_simulators.locating.generator import LocatingSize
from tests.stored import record_of

SMALL = ("--scenarios", "locating", "--size", "locating.nodes=20", "--size", "locating.edges=40")
SIZE = LocatingSize(12, 20, 20, 60)


class Always(api.Decider):
    """Ends every decision alike: as an answer, the right one by turns, or as something else."""

    name = "always"

    def __init__(self, ending: Ending = Ending.ANSWERED) -> None:
        self.ending = ending
        self.asked: list[Question] = []

    def decide(self, question: Question, database: api.Database) -> Decision:
        """Answer with the last candidate."""
        del database
        self.asked.append(question)
        if self.ending is not Ending.ANSWERED:
            return Decision(self.ending, error="as it is told")
        last = (question.candidates or ())[-1]
        return Decision(Ending.ANSWERED, answer=str(last), choice=last)


def test_what_deciders_get_right_is_left_out(dqa: Callable[..., Any], tmp_path: Path) -> None:
    """Of the questions that are kept a heuristic gets none, and the manifest names it."""
    out = tmp_path / "set"
    named = ("--resist", "source-most-elsewhere,first", "--questions", 6, "--seed", 2)
    assert dqa("data", "generate", "--out", out, *SMALL, *named).code == 0
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["options"]["resist"] == ["source-most-elsewhere", "first"]
    deciders = ["source-most-elsewhere", "first"]
    run = api.evaluate(api.GeneratedFolder(folder=out), deciders, databases=["sqlite"])
    assert [found.outcome for found in run.results] == 12 * [api.Outcome.WRONG]


def test_python_takes_deciders_as_they_are() -> None:
    """One that is wrong by its answers is resisted; the same call gives the same set."""
    always = Always()
    made = api.generate(("locating",), 4, seed=1, sizes=[SIZE], resist=always)
    assert all(
        truth.official != (question.candidates or ())[-1] for question, truth in made.labelled
    )
    assert len(always.asked) >= 4
    again = api.generate(("locating",), 4, seed=1, sizes=[SIZE], resist=[Always()])
    assert again.content_hash == made.content_hash


def test_no_answer_is_no_wrong_answer() -> None:
    """So no question is left, and the message says why."""
    with pytest.raises(UsageError, match=r"always: 0 right, 0 wrong, \d+ no answer.*resist"):
        api.generate(("locating",), 1, sizes=[SIZE], resist=Always(Ending.UNPARSABLE))


def test_a_bug_of_a_decider_is_reported_with_its_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one line, without secrets."""
    monkeypatch.setenv("SOME_API_KEY", "hush-hush-1234")

    class Broken(Always):
        def decide(self, question: Question, database: api.Database) -> Decision:
            raise ZeroDivisionError("hush-hush-1234 is no divisor")

    with pytest.raises(CrashError, match=r"^always \(resist\) crashed at '.+': Zero.*\*\*\* is no"):
        api.generate(("locating",), 1, sizes=[SIZE], resist=Broken())


def test_every_decider_is_asked_every_question() -> None:
    """The counts of those behind one that resists nothing are whole, too."""
    first, second = Always(Ending.UNPARSABLE), Always()
    second.name = "second"
    with pytest.raises(UsageError, match=r"second: \d+ right, [1-9]\d* wrong, 0 no answer"):
        api.generate(("locating",), 1, sizes=[SIZE], resist=[first, second])
    assert first.asked == second.asked


def test_a_decider_that_cannot_be_asked_ends_the_search() -> None:
    """A failure says nothing about a question."""
    always = Always(Ending.INFRASTRUCTURE)
    with pytest.raises(InfrastructureError, match="always gave no answer: as it"):
        api.generate(("locating",), 1, sizes=[SIZE], resist=always)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("--mix", "direct=0.3"), "must sum to 1"),
        (("--mix", "direct=x,far=1"), "give numbers, as in direct=0.3,far=0.7"),
        (("--mix", "near=0.3,far=0.7"), "no proportion of --mix called 'near'"),
        (("--mix", "0.3"), "write direct=X,far=X"),
        (("--resist", "nobody"), "no decider 'nobody'"),
        (("--resist", ","), "--resist names nothing"),
        (("--resist", "planrag"), "takes deciders without a model"),
        (("--like-release", "--resist", "first"), "leave them out"),
        (("--set", "hard-0"), "There is no question set 'hard-0'. There are: hard-1"),
        (("--set", "hard-1", "--seed", "2"), "--set NAME fixes all questions"),
        (("--set", "hard-1", "--questions", "2"), "--set NAME fixes all questions"),
    ],
)
def test_what_cannot_be_is_refused(
    dqa: Callable[..., Any], tmp_path: Path, given: tuple[str, ...], problem: str
) -> None:
    """In one line, and nothing is written."""
    ran = dqa("data", "generate", "--out", tmp_path / "a", *given)
    assert ran.code == 2
    assert problem in ran.err
    assert not (tmp_path / "a").exists()


def test_a_resumed_run_knows_its_set(dqa: Callable[..., Any], tmp_path: Path) -> None:
    """The spec of a run names it, and reads back as it."""
    few = ("--deciders", "first", "--databases", "sqlite", "--scenarios", "building")
    run = ("eval", "--set", "hard-1", *few, "--limit", "2", "--out", tmp_path / "run")
    assert dqa(*run).code == 0
    spec = record_of(tmp_path / "run")["spec"]
    assert spec["questions"] == {
        "source": "set",
        "name": "hard-1",
        "scenarios": ["building"],
        "limit": 2,
    }
    assert len(api.RunSpec.from_json(spec).questions.read().questions) == 2
    assert dqa("eval", "--resume", tmp_path / "run").code == 0
