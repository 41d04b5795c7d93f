"""Named sets: they are drawn again, and each difference from the manifest is an error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dqa
from benchmarks.make_set import draw_set, manifest_of, read_plan
from dqa import plugins
from dqa.core.errors import DataError, UnknownNameError
from dqa.loaders.generator.manifest import read_manifest
from dqa.loaders.sets import read_set, write_set

PLAN = """
name = "two-small"
version = 3
summary = "for tests"
seed = 5
resist = ["first"]

[difficulty]
rivals = 3

[difficulty.mix]
direct = 0.5
far = 0.5

[[parts]]
scenario = "locating"
questions = 2
per_database = 2
size = { nodes = 20, edges = 40, countries = 40, node_countries = 250 }

[[parts]]
scenario = "locating"
questions = 2
per_database = 1
hops = 2
size = { nodes = 30, edges = 60, countries = 60, node_countries = 500 }

[[parts]]
scenario = "building"
questions = 2
per_database = 2
size = { goods = 20, buildings = 60, demands = 60, supplies = 90 }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Register a small set as ``small``, and return its folder."""
    made = tmp_path / "small"
    made.mkdir()
    (made / "set.toml").write_text(PLAN, "utf-8")
    known = plugins.question_set
    monkeypatch.setattr(
        plugins, "question_set", lambda name: made if name == "small" else known(name)
    )
    plan = read_plan("small")
    manifest = manifest_of(plan, draw_set(plan, None))
    (made / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return made


def test_a_set_is_reproduced(folder: Path, tmp_path: Path) -> None:
    """Numbers continue through its parts, and its files are equal to the byte."""
    made = read_set("small")
    assert made.name == "two-small"
    assert made.rule_set == "paper"
    assert [q.key for q in made.questions] == [
        *(f"locating/{number}" for number in range(1, 5)),
        *(f"building/{number}" for number in range(1, 3)),
    ]
    assert made.content_hash == draw_set(read_plan("small"), None).questions.content_hash
    write_set("small", tmp_path / "again")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert read_manifest(tmp_path / "again").files == manifest["files"]
    assert read_manifest(tmp_path / "again").options == {"set": "two-small", "version": 3}
    again = dqa.read_generated(tmp_path / "again")
    assert again.truths == made.truths


def test_other_scenarios_and_worlds_are_not_drawn(folder: Path) -> None:
    """Neither other scenarios nor worlds beyond the limit."""
    assert {q.scenario for q in read_set("small", scenarios=("building",)).questions} == {
        "building"
    }
    few = dqa.read_set("small", limit=1)
    assert [q.key for q in few.questions] == ["locating/1", "building/1"]
    assert len(few.situations) == 2


CHANGES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda m: m["worlds"][0].update(content_hash="0" * 64), "database 'q1' of 'locating' differs"),
    (
        lambda m: m["worlds"][0].update(answers=m["worlds"][0]["answers"][::-1]),
        "the question locating/1 differs from",
    ),
    (lambda m: m["questions"].update({"building/2": "0" * 64}), "question building/2 differs"),
    (lambda m: m.update(generator_version=999), "generator version 999"),
    (lambda m: m["worlds"][0].pop("first"), r"worlds\.0\.first: is missing"),
    (lambda m: m["worlds"].pop(), "4 questions in 'worlds', but 6 in 'questions'"),
    (lambda m: m.update(seed=6), "database 'q1' of 'locating' differs"),
]


def test_each_difference_from_the_manifest_is_named(folder: Path, tmp_path: Path) -> None:
    """A world, a question, the generator, a field or a file."""
    path = folder / "manifest.json"
    whole = path.read_text("utf-8")
    for change, problem in CHANGES:
        manifest = json.loads(whole)
        change(manifest)
        path.write_text(json.dumps(manifest), "utf-8")
        with pytest.raises(DataError, match=problem):
            read_set("small")
    manifest = json.loads(whole)
    manifest["files"].update({next(iter(manifest["files"])): "0" * 64})
    path.write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(DataError, match=r"the file .* differs from"):
        write_set("small", tmp_path / "again")


def test_the_error_of_an_unknown_set_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"no question set 'hard-2'\. There are: hard-1"):
        dqa.read_set("hard-2")
    assert [entry.name for entry in dqa.installed()["sets"]] == ["hard-1"]
