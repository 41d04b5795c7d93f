"""BIDDER chooses the best response if its model of the opponent and its rewards are exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations, product
from typing import cast

import pytest

from dqa.core.events import StepEvent
from dqa.core.question import Candidate
from dqa.deciders.method import Asking
from dqa.models.scripted import scripted_model
from dqa.worlds.world import Position
from dqa_bidder.bidder import Hidden
from dqa_bidder.replies import Payoffs, Unknown
from dqa_bidder.returns import Returns
from dqa_bidder.settings import BidderSettings
from dqa_bidder.task import Task
from dqa_simulators.games.betting import PLAYERS, begin
from dqa_simulators.games.one_card import KuhnPosition, LeducPosition
from dqa_simulators.games.poker import PokerPosition
from dqa_simulators.negotiation.position import (
    AGREE,
    NegotiationPosition,
    Split,
    list_splits,
    rest,
    worth,
    write,
)
from tests.bidder.exact import Exact, World, bidder, chosen_by, exact, solved, task_of
from tests.stored import find_step

STYLES = ("bold", "timid", "honest")
"""How an opponent bets: always raise, always fold, or by the card."""


def bet(actions: Sequence[Candidate], style: str, *, strong: bool) -> Candidate:
    """Return an opponent's move."""
    wanted = {
        "bold": ("raise", "call", "check"),
        "timid": ("check", "fold"),
        "honest": ("raise", "call", "check") if strong else ("check", "fold"),
    }[style]
    return next(action for action in wanted if action in actions)


def poker(other: int, style: str, deck: int, *, strong: bool) -> World:
    """Return a game of poker against a known card and style."""

    def ends(position: Position) -> float:
        shown = cast("PokerPosition", position)
        mine, theirs = (_worth(card, shown) for card in (shown.hole[0], other))
        return min(shown.bets) * float((mine > theirs) - (mine < theirs))

    def chances(position: Position) -> list[Position]:
        shown = cast("PokerPosition", position)
        left = [card for card in range(deck) if card not in (*shown.hole, other)]
        return [shown.dealt((card,)) for card in left]

    return World(lambda position: bet(position.actions, style, strong=strong), ends, chances)


def _worth(card: int, position: PokerPosition) -> int:
    if not position.board:
        return card // (2 if isinstance(position, LeducPosition) else 1)
    return card // 2 + 10 * (card // 2 == position.board[0] // 2)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("horizon", [1, 2, 3])
def test_kuhn_poker(style: str, horizon: int) -> None:
    """For every deal, both seats and every reachable state."""
    seen = 0
    for (mine, theirs), viewer in product(permutations(range(3), 2), PLAYERS):
        world = poker(theirs, style, 3, strong=theirs == 2)
        start = KuhnPosition(viewer, (mine,), (), begin(KuhnPosition.rules))
        decider = exact(world, BidderSettings(horizon=horizon))
        for position in world.own_positions(start):
            assert chosen_by(decider, position) in world.best(position)
            seen += 1
    assert seen >= 12


class Mixed(Exact):
    """BIDDER in Kuhn poker against an opponent of unknown card who mixes; all beliefs are exact."""

    bold: float
    """The probability of a raise, or of a call of one."""

    def weights(self, position: Position) -> dict[int, float]:
        """Return how likely the other card is, by the moves so far; not normalised."""
        seen = cast("PokerPosition", position)
        found = {}
        for card in {0, 1, 2} - {*seen.hole}:
            found[card] = 1.0
            state = KuhnPosition(seen.viewer, seen.hole, (), begin(KuhnPosition.rules))
            for event in seen.events:
                if event.actor != seen.viewer:
                    found[card] *= self.chances(state, card)[event.action]
                state = state.after(event.action)
        return found

    def chances(self, position: Position, card: int) -> dict[Candidate, float]:
        """Return how the opponent plays a card: the better, the bolder."""
        bold = (self.bold, 0.5, 1 - self.bold / 3)[card]
        cautious, other = position.actions
        return {cautious: 1 - bold, other: bold}

    def value(self, position: Position) -> float:
        """Return the expected payoff of a best response."""
        if position.node == "terminal":
            return self.estimate_end(None, position, {}, None)  # type: ignore[arg-type]
        if position.mover == position.viewer:
            return max(self.value(position.after(action)) for action in position.actions)
        likely = self.expect_actions(None, position, {}, 2, None)  # type: ignore[arg-type]
        return sum(p * self.value(position.after(action)) for action, p in likely.items())

    def expect_actions(
        self, task: Task, position: Position, hidden: Hidden, most: int, asking: Asking
    ) -> Mapping[Candidate, float]:
        """Return the moves of all cards."""
        cards = self.weights(position)
        found = dict.fromkeys(position.actions, 0.0)
        for card, weight in cards.items():
            for action, chance in self.chances(position, card).items():
                found[action] += weight * chance / sum(cards.values())
        return found

    def estimate_payoffs(
        self, task: Task, unknown: Unknown, hidden: Hidden, asking: Asking
    ) -> Payoffs:
        """Return the values of the actions."""
        assert unknown.position is not None
        after = {action: unknown.position.after(action) for action in unknown.actions}
        return Payoffs(payoffs={action: self.value(one) for action, one in after.items()})

    def estimate_end(self, task: Task, position: Position, hidden: Hidden, asking: Asking) -> float:
        """Return the mean over the cards."""
        payoff = position.payoff()
        if payoff is not None:
            return payoff
        shown, cards = cast("PokerPosition", position), self.weights(position)
        won = sum(w * (1 if shown.hole[0] > card else -1) for card, w in cards.items())
        return min(shown.bets) * won / sum(cards.values())


