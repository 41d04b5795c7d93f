"""Compare the printed figures of papers with the figures of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any, TypeAlias

from pydantic import Field

from dqa.core.records import Record
from dqa.evaluation.findings import Analysis, FindingTable
from dqa.evaluation.results import NO_MODEL
from dqa.evaluation.statistics.clusters import Estimate
from dqa.evaluation.statistics.games import AGREEMENT, GameFigures, PlayFigures
from dqa.evaluation.statistics.summaries import Summary, grouped, kind_means

Place: TypeAlias = tuple[str, str]
"""The scenario, opponent or kind of task of a figure ("" for all), and the column of the figure."""


class PublishedFigure(Record):
    """One printed figure.

    Attributes
    ----------
    scenario
        The scenario, the opponent or the kind of task of the figure. An empty text means all
        scenarios, opponents or kinds.
    column
        The column, which depends on the measure: a kind of database, a type of question or a class
        of failure. Empty if a row has one figure per scenario.
    value
        The figure; a share is in 0..1. None if the paper prints only the count.
    of
        The number of decisions that the share refers to; None if the paper does not print it.
    """

    scenario: str = ""
    column: str = ""
    value: float | None = None
    of: int | None = Field(default=None, ge=0)


class PublishedRow(Record):
    """A row with the printed figures of one decider or player.

    Attributes
    ----------
    name
        Name of the decider or player in the paper.
    decider
        Name of the same decider or player in dqa; empty if dqa does not have this decider or
        player.
    model
        Name of the model in the paper, if the table compares models.
    """

    name: str
    decider: str = ""
    model: str | None = None
    figures: tuple[PublishedFigure, ...]


class TableFacts(Record):
    """The subject of a table or figure of a paper.

    Attributes
    ----------
    name
        Name of the table or figure, such as ``Table 5``.
    title
        Title of the table in dqa.
    measure
        The measure of the figures:

        - about questions: ``accuracy`` by kind of database, ``mean_accuracy`` over both kinds, or a
          measure of the paper's analysis (`dqa.evaluation.findings.FindingTable`);
        - about games by opponent: ``payoff``, ``rational``, or ``agreements`` with the columns
          ``score`` (of games with an agreement), ``agreed`` (the share of games with an agreement)
          and ``pareto optimal`` (the share of Pareto optimal agreements);
        - about worlds of one player: ``episodes`` by kind of task, with the columns ``score``
          and ``success``.
    world
        World of the games; None for a table about questions.
    reference
        The player whose decisions the paper compares with the decisions of every player.
    drawn
        Whether the values were read from a bar chart.
    note
        A note that explains the numbers in the paper.
    """

    name: str
    title: str
    measure: str
    world: str | None = None
    reference: str | None = None
    drawn: bool = False
    note: str | None = None


class PublishedTable(TableFacts):
    """A table or figure of a paper, with its rows."""

    rows: tuple[PublishedRow, ...]

    @property
    def opponents(self) -> tuple[str, ...]:
        """The opponents of the players, in order; () for a table without opponents."""
        if self.measure not in {"payoff", "rational", "agreements"}:
            return ()
        named = (figure.scenario for row in self.rows for figure in row.figures)
        return tuple(dict.fromkeys(filter(None, named)))


class Publication(Record):
    """A paper with its tables.

    Attributes
    ----------
    name
        Name of the paper in commands.
    citation
        Authors, year, title and venue.
    setting
        The models, databases and questions that the figures are about.
    strict_official
        Whether the paper counts only the official label as right.
    analysis
        The function that calculates the tables about questions (`dqa.evaluation.findings.Analyse`),
        as ``package.module:function``.
    tables
        Tables about questions and about games.
    """

    name: str
    citation: str
    setting: str
    strict_official: bool = True
    analysis: str | None = None
    tables: tuple[PublishedTable, ...] = ()

    @property
    def worlds(self) -> tuple[str, ...]:
        """The worlds of the tables about games, in order."""
        return tuple(dict.fromkeys(table.world for table in self.tables if table.world))


class OwnFigure(Record):
    """A figure of a run that corresponds to a printed figure.

    Attributes
    ----------
    count, of
        Numerator and denominator of a share; None for a mean.
    low, high
        The 95 % interval. For an accuracy on one database, it is clustered by situation. For games,
        it is clustered by deal. For other shares, it is Wilson's interval, in which every question
        counts once. A mean of shares has no interval (None).
    """

    value: float | None
    count: int | None = Field(default=None, ge=0)
    of: int | None = Field(default=None, ge=0)
    low: float | None = None
    high: float | None = None


class PaperCell(Record):
    """One cell of a table: the printed figure, and the figure of the run."""

    scenario: str
    column: str
    published: float | None
    published_of: int | None
    ours: OwnFigure | None


class PaperRow(Record):
    """A decider or player in a table.

    Attributes
    ----------
    name, published_model
        Names of the decider and of its model in the paper; None if only the run has this row.
    decider, model
        Names of the decider and of its model in the run; None if the decider did not take part.
    """

    name: str | None
    published_model: str | None
    decider: str | None
    model: str | None
    cells: tuple[PaperCell, ...]


class PaperTable(TableFacts):
    """A table of a paper, with the figures of a run next to the printed ones.

    Attributes
    ----------
    our_reference
        The player whose decisions the run compares with the decisions of every player.
    rows
        Rows of the paper, followed by rows that only the run has.
    """

    our_reference: str | None = None
    rows: tuple[PaperRow, ...]


class PaperView(Record):
    """The tables of a paper filled with the results of a run, as ``dqa analyse --paper`` shows.

    Attributes
    ----------
    paper, citation, setting
        Name, citation and setting; see `Publication`.
    same_scoring
        Whether the run and the paper count the same answers as right.
    models
        Names of the models in the run.
    """

    version: int = Field(default=1, ge=1, le=1)
    paper: str
    citation: str
    setting: str
    same_scoring: bool = True
    models: tuple[str, ...] = ()
    tables: tuple[PaperTable, ...]


_Figures: TypeAlias = dict[str, dict[Place, OwnFigure]]
"""Figures by decider and place."""


def view_questions(
    publication: Publication,
    summaries: Sequence[Summary],
    analysis: Analysis,
    *,
    strict_official: bool,
) -> PaperView:
    """Return a paper's tables with the figures of a run of questions.

    Parameters
    ----------
    publication
        The paper.
    summaries, analysis
        Summaries and analysis of the run.
    strict_official
        Whether only the official answer was right in the run.
    """
    models = {summary.decider: summary.model for summary in summaries}
    measured = {
        "accuracy": _by_kind(summaries),
        "mean_accuracy": _means(summaries),
        **{table.measure: _figures(table) for table in analysis.tables},
    }
    tables = (table for table in publication.tables if table.world is None)
    return _view(
        publication,
        (_table(table, measured.get(table.measure, {}), models) for table in tables),
        same_scoring=publication.strict_official == strict_official,
        models=tuple(dict.fromkeys(models.values())),
    )


def view_games(publication: Publication, found: PlayFigures) -> PaperView:
    """Return a paper's tables about a world, filled with the figures of a run."""
    tables = []
    reference = next((one.reference for one in found.pairs), None)
    for table in (one for one in publication.tables if one.world == found.world):
        ours: _Figures = {}
        for one in (*found.pairs, *found.players):
            ours.setdefault(one.player, {}).update(_of_games(table, one))
        players = dict.fromkeys(ours, NO_MODEL)
        tables.append(_table(table, ours, players).changed(our_reference=reference))
    return _view(publication, tables)


