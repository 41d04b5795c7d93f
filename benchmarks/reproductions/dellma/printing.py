"""What ``dqa dellma replay`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import typer
from rich.table import Table

from dqa.cli.output import echo_json, echo_table, report_defects
from dqa.cli.progress import track

from .replay import replay
from .scores import Score

__all__ = ["show"]

_Item = TypeVar("_Item")


def show(release: Path, rules: str, *, verbose: bool, as_json: bool) -> None:
    """Score the recorded answers of a release, and print the scores beside the published ones.

    Parameters
    ----------
    release, rules
        As in `replay.replay`.
    verbose
        Whether to print every defect of the files, not the first ten.
    as_json
        Whether to print JSON instead of tables.
    """
    replayed = replay(release, rules, watch=_watched)
    report_defects(replayed.defects, verbose)
    if as_json:
        echo_json([score.to_json() for score in replayed.scores])
        return
    echo_table(_overall(replayed.scores))
    echo_table(_by_actions(replayed.scores))
    tied = sum(score.tied for score in replayed.scores)
    if tied:
        typer.echo(
            f"{tied} decisions are ties that rounding decides: the released rule gives every action"
            " the same expected utility, so another machine may decide them otherwise. With "
            "--rule-set paper the rankings decide."
        )


def _watched(items: Sequence[_Item]) -> Iterator[_Item]:
    return track(items, "Replaying")


def _overall(scores: Sequence[Score]) -> Table:
    table = _table("Recorded answers (published: over all 120 questions)")
    figures = ("questions", "accuracy %", "published", "utility %", "published", "ties")
    for name in figures:
        table.add_column(name, justify="right")
    for score in scores:
        table.add_row(
            *_named(score),
            str(score.questions),
            _figure(score.accuracy),
            _figure(score.published_accuracy),
            _figure(score.normalised_utility),
            _figure(score.published_normalised_utility),
            str(score.tied or ""),
        )
    return table


def _by_actions(scores: Sequence[Score]) -> Table:
    sizes = sorted({part.actions for score in scores for part in score.by_actions})
    table = _table("Accuracy % / normalised utility % by number of actions")
    for size in sizes:
        table.add_column(str(size), justify="right")
    for score in scores:
        cells = {
            part.actions: f"{part.accuracy:.1f} / {part.normalised_utility:.1f}"
            for part in score.by_actions
        }
        table.add_row(*_named(score), *(cells.get(size, "") for size in sizes))
    return table


def _table(title: str) -> Table:
    """Return a table with the columns of `_named`."""
    table = Table(title=title)
    for name in ("dataset", "method"):
        table.add_column(name)
    for name in ("samples", "overlap %"):
        table.add_column(name, justify="right")
    return table


def _named(score: Score) -> tuple[str, ...]:
    settings = (score.sample_size, score.overlap)
    return score.dataset, score.method, *("" if x is None else str(x) for x in settings)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
