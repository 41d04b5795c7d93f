"""`dqa eval` and `dqa ask` choose how agents and models talk, and which model plans."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.evaluation.spec import Deciding, ModelSpec
from dqa.loaders.generator import generate, read_generated, write_generated
from dqa_planrag.recipes import RECIPES
from tests.models.model_server import ModelServer
from tests.models.scripts import scripted
from tests.stored import record_of

Command = Callable[..., Any]
SMALL = ("--databases", "sqlite")


def traces(folder: Path) -> list[dict[str, Any]]:
    """The traces of a run."""
    return [json.loads(line) for line in (folder / "traces.jsonl").read_text("utf-8").splitlines()]


def accuracies(ran: Any) -> list[tuple[str, str, float]]:
    """What was right, by scenario and decider."""
    rows = json.loads(ran.out)["results"]
    return [(row["scenario"], row["decider"], row["accuracy"]) for row in rows]


def test_every_agent_runs_by_name_in_both_protocols(
    dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """The results are the same; the traces tell which protocol it was."""
    names = ",".join(recipe.name for recipe in RECIPES)
    base = ("eval", "--generated", generated, *SMALL, "--deciders", names, "--json")
    react = dqa(*base, "--out", tmp_path / "react")
    tools = dqa(*base, "--protocol", "tools", "--out", tmp_path / "tools")
    assert (react.code, tools.code) == (0, 0)
    assert accuracies(react) == accuracies(tools)
    simulated = [right for _, name, right in accuracies(react) if name == "planrag-sim"]
    assert simulated == [1.0, 1.0]
    for protocol, labelled in (("react", True), ("tools", False)):
        run = record_of(tmp_path / protocol)
        assert run["spec"]["protocol"] == protocol
        for trace in traces(tmp_path / protocol):
            (last,) = [event for event in trace["trace"] if event["kind"] == "reply"][-1:]
            assert ("Final Answer:" in last["text"]) is labelled


def test_a_run_goes_on_with_its_own_protocol_and_planner_only(
    dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """Results of different settings never mix in one folder."""
    agent = ("--deciders", "planrag-two-models", "--out", tmp_path / "run")
    base = ("eval", "--generated", generated, *SMALL, *agent)
    assert dqa(*base).code == 0
    resumed = ("eval", "--resume", tmp_path / "run")
    other = dqa(*resumed, "--protocol", "tools")
    assert other.code == 2
    assert 'protocol was "react" and is now "tools"' in other.err
    other = dqa(*resumed, "--planner", "scripted:greedy")
    assert other.code == 2
    assert "planner" in other.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--planner", "scripted:greedy", "--deciders", "planrag,iterrag"),
            "planrag, iterrag have no separate planner",
        ),
        (("--planner", "scripted:greedy", "--deciders", "oracle"), "has no effect"),
        (
            ("--planner-base-url", "http://localhost:1", "--deciders", "planrag-two-models"),
            "says where the model of --planner is: name one",
        ),
        (("--set", "thoughts=2"), "no setting of these deciders 'thoughts'"),
        (("--set", "dellma.samples=4"), "'dellma.samples'"),
        (("--set", "thoughts"), "write NAME=VALUE"),
        (("--set", "=2"), "write NAME=VALUE"),
        (("--set", "a=1", "--set", "a=2"), "is set twice"),
    ],
)
def test_options_that_nobody_would_heed_are_refused(
    options: tuple[str, ...], said: str, dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """Before anything runs or is written, by both commands."""
    ran = dqa("eval", "--generated", generated, *SMALL, *options, "--out", tmp_path / "run")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert not (tmp_path / "run").exists()
    if "planrag,iterrag" not in options:
        single = ["--decider" if option == "--deciders" else option for option in options]
        asked = dqa("ask", "--database", tmp_path / "none.db", "--question", "?", *single)
        assert (asked.code, said in asked.err) == (2, True)


@pytest.mark.parametrize("planner", ["greedy", "analyst"])
def test_a_planner_is_asked_at_its_own_address(
    dqa: Command, generated: Path, monkeypatch: pytest.MonkeyPatch, planner: str
) -> None:
    """The other model's address is not handed to it where it has one, whatever both are called."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ModelServer(scripted) as acting, ModelServer(scripted) as planning:
        ran = dqa(
            *("eval", "--generated", generated, *SMALL, "--limit", 1, "--scenarios", "locating"),
            *("--deciders", "planrag-two-models", "--json"),
            *("--model", "openai:analyst", "--base-url", acting.url),
            *("--planner", f"openai:{planner}", "--planner-base-url", planning.url),
        )
        assert ran.code == 0, ran.err
        assert {body["model"] for body in acting.requests} == {"analyst"}
        assert {body["model"] for body in planning.requests} == {planner}


@pytest.mark.parametrize(
    ("model", "planner", "planner_url", "address"),
    [
        ("openai:a", "openai:b", None, "http://one"),
        ("openai:a", "openai:b", "http://two", "http://two"),
        ("openai:a", "scripted:analyst", None, None),
        ("scripted:analyst", "openai:b", None, None),
        ("scripted:analyst", "openai:b", "http://two", "http://two"),
        ("openai:a", "openai:a", "http://two", "http://two"),
        ("openai:a", "openai:a", None, "http://one"),
    ],
)
def test_an_address_is_not_handed_to_another_provider(
    model: str, planner: str, planner_url: str | None, address: str | None
) -> None:
    """A key of one would be sent to the other's server."""
    deciding = Deciding(
        model=ModelSpec(name=model, base_url="http://one"),
        planner=ModelSpec(name=planner, base_url=planner_url),
    )
    assert deciding.planning is not None
    assert deciding.planning.base_url == address
    assert deciding.model.base_url == "http://one"


def test_who_simulates_refuses_questions_without_a_simulator(
    stocks: Path, dqa: Command, tmp_path: Path
) -> None:
    """Before anything is asked: the decider beside it has not begun either."""
    ran = dqa(
        *("eval", "--generated", stocks, *SMALL),
        *("--scenarios", "stocks", "--deciders", "first,planrag-sim", "--out", tmp_path / "run"),
    )
    assert (ran.code, ran.out) == (2, "")
    assert "'stocks' has no simulator" in ran.err
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def stocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A question of a scenario whose decisions nothing simulates."""
    folder = tmp_path_factory.mktemp("stocks") / "one"
    write_generated(generate(("stocks",), count=1, seed=5), folder, seed=5)
    return folder


@pytest.mark.parametrize("protocol", ["react", "tools"])
def test_ask_lets_another_model_plan(
    protocol: str, dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """In either protocol; the answer names both models."""
    questions = read_generated(generated)
    question = questions.find("locating/1")
    file = tmp_path / "own.db"
    plugins.backend("sqlite").load(questions.situation_of(question), str(file)).close()
    target = [f"--target={name}={question.target[name]}" for name in ("country", "home")]
    base = ("ask", "--database", file, "--scenario", "locating", *target, "--protocol", protocol)
    ran = dqa(*base, "--decider", "planrag-two-models", "--planner", "scripted:greedy", "--json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["model"] == "scripted:greedy + scripted:analyst"
    replies = [e for e in document["trace"] if e["kind"] == "reply"]
    assert {reply["role"] for reply in replies} == {"planner", "agent"}
    assert any("Final Answer:" in reply["text"] for reply in replies) is (protocol == "react")
    assert bool(replies[0]["calls"]) is (protocol == "tools")
