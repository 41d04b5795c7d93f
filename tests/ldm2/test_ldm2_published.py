"""What the LDM2 paper printed, held against itself."""

from __future__ import annotations

import pytest

from dqa import plugins
from dqa.evaluation.papers import PublishedRow, PublishedTable
from dqa_ldm2.published import PAPER

GAMES = {"pick": 24, "clean": 31, "heat": 23, "cool": 21, "look": 18, "pick2": 17}
"""How many of the 134 test games are of each kind."""


def tables() -> tuple[PublishedTable, PublishedTable]:
    """Return both tables."""
    shop, household = PAPER.tables
    return shop, household


def values(row: PublishedRow) -> tuple[float, ...]:
    """Return the figures of a row."""
    return tuple(figure.value or 0.0 for figure in row.figures)


def test_both_tables_are_there_by_world() -> None:
    """Under the names that worlds and deciders have here."""
    shop, household = tables()
    assert PAPER.worlds == ("shop", "household")
    assert (len(shop.rows), len(household.rows)) == (7, 8)
    ours = ["standard", "react", "reflexion-trials", "ldm2", "ldm2-refined"]
    assert [row.decider for row in shop.rows if row.decider] == ours
    assert [row.decider for row in household.rows if row.decider] == ours
    assert plugins.publication("ldm2") is PAPER


def test_figures_of_the_shop_are_in_order() -> None:
    """A score counts what success leaves out, so it is never less."""
    shop, _ = tables()
    assert all(score > success for score, success in map(values, shop.rows))
    assert values(shop.rows[0]) == (0.627, 0.296)
    assert values(shop.rows[-2]) == (0.724, 0.416)


def test_success_of_all_household_games_follows_from_their_kinds() -> None:
    """As shares of 134 games, but for BUTLER, whose figures are not of these games."""
    _, household = tables()
    assert tuple(one.scenario for one in household.rows[0].figures) == (*GAMES, "")
    for row in household.rows:
        *shares, all_games = values(row)
        won = sum(round(share * of) for share, of in zip(shares, GAMES.values(), strict=True))
        follows = won / sum(GAMES.values()) == pytest.approx(all_games, abs=0.0051)
        assert follows is not row.name.startswith("BUTLER"), row.name
