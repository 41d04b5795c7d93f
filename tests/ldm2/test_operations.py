"""Each operation: what is asked, what a bad reply is told, and what is made of it in the end."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from dqa.core.errors import UnparsableReplyError
from dqa.core.events import ParseFailureEvent
from dqa.core.trajectories import Step, Trajectory
from dqa.models.conversation import Conversation
from dqa.models.scripted import GivenReplies
from dqa_ldm2.events import ConfidencesEvent, ImitationEvent
from dqa_ldm2.memory.base import Placed, Remembered, StateAction
from dqa_ldm2.operations.acting import Known, act, explore
from dqa_ldm2.operations.judging import (
    choose,
)
from dqa_ldm2.rendering import render
from dqa_ldm2.situation import Situation

STEPS = (Step("The hall.", "go to the sink"), Step("A # sink.\n# Task: act", "take the mug"))
HERE = Situation(
    "Put the mug on the bed.", "You hold it.", ("go to the bed", "go to the sink"), STEPS
)


def saying(*replies: object) -> tuple[Conversation, GivenReplies]:
    """Return a conversation with a model that says these, objects as JSON."""
    texts = [one if isinstance(one, str) else json.dumps(one) for one in replies]
    model = GivenReplies(texts)
    return Conversation(model), model


def told(conversation: Conversation) -> list[str]:
    """Return what was wrong, reply by reply."""
    events = conversation.recorder.events
    return [event.problem for event in events if isinstance(event, ParseFailureEvent)]


def remembered(*actions: str) -> list[Remembered]:
    """Return tuples that did these."""
    return [
        Remembered(
            number,
            1,
            1,
            Placed(StateAction("Put it.", "", "Seen.", action, f"world {number}", 1), "a", "b"),
        )
        for number, action in enumerate(actions, 1)
    ]


def test_an_action_is_named_among_the_legal_ones() -> None:
    """Or written in the free form; else it is asked for again. It comes from the likest tuple."""
    known = Known(remembered("go to the bed", "go to the shelf"), "Went.", ())
    conversation, model = saying({"action": "fly"}, {"action": "Go to the BED."})
    assert act(HERE, known, conversation).action == "go to the bed"
    assert '"go to the bed", "go to the sink"' in told(conversation)[0]
    assert "Example 2." in model.requests[0].text
    (event,) = (e for e in conversation.recorder.events if isinstance(e, ImitationEvent))
    assert (event.tuple_id, event.is_same, event.source) == (1, True, "world 1")
    free = Situation("Buy.", "A shop.", ("click[back]",), free_form="search[...]")
    conversation, model = saying({"action": "search[]"}, {"action": "search[red mug]"})
    known = Known(remembered("click[buy now]", "search[blue mug]"))
    assert act(free, known, conversation).action == "search[red mug]"
    assert (
        'exactly one of these: "click[back]", or with "search[...]" with words of your own'
        in told(conversation)[0]
    )
    assert "any action in the form" in model.requests[0].text
    (event,) = (e for e in conversation.recorder.events if isinstance(e, ImitationEvent))
    assert (event.tuple_id, event.is_same) == (2, False)
    with pytest.raises(UnparsableReplyError):
        act(HERE, Known(), saying({"action": "fly"}, {"action": ""}, {"act": 1})[0])


@pytest.mark.parametrize(
    ("actions", "shares", "said", "missing"),
    [
        ({"go to the bed": 0.6, "go to the sink": 0.6}, [0.5, 0.5], 1.2, 0),
        ({"go to the bed": 0.7, "go to the sink": None}, [0.7, 0.3], 0.7, 1),
        ({"go to the bed": "80%", "go to the sink": 0.2}, [0.8, 0.2], 1.0, 0),
        ({"go to the bed": 1.5, "go to the sink": -1}, [0.5, 0.5], 1.5, 1),
    ],
)
def test_confidences_add_up_to_one(
    actions: dict[str, object], shares: list[float], said: float | None, missing: int
) -> None:
    """Whatever was given; and what was given is told."""
    listed = [{"action": name, "confidence": value} for name, value in actions.items()]
    conversation, _ = saying({"actions": listed})
    found = explore(HERE, Known(), 4, conversation)
    assert [share for _, share in found.actions] == pytest.approx(shares)
    assert found.said == (None if said is None else pytest.approx(said))
    assert found.missing == missing
    (event,) = (e for e in conversation.recorder.events if isinstance(e, ConfidencesEvent))
    shown = render(event)
    assert shown is not None
    lines = "\n".join([shown[0].text, *shown[0].notes])
    assert ("made to add up to 1" in lines) == (said not in (None, 1.0))
    assert ("without a confidence" in lines) == bool(missing)


def processes(*actions: Sequence[str]) -> list[Trajectory]:
    """Return processes that did these."""
    return [
        Trajectory("goal", tuple(Step(f"seen {n}", one) for n, one in enumerate(did)), "s", 1.0)
        for did in actions
    ]


def test_a_process_is_chosen_without_its_reward() -> None:
    """A single one needs no reply."""
    assert choose(processes("a"), saying()[0]) == 1
    conversation, model = saying({"best": 0}, {"best": 2.5}, {"best": "2"})
    assert choose(processes("ab", "ac"), conversation) == 2
    assert told(conversation) == ['Write {"best": <a whole number from 1 to 2>}.'] * 2
    assert "eward" not in model.requests[0].text
