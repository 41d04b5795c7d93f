"""Put the figures of a run into the printed tables of papers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from pydantic import Field

from dqa.core.records import Record
from dqa.evaluation.findings import Analysis
from dqa.evaluation.statistics.games import AGREEMENT, SUCCESS, PlayFigures
from dqa.evaluation.statistics.summaries import Summary, grouped, kind_means, mean_of

Place: TypeAlias = tuple[str, str]
"""The scenario, opponent or kind of task of a figure ("" for all), and the column of the figure."""
SCORE, PARETO = "score", "pareto optimal"


class PublishedFigure(Record):
    """One figure that a paper printed, or a run's figure for the same place in the paper's table.

    Attributes
    ----------
    scenario
        The scenario, the opponent or the kind of task of the figure. An empty text means all
        scenarios, opponents or kinds.
    column
        The column, which depends on the measure: a kind of database, a type of question or a class
        of failure. Empty if the columns of the table are the scenarios.
    value
        The figure; a share is in 0..1. None if the paper prints only the count.
    of
        The number of decisions that the share refers to; None if it is unknown.
    low, high
        The 95 % interval of a run's figure. For an accuracy on one database, it is clustered by
        situation. For games, it is clustered by deal. For other shares, it is Wilson's interval, in
        which every question counts once. A mean of shares has no interval (None).
    """

    scenario: str = ""
    column: str = ""
    value: float | None = None
    of: int | None = Field(default=None, ge=0)
    low: float | None = None
    high: float | None = None

    @property
    def place(self) -> Place:
        """The scenario and the column."""
        return self.scenario, self.column


class PublishedRow(Record):
    """The figures of one decider or player.

    Attributes
    ----------
    name
        Name of the decider or player in the paper.
    decider
        Name of the same decider or player in dqa; empty if dqa does not have this decider or
        player.
    model
        Name of the model, if the table compares models.
    """

    name: str
    decider: str = ""
    model: str | None = None
    figures: tuple[PublishedFigure, ...]


class PublishedTable(Record):
    """A table or figure of a paper.

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
    note
        A note that explains the numbers in the paper.
    rows
        The printed rows.
    ours
        The rows of a run (`add_rows`).
    """

    name: str
    title: str
    measure: str
    world: str | None = None
    reference: str | None = None
    note: str | None = None
    rows: tuple[PublishedRow, ...]
    ours: tuple[PublishedRow, ...] = ()

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
    notes
        Lines about a run whose rows are in the tables.
    """

    name: str
    citation: str
    setting: str
    strict_official: bool = True
    analysis: str | None = None
    tables: tuple[PublishedTable, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def worlds(self) -> tuple[str, ...]:
        """The worlds of the tables about games, in order."""
        return tuple(dict.fromkeys(table.world for table in self.tables if table.world))


class RunFigure(NamedTuple):
    """A figure of a run, with its measure and its decider or player."""

    measure: str
    decider: str
    figure: PublishedFigure


def add_rows(
    paper: Publication,
    figures: Iterable[RunFigure],
    models: Mapping[str, str],
    world: str | None = None,
) -> Publication:
    """Return a paper's tables with the rows of a run below the printed rows.

    A table about questions gets a row for each decider that it names. A table about games gets a
    row for every player.

    Parameters
    ----------
    paper
        The paper.
    figures
        The figures of the run: `question_figures` or `game_figures`.
    models
        The model of each decider.
    world
        The world of the run; None for a run of questions. Tables of other worlds are left out.
    """
    by_measure = grouped(figures, lambda one: one.measure)
    tables = []
    for table in (one for one in paper.tables if one.world == world):
        named = {row.decider for row in table.rows}
        printed = {figure.place for row in table.rows for figure in row.figures}
        found: dict[str, dict[Place, PublishedFigure]] = {}
        for _, decider, figure in by_measure.get(table.measure, ()):
            # A task of one player has more figures than the paper prints.
            is_shown = table.measure != "episodes" or figure.place in printed
            if is_shown and (world or decider.partition("@")[0] in named):
                found.setdefault(decider, {})[figure.place] = figure
        ours = [
            PublishedRow(
                name="this run",
                decider=decider,
                model=models.get(decider),
                figures=tuple(found[decider].values()),
            )
            for decider in found
        ]
        tables.append(table.changed(ours=tuple(ours)))
    return paper.changed(tables=tuple(tables))


def question_figures(
    summaries: Sequence[Summary], analysis: Analysis | None
) -> Iterator[RunFigure]:
    """Yield the figures of a run of questions: accuracies, and the measures of an analysis.

    If a kind of database has several databases, its accuracy is the mean over these databases.
    """
    known = (one for one in summaries if one.accuracy is not None)
    groups = grouped(known, lambda one: (one.decider, one.scenario, one.kind))
    for (decider, scenario, kind), group in groups.items():
        mean = mean_of(one.accuracy for one in group)
        figure = PublishedFigure(scenario=scenario, column=kind, value=mean)
        if len(group) == 1:
            low, high = group[0].interval or (None, None)
            figure = figure.changed(of=group[0].judged, low=low, high=high)
        yield RunFigure("accuracy", decider, figure)
    for one in kind_means(summaries):
        figure = PublishedFigure(scenario=one.scenario, value=one.accuracy)
        yield RunFigure("mean_accuracy", one.decider, figure)
    for table in analysis.tables if analysis else ():
        for row in table.rows:
            for column, share in row.shares.items():
                about = share.model_dump(include={"of", "low", "high"}) | {"value": share.rate}
                figure = PublishedFigure(scenario=row.scenario, column=column, **about)
                yield RunFigure(table.measure, row.decider, figure)


def game_figures(games: PlayFigures) -> Iterator[RunFigure]:
    """Yield the figures of a run of games."""
    for one in (*games.pairs, *games.players):
        against = one.opponent or ""
        measured = [
            ("payoff", against, "", one.payoff),
            ("rational", against, "", one.rational),
            ("agreements", against, SCORE, one.score),
            ("agreements", against, AGREEMENT, one.facts.get(AGREEMENT)),
            ("agreements", against, PARETO, one.agreed_facts.get(PARETO)),
            ("episodes", "", SCORE, one.payoff),
            ("episodes", "", SUCCESS, one.success),
        ]
        for name, task in one.tasks.items():
            measured.append(("episodes", name, SCORE, task.score))
            measured.append(("episodes", name, SUCCESS, task.success))
        for measure, scenario, column, found in measured:
            if found is not None:
                about = found.model_dump(include={"value", "low", "high"})
                figure = PublishedFigure(scenario=scenario, column=column, **about)
                yield RunFigure(measure, one.player, figure)
