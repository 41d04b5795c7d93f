"""What is explored need be no world: statements, say, that are written and run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from dqa.core.question import Candidate
from dqa.models.scripted import GivenReplies, Request
from dqa_ldm2 import Memory
from dqa_ldm2.memory.base import Origin, Placed, StateAction
from dqa_ldm2.refining.explorable import Explored
from dqa_ldm2.refining.refinement import Refinement
from dqa_ldm2.scripted.reading import read_prompt
from dqa_ldm2.scripted.responder import reply_to
from dqa_ldm2.settings import RefiningSettings
from dqa_ldm2.situation import Situation


class Sums:
    """Statements that add numbers up to 5; what is written in other letters is the same."""

    source = "sums 1"

    def __init__(self) -> None:
        self.acted: list[str] = []
        self.is_closed = False

    def start(self) -> Explored:
        """Nothing was added."""
        return Explored(
            Situation("Reach 5.", "0", (), free_form="ADD ...", sources=frozenset({"sums 1"}))
        )

    def act(self, state: Explored, action: Candidate) -> Explored:
        """Add a number."""
        text = str(action).lower()
        self.acted.append(text)
        total = int(state.situation.observation) + int(text.removeprefix("add "))
        there = state.after(text, str(total))
        reward = 1.0 if total == 5 else 0.25 if total > 5 else None
        here = replace(there.situation, free_form="ADD ...")
        return Explored(here, reward)

    def close(self) -> None:
        """Take note of it."""
        self.is_closed = True


@pytest.fixture
def memory(memory: Memory) -> Memory:
    """Return a memory of one sum."""
    content = StateAction("Reach 9.", "", "0", "ADD 9", "sums 0", 1, 1.0)
    memory.add([Placed(content, "sums", "totals")], Origin("import", ""))
    return memory


def proposing(actions: Mapping[str, Mapping[str, float]]) -> GivenReplies:
    """Return a model that proposes actions by what is seen; the rest is done by a script."""

    def said(request: Request) -> str:
        asked = read_prompt(request.messages[0].text)
        if asked.task == "explore":
            return json.dumps({"actions": actions[asked.observation]})
        return json.dumps(reply_to(asked, "analyst", 0))

    return GivenReplies(said)


def test_statements_are_explored_and_the_better_ones_remembered(memory: Memory) -> None:
    """What is in no form is asked for again, and dropped; paths of little confidence are pruned."""
    model = proposing(
        {
            "0": {"ADD 4": 0.5, "take 4": 0.0, "ADD 2": 0.3, "ADD 1": 0.2},
            "4": {"ADD 9": 0.9, "ADD 1": 0.1},
            "2": {"ADD 3": 0.8, "ADD 2": 0.2},
        }
    )
    sums = Sums()
    own = RefiningSettings(paths=2, depth=3)
    report = Refinement(memory, model, own, model_name="given").refine([sums])
    (goal,) = report.goals
    assert sums.is_closed
    assert sums.acted == ["add 4", "add 2", "add 9", "add 3"]
    assert (goal.ground_reward, goal.best_reward) == (0.25, 1.0)
    assert goal.asked == 3
    assert goal.key_step is not None
    assert goal.key_step.key_step == 1
    added = [one.placed for one in memory.tuples() if one.version == goal.version]
    assert [(one.content.observation, one.content.action) for one in added] == [
        ("0", "add 2"),
        ("2", "add 3"),
    ]
    assert {(one.goal_type, one.observation_type) for one in added} == {("sums", "totals")}
    assert (goal.dropped, report.calls.exploring) == (1, 3 + 2)  # with two corrections
    assert report.to_json()["goals"][0]["calls"]["comparing"] == 1
