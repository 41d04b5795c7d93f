"""The printed figures of the LDM2 paper are consistent."""

from __future__ import annotations

import pytest

from dqa.evaluation.papers import PublishedRow, PublishedTable
from dqa_ldm2.published import PAPER

GAMES = {"pick": 24, "clean": 31, "heat": 23, "cool": 21, "look": 18, "pick2": 17}
"""The number of test games of each kind, 134 in all."""


def tables() -> tuple[PublishedTable, PublishedTable]:
    """Return both tables."""
    shop, household = PAPER.tables
    return shop, household


def values(row: PublishedRow) -> tuple[float, ...]:
    """Return the figures of a row."""
    return tuple(figure.value or 0.0 for figure in row.figures)


def test_figures_of_the_shop_are_in_order() -> None:
    """A score is never less than the success rate."""
    shop, _ = tables()
    assert all(score > success for score, success in map(values, shop.rows))
    assert values(shop.rows[0]) == (0.627, 0.296)
    assert values(shop.rows[-2]) == (0.724, 0.416)


def test_success_of_all_household_games_follows_from_their_kinds() -> None:
    """As shares of 134 games, except BUTLER's, which are from other games."""
    _, household = tables()
    assert tuple(one.scenario for one in household.rows[0].figures) == (*GAMES, "")
    for row in household.rows:
        *shares, all_games = values(row)
        won = sum(round(share * of) for share, of in zip(shares, GAMES.values(), strict=True))
        follows = won / sum(GAMES.values()) == pytest.approx(all_games, abs=0.0051)
        assert follows is not row.name.startswith("BUTLER"), row.name
