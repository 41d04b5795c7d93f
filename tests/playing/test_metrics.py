"""Figures of games against values that were worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import pytest

from dqa.core.question import Candidate
from dqa.evaluation.results import Outcome, PlayedGame, Result
from dqa.evaluation.statistics.clusters import t_quantile
from dqa.evaluation.statistics.games import count_games
from dqa.evaluation.statistics.pairs import count_needed, paired_difference

Facts = Mapping[str, Candidate | float | bool | None]


def game(
    number: int,
    value: float | None,
    *,
    mirrored: bool = False,
    player: str = "hero",
    opponent: str = "rival",
    agreed: int = 0,
    compared: int = 0,
    facts: Facts | None = None,
    fallbacks: int = 0,
) -> Result:
    """A game of a player; one without a value did not come to its end."""
    played = PlayedGame(
        world="duel",
        number=number,
        seed=number,
        mirrored=mirrored,
        player=player,
        opponent=opponent,
        seats=("player", "opponent"),
        returns={"player": value, "opponent": -value} if value is not None else {},
        moves={"player": 2, "opponent": 1},
        fallbacks={"player": fallbacks, "opponent": 0},
        actions={"player": {"raise": 2}, "opponent": {"fold": 1}},
        reference="guide",
        compared=compared,
        agreed=agreed,
        facts=dict(facts or {}),
    )
    return Result.model_construct(
        question=f"duel/{number}{'m' if mirrored else ''}",
        scenario="duel",
        decider=f"{player} vs {opponent}",
        model="none",
        situation=str(number),
        outcome=Outcome.PLAYED if value is not None else Outcome.INFRASTRUCTURE,
        value=value,
        game=played,
    )


def both(number: int, one: float, other: float, **more: int | str) -> list[Result]:
    """A game and its mirror."""
    return [
        game(number, one, **more),  # type: ignore[arg-type]
        game(number, other, mirrored=True, **more),  # type: ignore[arg-type]
    ]


def test_the_pair_of_a_game_and_its_mirror_is_the_unit() -> None:
    """Pairs of mean 3, 0 and 0: mean 1, variance 3, error sqrt(3 / 3) = 1."""
    found = count_games([*both(1, 10, -4), *both(2, 5, -5), *both(3, -2, 2)], mirrored=True)
    (pair,) = found.pairs
    payoff = pair.payoff
    assert payoff is not None
    assert (payoff.value, payoff.observations, payoff.clusters) == (1.0, 6, 3)
    assert payoff.standard_error == pytest.approx(1.0)
    reach = t_quantile(2.0)
    assert payoff.low == pytest.approx(1 - reach)
    assert payoff.high == pytest.approx(1 + reach)
    assert payoff.degrees_of_freedom == 2.0
    # Taken for independent, these six games would have the error sqrt(31.6 / 6) = 2.3.
    assert pair.games == 6
    assert pair.deals == 3


def test_a_game_without_its_mirror_does_not_count() -> None:
    """It would bring in the luck of its deal; how many there are is told."""
    results = [*both(1, 2, 0), game(2, 50), game(3, 7), game(3, None, mirrored=True)]
    (pair,) = count_games(results, mirrored=True).pairs
    assert pair.payoff is not None
    assert pair.payoff.value == 1.0
    assert (pair.games, pair.unpaired, pair.failed) == (2, 2, 1)
    (alone,) = count_games(results, mirrored=False).pairs
    assert alone.games == 4
    assert alone.unpaired == 0


def test_players_are_compared_deal_by_deal() -> None:
    """Differences of 3, 1 and 2: mean 2, error 1 / sqrt(3)."""

    def ours(player: str, *values: float) -> list[Result]:
        halves = [both(n, value + 1, value - 1, player=player) for n, value in enumerate(values, 1)]
        return [one for of in halves for one in of]

    results = [*ours("hero", 9, 1, 5), *ours("other", 6, 0, 3, 50), *ours("third", 7, -1, 3)]
    found = count_games(results, mirrored=True)
    pairs = {(one.first, one.second): one for one in found.differences}
    assert list(pairs) == [("hero", "other"), ("hero", "third"), ("other", "third")]
    first = pairs["hero", "other"]
    assert (first.difference.value, first.difference.clusters, first.opponents) == (2.0, 3, 1)
    assert first.difference.standard_error == pytest.approx(1 / sqrt(3))
    assert first.difference.low == pytest.approx(2 - t_quantile(2.0) / sqrt(3))
    # Without the pairing the error is sqrt(16 / 3 + 9 / 3), and nothing is known.
    assert pairs["hero", "third"].difference.value == 2.0
    assert pairs["hero", "third"].difference.standard_error == 0.0
    assert first.holm is not None
    assert first.difference.p_value is not None
    assert first.holm >= first.difference.p_value


def test_deals_needed_are_those_of_the_paired_t_test() -> None:
    """For an effect of half a standard deviation 34 pairs, as in Cohen's and G*Power's tables."""
    found = paired_difference([0.2, 0.0, 0.1] * 40, range(120))
    assert found is not None
    assert found.standard_error is not None
    deviation = found.standard_error * sqrt(120)
    assert count_needed(found, 0.5 * deviation) == 34
    assert count_needed(found, 0.2 * deviation) == 199


@pytest.mark.parametrize(("limits", "high"), [((None, 1.0), 1.0), ((None, None), 1.541)])
def test_an_interval_ends_at_the_limits_of_the_world(
    limits: tuple[float | None, float | None], high: float
) -> None:
    """Not at values that only look like limits: no sampled score is negative."""
    results = [
        one.model_copy(update={"game": one.game.changed(payoffs=limits)})
        for one in (game(number, value) for number, value in enumerate((0.0, 0.9, 0.2), 1))
        if one.game is not None
    ]
    (pair,) = count_games(results, mirrored=False).pairs
    assert pair.payoff is not None
    assert pair.payoff.low == pytest.approx(-0.807, abs=0.01)
    assert pair.payoff.high == pytest.approx(high, abs=0.01)


def test_means_over_opponents_weigh_each_the_same_and_share_deals() -> None:
    """Against one 1 and 3, against the other -1 and -3 on the same deals: the sum never moves."""
    results = [
        *(game(number, value, opponent="a") for number, value in ((1, 1.0), (2, 3.0))),
        *(game(number, value, opponent="b") for number, value in ((1, -1.0), (2, -3.0))),
    ]
    found = count_games(results, mirrored=False)
    assert [pair.payoff.value for pair in found.pairs if pair.payoff] == [2.0, -2.0]
    (hero,) = found.players
    assert hero.payoff is not None
    assert hero.opponent is None
    assert (hero.payoff.value, hero.payoff.standard_error) == (0.0, 0.0)


def test_rational_degree_is_a_share_of_decisions_not_of_games() -> None:
    """3 of 4 and 1 of 1: 4 of 5, where the mean of shares would be 7 of 8."""
    results = [game(1, 0, agreed=3, compared=4), game(2, 0, agreed=1, compared=1)]
    (pair,) = count_games(results, mirrored=False).pairs
    assert pair.rational is not None
    assert pair.rational.value == pytest.approx(0.8)
    # Residuals 3 - 0.8 * 4 = -0.2 and 1 - 0.8 = 0.2 over 5 decisions, times 2 / (2 - 1).
    assert pair.rational.standard_error == pytest.approx(sqrt(2 * (0.04**2 + 0.04**2)))
    assert pair.reference == "guide"


def test_scores_are_of_agreed_games_alone() -> None:
    """Score, agreement and Pareto optimality; a fact that is none counts nowhere."""
    yes: Facts = {"agreed": True, "pareto optimal": True, "deal": "[1, 0]"}
    results = [
        game(1, 8, facts=yes),
        game(2, 4, facts={"agreed": True, "pareto optimal": False, "deal": "[0, 1]"}),
        game(3, 0, facts={"agreed": False, "pareto optimal": None, "deal": None}),
        game(4, 0, facts={"agreed": False, "pareto optimal": False, "deal": None}),
    ]
    (pair,) = count_games(results, mirrored=False).pairs
    assert pair.score is not None
    assert (pair.score.value, pair.score.observations) == (6.0, 2)
    assert pair.payoff is not None
    assert pair.payoff.value == 3.0
    assert pair.facts["agreed"].value == 0.5
    assert (pair.facts["agreed"].low, pair.facts["agreed"].high) == (0.0, 1.0)
    assert pair.facts["pareto optimal"].value == pytest.approx(1 / 3)
    assert pair.agreed_facts["pareto optimal"].value == 0.5
    assert "deal" not in pair.facts
