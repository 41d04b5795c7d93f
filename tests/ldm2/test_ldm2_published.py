"""What the LDM2 paper printed, held against itself."""

from __future__ import annotations

import pytest

from dqa import plugins
from dqa.evaluation.publications import PublishedEpisodes
from dqa_ldm2.published import PAPER

GAMES = {"pick": 24, "clean": 31, "heat": 23, "cool": 21, "look": 18, "pick2": 17}
"""How many of the 134 test games are of each kind."""


def tables() -> tuple[PublishedEpisodes, PublishedEpisodes]:
    """Return both tables."""
    shop, household = PAPER.episodes
    return shop, household


def test_both_tables_are_there_by_world() -> None:
    """Under the names that worlds and deciders have here."""
    shop, household = tables()
    assert PAPER.worlds == ("shop", "household")
    assert (len(shop.rows), len(household.rows)) == (7, 8)
    ours = ["standard", "react", "reflexion-trials", "ldm2", "ldm2-refined"]
    assert [row.player for row in shop.rows if row.player] == ours
    assert [row.player for row in household.rows if row.player] == ours
    assert plugins.publication("ldm2") is PAPER


def test_figures_of_the_shop_are_in_order() -> None:
    """A score counts what success leaves out, so it is never less."""
    shop, _ = tables()
    assert all(score > success for score, success in (row.figures for row in shop.rows))
    assert shop.rows[0].figures == (0.627, 0.296)
    assert shop.rows[-2].figures == (0.724, 0.416)


def test_success_of_all_household_games_follows_from_their_kinds() -> None:
    """As shares of 134 games, but for BUTLER, whose figures are not of these games."""
    _, household = tables()
    assert tuple(column.task for column in household.columns) == (*GAMES, "")
    for row in household.rows:
        *shares, all_games = row.figures
        won = sum(round(share * of) for share, of in zip(shares, GAMES.values(), strict=True))
        follows = won / sum(GAMES.values()) == pytest.approx(all_games, abs=0.0051)
        assert follows is not row.name.startswith("BUTLER"), row.name
