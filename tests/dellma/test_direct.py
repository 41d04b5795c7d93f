"""The baselines: one prompt, five votes, a chain (section 4), and the action that a reply names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.outputs import ChatResult

from dqa.core.errors import InvalidAnswerError
from dqa.core.question import Candidate
from dqa.deciders.replies import Choice, read_action
from dqa.testing.models import PreparedReplies
from dqa_dellma.settings import VotingSettings
from dqa_dellma.steps.direct import ChainOfThought, SelfConsistency, ZeroShot
from tests.dellma.talking import PROBLEM, conversation, data_of, decider, prompts_of

FRUIT = ("apple", "pear", "grape", "grapefruit")
IDS = (12, 417, 3, 2)


@pytest.mark.parametrize(
    ("reply", "actions", "choice"),
    [
        ("Action 2. pear", FRUIT, "pear"),
        ("Action 3", FRUIT, "grape"),
        ("Action 1", IDS, 12),
        ("Building 417", IDS, 417),
        ("Action 2", ("Action 2", "Action 1"), "Action 2"),
    ],
)
def test_a_decision_names_an_action(
    reply: str, actions: tuple[Candidate, ...], choice: Candidate
) -> None:
    """The name decides; without a name, the number does."""
    assert read_action(reply, actions, "building") == choice


@pytest.mark.parametrize(
    ("reply", "actions"),
    [
        ("I choose **Action 3**.", FRUIT),
        ("Action 2. I would not take pear", FRUIT),
        ("Action 1 or Action 2", FRUIT),
        ("", FRUIT),
        ("Action " + "9" * 5_000, FRUIT),
    ],
)
def test_a_decision_that_names_no_one_action_is_refused(
    reply: str, actions: tuple[Candidate, ...]
) -> None:
    """The error lists the actions."""
    with pytest.raises(InvalidAnswerError, match=f'"{actions[0]}", "{actions[1]}"'):
        read_action(reply, actions)


@pytest.mark.parametrize("reply", ["Action 3", "**Action 3**", "action 3."])
def test_a_number_that_is_also_the_id_of_another_action_is_asked_again(reply: str) -> None:
    """Prompts number the actions, so "Action 3" of 3, 5 and 7 means 7 or 3."""
    with pytest.raises(InvalidAnswerError, match="number 3 is 7, but another building is called 3"):
        read_action(reply, (3, 5, 7), "building")


def decision(words: object) -> str:
    """Return a reply that decides."""
    return json.dumps({"decision": words, "explanation": "It is best."})


def test_self_consistency_takes_the_majority_of_five_at_one_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The votes differ in wording; the prompt is that of zero-shot."""
    votes = ["apple", "Action 2. pear", "Action 1. apple", "pear, 10 acres", "2"]
    temperatures: list[float | None] = []
    generate = PreparedReplies._generate

    def record(self: PreparedReplies, *args: Any, **options: Any) -> ChatResult:
        temperatures.append(options.get("temperature"))
        return generate(self, *args, **options)

    monkeypatch.setattr(PreparedReplies, "_generate", record)
    found = conversation(*map(decision, votes))
    assert decider(SelfConsistency, VotingSettings()).solve(PROBLEM, "q/1", found) == Choice.of(
        "pear"
    )
    assert temperatures == [0.5] * 5
    other = conversation(decision("pear"))
    decider(ZeroShot).solve(PROBLEM, "q/1", other)
    assert set(prompts_of(found)) == set(prompts_of(other))
    (event,) = data_of(found.recorder.events, "votes")
    assert (event["votes"], event["asked"]) == ({"apple": 2, "pear": 3}, 5)
    assert (event["unreadable"], event["tied"]) == (0, [])


def test_of_equal_votes_the_first_counts() -> None:
    """An unreadable vote does not count."""
    found = conversation(
        *map(decision, ("pear", "apple")), "", "", "", *map(decision, ("apple", "pear"))
    )
    assert decider(SelfConsistency, VotingSettings()).solve(PROBLEM, "q/1", found) == Choice.of(
        "pear"
    )
    (event,) = data_of(found.recorder.events, "votes")
    assert event["votes"] == {"pear": 2, "apple": 2}
    assert (event["unreadable"], event["tied"]) == (1, ["pear", "apple"])
    assert found.recorder.steps == 7


def test_chain_of_thought_asks_three_times() -> None:
    """Each prompt holds the earlier replies; an empty reply is asked again."""
    found = conversation("", "Frost matters.", "Frost is likely.", decision("pear"))
    assert decider(ChainOfThought).solve(PROBLEM, "q/1", found) == Choice.of("pear")
    _, again, chances, decide = prompts_of(found)
    assert again == "The reply could not be used. The reply is empty."
    assert "Frost matters." in chances
    assert "Frost matters." in decide
    assert "Frost is likely." in decide
    purposes = [event["purpose"] for event in data_of(found.recorder.events, "prompt")]
    assert purposes == ["unknown factors", "chances", "decision"]
