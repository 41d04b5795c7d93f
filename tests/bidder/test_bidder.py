"""BIDDER's requests and their number, its use of the replies, and its trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import pytest

from dqa.core.budgets import DecisionBudget
from dqa.core.events import Event, PromptEvent, StepEvent, WarningEvent
from dqa.core.question import Candidate
from dqa.core.recorder import Recorder
from dqa.deciders.replies import Choice
from dqa.models.scripted import scripted_model
from dqa.testing.models import PreparedReplies, Request
from dqa.worlds.world import HiddenVariable, Position
from dqa_bidder.exploration import ExploredTree, Node, Tree
from dqa_bidder.returns import Returns, aggregate
from dqa_bidder.settings import BidderSettings
from dqa_simulators.games.betting import begin
from dqa_simulators.holdem.position import RULES, HoldemPosition
from dqa_simulators.negotiation.position import NegotiationPosition
from tests.bidder.exact import bidder, model_saying, scripted_reply, solved, step_of, task_of
from tests.stored import find_step
from tests.worlds.nim import NimPosition

Kind = TypeVar("Kind", bound=Event)
NIM = NimPosition("first", 9)
HOLDEM = HoldemPosition("player", (50, 51), (), begin(RULES)).after("call")
NEGOTIATION = NegotiationPosition("player", (2, 2, 1), (2, 2, 2), 6)
SECRET = replace(
    NIM.after(1).after(1),
    hidden=(HiddenVariable("second", "mood", "How second plays.", ("calm", "angry")),),
)


def decided(
    model: object, position: Position, settings: BidderSettings | None = None, name: str = "game"
) -> tuple[Choice, Recorder]:
    """Return BIDDER's choice and its recorder."""
    return solved(bidder(model, settings), task_of(position, name))


def tree_in(recorder: Recorder) -> ExploredTree:
    """Return the explored tree."""
    found = find_step(recorder.events, ExploredTree, "exploration")
    assert found is not None
    return found


def rewards_in(tree: ExploredTree) -> dict[str, float]:
    """Return the rewards of the root by action."""
    lines = [line.removesuffix(", by the rules") for line in tree.outline[1:]]
    root = [line.strip() for line in lines if not line.startswith("   ")]
    return {
        action: float(reward)
        for action, reward in (line.split(": ") for line in root if ": " in line)
    }


def best_in(recorder: Recorder) -> Candidate | None:
    """Return the action with the largest return."""
    found = find_step(recorder.events, Returns, "returns")
    assert found is not None
    return found.best


def of_kind(recorder: Recorder, kind: type[Kind]) -> list[Kind]:
    """Return the events of a kind."""
    return [event for event in recorder.events if isinstance(event, kind)]


@pytest.mark.parametrize("position", [NIM, HOLDEM, NEGOTIATION], ids=["nim", "holdem", "talks"])
def test_a_state_is_asked_about_once(position: Position) -> None:
    """With T = 2 a tree needs at most one request per state, and no prompt is repeated."""
    model = scripted_model("analyst")
    _, recorder = decided(model, position, BidderSettings(horizon=2, calls=1000), "game 1")
    tree = tree_in(recorder)
    asked = [prompt.messages[0][1] for prompt in of_kind(recorder, PromptEvent)]
    assert len(asked) == len(set(asked))
    around = 1 + any(event.actor == "opponent" for event in position.events)
    assert len(asked) - around == tree.asked <= tree.states
    assert tree.states > 2
    assert not tree.unasked


@pytest.mark.parametrize("position", [NIM, NEGOTIATION], ids=["nim", "talks"])
def test_parallel_requests_change_nothing(position: Position) -> None:
    """Choice and events are equal for one request at a time and for eight."""
    runs = [
        decided(scripted_model("analyst"), position, BidderSettings(horizon=3, parallel=parallel))
        for parallel in (1, 8)
    ]
    (one, first), (other, second) = runs
    assert one == other
    assert [event.to_json() for event in first.events] == [e.to_json() for e in second.events]
    assert first.steps == second.steps > 8


@pytest.mark.parametrize("calls", [1, 5])
def test_requests_are_bounded(calls: int) -> None:
    """The last request is reserved for the decision, and a warning reports the rest."""
    chosen, recorder = decided(scripted_model("analyst"), NIM, BidderSettings(calls=calls))
    assert len(of_kind(recorder, PromptEvent)) == calls
    assert chosen.action in NIM.actions
    (warning,) = of_kind(recorder, WarningEvent)
    assert warning.about == "calls"
    assert f"bidder.calls={calls}" in warning.text
    assert (best_in(recorder) is None) == (calls == 1)