@pytest.mark.parametrize("bold", [0.1, 0.5, 0.9])
def test_kuhn_poker_against_a_mixed_strategy(bold: float) -> None:
    """Replies of unequal length are comparable: their payoffs are averaged by probability.

    The own actions at the first seat lead to a fold, a showdown, or a further own decision.
    """
    for mine in range(3):
        decider = bidder(own=BidderSettings(horizon=2), kind=Mixed)
        assert isinstance(decider, Mixed)
        decider.bold = bold
        start = KuhnPosition("player", (mine,), (), begin(KuhnPosition.rules))
        chosen, recorder = solved(decider, task_of(start))
        worth = {a: decider.value(start.after(a)) for a in start.actions}
        assert worth[chosen.action] == pytest.approx(max(worth.values()))
        returns = find_step(recorder.events, Returns, "returns")
        assert returns is not None
        found = {one.action: returns.shown(one.value, mean=True) for one in returns.returns}
        assert found == pytest.approx(worth, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("style", STYLES)
def test_leduc_poker(style: str) -> None:
    """Two rounds with a card in between; a sample of the deals."""
    for (mine, theirs), viewer in product([(0, 2), (4, 5), (2, 4), (3, 0)], PLAYERS):
        world = poker(theirs, style, 6, strong=theirs > 3)
        start = LeducPosition(viewer, (mine,), (), begin(LeducPosition.rules))
        decider = exact(world)
        for position in world.own_positions(start):
            assert chosen_by(decider, position) in world.best(position)


THEIRS: Split = (1, 5, 4)


def negotiator(position: Position) -> Candidate:
    """Agree to half of the pool's value, else propose the cheapest acceptable split."""
    table = cast("NegotiationPosition", position)
    half = worth(table.pool, THEIRS) / 2
    if table.can_agree and worth(rest(table.pool, table.proposals[-1]), THEIRS) >= half:
        return AGREE
    wanted = [one for one in list_splits(table.pool) if worth(one, THEIRS) >= half]
    return write(min(wanted, key=lambda one: (worth(one, THEIRS), one)))


@pytest.mark.parametrize("even", [False, True])
def test_a_negotiation_with_revealed_values(*, even: bool) -> None:
    """If rewards are equal, the payoffs at the end of the exploration decide."""
    world = World(negotiator)
    start = NegotiationPosition("player", (2, 1, 1), (3, 1, 3), 3, has_utterances=False)
    settings = BidderSettings(breadth=50, calls=10_000)
    choice = chosen_by(exact(world, settings, even=even), start)
    assert choice in world.best(start)
    assert len(world.best(start)) < len(start.actions)
    answer = start.after("[2, 1, 1]").after(negotiator(start.after("[2, 1, 1]")))
    choice = chosen_by(exact(world, settings, even=even), answer)
    assert choice in world.best(answer)


@pytest.mark.parametrize("proposed", [(), ("[2, 1, 1]",)])
def test_a_horizon_of_one_in_a_negotiation_includes_the_reply(proposed: tuple[str, ...]) -> None:
    """A proposal and its utterance are one turn."""
    position: Position = NegotiationPosition("player", (2, 1, 1), (3, 1, 3), 3)
    for action in proposed:
        position = position.after(action)
    decider = exact(World(negotiator), BidderSettings(horizon=1, breadth=2, calls=100))
    _, recorder = solved(decider, task_of(position))
    returns = find_step(recorder.events, Returns, "returns")
    assert returns is not None
    assert all(any(step.startswith("opponent: ") for step in one.path) for one in returns.returns)


@pytest.mark.parametrize("returns", ["expected", "padded", "collected", "none"])
@pytest.mark.parametrize("horizon", [0, 1])
def test_ablations_decide(returns: str, horizon: int) -> None:
    """Each setting decides a move of Leduc poker; without returns nothing is explored."""
    position = LeducPosition("player", (4,), (), begin(LeducPosition.rules))
    own = BidderSettings.model_validate(
        {"returns": returns, "horizon": horizon, "inference": False}
    )
    chosen, recorder = solved(bidder(scripted_model("analyst"), own), task_of(position, "game 1"))
    assert chosen.action in position.actions
    steps = {event.purpose for event in recorder.events if isinstance(event, StepEvent)}
    assert "inference" not in steps
    assert ("returns" in steps) is (returns != "none")
