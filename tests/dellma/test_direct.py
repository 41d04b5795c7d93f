"""The baselines: one prompt, five votes, a chain; and which action a decision names (section 4)."""

from __future__ import annotations

import json

import pytest

from dqa.core.errors import InvalidAnswerError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.replies import Chosen, read_action
from dqa_dellma.deciders import ProblemDecider
from dqa_dellma.settings import VotingSettings
from dqa_dellma.steps.direct import ChainOfThought, SelfConsistency, ZeroShot
from tests.dellma.talking import PROBLEM, Talking, conversation, decider, noted, said_to

FRUIT = ("apple", "pear", "grape", "grapefruit")
IDS = (12, 417, 3, 2)


@pytest.mark.parametrize(
    ("said", "actions", "choice"),
    [
        ("Action 2. pear", FRUIT, "pear"),
        ("Action 1. pear", FRUIT, "pear"),
        ("Action 3", FRUIT, "grape"),
        (" #2. ", FRUIT, "pear"),
        ("Action 2. 417", IDS, 417),
        ("Action 1", IDS, 12),
        ("Action 4. 2", IDS, 2),
        ("Action 12", IDS, 12),
        ("Building 417", IDS, 417),
        ("2", IDS, 2),
        ("Action 1. Action 2", ("Action 2", "Action 1"), "Action 2"),
        ("Action 2", ("Action 2", "Action 1"), "Action 2"),
    ],
)
def test_a_decision_names_an_action(
    said: str, actions: tuple[Candidate, ...], choice: Candidate
) -> None:
    """The name decides; without a name, the number does."""
    assert read_action(said, actions, "building") == choice


@pytest.mark.parametrize(
    ("said", "actions"),
    [
        ("I choose **Action 3**.", FRUIT),
        ("Action 2. pear is better than Action 1. apple", FRUIT),
        ("Action 2. I would not take pear", FRUIT),
        ("Action 1 or Action 2", FRUIT),
        ("", FRUIT),
        ("Action 2. 99", IDS),
        ("Action " + "9" * 5_000, FRUIT),
    ],
)
def test_a_decision_that_names_no_one_action_is_refused(
    said: str, actions: tuple[Candidate, ...]
) -> None:
    """The error tells the model what it may write."""
    with pytest.raises(InvalidAnswerError, match=f"There are: {actions[0]}, {actions[1]}"):
        read_action(said, actions)


@pytest.mark.parametrize("said", ["Action 3", "**Action 3**", "action 3."])
def test_a_number_that_is_also_the_id_of_another_action_is_asked_again(said: str) -> None:
    """Prompts number the actions, so "Action 3" of 3, 5 and 7 may be 7 or 3."""
    with pytest.raises(InvalidAnswerError, match="number 3, which is 7, or the building that"):
        read_action(said, (3, 5, 7), "building")


def test_a_number_beyond_the_actions_is_quoted() -> None:
    """The message repeats the reply."""
    with pytest.raises(InvalidAnswerError, match="'Action 7' names no action that can be chosen"):
        read_action("Action 7", ("apple", "pear"))


def voting() -> ProblemDecider:
    """Return self-consistency with the paper's settings."""
    made: ProblemDecider = decider(SelfConsistency, VotingSettings())
    return made


def decision(words: object) -> str:
    """A reply that decides."""
    return json.dumps({"decision": words, "explanation": "It is best."})


@pytest.mark.parametrize("words", ["", " ", None, ["pear"], {"name": "pear"}, True, 2.5])
def test_what_decides_nothing_is_asked_again(words: object) -> None:
    """And is an answer once it says something; a number is an answer."""
    found = conversation(decision(words), decision(2))
    assert decider(ZeroShot).solve(PROBLEM, "q/1", found) == Chosen("2", "pear")
    assert "decides nothing" in said_to(found)[1]


def test_self_consistency_takes_the_majority_of_five_at_one_half() -> None:
    """However the votes are worded; the prompt is zero-shot's."""
    votes = ["apple", "Action 2. pear", "Action 1. apple", "pear, 10 acres", "2"]
    found = conversation(*map(decision, votes))
    assert decider(SelfConsistency, VotingSettings()).solve(PROBLEM, "q/1", found) == Chosen(
        "pear", "pear"
    )
    assert isinstance(found.model, Talking)
    assert found.model.temperatures == [0.5] * 5
    other = conversation(decision("pear"))
    decider(ZeroShot).solve(PROBLEM, "q/1", other)
    assert set(said_to(found)) == set(said_to(other))
    (event,) = noted(found.recorder.events, "votes")
    assert (event["votes"], event["asked"]) == ({"apple": 2, "pear": 3}, 5)
    assert (event["unreadable"], event["tied"]) == (0, [])


def test_of_equal_votes_the_first_counts() -> None:
    """And a vote that cannot be read does not."""
    found = conversation(
        *map(decision, ("pear", "apple")), "", "", "", *map(decision, ("apple", "pear"))
    )
    assert decider(SelfConsistency, VotingSettings()).solve(PROBLEM, "q/1", found) == Chosen(
        "pear", "pear"
    )
    (event,) = noted(found.recorder.events, "votes")
    assert event["votes"] == {"pear": 2, "apple": 2}
    assert (event["unreadable"], event["tied"]) == (1, ["pear", "apple"])
    assert found.recorder.steps == 7


def test_a_vote_that_names_no_one_action_is_asked_for_again_and_then_does_not_count() -> None:
    """The model is told what it may say; whoever keeps saying none has no vote."""
    votes = ("none", "none", "none", "pear", "apple or pear", "apple", "pear", "pear")
    found = conversation(*map(decision, votes))
    assert decider(SelfConsistency, VotingSettings()).solve(PROBLEM, "q/1", found) == Chosen(
        "pear", "pear"
    )
    (event,) = noted(found.recorder.events, "votes")
    assert event["votes"] == {"pear": 3, "apple": 1}
    assert (event["tied"], event["unreadable"]) == ([], 1)
    assert "'none' names no action" in said_to(found)[1]


@pytest.mark.parametrize("method", [ZeroShot, SelfConsistency, ChainOfThought])
def test_where_no_reply_names_an_action_nothing_is_decided(method: type[ProblemDecider]) -> None:
    """Nothing is made up of a decision for something else."""
    with pytest.raises(UnparsableReplyError, match="'buy gold' names no action"):
        decider(method, VotingSettings()).solve(PROBLEM, "q/1", conversation(decision("buy gold")))


def test_chain_of_thought_asks_three_times() -> None:
    """Each prompt holds what was said to those before it; empty words are asked for again."""
    found = conversation("", "Frost matters.", "Frost is likely.", decision("pear"))
    assert decider(ChainOfThought).solve(PROBLEM, "q/1", found) == Chosen("pear", "pear")
    _, again, chances, decide = said_to(found)
    assert again == "The reply could not be used. The reply is empty."
    assert "Frost matters." in chances
    assert "Frost matters." in decide
    assert "Frost is likely." in decide
    purposes = [event["purpose"] for event in noted(found.recorder.events, "prompt")]
    assert purposes == ["unknown factors", "chances", "decision"]
