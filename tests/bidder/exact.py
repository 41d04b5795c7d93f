"""Exact answers of small games: the value of a move against a known opponent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dqa.core.budgets import ENDLESS, DecisionBudget
from dqa.core.question import Candidate
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.deciders.method import Asking
from dqa.deciders.replies import Choice
from dqa.models.conversation import StepPrompt
from dqa.testing.models import PreparedReplies, Request
from dqa.worlds.world import Position
from dqa_bidder.bidder import Bidder, Hidden
from dqa_bidder.replies import Payoffs, Unknown
from dqa_bidder.returns import Returns
from dqa_bidder.scripted.responder import RESPONDER
from dqa_bidder.settings import BidderSettings
from dqa_bidder.task import Task


@dataclass(frozen=True)
class World:
    """A game whose hidden state is known here.

    Attributes
    ----------
    replies
        Another player's move.
    ends
        The viewer's payoff at a terminal that depends on hidden state.
    chances
        The possible results of a chance node, all equally likely.
    """

    replies: Callable[[Position], Candidate]
    ends: Callable[[Position], float] = lambda _: 0.0
    chances: Callable[[Position], Sequence[Position]] = lambda _: ()

    def value(self, position: Position) -> float:
        """Return the payoff of a best response from this position."""
        if position.node == "terminal":
            payoff = position.payoff()
            return self.ends(position) if payoff is None else payoff
        if position.node == "chance":
            ways = self.chances(position)
            return sum(map(self.value, ways)) / len(ways)
        if position.mover != position.viewer:
            return self.value(position.after(self.replies(position)))
        return max(self.value(position.after(action)) for action in position.actions)

    def best(self, position: Position) -> list[Candidate]:
        """Return the actions of a best response."""
        worth = {a: self.value(position.after(a)) for a in position.actions}
        return [a for a, value in worth.items() if abs(value - max(worth.values())) < 1e-9]

    def reward(self, position: Position, action: Candidate) -> float:
        """Return the value of an action."""
        return self.value(position.after(action))

    def own_positions(self, start: Position) -> list[Position]:
        """Return every position in which the viewer decides against this opponent."""
        if start.node == "terminal":
            return []
        if start.node == "chance":
            return [one for way in self.chances(start) for one in self.own_positions(way)]
        if start.mover != start.viewer:
            return self.own_positions(start.after(self.replies(start)))
        after = [one for action in start.actions for one in self.own_positions(start.after(action))]
        return [start, *after]


def bidder(
    model: object = None,
    own: BidderSettings | None = None,
    kind: type[Bidder] = Bidder,
    budget: DecisionBudget = ENDLESS,
) -> Bidder:
    """Return a decider with its settings."""
    settings = Settings(own=own or BidderSettings(), budget=budget)
    return kind("bidder", model or PreparedReplies([]), settings)  # type: ignore[arg-type]


def solved(decider: Bidder, task: Task) -> tuple[Choice, Recorder]:
    """Return the choice of a decider and its recorder."""
    asking = Asking("dqa_bidder", decider.model, recorder=decider.settings.recorder())
    return decider.solve(task, asking), asking.recorder


class Exact(Bidder):
    """BIDDER whose steps are answered exactly by a world instead of a model.

    If `even`, every reward is the same, so that only the rules count.
    """

    world: World
    even = False

    def infer_hidden(self, task: Task, asking: Asking) -> Hidden:
        """Infer nothing, because the other steps know the hidden state."""
        return {}

    def expect_actions(
        self, task: Task, position: Position, hidden: Hidden, most: int, asking: Asking
    ) -> Mapping[Candidate, float]:
        """Return the opponent's move."""
        return {self.world.replies(position): 1.0}

    def estimate_end(self, task: Task, position: Position, hidden: Hidden, asking: Asking) -> float:
        """Return the value of a state without a move."""
        return self.world.value(position)

    def estimate_payoffs(
        self, task: Task, unknown: Unknown, hidden: Hidden, asking: Asking
    ) -> Payoffs:
        """Return the values of the actions."""
        assert unknown.position is not None
        if self.even:
            return Payoffs(payoffs=dict.fromkeys(unknown.actions, sum(unknown.range) / 2))
        worth = {a: self.world.reward(unknown.position, a) for a in unknown.actions}
        return Payoffs(payoffs=worth)

    def make_decision(self, task: Task, hidden: Hidden, returns: Returns, asking: Asking) -> Choice:
        """Choose the largest return."""
        assert returns.best is not None
        return Choice.of(returns.best, "It has the largest return.")


def exact(world: World, own: BidderSettings | None = None, *, even: bool = False) -> Exact:
    """Return a decider without a model."""
    made = bidder(own=own, kind=Exact)
    assert isinstance(made, Exact)
    made.world, made.even = world, even
    return made


def task_of(position: Position, name: str = "game") -> Task:
    """Return a position as a task."""
    return Task(name, "What do you do?", "The rules.", position.actions, position=position)


def chosen_by(decider: Bidder, position: Position) -> Candidate:
    """Return the choice of a method that calls no model."""
    chosen, recorder = solved(decider, task_of(position))
    assert not recorder.steps
    return chosen.action


def step_of(request: Request) -> StepPrompt:
    """Return the prompt of a request."""
    first = request.messages[0]
    assert isinstance(first, StepPrompt)
    return first


def scripted_reply(request: Request) -> str:
    """Return the reply of the scripted analyst."""
    return RESPONDER.reply(request.messages, (), "analyst", 0).text


def model_saying(say: Callable[[str, str, int], str | None]) -> PreparedReplies:
    """Return a model that replies by a function of purpose, prompt and number, or as the analyst
    does.
    """
    numbers: Counter[str] = Counter()

    def reply(request: Request) -> str:
        kind = step_of(request).purpose
        numbers[kind] += 1
        text = say(kind, request.last, numbers[kind])
        return scripted_reply(request) if text is None else text

    return PreparedReplies(reply)
