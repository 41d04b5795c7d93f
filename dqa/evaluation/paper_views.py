"""A paper's tables and figures with a run's own numbers beside the printed ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import TypeAlias

from pydantic import Field

from dqa.core.records import Record
from dqa.evaluation.findings import Analysis, FindingTable
from dqa.evaluation.publications import (
    Publication,
    PublishedFigure,
    PublishedRow,
    PublishedTable,
)
from dqa.evaluation.results import NO_MODEL
from dqa.evaluation.statistics.summaries import Summary, kind_means

Place: TypeAlias = tuple[str, str]
"""A scenario, empty for all together, and a column."""


class OwnFigure(Record):
    """What a run has where a paper has a printed figure.

    Attributes
    ----------
    share
        In 0..1.
    count, of
        What it is a share of; None of a mean of shares.
    low, high
        Its 95 % interval, clustered by situation where it is an accuracy on one database, and
        Wilson's by questions elsewhere; None of a mean of shares.
    """

    share: float | None = Field(ge=0)
    count: int | None = Field(default=None, ge=0)
    of: int | None = Field(default=None, ge=0)
    low: float | None = None
    high: float | None = None


class PaperCell(Record):
    """One place of a table: what the paper printed there, and what the run has.

    Attributes
    ----------
    published
        The printed share in 0..1; None where there is none.
    published_of
        How many it is a share of, where the paper says.
    ours
        None where the run does not have it.
    """

    scenario: str
    column: str
    published: float | None
    published_of: int | None
    ours: OwnFigure | None


class PaperRow(Record):
    """A decider in a table.

    Attributes
    ----------
    name, published_model
        As the paper calls it; None of a row that the paper does not have.
    decider, model
        Who stands for it in the run; None where it did not take part.
    """

    name: str | None
    published_model: str | None
    decider: str | None
    model: str | None
    cells: tuple[PaperCell, ...]


class PaperTable(Record):
    """A table or figure of a paper beside a run's figures.

    Attributes
    ----------
    drawn
        Whether the paper draws it; its cells are the bars.
    rows
        The paper's, then those of the same deciders with other models.
    """

    name: str
    title: str
    measure: str
    drawn: bool
    note: str | None
    rows: tuple[PaperRow, ...]


class PaperView(Record):
    """A paper's tables with a run beside, as ``dqa analyse --paper --json`` prints them.

    Attributes
    ----------
    paper, citation, setting
        Which paper, and what its figures were measured with.
    same_scoring
        Whether the run counts the answers as right that the paper does.
    models
        What answered in the run.
    """

    version: int = Field(default=1, ge=1, le=1)
    paper: str
    citation: str
    setting: str
    same_scoring: bool
    models: tuple[str, ...]
    tables: tuple[PaperTable, ...]


def view_paper(
    publication: Publication,
    summaries: Sequence[Summary],
    analysis: Analysis,
    *,
    strict_official: bool,
) -> PaperView:
    """Put a run's figures beside a paper's.

    Parameters
    ----------
    publication
        The paper's tables.
    summaries, analysis
        Of the run.
    strict_official
        Whether only the official answer was right in it.
    """
    models = {summary.decider: summary.model for summary in summaries}
    measured = {
        "accuracy": _by_kind(summaries),
        "mean_accuracy": _means(summaries),
        **{table.measure: _figures(table) for table in analysis.tables},
    }
    return PaperView(
        paper=publication.name,
        citation=publication.citation,
        setting=publication.setting,
        same_scoring=publication.strict_official == strict_official,
        models=tuple(dict.fromkeys(models.values())),
        tables=tuple(
            _table(table, measured.get(table.measure, {}), models) for table in publication.tables
        ),
    )


_Figures: TypeAlias = dict[str, dict[Place, OwnFigure]]
"""By decider and place."""


def _table(table: PublishedTable, ours: _Figures, models: Mapping[str, str]) -> PaperTable:
    rows: list[PaperRow] = []
    wanted = dict.fromkeys(row.decider for row in table.rows)
    taking_part = [name for name in models if _base(name) in wanted]
    shown = set()
    for row in table.rows:
        fitting = [name for name in taking_part if _fits(row, name, models[name])]
        shown.update(fitting)
        rows += [_row(row, name, models[name], ours.get(name, {})) for name in fitting] or [
            _row(row, None, None, {})
        ]
    rows += [
        _row(PublishedRow(name="", decider=name, figures=()), name, models[name], ours[name])
        for name in taking_part
        if name not in shown and name in ours
    ]
    return PaperTable(
        name=table.name,
        title=table.title,
        measure=table.measure,
        drawn=table.drawn,
        note=table.note,
        rows=tuple(rows),
    )


def _base(decider: str) -> str:
    """Return a decider's own name, which its model stands behind where there are several."""
    return decider.partition("@")[0]


def _fits(row: PublishedRow, decider: str, model: str) -> bool:
    """Whether a decider of the run stands for a row; with a named model, where that answered."""
    if _base(decider) != row.decider:
        return False
    return row.model is None or _plain(row.model) in _plain(model)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _row(
    row: PublishedRow, decider: str | None, model: str | None, ours: Mapping[Place, OwnFigure]
) -> PaperRow:
    printed = {(figure.scenario, figure.column): figure for figure in row.figures}
    nothing = PublishedFigure(scenario="")
    return PaperRow(
        name=row.name or None,
        published_model=row.model,
        decider=decider,
        model=None if model == NO_MODEL else model,
        cells=tuple(
            PaperCell(
                scenario=place[0],
                column=place[1],
                published=printed.get(place, nothing).share,
                published_of=printed.get(place, nothing).of,
                ours=ours.get(place),
            )
            for place in dict.fromkeys((*printed, *ours))
        ),
    )


def _by_kind(summaries: Iterable[Summary]) -> _Figures:
    """Return accuracies by kind of database; of several databases of a kind the mean."""
    groups: dict[str, dict[Place, list[Summary]]] = {}
    for one in summaries:
        if one.accuracy is not None:
            places = groups.setdefault(one.decider, {})
            places.setdefault((one.scenario, one.kind), []).append(one)
    return {
        decider: {place: _accuracy(found) for place, found in places.items()}
        for decider, places in groups.items()
    }


def _accuracy(found: Sequence[Summary]) -> OwnFigure:
    if len(found) > 1:
        shares = [one.accuracy for one in found if one.accuracy is not None]
        return OwnFigure(share=fsum(shares) / len(shares))
    (one,) = found
    low, high = one.interval or (None, None)
    return OwnFigure(share=one.accuracy, count=one.correct, of=one.judged, low=low, high=high)


def _means(summaries: Sequence[Summary]) -> _Figures:
    found: _Figures = {}
    for mean in kind_means(summaries):
        places = found.setdefault(mean.decider, {})
        places[mean.scenario, ""] = OwnFigure(share=mean.accuracy)
    return found


def _figures(table: FindingTable) -> _Figures:
    """Return the shares of an analysis's table by decider and place."""
    found: _Figures = {}
    for row in table.rows:
        for column, share in row.shares.items():
            places = found.setdefault(row.decider, {})
            places[row.scenario, column] = OwnFigure(
                share=share.rate, count=share.count, of=share.of, low=share.low, high=share.high
            )
    return found
