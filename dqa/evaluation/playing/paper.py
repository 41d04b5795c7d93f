"""A paper's tables of games, with a run's own figures beside the printed ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dqa.core.records import Record
from dqa.evaluation.playing.metrics import AGREEMENT, GameFigures, PlayFigures
from dqa.evaluation.publications import (
    EpisodeColumn,
    GameMeasure,
    Publication,
    PublishedEpisodes,
    PublishedGames,
    PublishedPlayer,
    PublishedScores,
)
from dqa.evaluation.statistics.clusters import Estimate

PARETO = "pareto optimal"
"""The fact by which a world says whether a deal was Pareto optimal."""


class GameCell(Record):
    """A player against an opponent: what the paper printed, and what the run has.

    Attributes
    ----------
    opponent
        None for the mean over all.
    published
        What is printed, in the order of the measure; () where nothing is.
    ours
        The run's figures in the same order; () where it has none.
    """

    opponent: str | None
    published: tuple[float, ...]
    ours: tuple[Estimate | None, ...]


class GameRow(Record):
    """A player in a table.

    Attributes
    ----------
    name
        As the paper calls it; None of a player that the paper does not have.
    player
        Who stands for it here.
    """

    name: str | None
    player: str
    cells: tuple[GameCell, ...]


class GameTable(Record):
    """A table of a paper beside a run's figures.

    Attributes
    ----------
    reference, our_reference
        Whom the paper compares decisions with, and the run.
    opponents
        The paper's, then the run's others.
    """

    name: str
    title: str
    measure: GameMeasure
    note: str | None
    reference: str | None
    our_reference: str | None
    opponents: tuple[str, ...]
    rows: tuple[GameRow, ...]


class ScoreCell(Record):
    """One figure of who plays alone.

    Attributes
    ----------
    published
        What the paper printed; None where it has nothing.
    ours
        The run's; None where it has none.
    """

    published: float | None
    ours: Estimate | None


class ScoreRow(Record):
    """Who plays alone, in a table.

    Attributes
    ----------
    name
        As the paper calls it; None of a player that the paper does not have.
    player
        Who stands for it here; None where nobody does.
    cells
        By column.
    """

    name: str | None
    player: str | None
    cells: tuple[ScoreCell, ...]


class ScoreTable(Record):
    """A paper's table of games of one player, beside a run's figures."""

    name: str
    title: str
    note: str | None
    columns: tuple[EpisodeColumn, ...]
    rows: tuple[ScoreRow, ...]


class GameView(Record):
    """A paper's tables of games of one world, with a run beside.

    Attributes
    ----------
    paper, citation, setting
        Which paper, and what its figures were measured with.
    tables, scores
        Its tables of games, and those of games of one player.
    """

    paper: str
    citation: str
    setting: str
    world: str
    tables: tuple[GameTable, ...]
    scores: tuple[ScoreTable, ...] = ()


_Measured = Callable[[GameFigures], tuple[Estimate | None, ...]]
_OURS: Mapping[GameMeasure, _Measured] = {
    "payoff": lambda one: (one.payoff,),
    "rational": lambda one: (one.rational,),
    "agreements": lambda one: (
        one.score,
        one.facts.get(AGREEMENT),
        one.agreed_facts.get(PARETO),
    ),
}


def view_games(publication: Publication, found: PlayFigures) -> GameView:
    """Put what games came to beside what a paper printed of the same world."""
    return GameView(
        paper=publication.name,
        citation=publication.citation,
        setting=publication.setting,
        world=found.world,
        tables=tuple(_table(one, found) for one in publication.games if one.world == found.world),
        scores=tuple(
            _scores(one, found) for one in publication.episodes if one.world == found.world
        ),
    )


def _scores(printed: PublishedEpisodes, found: PlayFigures) -> ScoreTable:
    ours = {one.player: one for one in found.players}
    known = {row.player for row in printed.rows}
    more = [PublishedScores(name="", player=name, figures=()) for name in ours if name not in known]
    rows = []
    for row in (*printed.rows, *more):
        figures = row.figures or (None,) * len(printed.columns)
        measured = ours.get(row.player)
        cells = [
            ScoreCell(published=figure, ours=None if measured is None else _of(measured, column))
            for figure, column in zip(figures, printed.columns, strict=True)
        ]
        rows.append(ScoreRow(name=row.name or None, player=row.player or None, cells=tuple(cells)))
    return ScoreTable(
        name=printed.name,
        title=printed.title,
        note=printed.note,
        columns=printed.columns,
        rows=tuple(rows),
    )


def _of(measured: GameFigures, column: EpisodeColumn) -> Estimate | None:
    """Return the figure of a column."""
    if not column.task:
        return measured.payoff if column.measure == "score" else measured.success
    of_task = measured.tasks.get(column.task)
    if of_task is None:
        return None
    return of_task.score if column.measure == "score" else of_task.success


def _table(printed: PublishedGames, found: PlayFigures) -> GameTable:
    measured = _OURS[printed.measure]
    ours = {(one.player, one.opponent): measured(one) for one in (*found.pairs, *found.players)}
    faced = dict.fromkeys(one.opponent for one in found.pairs if one.opponent is not None)
    opponents = tuple(dict.fromkeys((*printed.opponents, *faced)))
    known = {row.player for row in printed.rows}
    more = [
        PublishedPlayer(name="", player=name, cells=((),) * len(printed.opponents))
        for name in dict.fromkeys(one.player for one in found.players)
        if name not in known
    ]
    return GameTable(
        name=printed.name,
        title=printed.title,
        measure=printed.measure,
        note=printed.note,
        reference=printed.reference,
        our_reference=next((one.reference for one in found.pairs), None),
        opponents=opponents,
        rows=tuple(_row(row, printed.opponents, opponents, ours) for row in (*printed.rows, *more)),
    )


def _row(
    row: PublishedPlayer,
    printed: Sequence[str],
    opponents: Sequence[str],
    ours: Mapping[tuple[str, str | None], tuple[Estimate | None, ...]],
) -> GameRow:
    published: dict[str | None, tuple[float, ...]] = dict(zip(printed, row.cells, strict=True))
    published[None] = row.mean
    return GameRow(
        name=row.name or None,
        player=row.player,
        cells=tuple(
            GameCell(
                opponent=opponent,
                published=published.get(opponent, ()),
                ours=ours.get((row.player, opponent), ()),
            )
            for opponent in (*opponents, None)
        ),
    )