@pytest.mark.parametrize(("kind", "parallel"), [("modeling", 1), ("rewards", 4)])
def test_a_later_state_without_a_usable_reply_is_left_out(kind: str, parallel: int) -> None:
    """The other states decide, and tree and warning count this one."""
    asked_first: list[str] = []

    def reply(request: Request) -> str:
        step = step_of(request)
        is_root = not asked_first or step.text == asked_first[0]
        if step.purpose == kind and not (kind == "rewards" and is_root):
            return "I pass."
        asked_first.append(step.text)
        return scripted_reply(request)

    settings = BidderSettings(horizon=2, parallel=parallel)
    chosen, recorder = decided(PreparedReplies(reply), NIM, settings)
    assert chosen.action in NIM.actions
    tree = tree_in(recorder)
    assert tree.unusable >= 3
    assert not tree.unasked
    assert rewards_in(tree)
    (warning,) = of_kind(recorder, WarningEvent)
    assert warning.about == "replies"
    assert (warning.considered, warning.total) == (tree.states - tree.unusable, tree.states)
    assert best_in(recorder) is not None


def test_invalid_rewards_are_clipped_or_unknown() -> None:
    """A warning counts them."""
    odd = json.dumps({"payoffs": {"1": 1.5, "2": -3, "3": "?"}})
    model = model_saying(lambda asked, _last, _place: odd if asked == "rewards" else None)
    _, recorder = decided(model, NIM, BidderSettings(horizon=1, parallel=1))
    assert rewards_in(tree_in(recorder)) == {"1": 1.0, "2": 0.0}
    (warning,) = of_kind(recorder, WarningEvent)
    assert warning.about == "rewards"
    prompts = (p.messages[0][1] for p in of_kind(recorder, PromptEvent) if p.purpose == "payoffs")
    listed = (text.partition("\nLegal actions")[2].partition("\n")[0] for text in prompts)
    estimated = sum(len(json.loads(line[line.index("[") :])) for line in listed)
    assert (warning.considered, warning.total) == (0, estimated)


def test_a_payoff_that_the_rules_determine_is_not_asked() -> None:
    """A fold ends the game for a known number of chips."""
    position = HOLDEM.after("raise").after("raise")
    _, recorder = decided(scripted_model("analyst"), position, BidderSettings(horizon=1), "holdem")
    tree = tree_in(recorder)
    low, high = tree.scale
    assert rewards_in(tree)["fold"] == pytest.approx((-4 - low) / (high - low), rel=1e-3)
    known = next(line for line in tree.outline if line.endswith("by the rules"))
    assert known.strip().startswith("fold: ")
    prompt = next(p for p in of_kind(recorder, PromptEvent) if p.purpose == "payoffs")
    assert 'Legal actions to estimate: ["call", "raise"]' in prompt.messages[0][1]
    assert '{"fold": -4.0}' in prompt.messages[0][1]


@pytest.mark.parametrize(
    ("position", "secret"),
    [(HOLDEM, "Your cards"), (NEGOTIATION.after("[2, 1, 1]").after("[2, 2, 1]"), "worth to you")],
    ids=["holdem", "talks"],
)
def test_the_model_of_the_opponent_does_not_see_own_secrets(
    position: Position, secret: str
) -> None:
    """Own cards and values are in the other prompts only."""
    own = BidderSettings(horizon=1)
    _, recorder = decided(scripted_model("analyst"), position, own, "game 1")
    prompts = [(p.purpose or "", p.messages[0][1]) for p in of_kind(recorder, PromptEvent)]
    assert any(purpose.startswith("expected move") for purpose, _ in prompts)
    for purpose, text in prompts:
        assert (secret in text) is (not purpose.startswith("expected move")), text


def test_rewards_are_scaled_to_what_the_decision_can_bring() -> None:
    """At the first bet of hold'em, 4 chips are at stake and not 50."""
    start = HoldemPosition("player", (50, 51), (), begin(RULES), seats=("opponent", "player"))
    said = {"call": 0.45, "raise": 0.8}
    model = model_saying(
        lambda asked, _last, _place: json.dumps({"payoffs": said}) if asked == "rewards" else None
    )
    _, recorder = decided(model, start, BidderSettings(horizon=0))
    tree = tree_in(recorder)
    assert tree.scale == (-4.0, 4.0)
    expected = {"fold": 0.375, "call": 0.55625, "raise": 0.6}
    assert rewards_in(tree) == pytest.approx(expected, rel=1e-3)
    said["raise"] = 12.0
    _, recorder = decided(model, start, BidderSettings(horizon=0))
    assert tree_in(recorder).scale == (-4.0, 12.0)


