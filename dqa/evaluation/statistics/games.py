"""Measures of games: payoffs, rational degree, actions, and the facts of the world.

In a world of one player, the payoff is the score of the task. The success rate is a separate
measure. If the world names kinds of tasks, the score and the success rate are also reported for
each kind.

A game and its mirrored game share a deal, so the luck of the deal cancels out. Intervals therefore
treat a deal as one observation, and leave out incomplete deals. Contestants play the same deals
against all opponents, so means over opponents are clustered by deal. Two players are compared only
on common deals, so that the luck of the deals cancels out in comparisons, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from math import fsum, inf
from types import MappingProxyType
from typing import Any, TypeAlias, TypeGuard

from pydantic import Field

from dqa.core.records import Record
from dqa.evaluation.results import Outcome, PlayedGame, Result
from dqa.evaluation.statistics.clusters import Estimate, clustered_share, mean_of_ratios
from dqa.evaluation.statistics.pairs import (
    Difference,
    choose_pairs,
    count_needed,
    holm,
    paired_difference,
)
from dqa.evaluation.statistics.summaries import grouped

AGREEMENT = "agreed"
"""Name of the fact that states whether a game ended in an agreement. In worlds with this fact, the
score is the payoff of the games with an agreement (Lewis et al., 2017, section 5.1)."""
SUCCESS = "success"
"""Name of the fact that states whether the task was accomplished, in a world of one player."""
TASK = "task"
"""Name of the fact that contains the kind of the task, in a world of one player."""

_SMALLEST = 0.05
"""The difference for which the needed number of deals is calculated: 0.05 of a score in 0..1."""


class TaskFigures(Record):
    """The figures of the games of one kind of task.

    Attributes
    ----------
    games
        Number of games.
    score
        The payoff per game.
    success
        The share of games that accomplished their task, with Wilson's interval.
    """

    games: int = Field(ge=0)
    score: Estimate | None
    success: Estimate | None


class GameFigures(Record):
    """The figures of a player against one opponent, or against all opponents.

    Attributes
    ----------
    player, opponent
        The contestants. If `opponent` is None, the figures are means over all opponents, with equal
        weights. In a world of one player, `opponent` is ``""``.
    model
        The models of both contestants.
    games, deals
        The number of games that the figures use, and the number of their deals.
    failed
        Number of games that ended with a server error, a spent budget or a bug. A resumed run
        repeats these games.
    unpaired
        Number of finished games whose mirrored game is missing. The figures leave them out.
    payoff
        The payoff per game.
    score
        The payoff per game that ended in an agreement; None if the world has no agreements. The
        interval uses only deals with at least one such game.
    reference, rational
        The program that decisions are compared with, and the share of the player's decisions that
        equal the program's decisions (BIDDER, section 3.1.3, equation 6).
    moves, fallbacks
        The number of the player's moves, and the number of these moves that were the fallback of
        the position.
    opponent_moves, opponent_fallbacks
        The same numbers for the opponent.
    actions
        The number of times that the player took each action (BIDDER, figure 3).
    facts
        The facts of the world. The figure of a true-or-false fact is the share of games in which it
        is true. The figure of a number is its mean. Games without a value are left out.
    agreed_facts
        The facts, counted only over the games that ended in an agreement.
    success
        In a world of one player, the share of games that accomplished their task. The interval is
        the Wilson interval for the number of independent games (`clustered_share`).
    tasks
        The figures by kind of task, in the order of their names.
    length
        The number of the player's moves per game.
    attempts
        The number of attempts per game. Only one attempt of each game is scored.
    """

    player: str
    opponent: str | None
    model: str
    games: int = Field(ge=0)
    deals: int = Field(ge=0)
    failed: int = Field(ge=0)
    unpaired: int = Field(ge=0)
    payoff: Estimate | None
    score: Estimate | None
    reference: str | None
    rational: Estimate | None
    moves: int = Field(ge=0)
    fallbacks: int = Field(ge=0)
    opponent_moves: int = Field(ge=0)
    opponent_fallbacks: int = Field(ge=0)
    actions: dict[str, int]
    facts: dict[str, Estimate]
    agreed_facts: dict[str, Estimate]
    success: Estimate | None = None
    tasks: dict[str, TaskFigures] = Field(default_factory=dict)
    length: Estimate | None = None
    attempts: Estimate | None = None


class PlayerDifference(Record):
    """The difference between the payoffs per game of two players.

    Attributes
    ----------
    first, second
        The players.
    opponents
        The number of opponents that both players played against; 0 in a world of one player.
    difference
        The payoff of the first player minus the payoff of the second, paired by deal and opponent.
        Mirror games and epochs are averaged. Each deal is a cluster.
    holm
        The p-value of the difference, corrected for all pairs of players (Holm); None if unknown.
    needed
        In a world of one player, the number of deals that are needed to detect a difference of 0.05
        with a power of 80 %. None if all differences are equal.
    """

    first: str
    second: str
    opponents: int = Field(ge=0)
    difference: Difference
    holm: float | None = Field(ge=0, le=1)
    needed: int | None = Field(default=None, ge=2)


class PlayFigures(Record):
    """The summary statistics of a run of games.

    Attributes
    ----------
    world
        The world.
    mirrored
        Whether every deal was played twice. The second time, the players' hidden information is
        swapped.
    pairs
        Figures of every player against every opponent, in the order of the run.
    players
        Figures of every player over all opponents.
    alone
        Whether the world has one player. If so, the field `opponent` of every pair is ``""``.
    differences
        Differences of all pairs of players, on their common deals and opponents.
    """

    world: str
    mirrored: bool
    alone: bool = False
    pairs: tuple[GameFigures, ...]
    players: tuple[GameFigures, ...]
    differences: tuple[PlayerDifference, ...] = ()


_Played: TypeAlias = tuple[Result, PlayedGame]
_Measure: TypeAlias = Callable[[Result, PlayedGame], tuple[float, float] | None]
"""Returns numerator and denominator of a measure for a game; None if the game lacks the measure."""


def count_games(
    results: Iterable[Result],
    *,
    mirrored: bool,
    contestants: Mapping[str, str] = MappingProxyType({}),
) -> PlayFigures:
    """Return the figures of the games of a run.

    Parameters
    ----------
    results
        The results of a run of games, in its order.
    mirrored
        Whether every deal is played twice.
    contestants
        The original names of players that were renamed, because they are in several runs. If
        players have the same original name, only pairs with the same original name are compared.
    """
    games = [(result, result.game) for result in results if result.game is not None]
    pairs = grouped(games, lambda one: (one[1].player, one[1].opponent))
    whole = {named: _complete(found, mirrored=mirrored) for named, found in pairs.items()}
    players = grouped(pairs, lambda named: named[0])
    return PlayFigures(
        world=games[-1][1].world if games else "",
        mirrored=mirrored,
        alone=bool(pairs) and not any(opponent for _, opponent in pairs),
        pairs=tuple(_figures(*named, [pairs[named]], [whole[named]]) for named in pairs),
        players=tuple(
            _figures(player, None, [pairs[one] for one in faced], [whole[one] for one in faced])
            for player, faced in players.items()
        ),
        differences=_differences(
            {player: [*chain(*(whole[one] for one in faced))] for player, faced in players.items()},
            contestants,
        ),
    )


def _differences(
    played: Mapping[str, Sequence[_Played]], contestants: Mapping[str, str]
) -> tuple[PlayerDifference, ...]:
    """Compare pairs of players on their common deals."""
    payoffs = {player: _by_deal(games) for player, games in played.items()}
    least, most = _limits(chain(*played.values()))
    bounds = None if least == -inf or most == inf else (least - most, most - least)
    found = []
    for first, second in choose_pairs(payoffs, lambda name: contestants.get(name, name)):
        shared = [key for key in payoffs[first] if key in payoffs[second]]
        more = [payoffs[first][key] - payoffs[second][key] for key in shared]
        difference = paired_difference(more, [deal for _, deal in shared], bounds)
        if difference is not None:
            opponents = len({opponent for opponent, _ in shared if opponent})
            found.append((first, second, opponents, difference))
    corrected = holm([one.p_value for *_, one in found])
    return tuple(
        PlayerDifference(
            first=first,
            second=second,
            opponents=opponents,
            difference=difference,
            holm=p_value,
            needed=None if opponents else count_needed(difference, _SMALLEST),
        )
        for (first, second, opponents, difference), p_value in zip(found, corrected, strict=True)
    )


def _by_deal(games: Iterable[_Played]) -> dict[tuple[str, int], float]:
    """Return the mean payoff of a player by opponent and deal."""
    found: dict[tuple[str, int], list[float]] = {}
    for result, game in games:
        found.setdefault((game.opponent, game.seed), []).append(result.value or 0.0)
    return {key: fsum(values) / len(values) for key, values in found.items()}


def _complete(found: Sequence[_Played], *, mirrored: bool) -> list[_Played]:
    """Return the finished games of complete deals.

    A mirrored deal is complete if both of its games are finished.
    """
    ended = [one for one in found if one[0].outcome is Outcome.PLAYED]
    if not mirrored:
        return ended
    halves = {(game.seed, result.epoch, game.mirrored) for result, game in ended}
    return [one for one in ended if (one[1].seed, one[0].epoch, not one[1].mirrored) in halves]


def _figures(
    player: str,
    opponent: str | None,
    found: Sequence[Sequence[_Played]],
    counted: Sequence[Sequence[_Played]],
) -> GameFigures:
    """Return the figures of a player.

    `found` has a list of all games for each opponent. `counted` contains only the games of complete
    deals.
    """
    every, games = list(chain(*found)), list(chain(*counted))
    agreements = any(AGREEMENT in game.facts for _, game in games)
    agreed = [[one for one in of if one[1].facts.get(AGREEMENT) is True] for of in counted]
    actions = sum((Counter(game.actions[game.seats[0]]) for _, game in games), Counter[str]())
    facts, alone = _facts(counted), {}
    if any(len(game.seats) == 1 for _, game in every):
        facts.pop(SUCCESS, None)  # `alone` contains the success, with another interval
        alone = _of_one_player(games)
    return GameFigures(
        player=player,
        opponent=opponent,
        model=", ".join(dict.fromkeys(result.model for result, _ in every)),
        games=len(games),
        deals=len({game.seed for _, game in games}),
        failed=sum(result.outcome.repeated for result, _ in every),
        unpaired=sum(result.outcome is Outcome.PLAYED for result, _ in every) - len(games),
        payoff=_payoff(counted),
        score=_mean(agreed, _value) if agreements else None,
        reference=next((game.reference for _, game in games), None),
        rational=_mean(counted, lambda _, game: (game.agreed, game.compared), 0.0, 1.0),
        moves=sum(game.moves[game.seats[0]] for _, game in games),
        fallbacks=sum(game.fallbacks[game.seats[0]] for _, game in games),
        opponent_moves=sum(game.moves[seat] for _, game in games for seat in game.seats[1:]),
        opponent_fallbacks=sum(
            game.fallbacks[seat] for _, game in games for seat in game.seats[1:]
        ),
        actions=dict(sorted(actions.items())),
        facts=facts,
        agreed_facts=_facts(agreed) if agreements else {},
        **alone,
    )


def _of_one_player(games: Sequence[_Played]) -> dict[str, Any]:
    """Return the additional figures for a world of one player."""
    with_task = [one for one in games if isinstance(one[1].facts.get(TASK), str)]
    by_task = grouped(with_task, lambda one: str(one[1].facts[TASK]))
    return {
        "success": _success(games),
        "tasks": {
            task: TaskFigures(games=len(of), score=_payoff([of]), success=_success(of))
            for task, of in sorted(by_task.items())
        },
        "length": _mean([games], lambda _, game: (game.moves[game.seats[0]], 1.0), 0.0),
        "attempts": _mean([games], lambda _, game: (game.attempts, 1.0), 1.0),
    }


def _success(games: Sequence[_Played]) -> Estimate | None:
    """Return the share of games that accomplished their task; None if the world has no tasks."""
    facts = [(game.facts.get(SUCCESS), game.seed) for _, game in games]
    known = [(float(done), seed) for done, seed in facts if isinstance(done, bool)]
    return clustered_share([done for done, _ in known], [seed for _, seed in known])


def _value(result: Result, _: PlayedGame) -> tuple[float, float]:
    return result.value or 0.0, 1.0


def _payoff(counted: Sequence[Sequence[_Played]]) -> Estimate | None:
    """Return the player's payoff per game."""
    return _mean(counted, _value, *_limits(chain(*counted)))


