"""Several models and several epochs: who is asked, by which seed, and what results call them."""

from __future__ import annotations

import importlib
import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

import dqa
from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.evaluation.connecting import PassedObjects, connect, named_decider
from dqa.evaluation.options import CallOptions
from dqa.evaluation.spec import Deciding, ModelSpec, RunSpec
from dqa.loaders.generator.generate import generate
from dqa.loaders.sources import GeneratedQuestions
from dqa.models.scripted import ScriptedModel
from dqa.models.scripted.steps import Answer
from dqa.testing.models import PreparedReplies
from tests.sqlite_files import run_script
from tests.stored import change_results

ANALYST = "scripted:analyst"


def spec(**fields: object) -> RunSpec:
    """Two generated questions, on one database."""
    about = GeneratedQuestions(count=2, seed=0, scenarios=("locating",))
    given: dict[str, object] = {"questions": about, "databases": "sqlite", "deciders": "iterrag"}
    return RunSpec(**(given | fields))


def test_a_decider_may_name_its_model(tmp_path: Path) -> None:
    """Results call it by both names; other deciders use the model of the spec."""
    own = f"iterrag@{ANALYST}"
    names = ("random", own, "first@home")
    mine = replace(plugins.decider("first"), name=names[-1])  # the whole name of an own decider
    run = dqa.evaluate(spec(model="openai:unused"), [*names[:2], mine], out=tmp_path / "run")
    found = {(r.decider, r.model) for r in run.results}
    assert found == {(names[0], "none"), (own, ANALYST), (names[-1], "none")}
    alone = dqa.evaluate(spec()).results
    assert [r.choice for r in alone] == [r.choice for r in run.results if r.decider == own]
    (listed,) = dqa.find_runs(tmp_path)
    assert (listed.deciders, listed.model) == (names, ANALYST)
    for name in ("random@openai:gpt-5", f"nosuch@{ANALYST}", "iterrag@analyst", "iterrag@"):
        with pytest.raises(
            dqa.UsageError, match=r"not use a chat model|nosuch|iterrag@provider:model"
        ):
            dqa.evaluate(spec(deciders=name))


def test_a_run_with_a_list_of_models_is_still_read(tmp_path: Path) -> None:
    """So a spec was stored before; such a run is not resumed."""
    run = dqa.evaluate(spec(), out=tmp_path / "run")
    for models, resumes in (([], True), ([{"name": ANALYST, "label": "a"}], False)):
        old = f"json_set(record, '$.spec.models', json('{json.dumps(models)}'))"
        old = f"json_set({old}, '$.spec.model.label', 'guess')"
        run_script(tmp_path / "run" / "run.db", f"UPDATE dqa_runs SET record = {old}")
        found = dqa.read_run(tmp_path / "run")
        assert (found.results, found.spec) == (run.results, run.spec)
        old_spec = spec().to_json() | {"models": models, "model": {"name": ANALYST, "label": None}}
        accepted = nullcontext() if resumes else pytest.raises(dqa.UsageError, match="decider@")
        with accepted:
            assert dqa.RunSpec.from_json(old_spec) == spec()
        refused = nullcontext() if resumes else pytest.raises(dqa.UsageError, match="not resume")
        with refused:
            assert dqa.evaluate(spec(), out=tmp_path / "run").made == 0


def test_the_server_of_the_model_is_that_of_its_provider() -> None:
    """Another provider gets neither its address nor its parameters."""
    server = ModelSpec(name="openai:a", base_url="http://localhost:1/v1", top_p=0.5)
    options = server.changed(name=ANALYST)
    for given, named, model in (
        (server, "openai:b", server.changed(name="openai:b")),
        (server, "other:b", ModelSpec(name="other:b")),
        (options, "openai:b", server.changed(name="openai:b")),
        (options, "anthropic:b", ModelSpec(name="anthropic:b")),
        (server, "scripted:b", ModelSpec(name="scripted:b")),
        (options, "scripted:b", ModelSpec(name="scripted:b")),
    ):
        assert Deciding(model=given).model_named(named) == model


def test_every_epoch_has_the_seed_that_follows() -> None:
    """So the second epoch of a run is the first one of a run with the next seed."""
    deciding = Deciding(seed=4)
    decider = named_decider("iterrag", deciding, PassedObjects())
    connected = connect(deciding, [decider], CallOptions(), epochs=3)
    models = [model for chats in connected.chats for model in chats.values()]
    assert [model.seed for model in models if isinstance(model, ScriptedModel)] == [4, 5, 6]


def test_epochs_are_resumed_and_chosen_among(tmp_path: Path) -> None:
    """A decision is known by its epoch, too; one that is missing is made."""
    whole = dqa.evaluate(spec(epochs=2), out=tmp_path / "run")
    last = whole.results[-1].to_json()
    change_results(tmp_path / "run", lambda line: None if line == last else line)
    again = dqa.evaluate(out=tmp_path / "run", resume=True)
    assert again.results == whole.results
    (trace,) = again.select("locating/2", epoch=2)
    assert trace.key == whole.results[-1].key
    with pytest.raises(UnknownNameError, match="epoch"):
        again.select("locating/2", epoch=3)


def test_a_changed_own_decider_is_not_mixed_with_its_earlier_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the caller resumes the run."""
    program = """import dqa
class Own(dqa.Decider):
    name = "own"
    def decide(self, question, database):
        return dqa.Decision(dqa.Ending.ANSWERED, answer="{0}")
"""
    monkeypatch.syspath_prepend(tmp_path)
    for version in ("own_v1", "own_v2"):
        (tmp_path / f"{version}.py").write_text(program.format(version))
    about = GeneratedQuestions(scenarios=("locating",), count=1)

    def answer(version: str, *, resume: bool = False) -> str | None:
        own = importlib.import_module(version).Own()
        run = dqa.evaluate(about, [own], databases="sqlite", out=tmp_path / "run", resume=resume)
        return run.results[0].answer

    assert answer("own_v1") == "own_v1"
    with pytest.raises(UsageError, match="'own'"):
        answer("own_v2")
    assert answer("own_v2", resume=True) == answer("own_v2") == "own_v1"
    with pytest.raises(UsageError, match="'own'"):
        answer("own_v1")


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