def _view(publication: Publication, tables: Iterable[PaperTable], **more: Any) -> PaperView:  # noqa: ANN401  (fields of the view)
    """Return the view of a paper with these tables."""
    about = {name: getattr(publication, name) for name in ("citation", "setting")}
    return PaperView(paper=publication.name, tables=tuple(tables), **about, **more)


def _table(table: PublishedTable, ours: _Figures, models: Mapping[str, str]) -> PaperTable:
    rows: list[PaperRow] = []
    wanted = {row.decider for row in table.rows}
    taking_part = [name for name in models if table.world or _without_model(name) in wanted]
    shown = set()
    for row in table.rows:
        fitting = [name for name in taking_part if _fits(row, name, models[name])]
        shown.update(fitting)
        rows += [_row(row, name, models[name], ours.get(name, {})) for name in fitting] or [
            _row(row, None, None, {})
        ]
    more = (name for name in taking_part if name not in shown and name in ours)
    rows += [_row(PublishedRow(name="", figures=()), n, models[n], ours[n]) for n in more]
    return PaperTable(**table.model_dump(exclude={"rows"}), rows=tuple(rows))


def _without_model(decider: str) -> str:
    """Return the name of a decider without the name of its model."""
    return decider.partition("@")[0]


def _fits(row: PublishedRow, decider: str, model: str) -> bool:
    """Return whether a row is about this decider, and about this model if the row names a model."""
    if row.decider not in {decider, _without_model(decider)}:
        return False
    return row.model is None or _plain(row.model) in _plain(model)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _row(
    row: PublishedRow, decider: str | None, model: str | None, ours: Mapping[Place, OwnFigure]
) -> PaperRow:
    printed = {(figure.scenario, figure.column): figure for figure in row.figures}
    nothing = PublishedFigure()
    return PaperRow(
        name=row.name or None,
        published_model=row.model,
        decider=decider,
        model=None if model == NO_MODEL else model,
        cells=tuple(
            PaperCell(
                scenario=place[0],
                column=place[1],
                published=printed.get(place, nothing).value,
                published_of=printed.get(place, nothing).of,
                ours=ours.get(place),
            )
            for place in dict.fromkeys((*printed, *ours))
        ),
    )


