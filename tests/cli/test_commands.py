"""`dqa ask`, `dqa list`, and commands of `dqa data`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def test_show_prints_what_a_decider_meets_and_the_answer(dqa: Command, generated: Path) -> None:
    """Question, rules, both readings of the schema, and the answer."""
    ran = dqa("data", "question", "building/1", "--generated", generated)
    assert ran.code == 0
    for words in ("Question\n", "Rules\n", "goods(goods_name: text", "(:Goods {"):
        assert words in ran.out
    texts = json.loads(
        dqa("data", "question", "building/1", "--generated", generated, "--json").out
    )
    assert f"\nAnswer\n  {texts['answer']}" in ran.out


def test_list_shows_everything_registered(dqa: Command) -> None:
    """Names and what they are, as text and as JSON."""
    text = dqa("list").out
    document = json.loads(dqa("list", "--json").out)
    assert set(document) == {
        "scenarios",
        "deciders",
        "databases",
        "simulators",
        "sets",
        "worlds",
        "models",
    }
    for entries in document.values():
        for entry in entries:
            assert entry["name"] in text
            assert entry["description"]


@pytest.fixture
def harbours(tmp_path: Path) -> Path:
    """Return a database of a user's own in the tables of the Locating scenario."""
    from dqa import plugins
    from dqa.loaders.generator.generate import generate
    from dqa_simulators.locating.generator import LocatingSize

    world = generate(("locating",), 1, seed=2, sizes=(LocatingSize(12, 20, 20, 60),))
    path = tmp_path / "own.db"
    plugins.backend("sqlite").load(next(iter(world.situations.values())), str(path)).close()
    (tmp_path / "target.json").write_text(json.dumps(dict(world.questions[0].target)), "utf-8")
    return path


def test_ask_answers_on_any_database_with_its_evidence(
    dqa: Command, harbours: Path, tmp_path: Path
) -> None:
    """Answer, statements with their rows, plan and ending; the trace is a new file."""
    target = json.loads((tmp_path / "target.json").read_text("utf-8"))
    base: list[object] = ["ask", "--database", harbours, "--scenario", "locating"]
    for key in ("country", "home"):
        base += ["--target", f"{key}={target[key]}"]
    ran = dqa(*base, "--trace", tmp_path / "trace.json")
    assert ran.code == 0
    for words in (
        "Answer: ",
        "Choice: ",
        "Ended: answered",
        "Plan",
        "Evidence: ",
        "SELECT",
        "-> 1 row",
    ):
        assert words in ran.out
    document = json.loads(dqa(*base, "--json").out)
    assert document["ending"] == "answered"
    assert f"Choice: {document['choice']}" in ran.out
    assert json.loads((tmp_path / "trace.json").read_text("utf-8"))["choice"] == document["choice"]
    again = dqa(*base, "--trace", tmp_path / "trace.json")
    assert (again.code, "already exists" in again.err) == (2, True)


def test_audit_gives_verdicts_totals_and_a_page(
    dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """Labels that every rule set agree on, and a page that is never overwritten."""
    page = tmp_path / "audit.html"
    ran = dqa("data", "audit", "--generated", generated, "--html", page)
    assert ran.code == 0
    assert "building: 2 labels, 2 agree under released, 2 agree under paper" in ran.out
    assert "building/1 " not in ran.out  # the page has every label
    assert f"The page with the verdicts on 4 labels is {page}." in ran.out
    assert "building/1 " in dqa("data", "audit", "--generated", generated).out
    assert "<html" in page.read_text("utf-8")
    document = json.loads(dqa("data", "audit", "--generated", generated, "--json").out)
    assert {label["verdict"] for label in document["labels"]} == {"every rule set"}
    shortcuts = {found["name"]: found for found in document["shortcuts"]}
    (near,) = (line for line in ran.out.splitlines() if "shortcut source-most-value" in line)
    found = shortcuts["source-most-value"]
    assert f"({found['right']}/{found['questions']})" in near
    assert (found["scenario"], found["questions"]) == ("locating", 2)
    assert dqa("data", "audit", "--generated", generated, "--html", page).code == 2
