"""Worlds of known uncertainty: their outcomes are true, and a seed determines them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest

import dqa
from dqa import plugins
from dqa.loaders.generator.generate import generate
from dqa.loaders.generator.manifest import read_manifest, write_generated
from dqa.loaders.reading import read_questions
from dqa.loaders.release import read_release
from dqa_simulators.uncertain import DrawnWorld, UncertainGenerator, UncertainWorld

ALL = ("agriculture", "stocks")


def worlds(scenario: str, count: int, seed: int = 3) -> list[UncertainWorld]:
    """Return the first worlds of a seed."""
    return [world for world, _, _ in islice(drawn(scenario, seed), count)]


def drawn(scenario: str, seed: int) -> Iterator[DrawnWorld]:
    """Return the worlds behind the questions of a seed."""
    generator = plugins.generator(scenario)
    assert isinstance(generator, UncertainGenerator)
    return generator.worlds(seed)


@pytest.mark.parametrize("scenario", ALL)
def test_expected_utilities_are_the_sum_over_all_states(scenario: str) -> None:
    """The closed form is what enumerating every state gives."""
    for world in worlds(scenario, 5):
        states = np.array(list(product(*(range(len(one.values)) for one in world.factors))))
        chances = np.prod(
            [one.probabilities[states[:, n]] for n, one in enumerate(world.factors)], axis=0
        )
        assert chances.sum() == pytest.approx(1.0)
        by_hand = chances @ world.utilities(states)
        assert world.expected_utilities() == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("scenario", ALL)
def test_outcomes_are_true_expected_utilities(scenario: str) -> None:
    """The best of them is the only answer."""
    questions = generate([scenario], 10, 3)
    by_name = {s.name: w for w, s, _ in islice(drawn(scenario, 3), 3)}
    for question, truth in questions.labelled:
        world = by_name[question.situation]
        expected = dict(zip(world.actions, world.expected_utilities().tolist(), strict=True))
        assert truth.outcomes is not None
        assert 2 <= len(truth.outcomes) <= 7
        for candidate, outcome in zip(question.candidates or (), truth.outcomes, strict=True):
            spent = 1.0 if scenario == "stocks" else 0.0
            assert outcome == pytest.approx(expected[str(candidate)] - spent, abs=1e-8)
        listed = [
            name for name in world.actions if str(name) in map(str, question.candidates or ())
        ]
        assert [*map(str, question.candidates or ())] == [*map(str, listed)]  # in table order
        best = max(question.candidates or (), key=lambda c: expected[str(c)])
        assert truth.answers == (best,)


def test_a_report_states_every_likelihood_and_every_effect() -> None:
    """The expected revenue follows from the report exactly."""
    for world, situation, _ in islice(drawn("agriculture", 4), 3):
        overview = str(situation["report"]["overview"][0]).lower()
        outlooks = dict(
            zip(situation["outlook"]["crop"], situation["outlook"]["summary"], strict=True)
        )
        for factor in world.factors:
            assert factor.name in overview
            for value, word in zip(factor.values, factor.words, strict=True):
                assert f"{value} is {word}" in overview
            for place, crop in enumerate(world.actions):
                changed = (np.stack(list(factor.effects.values()))[:, place] != 1.0).any(axis=0)
                for value, moved in zip(factor.values, changed, strict=True):
                    assert (f"With {factor.name} {value}:" in outlooks[crop]) == moved
        known = situation["harvest"]["acre_yield"] * situation["harvest"]["price"]
        assert known.tolist() == world.base.tolist()


@pytest.mark.slow
def test_written_questions_are_read_back_equal_in_both_forms(tmp_path: Path) -> None:
    """Questions, outcomes and situations; questions without a simulator have no rule set."""
    made = generate(ALL, 2, 8, per_database=2)
    write_generated(made, tmp_path / "set", seed=8)
    read = dqa.read_generated(tmp_path / "set")
    assert not read.defects
    assert read.labelled == made.labelled
    assert dict(read.situations) == dict(made.situations)
    assert read.content_hash == made.content_hash
    graph = read_questions(tmp_path / "set", form="graph", strict=True)
    assert dict(graph.situations) == dict(made.situations)
    assert read_manifest(tmp_path / "set").label_rules == ()


def test_a_question_without_its_outcomes_is_left_out(tmp_path: Path) -> None:
    """It is reported with its number."""
    write_generated(generate(["agriculture"], 2, 8), tmp_path / "set", seed=8)
    file = tmp_path / "set" / "data" / "agriculture" / "questions" / "questions.json"
    entries = json.loads(file.read_text("utf-8"))
    for change, problem in (
        ({"outcomes": None}, "question 1: outcomes: must be a valid dictionary"),
        ({"outcomes": {}}, "which is not a number"),
        ({"crops": "quince"}, "'quince' is listed"),
    ):
        file.write_text(json.dumps([entries[0] | change, *entries[1:]], indent=1), "utf-8")
        read = read_release(tmp_path / "set")
        assert [question.id for question in read.questions] == ["2"]
        assert problem in str(read.defects[0])
