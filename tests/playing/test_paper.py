"""A paper's tables of games: what was printed, and ours beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dqa import plugins
from dqa.api.games import play_tournament
from dqa.cli.main import app
from dqa.core.errors import UsageError
from dqa.evaluation.games import CannotPlayError
from dqa.evaluation.papers import Place, Publication, PublishedRow, PublishedTable
from dqa.report.paper_tables import paper_notes

FACED = [("passive", ""), ("eager", ""), ("departed", ""), ("", "")]
TASKS = [("", "score"), ("heat", "success"), ("departed", "success")]


def printed(name: str, decider: str, places: list[Place], values: list[float]) -> PublishedRow:
    """Return a row of a paper."""
    figures = [
        {"scenario": scenario, "column": column, "value": value}
        for (scenario, column), value in zip(places, values, strict=True)
    ]
    return PublishedRow.model_validate({"name": name, "decider": decider, "figures": figures})


PRINTED = Publication(
    name="duels",
    citation="Nobody, 2024.",
    setting="In tests.",
    tables=(
        PublishedTable(
            name="Table 1",
            title="Chips",
            world="kuhn",
            measure="payoff",
            rows=(
                printed("Eager", "eager", FACED, [0.5, -0.25, 2.0, 0.75]),
                printed("Gone", "departed", FACED[:2], [1.0, 1.0]),
            ),
        ),
        PublishedTable(
            name="Table 2",
            title="Rational degree",
            world="kuhn",
            measure="rational",
            reference="passive",
            rows=(printed("Eager", "eager", FACED[:1], [0.4]),),
        ),
        PublishedTable(
            name="Table 3",
            title="Errands",
            world="errand",
            measure="episodes",
            rows=(
                printed("Search", "searching", TASKS, [0.75, 0.5, 0.25]),
                printed("Person", "", TASKS, [0.9, 0.9, 0.9]),
            ),
        ),
    ),
)


@pytest.fixture(autouse=True)
def paper(duel: object, errand: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be this paper, and no other."""
    del duel, errand
    names = plugins.names
    kinds = {"publication": ("duels",)}
    monkeypatch.setattr(plugins, "names", lambda kind: kinds.get(kind) or names(kind))
    monkeypatch.setattr(plugins, "publication", lambda _: PRINTED)


def run(*arguments: object, code: int = 0) -> Any:
    """Run a command."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


def test_a_tournament_plays_who_is_there_and_tells_who_is_not(tmp_path: Path) -> None:
    """Every cell that can be filled is, beside what is printed."""
    found = play_tournament("kuhn", games=10, out=tmp_path / "run")
    (line,) = found.left_out
    assert line.startswith("departed: There is no player of kuhn 'departed'")
    assert {r.decider for r in found.run.results} == {"eager vs passive", "eager vs eager"}
    assert all(r.game and r.game.reference == "passive" for r in found.run.results)
    (view,) = found.views
    chips, degrees = view.tables
    assert chips.rows == PRINTED.tables[0].rows
    (eager,) = chips.ours
    ours = {figure.scenario: figure.value or 0.0 for figure in eager.figures}
    assert list(ours) == ["passive", "eager", ""]
    assert ours["eager"] == 0.0
    assert ours[""] == pytest.approx((ours["passive"] + ours["eager"]) / 2)
    degree = degrees.ours[0].figures[0].value
    assert degree is not None
    assert 0.0 <= degree < 1.0
    assert paper_notes(view) == ["Printed: Nobody, 2024. In tests."]
    again = play_tournament("kuhn", games=10, out=tmp_path / "run")
    assert (again.run.made, again.views) == (0, found.views)


def test_the_command_prints_tables_and_json(tmp_path: Path) -> None:
    """The rows of a paper stand above ours."""
    shown = run(
        *("games", "tournament", "--world", "kuhn", "--games", 4, "--out", tmp_path / "runs.db#cup")
    ).output
    assert "Table 1. Chips, per game" in shown
    assert "left out: departed: There is no player of kuhn" in shown
    assert "First player minus second" not in shown  # of one player
    assert "16 games of kuhn on the same deals for all pairs" in shown
    asked = ("games", "tournament", "--world", "kuhn", "--games", 4, "--player", "eager", "--json")
    told = json.loads(run(*asked).stdout)
    assert [table["name"] for table in told[0]["papers"][0]["tables"]] == ["Table 1", "Table 2"]
    assert told[0]["evaluation"]["games"]["mirrored"] is True
    other = run(
        "games", "tournament", "--world", "kuhn", "--games", 2, "--reference", "eager"
    ).output
    assert "compares with passive, and this run compares with eager" in " ".join(other.split())


def test_a_table_of_one_player_has_ours_beside_what_is_printed() -> None:
    """Also of players that the paper lacks."""
    (table,) = play_tournament("errand", ["searching", "buying"], games=10).views[0].tables
    assert table.rows == PRINTED.tables[2].rows
    search, buying = table.ours
    assert {figure.place: figure.value for figure in search.figures} == {
        ("", "score"): 1.0,
        ("heat", "success"): 1.0,
    }
    assert buying.decider == "buying"
    shown = run("games", "tournament", "--world", "errand", "--games", 3).output
    assert "Name a world (--world)" in str(
        run("games", "tournament", "--games", 2, code=1).exception
    )
    assert "Table 3. Errands, in %" in shown
    assert "Person" in shown


def test_a_player_of_a_paper_that_cannot_play_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """LDM2 without a memory, for example. A player that the user names is an error at once."""
    monkeypatch.chdir(tmp_path)
    rows = (
        printed("Search", "searching", TASKS, [0.75, 0.5, 0.25]),
        printed("LDM2", "ldm2", TASKS, [0.8, 0.8, 0.8]),
    )
    table = PRINTED.tables[2].changed(rows=rows)
    monkeypatch.setattr(plugins, "publication", lambda _: PRINTED.changed(tables=(table,)))
    found = play_tournament("errand", games=2)
    (line,) = found.left_out
    assert line.startswith("ldm2: ")
    assert {one.decider for one in found.run.results} == {"searching"}
    with pytest.raises(CannotPlayError, match="memory build"):
        play_tournament("errand", ["ldm2", "searching"], games=2, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    only = table.changed(rows=rows[1:])
    monkeypatch.setattr(plugins, "publication", lambda _: PRINTED.changed(tables=(only,)))
    with pytest.raises(UsageError, match=r"--player\). ldm2: "):
        play_tournament("errand", games=2)
