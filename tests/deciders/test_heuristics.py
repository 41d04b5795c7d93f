"""Heuristics of scenarios' folders are deciders: a query each, and nothing but a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

import dqa
from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Ending
from dqa.core.errors import PluginError, UnknownNameError
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.loaders.generator.generate import generate
from dqa.loaders.reading import read_questions
from dqa.scenarios import catalogue, register

FIFTH = Path(__file__).parents[1] / "scenarios" / "fifth"
EMBEDDED = ("sqlite", "duckdb", "ladybug")
SHIPPED = [(found.name, h.name) for found in catalogue.scenarios() for h in found.heuristics]


@pytest.fixture(scope="module")
def questions() -> QuestionSet:
    """Eight questions of each scenario with heuristics, on small worlds."""
    return generate(("agriculture", "locating", "building"), count=8, seed=4)


@pytest.fixture(scope="module")
def opened(questions: QuestionSet) -> Iterator[dict[tuple[str, str], Database]]:
    """The database of each situation in each embedded engine."""
    with ExitStack() as stack:
        yield {
            (name, engine): stack.enter_context(closing(plugins.backend(engine).load(situation)))
            for name, situation in questions.situations.items()
            for engine in EMBEDDED
        }


@pytest.mark.parametrize(("scenario", "name"), SHIPPED)
def test_every_database_gives_a_heuristic_the_same_answer(
    questions: QuestionSet, opened: dict[tuple[str, str], Database], scenario: str, name: str
) -> None:
    """Each answer is a candidate, and its only statement is recorded as evidence."""
    decider = plugins.decider(name)(None, Settings())
    chosen: dict[str, list[object]] = {database: [] for database in EMBEDDED}
    for question in questions.select((scenario,)).questions:
        for database, choices in chosen.items():
            decision = decider.decide(question, opened[question.situation, database])
            assert decision.ending is Ending.ANSWERED
            assert decision.choice in (question.candidates or ())
            assert len(decision.evidence) == 1
            assert decision.usage.calls == 0
            choices.append(decision.choice)
    assert chosen["sqlite"] == chosen["duckdb"] == chosen["ladybug"]


@pytest.mark.deep
def test_what_the_official_benchmark_gives_away(release: QuestionSet) -> None:
    """By one query each: about 163 of 200 Locating and 93 of 101 Building questions."""
    counts = {}
    for name in ("source-most-elsewhere", "maker-most-per-level"):
        (scenario,) = plugins.decider(name).scenarios
        asked = release.select((scenario,))
        run = dqa.evaluate(asked, name, databases=["sqlite"], strict_official=True)
        counts[scenario] = sum(result.choice == result.official for result in run.results)
    part = len(release.select(("locating",)).questions)
    if part == 150:
        assert counts == {"locating": 123, "building": 68}
    else:
        assert counts == {"locating": 163, "building": 93}


def test_a_heuristic_decides_its_scenario_alone(
    dqa_eval: Callable[..., dqa.Run], questions: QuestionSet
) -> None:
    """The others' questions are left to the other deciders, and a line says so."""
    run = dqa_eval(questions, ["first", "maker-most-supply", "source-most-value"])
    asked = {(result.decider, result.scenario) for result in run.results}
    assert asked == {
        ("first", "locating"),
        ("first", "agriculture"),
        ("first", "building"),
        ("maker-most-supply", "building"),
        ("source-most-value", "locating"),
    }
    assert run.planned == len(run.results) == 8 * 5


@pytest.fixture
def dqa_eval() -> Callable[..., dqa.Run]:
    """Evaluate on SQLite."""
    return lambda questions, names: dqa.evaluate(questions, names, databases=["sqlite"])


# --- a stranger's ---


@pytest.fixture
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget, after each test, what it registered."""
    monkeypatch.setattr(catalogue, "_registered", {})


@pytest.mark.usefixtures("nothing_registered")
@pytest.mark.parametrize("database", EMBEDDED)
def test_a_strangers_heuristic_is_a_decider_once_its_folder_is_named(database: str) -> None:
    """One language is enough: a database of the other kind is copied."""
    with pytest.raises(UnknownNameError):
        plugins.decider("cheapest-piece")
    register(FIFTH / "suppliers")
    read = read_questions(FIFTH / "release", strict=True)
    run = dqa.evaluate(read, "cheapest-piece", databases=[database])
    cheapest = {r.question: r.choice for r in run.results}
    assert cheapest == {"suppliers/1": "Arnold", "suppliers/2": "Arnold", "suppliers/3": "Castle"}


@pytest.mark.usefixtures("nothing_registered")
def test_a_name_that_is_there_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    """In another scenario, or as a package's decider."""
    register(FIFTH / "suppliers")
    for name, other in (
        ("cheapest-piece", "a heuristic in .*suppliers"),
        ("first", r"the plug-in dqa\.deciders\.baselines:FIRST"),
    ):
        folder = tmp_path / name
        copied(folder, scenario=f"other-{name}", heuristic=name)
        register(folder)
        with pytest.raises(PluginError, match=rf"2 .*'{name}': .*{other}.*Rename"):
            plugins.decider(name)
        with pytest.raises(PluginError, match=str(folder)):
            plugins.decider(name)
        described = {entry.name: entry.description for entry in dqa.list_deciders()}
        assert described[name].startswith("cannot be loaded")
    assert "planrag" in {made.name for made in plugins.deciders()}


def copied(folder: Path, scenario: str, heuristic: str) -> None:
    """Copy the stranger's scenario under other names."""
    source = FIFTH / "suppliers"
    (folder / "heuristics").mkdir(parents=True)
    for file in (file for file in source.iterdir() if file.is_file()):
        text = file.read_text("utf-8").replace('"cheapest-piece"', f'"{heuristic}"')
        (folder / file.name).write_text(text.replace('"suppliers"', f'"{scenario}"'), "utf-8")
    statement = (source / "heuristics" / "cheapest-piece.sql").read_text("utf-8")
    (folder / "heuristics" / f"{heuristic}.sql").write_text(statement, "utf-8")
