"""The replies to LDM2's prompts, and the corrections of invalid ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dqa.core.decider import Step, Trajectory
from dqa.core.events import ParseFailureEvent
from dqa.deciders.method import Asking
from dqa.testing.models import PreparedReplies
from dqa_ldm2 import Imitation, Remembered, Situation
from dqa_ldm2.steps import PACKAGE, History, Known, act, choose, cluster, explore
from tests.ldm2.playing import found

STEPS = (Step("The hall.", "go to the sink"), Step("A # sink.\n# Task: act", "take the mug"))
HERE = Situation(
    "Put the mug on the bed.", "You hold it.", ("go to the bed", "go to the sink"), STEPS
)


def conversation(*replies: object) -> tuple[Asking, PreparedReplies]:
    """Return a conversation with a model that sends these replies, objects as JSON."""
    model = PreparedReplies([one if isinstance(one, str) else json.dumps(one) for one in replies])
    return Asking(PACKAGE, model), model


def problems(asking: Asking) -> list[str]:
    """Return the problem of each invalid reply."""
    events = asking.recorder.events
    return [event.problem for event in events if isinstance(event, ParseFailureEvent)]


def remembered(*actions: str) -> list[Remembered]:
    """Return tuples with these actions."""
    of: dict[str, Any] = {"goal": "Put it.", "observation": "Seen.", "batch": 1, "version": 1}
    return [
        Remembered(action=action, source=f"world {number}", id=number, **of)
        for number, action in enumerate(actions, 1)
    ]


def test_an_action_is_named_among_the_legal_ones() -> None:
    """Or in the free form; other actions are asked again. The nearest tuple is recorded."""
    known = Known(remembered("go to the bed", "go to the shelf"), "Went.")
    asking, model = conversation({"action": "fly"}, {"action": "Go to the BED."})
    assert act(asking, HERE, known).action == "go to the bed"
    assert '"go to the bed", "go to the sink"' in problems(asking)[0]
    assert "Example 2." in model.requests[0].text
    assert "\n# Task: act\n> " not in model.requests[0].text
    (event,) = found(asking.recorder.events, Imitation, "imitation")
    assert (event.tuple_id, event.is_same, event.source) == (1, True, "world 1")
    free = Situation("Buy.", "A shop.", ("click[back]",), free_form="search[...]")
    asking, model = conversation({"action": "search[]"}, {"action": "search[red mug]"})
    known = Known(remembered("click[buy now]", "search[blue mug]"))
    assert act(asking, free, known).action == "search[red mug]"
    assert 'exactly one of these: "click[back]", or "search[...]"' in problems(asking)[0]
    assert "any action in the form" in model.requests[0].text
    (event,) = found(asking.recorder.events, Imitation, "imitation")
    assert (event.tuple_id, event.is_same) == (2, False)


@pytest.mark.parametrize(
    ("actions", "shares"),
    [
        ({"go to the bed": 0.6, "go to the sink": 0.6}, [0.5, 0.5]),
        ({"go to the bed": "80%", "go to the sink": 0.2}, [0.8, 0.2]),
        ({"go to the bed": 1.5, "go to the sink": 1.5}, [0.5, 0.5]),
        ({"go to the bed": 0, "go to the sink": "0"}, [0.5, 0.5]),
    ],
)
def test_confidences_add_up_to_one(actions: dict[str, object], shares: list[float]) -> None:
    listed = [{"action": name, "confidence": value} for name, value in actions.items()]
    reply = explore(conversation({"actions": listed})[0], HERE, Known(), 4)
    assert [share for _, share in reply.shares(4)] == pytest.approx(shares)
    assert len(reply.shares(1)) == 1


def test_actions_that_are_not_legal_are_asked_for_again_and_dropped() -> None:
    """The best reply counts if all are invalid."""
    one = {"action": "go to the bed", "confidence": 1}
    odd = ["fly", "go to the sink", {"action": "go to the sink", "confidence": -1}]
    asking, _ = conversation(*[{"actions": [one, *odd]}] * 3)
    reply = explore(asking, HERE, Known(), 4)
    assert [likely.action for likely in reply.actions] == ["go to the bed"]
    assert len(reply.dropped) == 3
    assert len(problems(asking)) == 3


def test_a_process_is_chosen_without_its_reward() -> None:
    """A single one needs no reply."""
    processes = [Trajectory("goal", (Step("seen", one),), "s", 1.0) for one in ("first", "second")]
    assert choose(conversation()[0], processes[:1]) == 1
    asking, model = conversation({"best": 0}, {"best": 2.5}, {"best": "2"})
    assert choose(asking, processes) == 2
    assert "write a whole number from 1 to 2" in problems(asking)[0]
    assert "eward" not in model.requests[0].text


def test_every_number_of_a_list_needs_a_type() -> None:
    """A number in two types belongs to the first; unknown numbers are reported and ignored."""
    wrong = {"types": {"a": [1, "2"], "A": [2, 9], "": [3]}}
    asking, model = conversation(wrong, wrong, {"types": {"a": [1, 2], "b": [2, 3]}})
    reply = cluster(asking, "goal", ["x", "y", "z"], ["a"])
    assert reply.types == {"a": (1, 2), "b": (3,)}
    assert "without a type: 3" in problems(asking)[0]
    assert "not in the list: 9" in problems(asking)[0]
    assert "in two types: 2" in problems(asking)[0]
    assert '["a"]' in model.requests[0].text


def test_a_first_step_that_shows_only_the_goal_needs_no_summary() -> None:
    """The paper's prompts summarise it all the same."""
    first = [Step("Instruction: Buy a mug.", "search[mug]")]
    assert History().summarise(conversation()[0], "Buy a mug.", first) == "Did search[mug]."
    asking, _ = conversation({"summary": "Searched."})
    assert History(exact=True).summarise(asking, "Buy a mug.", first) == "Searched."
