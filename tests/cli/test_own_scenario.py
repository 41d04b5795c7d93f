"""The commands on a scenario that is a folder of somebody else's: nothing of it is installed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.loaders.reading import read_questions
from dqa.scenarios import catalogue, register
from tests.models.model_server import ModelServer
from tests.scenarios.live_plants import make_embedded

Command = Callable[..., Any]

FIFTH = Path(__file__).parents[1] / "scenarios" / "fifth"
SUPPLIERS, RELEASE = FIFTH / "suppliers", FIFTH / "release"
STATEMENT = "SELECT o.supplier, o.unit_price FROM offer o"


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget, after each test, what it registered."""
    monkeypatch.setattr(catalogue, "_registered", {})
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def buyer(request: dict[str, Any]) -> str:
    """Look at the prices once, forget the shipping, and choose the cheapest piece."""
    observed = any("Observation:" in str(said["content"]) for said in request["messages"][2:])
    if observed:
        return "Thought: The cheapest piece.\nFinal Answer: Arnold"
    return f"Thought: What does a piece cost?\nAction: query_database\nAction Input: {STATEMENT}"


def test_a_strangers_scenario_is_evaluated_scored_shown_and_analysed(
    dqa: Command, tmp_path: Path
) -> None:
    """By its folder in place of a name; the best is known by its query."""
    run = tmp_path / "run"
    with ModelServer(buyer) as server:
        ran = dqa(
            *("eval", "--release", RELEASE, "--scenarios", SUPPLIERS, "--databases", "sqlite"),
            *("--deciders", "oracle,first,iterrag", "--model", "openai:buyer"),
            *("--base-url", server.url, "--out", run),
        )
    assert ran.code == 0, ran.err
    lines = [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]
    found = {(line["decider"], line["question"]): line for line in lines}
    for number in (1, 2, 3):
        assert found["oracle", f"suppliers/{number}"]["outcome"] == "correct"
    bought = found["iterrag", "suppliers/1"]
    assert (bought["outcome"], bought["choice"], bought["regret"]) == ("wrong", "Arnold", 15.0)
    assert found["iterrag", "suppliers/3"]["outcome"] == "unparsable"

    catalogue._registered.clear()  # as in another process, which finds the folder in the run
    analysed = json.loads(dqa("analyse", run, "--json").out)
    missed = {run["question"]: run["measures"]["critical_values"] for run in analysed["runs"]}
    assert missed["suppliers/1"] == {"price": "shown", "shipping": "missed"}
    assert "bill" in dqa("trace", run, "suppliers/1", "--decider", "iterrag").out


@pytest.mark.parametrize("backend", ["sqlite", "ladybug"])
def test_a_question_of_ones_own_is_asked_about_a_database(
    dqa: Command, tmp_path: Path, backend: str
) -> None:
    """The folder makes question, rules and candidates; its query finds the best."""
    register(SUPPLIERS)
    situation = read_questions(RELEASE).situations["north"]
    file = tmp_path / f"north.{'db' if backend == 'sqlite' else 'lbug'}"
    plugins.backend(backend).load(situation, str(file)).close()
    catalogue._registered.clear()
    asked = ("ask", "--database", file, "--scenario", SUPPLIERS, "--decider", "oracle", "--json")
    target = ("--target", "part=bolt", "--target", "pieces=20", "--target", "days=5")
    ran = dqa(*asked, *target)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["choice"] == "Bell and Sons"


def test_a_folder_with_an_error_is_one_line(dqa: Command, tmp_path: Path) -> None:
    """File, line and field, and how to mend it."""
    folder = tmp_path / "shop"
    shutil.copytree(SUPPLIERS, folder)
    document = folder / "scenario.toml"
    text = document.read_text("utf-8").replace('unit = "bill"', 'units = "bill"')
    document.write_text(text, "utf-8")
    ran = dqa("eval", "--release", RELEASE, "--scenarios", folder, "--deciders", "first")
    assert ran.code == 2
    (line,) = ran.err.strip().splitlines()
    assert "scenario.toml:" in line
    assert "outcomes" in line


LIVE = Path(__file__).parents[1] / "scenarios" / "live"


def test_a_live_database_is_asked_and_evaluated_in_place(dqa: Command, tmp_path: Path) -> None:
    """Lines need their target alone; the record has the alternatives, as JSON and as a page."""
    location = make_embedded("sqlite", tmp_path)
    folder = LIVE / "close-plant"
    asked = ("ask", "--database", location, "--scenario", folder, "--decider", "first")
    page, target = tmp_path / "page.html", ("--target", "region=north", "--target", "active=true")
    ran = dqa(*asked, *target, "--json", "--html", page)
    assert ran.code == 0, ran.err
    record = json.loads(ran.out)["asked"]
    assert [one["outcome"] for one in record["alternatives"]] == [89.75, 90.0, 110.0]
    assert "<h1>O&#39;Hare</h1>" in page.read_text("utf-8")
    again = dqa(*asked, *target, "--html", page)
    assert (again.code, again.out) == (2, "")

    file, run = tmp_path / "closing.jsonl", tmp_path / "run"
    file.write_text('{"target": {"region": "north", "active": true}}\n', "utf-8")
    given = ("--questions", file, "--database", location, "--scenario", folder)
    ran = dqa("eval", *given, "--deciders", "oracle,first,random", "--out", run)
    assert ran.code == 0, ran.err
    lines = [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]
    assert [line["outcome"] for line in lines][:2] == ["correct", "correct"]
    assert lines[2]["best_value"] == 89.75
    assert "89.75" in dqa("show", "close-plant/1", *given).out
    assert "1 of 1" in dqa("annotate", *given).out
    catalogue._registered.clear()  # as in another process, which finds the folder in the run
    assert dqa("eval", "--resume", run).code == 0
    assert "give that file, too" in dqa("eval", "--scenario", folder).err
