"""Exact answers of small games: what a move is worth against an opponent that is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dqa.core.question import Candidate
from dqa.models.conversation import Conversation
from dqa.models.scripted import GivenReplies, Request
from dqa.worlds.world import Position
from dqa_bidder.events import HiddenState
from dqa_bidder.scripted.reading import Asked, read_prompt
from dqa_bidder.steps.bidder import Bidder, Steps
from dqa_bidder.steps.decision import HighestReturn
from dqa_bidder.steps.exploration import scaled_payoff
from dqa_bidder.steps.rewards import Estimated, Unknown
from dqa_bidder.task import Task


@dataclass(frozen=True)
class World:
    """A game whose hidden things are known here.

    Attributes
    ----------
    replies
        What another player does.
    ends
        What the viewer gets at a terminal where hidden things decide it.
    goes_on
        What chance may bring, all equally likely.
    """

    replies: Callable[[Position], Candidate]
    ends: Callable[[Position], float] = lambda _: 0.0
    goes_on: Callable[[Position], Sequence[Position]] = lambda _: ()

    def value(self, position: Position) -> float:
        """Return what a best response gets from here on."""
        if position.node == "terminal":
            payoff = position.payoff()
            return self.ends(position) if payoff is None else payoff
        if position.node == "chance":
            ways = self.goes_on(position)
            return sum(map(self.value, ways)) / len(ways)
        if position.mover != position.viewer:
            return self.value(position.after(self.replies(position)))
        return max(self.value(position.after(action)) for action in position.actions)

    def best(self, position: Position) -> list[Candidate]:
        """Return the actions of a best response."""
        worth = {a: self.value(position.after(a)) for a in position.actions}
        return [a for a, value in worth.items() if abs(value - max(worth.values())) < 1e-9]

    def reward(self, position: Position, action: Candidate) -> float:
        """Return what an action is worth, from 0 to 1."""
        low, high = position.payoff_range
        return (self.value(position.after(action)) - low) / (high - low)

    def own_positions(self, start: Position) -> list[Position]:
        """Return every state in which the viewer decides, against this opponent."""
        if start.node == "terminal":
            return []
        if start.node == "chance":
            return [one for way in self.goes_on(start) for one in self.own_positions(way)]
        if start.mover != start.viewer:
            return self.own_positions(start.after(self.replies(start)))
        after = [one for action in start.actions for one in self.own_positions(start.after(action))]
        return [start, *after]


class Exact:
    """The steps that ask, answered exactly.

    Parameters
    ----------
    world
        What is known.
    even
        Whether every reward is 0.5, so that only what the rules tell counts.
    """

    def __init__(self, world: World, *, even: bool = False) -> None:
        self._world = world
        self._even = even

    def infer(self, task: Task, conversation: Conversation) -> tuple[HiddenState, ...]:
        """Infer nothing: the other steps know."""
        del task, conversation
        return ()

    def model(
        self,
        task: Task,
        position: Position,
        hidden: tuple[HiddenState, ...],
        conversation: Conversation,
    ) -> Candidate:
        """Return what the other does."""
        del task, hidden, conversation
        return self._world.replies(position)

    def estimate(
        self,
        task: Task,
        asked: Unknown,
        hidden: tuple[HiddenState, ...],
        conversation: Conversation,
    ) -> Estimated:
        """Return what actions are worth."""
        del task, hidden, conversation
        assert asked.position is not None
        if self._even:
            return Estimated(dict.fromkeys(asked.actions, 0.5))
        return Estimated({a: self._world.reward(asked.position, a) for a in asked.actions})

    def steps(self) -> Steps:
        """Return the steps of a method that asks nobody."""
        return Steps(inference=self, modeling=self, rewards=self, decision=HighestReturn())


def task_of(position: Position, name: str = "game") -> Task:
    """Return a position as a task."""
    return Task(name, "What do you do?", "The rules.", position.actions, position=position)


def chosen_by(bidder: Bidder, position: Position) -> Candidate:
    """Return what a method chooses that asks nobody."""
    conversation = Conversation(GivenReplies([]))
    choice = bidder.choose(task_of(position), conversation).action
    assert not conversation.recorder.steps
    return choice


class ExactModel:
    """A chat model's replies that are exact: it reads the prompts, and knows what is hidden.

    Parameters
    ----------
    world
        What is known.
    start
        The beginning of the game, as the viewer knows it.
    states
        The hidden states, by player and name.
    """

    def __init__(self, world: World, start: Position, states: dict[str, dict[str, str]]) -> None:
        self._world = world
        self._start = start
        self._states = states

    def __call__(self, request: Request) -> str:
        """Reply."""
        asked = read_prompt(request.text)
        if asked.task.startswith("infer"):
            return json.dumps({"hidden": self._states})
        if asked.task.startswith("decide"):
            best = max(asked.returns, key=lambda action: asked.returns[action])
            return json.dumps({"action": best})
        position = self._position(asked)
        if asked.task.startswith("expect"):
            return json.dumps({"action": self._world.replies(position)})
        payoffs = {a: self._world.reward(position, a) for a in asked.shown.actions}
        return json.dumps({"payoffs": payoffs})

    def _position(self, asked: Asked) -> Position:
        position = self._start
        for event in asked.shown.events:
            position = position.after(event.action)
        assert list(asked.shown.actions) == [
            str(a) for a in position.actions if scaled_end(position, a) is None
        ] or asked.task.startswith("expect")
        return position


def scaled_end(position: Position, action: Candidate) -> float | None:
    """Return the payoff of an action that ends the game, where the rules tell it."""
    after = position.after(action)
    return scaled_payoff(after) if after.node == "terminal" else None
