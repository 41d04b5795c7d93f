"""The set ``hard-1``: drawn again to the byte, one sure answer each, and no shortcut to it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.question_set import QuestionSet
from dqa.evaluation.shortcuts import measure_shortcuts
from dqa.loaders.release_writer import write_release
from dqa.loaders.sets import SetManifest, read_plan, read_set
from dqa.scenarios.generation import CountsSteps

pytestmark = pytest.mark.slow

SCENARIOS = ("locating", "building")
HASHED = """
import sys
from dqa.loaders.sets import read_set
print(read_set("hard-1", limit=120).content_hash)
"""


@pytest.fixture(scope="module")
def hard() -> QuestionSet:
    """The set; reading it holds every world and question against its hash."""
    return read_set("hard-1")


@pytest.fixture(scope="module")
def manifest() -> SetManifest:
    """What the set has to be."""
    path = plugins.question_set("hard-1") / "manifest.json"
    return SetManifest.model_validate(json.loads(path.read_text("utf-8")))


@pytest.fixture(scope="module")
def one_of_each(hard: QuestionSet) -> QuestionSet:
    """The questions about one world of each scenario and size."""
    first: dict[tuple[str, int], str] = {}
    for question in hard.questions:
        key = question.scenario, hard.situation_of(question).row_count // 1000
        first.setdefault(key, question.situation)
    assert len(first) == 6
    kept = tuple(question for question in hard.questions if question.situation in first.values())
    return replace(hard, questions=kept)


def test_there_are_200_questions_of_each_scenario_on_three_sizes(hard: QuestionSet) -> None:
    """Of about 2,000, 15,000 and up to 100,000 rows."""
    for scenario in SCENARIOS:
        asked = hard.select((scenario,)).questions
        assert [question.id for question in asked] == [str(n) for n in range(1, 201)]
        sizes = Counter(hard.situation_of(question).row_count for question in asked)
        small, middle, large = sorted(sizes)
        assert 1_900 <= small <= 2_100
        assert 14_500 <= middle <= 15_500
        assert 90_000 <= large <= 100_000
        assert min(sizes.values()) >= 30


def test_less_than_20_percent_lie_one_step_away(hard: QuestionSet) -> None:
    """So whoever looks one step far is wrong on the others; but some do."""
    for scenario in SCENARIOS:
        generator = plugins.generator(scenario)
        assert isinstance(generator, CountsSteps)
        found: Counter[float] = Counter()
        for question, truth in hard.select((scenario,)).labelled:
            steps = generator.steps(hard.situation_of(question), question)
            found[float(steps[(question.candidates or ()).index(truth.answers[0])])] += 1
        assert found[1.0] == 30
        assert found[2.0] >= 40
        assert sum(count for steps, count in found.items() if 3.0 <= steps < 20.0) >= 40


def test_answers_are_sure_under_every_rule_set(
    one_of_each: QuestionSet, manifest: SetManifest
) -> None:
    """The only best, ahead by what no rounding changes; by the labels' rules by 1 % of the gain."""
    for scenario in SCENARIOS:
        simulator = plugins.simulator(scenario)
        assert set(manifest.label_rules) <= set(simulator.rule_sets)
        asked = one_of_each.select((scenario,)).questions
        for question in asked:
            for rules in simulator.rule_sets:
                situation = one_of_each.situation_of(question)
                outcome = simulator.outcomes(situation, [question], rules)[0]
                assert outcome.ties == one_of_each.truth_of(question).answers
                assert outcome.margin > 1e-6 * abs(outcome.best)
                assert not outcome.decided_by_last_bit
                if rules == manifest.label_rules[0]:
                    assert outcome.baseline is not None
                    assert outcome.margin >= 0.01 * abs(outcome.best - outcome.baseline)


def test_every_shipped_heuristic_is_resisted(one_of_each: QuestionSet) -> None:
    """Those of both scenarios are in the plan, and none is right."""
    shipped = {h.name for name in SCENARIOS for h in plugins.scenario(name).heuristics}
    assert set(read_plan("hard-1").resist) == shipped
    found = [one for one in measure_shortcuts(one_of_each) if one.name in shipped]
    assert {one.name for one in found} == shipped
    assert {one.right for one in found} == {0}


def test_files_come_out_to_the_byte(
    one_of_each: QuestionSet, manifest: SetManifest, tmp_path: Path
) -> None:
    """Of one world of each size, in both forms."""
    written = write_release(one_of_each, tmp_path / "set")
    databases = [path for path in written if path.suffix != ".json"]
    assert len({path.suffix for path in databases}) == 2
    for path in databases:
        name = path.relative_to(tmp_path / "set").as_posix()
        assert hashlib.sha256(path.read_bytes()).hexdigest() == manifest.files[name]


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_no_order_of_sets_matters(hard: QuestionSet, seed: str) -> None:
    """Another process, with another seed of hashes, draws the same."""
    there = read_set("hard-1", limit=120).content_hash
    ran = subprocess.run(
        [sys.executable, "-c", HASHED],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    assert ran.stdout.strip() == there
    assert len(hard.questions) == 400
