"""Tables that papers print about their methods, as data to compare a run with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from dqa.core.errors import UsageError
from dqa.core.records import Record


class PublishedFigure(Record):
    """One printed figure.

    Attributes
    ----------
    column
        What of the row it is, in the words of the measure: a kind of database, a type of question,
        a class of failure, a number of re-plannings; empty where a row has one figure a scenario.
    share
        In 0..1; None where the paper gives only the count.
    of
        How many decisions it is a share of, where the paper says.
    """

    scenario: str
    column: str = ""
    share: float | None = Field(default=None, ge=0)
    of: int | None = Field(default=None, ge=0)


class PublishedRow(Record):
    """What a table prints of one decider.

    Attributes
    ----------
    name
        As the paper calls it.
    decider
        The decider that stands for it here.
    model
        What answered, in the paper's words, where the table compares models.
    """

    name: str
    decider: str
    model: str | None = None
    figures: tuple[PublishedFigure, ...]


class PublishedTable(Record):
    """A table or figure of a paper.

    Attributes
    ----------
    name
        Such as ``Table 5``.
    title
        What it measures, in our words.
    measure
        ``accuracy`` by kind of database, ``mean_accuracy`` over both kinds, or a measure of the
        paper's analysis (`dqa.evaluation.findings.FindingTable`).
    drawn
        Whether it is a figure, to be drawn as bars.
    note
        What a reader has to know of the printed figures.
    """

    name: str
    title: str
    measure: str
    drawn: bool = False
    note: str | None = None
    rows: tuple[PublishedRow, ...]


GameMeasure: TypeAlias = Literal["payoff", "rational", "agreements"]
"""What a table of games measures: what the player got a game; the share of its decisions that
choose as a reference does; or the score over games with an agreement, the share of games with one,
and the share of agreed deals that are Pareto optimal."""


class PublishedPlayer(Record):
    """What a table prints of one player of games.

    Attributes
    ----------
    name
        As the paper calls it.
    player
        The player that stands for it here.
    cells
        Against each opponent of the table what was measured: one figure, or three of agreements,
        of which shares lie in 0..1; () where nothing is printed.
    mean
        The same over all opponents, as printed.
    """

    name: str
    player: str
    cells: tuple[tuple[float, ...], ...]
    mean: tuple[float, ...] = ()


class PublishedGames(Record):
    """A table of games: every player against every opponent.

    Attributes
    ----------
    name, title, note
        As of a `PublishedTable`.
    world
        What was played, as it is called here.
    measure
        What the cells hold.
    reference
        The player that decisions are compared with, where the table does.
    opponents
        By the players' names here, in the order of the cells.
    rows
        The players.
    """

    name: str
    title: str
    world: str
    measure: GameMeasure
    reference: str | None = None
    note: str | None = None
    opponents: tuple[str, ...]
    rows: tuple[PublishedPlayer, ...]

    @model_validator(mode="after")
    def _check_rows(self) -> Self:
        _require_length(self.name, {row.name: row.cells for row in self.rows}, self.opponents)
        return self


EpisodeMeasure: TypeAlias = Literal["score", "success"]
"""What a column of a table of one player measures: the mean of what it got, or the share of games
whose task was accomplished."""


class EpisodeColumn(Record):
    """A column of a table of games that one player plays alone.

    Attributes
    ----------
    measure
        What it measures.
    task
        Of which kind of task, as the world calls it; empty for all.
    """

    measure: EpisodeMeasure
    task: str = ""


class PublishedScores(Record):
    """What a table prints of one player who plays alone.

    Attributes
    ----------
    name
        As the paper calls it.
    player
        The player that stands for it here; empty where none does.
    figures
        What was measured, by column, in 0..1.
    """

    name: str
    player: str = ""
    figures: tuple[Annotated[float, Field(ge=0, le=1)], ...]


class PublishedEpisodes(Record):
    """A table of games that one player plays alone.

    Attributes
    ----------
    name, title, note
        As of a `PublishedTable`.
    world
        What was played, as it is called here.
    columns
        What is measured.
    rows
        The players.
    """

    name: str
    title: str
    world: str
    note: str | None = None
    columns: tuple[EpisodeColumn, ...]
    rows: tuple[PublishedScores, ...]

    @model_validator(mode="after")
    def _check_rows(self) -> Self:
        _require_length(self.name, {row.name: row.figures for row in self.rows}, self.columns)
        return self


def _require_length(
    table: str, rows: Mapping[str, Sequence[object]], columns: Sequence[object]
) -> None:
    for name, cells in rows.items():
        if len(cells) != len(columns):
            raise UsageError(f"{table}: '{name}' has {len(cells)} of {len(columns)} cells.")


class Publication(Record):
    """A paper with the tables that runs can be held against.

    Attributes
    ----------
    name
        What commands call it.
    citation
        Authors, year, title and venue.
    setting
        What its figures were measured with: models, databases, questions.
    strict_official
        Whether the official label alone counted as right.
    analysis
        The function that measures what its tables hold, a `dqa.evaluation.findings.Analyse`, as
        ``package.module:function``.
    tables, games, episodes
        Its tables of decided questions, those of games, and those of games that one player plays
        alone.
    """

    name: str
    citation: str
    setting: str
    strict_official: bool = True
    analysis: str | None = None
    tables: tuple[PublishedTable, ...] = ()
    games: tuple[PublishedGames, ...] = ()
    episodes: tuple[PublishedEpisodes, ...] = ()

    @property
    def worlds(self) -> tuple[str, ...]:
        """The worlds of which it has tables, in their order."""
        games = (table.world for table in self.games)
        return tuple(dict.fromkeys((*games, *(table.world for table in self.episodes))))
