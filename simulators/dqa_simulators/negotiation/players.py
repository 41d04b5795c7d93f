"""Negotiate by Monte Carlo tree search, with or without the opponent's values.

The search is OpenSpiel's UCT (Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", ECML
2006), with random play below its tree. The search needs a state in which all values are known. The
fair player draws possible values of the opponent, searches each resulting state, and chooses the
action with the most visits in total (Long et al., "Understanding the success of perfect information
Monte Carlo sampling in game tree search", AAAI 2010).
"""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from dqa.core.question import Candidate
from dqa.worlds.base import RANDOM, InformedPolicy, Policy, PolicyFactory
from dqa.worlds.world import Position
from dqa_simulators.negotiation.position import (
    AGREEMENT,
    VALUES,
    Instance,
    NegotiationPosition,
    Split,
    as_split,
    new_state,
    number_of,
    write,
)

INFORMED_SIMULATIONS: Final = 1000
"""The number of simulations per choice of the informed player."""

FAIR_SAMPLES: Final = 3
"""The number of draws of the opponent's values per choice."""

FAIR_SIMULATIONS: Final = 500
"""The number of simulations for each draw of the opponent's values."""

_EXPLORATION: Final = 0.5
"""The exploration constant of UCT, as a share of the pool's value."""
_MEMORY: Final = 20  # MB
_SEEDS: Final = 2**31


class InformedSearch(InformedPolicy):
    """Searches the true state with the opponent's real values."""

    def choose_informed(
        self, position: Position, state: object, random: np.random.Generator
    ) -> Candidate:
        """Return the action with the most visits. An utterance states the player's proposal."""
        known = cast("NegotiationPosition", position)
        if known.part == "utterance":
            return known.fallback
        visits = _search(state, known.total, INFORMED_SIMULATIONS, random)
        return _best(known, visits)


class FairSearch(Policy):
    """Searches states with drawn values of the opponent; see `possible_values`."""

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Draw values of the opponent several times, and search with each draw.

        Return the action with the most visits in all searches.
        """
        known = cast("NegotiationPosition", position)
        if known.part == "utterance":
            return known.fallback
        believed = possible_values(known)
        visits = np.zeros(AGREEMENT + 1)
        for row in random.integers(0, len(believed), FAIR_SAMPLES):
            state = state_with(known, as_split(believed[row].tolist()))
            visits += _search(state, known.total, FAIR_SIMULATIONS, random)
        return _best(known, visits)


def possible_values(known: NegotiationPosition) -> NDArray[np.int64]:
    """Return the possible values of the opponent, of shape (n, 3): a value of each item per row.

    With each row, the pool is worth as much to the opponent as to the viewer. The opponent is
    assumed to make only counter-proposals that are worth at least as much to the opponent as the
    declined proposal. Values that contradict this assumption are removed. If a proposal would
    remove all values, the proposal is ignored.
    """
    pool = np.array(known.pool)
    found: NDArray[np.int64] = VALUES[VALUES @ pool == known.total]
    own_seat = known.seats.index(known.viewer)
    for number in range(1, len(known.proposals)):
        if number % 2 == own_seat:
            continue
        offered = pool - np.array(known.proposals[number - 1])
        requested = np.array(known.proposals[number])
        fitting = found[found @ requested >= found @ offered]
        if len(fitting):
            found = fitting
    return found


def state_with(known: NegotiationPosition, values: Split) -> Any:  # noqa: ANN401  (pyspiel.State)
    """Return the OpenSpiel state of a position with these values of the opponent."""
    both = (known.own_values, values)
    if known.viewer != known.seats[0]:
        both = both[::-1]
    instance = Instance(known.pool, both, known.last_turn)
    state = new_state(instance, utterances=known.has_utterances)
    for number, proposal in enumerate(known.proposals):
        state.apply_action(number_of(write(proposal), "proposal"))
        if number < len(known.utterances):
            state.apply_action(number_of(write(known.utterances[number]), "utterance"))
    return state


def _search(
    state: Any,  # noqa: ANN401
    total: int,
    simulations: int,
    random: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the number of visits of each OpenSpiel action."""
    import pyspiel

    seeds = random.integers(0, _SEEDS, 2).tolist()
    evaluator = pyspiel.RandomRolloutEvaluator(1, seeds[0])
    bot = pyspiel.MCTSBot(
        *(state.get_game(), evaluator, _EXPLORATION * total, simulations, _MEMORY),
        *(True, seeds[1], False),
    )
    visits = np.zeros(AGREEMENT + 1)
    for child in bot.mcts_search(state).children:
        visits[child.action] = child.explore_count
    return visits


def _best(known: NegotiationPosition, visits: NDArray[np.float64]) -> Candidate:
    numbers = {number_of(str(action), "proposal"): action for action in known.actions}
    return numbers[max(sorted(numbers), key=lambda number: visits[number])]


_PLAYERS: Final = (
    RANDOM,
    PolicyFactory(
        "mcts",
        "Monte Carlo tree search over values of the opponent that fit the opponent's moves",
        lambda _: FairSearch(),
    ),
    PolicyFactory(
        "mcts-informed",
        "OpenSpiel's Monte Carlo tree search, which knows the values of both players",
        lambda _: InformedSearch(),
    ),
)
POLICIES: Final = {player.name: player for player in _PLAYERS}
"""The players by name."""