def test_nothing_is_inferred_before_another_player_has_acted() -> None:
    for position in (NEGOTIATION, NEGOTIATION.after("[2, 1, 1]")):
        _, recorder = decided(scripted_model("analyst"), position, BidderSettings(horizon=0))
        assert all(event.purpose != "inference" for event in of_kind(recorder, StepEvent))


def test_a_prompt_does_not_list_every_split() -> None:
    """The form of a split replaces the list of 216, and any split is read."""
    position = NegotiationPosition("player", (5, 5, 5), (2, 2, 2), 6)
    prompts: list[str] = []

    def say(asked: str, last: str, _place: int) -> str | None:
        prompts.append(last)
        return '{"action": "[3, 4, 5]"}' if asked == "decision" else None

    chosen, _ = decided(model_saying(say), position, BidderSettings(horizon=1))
    assert chosen.action == "[3, 4, 5]"
    form = 'any "[a, b, c]" of whole numbers with a from 0 to 5, b from 0 to 5, c from 0 to 5'
    assert all(form in prompt and prompt.count('"[') < 8 for prompt in prompts)
    assert any(f'"agree", or {form}' in prompt for prompt in prompts)


def tree_of(*rewards: Mapping[Candidate, float], payoff: float | None = None) -> Tree:
    """Return a chain of own nodes linked by ``a``; with `payoff`, the last leads to an end."""
    nodes = [
        Node(number, "own", number, "me", NIM, tuple(own), rewards=dict(own), asked=True)
        for number, own in enumerate(rewards)
    ]
    for one, after in pairwise(nodes):
        one.children["a"] = after
    if payoff is not None:
        end = Node(len(nodes), "terminal", len(nodes), "", NIM, payoff=payoff, asked=True)
        nodes[-1].children["a"] = end
        nodes.append(end)
    return Tree(2, 3, nodes=nodes)


def test_returns_are_the_papers() -> None:
    """Equation 3 with beta to the power of k, equation 4, and cases that the paper leaves open."""
    tree = tree_of({"a": 0.5, "b": 0.6}, {"a": 0.4, "c": 0.2}, {"a": 0.1, "c": 0.9})
    a, b = aggregate(tree, 0.5, "padded").returns
    assert a.value == pytest.approx(0.5 + 0.5 * 0.4 + 0.25 * 0.9)
    assert a.path == ("me: a", "me: a", "me: c")
    assert b.value == pytest.approx(0.6 * (1 + 0.5 + 0.25))  # its last reward is repeated
    (a,) = aggregate(tree_of({"a": 0.5}, payoff=1.0), 0.5, "padded").returns
    assert a.value == pytest.approx(0.5 + (0.5 + 0.25) * 1.0)
    tree = tree_of({"a": 0.5}, {"a": 0.4})
    tree.root.rewards.clear()  # without an own reward, the next one counts
    (a,) = aggregate(tree, 0.5, "padded").returns
    assert a.value == pytest.approx(0.4 * (1 + 0.5 + 0.25))
    tree.nodes[1].rewards.clear()
    assert aggregate(tree, 0.5, "padded").returns[0].value is None
    assert aggregate(tree, 0.5, "padded").ceiling == 1.75
    (a,) = aggregate(tree_of({"a": 0.5}, payoff=1.0), 0.5, "collected").returns
    assert a.value == pytest.approx(0.5 + 0.5 * 1.0)  # only collected rewards count
    tree = tree_of({"a": 0.5, "b": 0.6}, {"a": 1.0})
    assert [one.value for one in aggregate(tree, 0.0, "padded").returns] == [0.5, 0.6]


@pytest.mark.parametrize("tokens", [1_300, 1_400, 1_500])
def test_a_spent_budget_decides_by_the_replies_so_far(tokens: int) -> None:
    """The model is asked once more if the budget allows it, else the largest return counts.

    No reply is lost.
    """
    budget = DecisionBudget(tokens=tokens)
    decider = bidder(scripted_model("analyst"), BidderSettings(horizon=6), budget=budget)
    chosen, recorder = solved(decider, task_of(NIM))
    assert chosen.action in NIM.actions
    assert recorder.ended_by is not None
    tree = tree_in(recorder)
    assert tree.unasked
    assert best_in(recorder) is not None
    replies = [event.purpose for event in of_kind(recorder, StepEvent)]
    assert tree.asked == replies.count("rewards") + replies.count("modeling")