def _by_kind(summaries: Iterable[Summary]) -> _Figures:
    """Return accuracies by kind of database. If a kind has several databases, return their mean."""
    known = (one for one in summaries if one.accuracy is not None)
    groups = grouped(known, lambda one: (one.decider, one.scenario, one.kind))
    figures: _Figures = {}
    for (decider, scenario, kind), found in groups.items():
        one, *others = found
        if others:
            shares = [each.accuracy for each in found if each.accuracy is not None]
            figure = OwnFigure(value=fsum(shares) / len(shares))
        else:
            low, high = one.interval or (None, None)
            figure = OwnFigure(
                value=one.accuracy, count=one.correct, of=one.judged, low=low, high=high
            )
        figures.setdefault(decider, {})[scenario, kind] = figure
    return figures


def _means(summaries: Sequence[Summary]) -> _Figures:
    found: _Figures = {}
    for mean in kind_means(summaries):
        found.setdefault(mean.decider, {})[mean.scenario, ""] = OwnFigure(value=mean.accuracy)
    return found


def _figures(table: FindingTable) -> _Figures:
    """Return the shares in a table of an analysis, by decider and by their place in the table."""
    found: _Figures = {}
    for row in table.rows:
        for column, share in row.shares.items():
            found.setdefault(row.decider, {})[row.scenario, column] = OwnFigure(
                value=share.rate, count=share.count, of=share.of, low=share.low, high=share.high
            )
    return found


SCORE, PARETO = "score", "pareto optimal"


def _of_games(table: PublishedTable, one: GameFigures) -> dict[Place, OwnFigure]:
    """Return the figures of a player by their place in the paper's table.

    `one` contains the figures against one opponent, or against all opponents together.
    """
    printed = {(figure.scenario, figure.column) for row in table.rows for figure in row.figures}
    against = one.opponent or ""
    estimates: dict[Place, Estimate | None] = {
        "payoff": {(against, ""): one.payoff},
        "rational": {(against, ""): one.rational},
        "agreements": {
            (against, SCORE): one.score,
            (against, AGREEMENT): one.facts.get(AGREEMENT),
            (against, PARETO): one.agreed_facts.get(PARETO),
        },
        "episodes": {
            ("", SCORE): one.payoff,
            ("", "success"): one.success,
            **{(name, SCORE): task.score for name, task in one.tasks.items()},
            **{(name, "success"): task.success for name, task in one.tasks.items()},
        },
    }.get(table.measure, {})
    return {
        place: OwnFigure(value=found.value, low=found.low, high=found.high)
        for place, found in estimates.items()
        if found is not None and (table.measure != "episodes" or place in printed)
    }