def _limits(games: Iterable[_Played]) -> tuple[float, float]:
    """Return the least and the largest payoff that the world allows; infinite without a limit."""
    ranges = [game.payoffs for _, game in games]
    least = min((-inf if low is None else low for low, _ in ranges), default=-inf)
    return least, max((inf if high is None else high for _, high in ranges), default=inf)


def _facts(counted: Sequence[Sequence[_Played]]) -> dict[str, Estimate]:
    """Return the mean of each fact that is a number, and the share of each true-or-false fact."""
    found: dict[str, Estimate] = {}
    for name in dict.fromkeys(name for _, game in chain(*counted) for name in game.facts):
        values = [game.facts.get(name) for _, game in chain(*counted)]
        is_share = all(isinstance(value, bool) for value in values if _is_number(value))

        def measure(_: Result, game: PlayedGame, name: str = name) -> tuple[float, float] | None:
            fact = game.facts.get(name)
            return (float(fact), 1.0) if _is_number(fact) else None

        mean = _mean(counted, measure, *((0.0, 1.0) if is_share else ()))
        if mean is not None:
            found[name] = mean
    return found


def _is_number(fact: object) -> TypeGuard[float]:
    return isinstance(fact, bool | int | float)


def _mean(
    groups: Sequence[Sequence[_Played]], measure: _Measure, least: float = -inf, most: float = inf
) -> Estimate | None:
    """Return the mean of a measure over groups of games."""
    ratios = [
        [(*found, game.seed) for result, game in games if (found := measure(result, game))]
        for games in groups
    ]
    return mean_of_ratios(ratios, least, most)
