"""Several models and several epochs: who is asked, by which seed, and what results call them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import dqa
from dqa.core.errors import UnknownNameError
from dqa.evaluation.connecting import PassedObjects, connect, with_each_model
from dqa.evaluation.options import CallOptions
from dqa.evaluation.spec import Deciding, ModelSpec, RunSpec
from dqa.loaders.generator.generate import generate
from dqa.loaders.sources import GeneratedQuestions
from dqa.models.scripted import ScriptedModel
from dqa.models.scripted.steps import Answer
from dqa.testing.models import PreparedReplies
from tests.programs import run_python
from tests.stored import change_results

ANALYST, GUESS = "scripted:analyst", ModelSpec(name="scripted:analyst", label="guess")


def spec(**fields: object) -> RunSpec:
    """Two generated questions, on one database."""
    about = GeneratedQuestions(count=2, seed=0, scenarios=("locating",))
    given: dict[str, object] = {"questions": about, "databases": "sqlite", "deciders": "iterrag"}
    return RunSpec(**(given | fields))


def test_every_decider_asks_every_model_and_one_without_a_model_is_there_once() -> None:
    """A contestant is a decider with its model; its name says both."""
    run = dqa.evaluate(spec(deciders=("random", "iterrag"), models=(ANALYST, GUESS)))
    assert Counter((r.decider, r.model) for r in run.results) == {
        ("random", "none"): 2,
        ("iterrag@scripted:analyst", ANALYST): 2,
        ("iterrag@guess", ANALYST): 2,
    }
    alone = dqa.evaluate(spec(models=(GUESS,)))
    assert {r.decider for r in alone.results} == {"iterrag"}
    assert [r.choice for r in alone.results] == [
        r.choice for r in run.results if r.decider == "iterrag@guess"
    ]


def test_every_epoch_has_the_seed_that_follows() -> None:
    """So the second epoch of a run is the first one of a run with the next seed."""
    deciding = Deciding(seed=4)
    contestants = with_each_model(["iterrag"], [deciding.model], PassedObjects())
    connected = connect(deciding, contestants, CallOptions(), epochs=3)
    models = [model for chats in connected.chats for model in chats.values()]
    assert [model.seed for model in models if isinstance(model, ScriptedModel)] == [4, 5, 6]


def test_epochs_are_resumed_and_chosen_among(tmp_path: Path) -> None:
    """A decision is known by its epoch, too; one that is missing is made."""
    whole = dqa.evaluate(spec(model=GUESS, epochs=2), out=tmp_path / "run")
    last = whole.results[-1].to_json()
    change_results(tmp_path / "run", lambda line: None if line == last else line)
    again = dqa.evaluate(out=tmp_path / "run", resume=True)
    assert again.results == whole.results
    (trace,) = again.select("locating/2", epoch=2)
    assert trace.key == whole.results[-1].key
    with pytest.raises(UnknownNameError, match="epoch"):
        again.select("locating/2", epoch=3)


def test_a_changed_own_decider_is_not_mixed_with_its_earlier_version(tmp_path: Path) -> None:
    """Unless the caller resumes the run."""
    program = """import sys, dqa
class Own(dqa.Decider):
    name = "own"
    def decide(self, question, database):
        return dqa.Decision(dqa.Ending.ANSWERED, answer="{0}")
try:
    about = dqa.GeneratedQuestions(scenarios=["locating"], count=1)
    run = dqa.evaluate(about, [Own()], databases="sqlite", out="run", resume="resume" in sys.argv)
    print(run.results[0].answer)
except dqa.UsageError as error:
    print(error)
"""
    expected = [("v1", "", "v1"), ("v2", "", "'own'"), ("v2", "resume", "v1")]
    for answer, how, said in [*expected, ("v2", "", "v1"), ("v1", "", "'own'")]:
        (tmp_path / "own.py").write_text(program.format(answer))
        assert said in run_python(tmp_path / "own.py", how, cwd=tmp_path).stdout


def test_a_replay_plays_each_epoch_its_own_replies(tmp_path: Path) -> None:
    """The same question is asked in the same words in each."""
    tape = tmp_path / "tape.jsonl"
    guesses = (Answer("", str(name)) for name in generate(("locating",), count=1, seed=0)
               .questions[0].candidates or ())  # fmt: skip
    model = PreparedReplies(lambda _: next(guesses))
    about = GeneratedQuestions(count=1, seed=0, scenarios=("locating",))
    runs = [
        dqa.evaluate(about, ["iterrag"], databases="sqlite", epochs=3, model=model, calls=calls)
        for calls in (CallOptions(record=tape), CallOptions(replay=tape))
    ]
    assert runs[0].results == runs[1].results
    assert len({result.choice for result in runs[0].results}) == 3
