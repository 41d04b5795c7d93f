"""The baselines: one prompt, five votes, a chain; and which action a decision names (section 4)."""

from __future__ import annotations

import json

import pytest

from dqa.core.errors import UnparsableReplyError
from dqa.core.question import Candidate
from dqa_dellma.steps.direct import ChainOfThought, SelfConsistency, ZeroShot, action_named
from tests.dellma.talking import PROBLEM, Talking, asker, noted, said_to

FRUIT = ("apple", "pear", "grape", "grapefruit")
IDS = (12, 417, 3, 2)


@pytest.mark.parametrize(
    ("said", "actions", "choice"),
    [
        ("Action 2. pear", FRUIT, "pear"),
        ("action 2. pear: 10 acres", FRUIT, "pear"),
        ("Action 1. pear", FRUIT, "pear"),
        ("grapefruit", FRUIT, "grapefruit"),
        ("Action 3", FRUIT, "grape"),
        ("I choose **Action 3**.", FRUIT, "grape"),
        ("Action 2. pear is better than Action 1. apple", FRUIT, "pear"),
        ("2", FRUIT, "pear"),
        (" #2. ", FRUIT, "pear"),
        ("9", FRUIT, None),
        ("Action 9", FRUIT, None),
        ("Action 1 or Action 2", FRUIT, None),
        ("apple or pear", FRUIT, None),
        ("kiwi", FRUIT, None),
        ("", FRUIT, None),
        ("Action 2. 417", IDS, 417),
        ("Action 2: Building 417", IDS, 417),
        ("action 2 (417)", IDS, 417),
        ("I choose Action 2. 417", IDS, 417),
        ("Action 2", IDS, 417),
        ("Action 4. 2", IDS, 2),
        ("Building 417", IDS, 417),
        ("Action: 417", IDS, 417),
        ("417", IDS, 417),
        ("2", IDS, 2),
        ("1", IDS, 12),
        ("Action 2. 99", IDS, 417),
        ("Action 1. Action 2", ("Action 2", "Action 1"), "Action 2"),
        ("Action " + "9" * 5_000, FRUIT, None),
        ("9" * 5_000, IDS, None),
    ],
)
def test_a_decision_names_an_action(
    said: str, actions: tuple[Candidate, ...], choice: Candidate | None
) -> None:
    """The name decides, the number where no name stands beside it; an id is no number."""
    assert action_named(said, actions) == choice


def decision(words: object) -> str:
    """A reply that decides."""
    return json.dumps({"decision": words, "explanation": "It is best."})


def test_zero_shot_asks_once() -> None:
    """At the model's own temperature, which is 0."""
    found = asker(decision("Action 2. pear"))
    assert ZeroShot().answer(PROBLEM, found) == "Action 2. pear"
    assert isinstance(found.model, Talking)
    assert found.model.temperatures == [None]


@pytest.mark.parametrize("words", ["", " ", None, ["pear"], {"name": "pear"}, True, 2.5])
def test_what_decides_nothing_is_asked_again(words: object) -> None:
    """And is an answer once it says something; a number is an answer."""
    found = asker(decision(words), decision(2))
    assert ZeroShot().answer(PROBLEM, found) == "2"
    assert "decides nothing" in said_to(found)[1]


def test_self_consistency_takes_the_majority_of_five_at_one_half() -> None:
    """However the votes are worded; the prompt is zero-shot's."""
    votes = ["apple", "Action 2. pear", "Action 1. apple", "pear: 10 acres", "2"]
    found = asker(*map(decision, votes))
    assert SelfConsistency().answer(PROBLEM, found) == "pear"
    assert isinstance(found.model, Talking)
    assert found.model.temperatures == [0.5] * 5
    other = asker(decision("pear"))
    ZeroShot().answer(PROBLEM, other)
    assert set(said_to(found)) == set(said_to(other))
    (event,) = noted(found.events, "votes")
    assert (event["votes"], event["asked"]) == ({"apple": 2, "pear": 3}, 5)
    assert (event["others"], event["unreadable"], event["tied"]) == ({}, 0, [])


def test_of_equal_votes_the_first_counts() -> None:
    """And a vote that cannot be read does not."""
    found = asker(*map(decision, ("pear", "apple")), "", "", "", *map(decision, ("apple", "pear")))
    assert SelfConsistency().answer(PROBLEM, found) == "pear"
    (event,) = noted(found.events, "votes")
    assert event["votes"] == {"pear": 2, "apple": 2}
    assert (event["unreadable"], event["tied"]) == (1, ["pear", "apple"])
    assert found.steps == 7


def test_votes_that_name_no_action_do_not_count() -> None:
    """However many there are; the trace has them."""
    found = asker(*map(decision, ("none", "none", "pear", "apple or pear", "none")))
    assert SelfConsistency().answer(PROBLEM, found) == "pear"
    (event,) = noted(found.events, "votes")
    assert event["votes"] == {"pear": 1}
    assert event["others"] == {"none": 3, "apple or pear": 1}
    assert (event["tied"], event["unreadable"]) == ([], 0)


def test_where_no_vote_names_an_action_the_answer_names_none() -> None:
    """As zero-shot's would: what most of them say."""
    found = asker(*map(decision, ("neither", "none", "none", "apple or pear", "neither")))
    assert SelfConsistency().answer(PROBLEM, found) == "neither"
    assert noted(found.events, "votes")[0]["votes"] == {}


def test_votes_and_temperature_are_as_they_are_set() -> None:
    """As many as K."""
    found = asker(decision("pear"))
    assert SelfConsistency(votes=3, temperature=0.9).answer(PROBLEM, found) == "pear"
    assert isinstance(found.model, Talking)
    assert found.model.temperatures == [0.9] * 3


def test_no_readable_vote_is_no_answer() -> None:
    """Nothing is made up."""
    with pytest.raises(UnparsableReplyError):
        SelfConsistency().answer(PROBLEM, asker("no"))


def test_chain_of_thought_asks_three_times() -> None:
    """Each prompt holds what was said to those before it; empty words are asked for again."""
    found = asker("", "Frost matters.", "Frost is likely.", decision("pear"))
    assert ChainOfThought().answer(PROBLEM, found) == "pear"
    _, again, chances, decide = said_to(found)
    assert again == "The reply could not be read. The reply is empty."
    assert "Frost matters." in chances
    assert "Frost matters." in decide
    assert "Frost is likely." in decide
    purposes = [event["purpose"] for event in noted(found.events, "prompt")]
    assert purposes == ["unknown factors", "chances", "decision"]
