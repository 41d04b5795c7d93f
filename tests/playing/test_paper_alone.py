"""A paper's tables of games of one player: what was printed, and ours beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dqa import plugins
from dqa.api.tournaments import play_tournament, tournament_worlds
from dqa.cli.main import app
from dqa.core.errors import UsageError
from dqa.core.publications import (
    EpisodeColumn,
    Publication,
    PublishedEpisodes,
    PublishedScores,
)
from dqa.report.tournament_tables import notes

COLUMNS = (
    EpisodeColumn(measure="score"),
    EpisodeColumn(measure="success", task="heat"),
    EpisodeColumn(measure="success", task="departed"),
    EpisodeColumn(measure="success"),
)
PRINTED = Publication(
    name="errands",
    citation="Nobody, 2024.",
    setting="In tests.",
    episodes=(
        PublishedEpisodes(
            name="Table 1",
            title="Errands",
            world="errand",
            note="Printed in tests.",
            columns=COLUMNS,
            rows=(
                PublishedScores(name="Search", player="searching", figures=(0.75, 0.5, 0.25, 0.6)),
                PublishedScores(name="Person", figures=(0.9, 0.9, 0.9, 0.9)),
                PublishedScores(name="Gone", player="departed", figures=(0.1, 0.1, 0.1, 0.1)),
            ),
        ),
        PublishedEpisodes(name="Table 2", title="Else", world="nowhere", columns=(), rows=()),
    ),
)


@pytest.fixture(autouse=True)
def paper(errand: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be this paper, and no other."""
    del errand
    names = plugins.names
    kinds = {"publication": ("errands",)}
    monkeypatch.setattr(plugins, "names", lambda kind: kinds.get(kind) or names(kind))
    monkeypatch.setattr(plugins, "publication", lambda _: PRINTED)


def run(*arguments: object, code: int = 0) -> Any:
    """Run a command."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


def test_a_table_has_ours_beside_what_is_printed(tmp_path: Path) -> None:
    """Also of players that the paper does not have, and of rows for which nobody stands."""
    found = play_tournament("errand", games=10, out=tmp_path / "run")
    assert found.left_out == ("departed: no such player is installed",)
    assert {r.decider for r in found.run.results} == {"searching"}
    (view,) = found.views
    assert view.tables == ()
    (table,) = view.scores
    search, person, gone = table.rows
    assert [cell.published for cell in search.cells] == [0.75, 0.5, 0.25, 0.6]
    ours = [cell.ours for cell in search.cells]
    assert [None if one is None else one.value for one in ours] == [1.0, 1.0, None, 1.0]
    assert (person.player, gone.player) == (None, "departed")
    assert all(cell.ours is None for row in (person, gone) for cell in row.cells)
    assert notes(view) == ["Printed: Nobody, 2024. In tests.", "Table 1: Printed in tests."]
    more = play_tournament("errand", ["buying"], games=2)
    assert [row.player for row in more.views[0].scores[0].rows] == [
        "searching",
        None,
        "departed",
        "buying",
    ]
    assert more.views[0].scores[0].rows[-1].cells[0].published is None


def test_the_command_prints_the_table_of_worlds_that_are_installed() -> None:
    """Without an opponent, and without a mirror unless one is asked for."""
    assert tournament_worlds() == ("errand",)
    shown = run("tournament", "--games", 3).output
    assert "Table 1. Errands, in %: printed, and below ours" in shown
    assert "(nobody here)" in shown
    assert "left out: departed: no such player is installed" in shown
    told = json.loads(run("tournament", "--world", "errand", "--games", 2, "--json").stdout)
    assert told[0]["papers"][0]["scores"][0]["rows"][0]["cells"][0]["published"] == 0.75
    refused = run("tournament", "--world", "errand", "--games", 2, "--mirror", code=1)
    assert "leave out mirror" in str(refused.exception)


def test_a_row_has_a_share_for_every_column() -> None:
    """What was copied wrong is found when it is read."""
    with pytest.raises(UsageError, match="'Short' has 1 figures for 4 columns"):
        PublishedEpisodes(
            name="Table 9",
            title="Errands",
            world="errand",
            columns=COLUMNS,
            rows=(PublishedScores(name="Short", figures=(0.5,)),),
        )
    with pytest.raises(UsageError, match="outside of 0 to 1"):
        PublishedEpisodes(
            name="Table 9",
            title="Errands",
            world="errand",
            columns=COLUMNS[:1],
            rows=(PublishedScores(name="Percent", figures=(62.7,)),),
        )
