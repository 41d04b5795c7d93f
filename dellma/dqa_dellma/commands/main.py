"""``dqa dellma``: what belongs to DeLLMa, beside its deciders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from dqa.cli import options
from dqa.cli.output import echo_json, echo_table, report_defects
from dqa.cli.progress import shown
from dqa_dellma.commands import portfolio as dellma_portfolio
from dqa_dellma.commands import tree as dellma_tree

if TYPE_CHECKING:
    from rich.table import Table

    from dqa_dellma.replay_scores import Score

__all__ = ["app"]

app = typer.Typer(
    help="DeLLMa: what a decision rests on, and the authors' recorded answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_Item = TypeVar("_Item")


@app.callback()
def _dellma() -> None:
    """DeLLMa: what a decision rests on, and the authors' recorded answers."""


app.command("tree")(dellma_tree.tree)
app.command("portfolio")(dellma_portfolio.portfolio)


@app.command("replay")
def replay(
    *,
    release: Annotated[
        Path, typer.Option("--release", metavar="DIR", help="Folder of the DeLLMa release to read.")
    ],
    rules: Annotated[
        str,
        typer.Option(
            "--rules",
            metavar="NAME",
            help="How rankings are scored: 'released', or 'paper' for one softmax everywhere.",
        ),
    ] = "released",
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Score the recorded GPT-4 answers of a DeLLMa release, beside the published figures."""
    from dqa_dellma.replay import replay as replay_all

    replayed = replay_all(release, rules, watch=_watched)
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
            "--rules paper the rankings decide."
        )


def _watched(items: Sequence[_Item]) -> Iterator[_Item]:
    return shown(items, "Replaying")


def _overall(scores: Sequence[Score]) -> Table:
    from rich.table import Table

    table = Table(title="Recorded answers (published: over all 120 questions)")
    for name in ("dataset", "method"):
        table.add_column(name)
    for name in (
        *("samples", "overlap %", "questions", "accuracy %", "published"),
        *("utility %", "published", "ties"),
    ):
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
    from rich.table import Table

    sizes = sorted({part.actions for score in scores for part in score.by_actions})
    table = Table(title="Accuracy % / normalised utility % by number of actions")
    for name in ("dataset", "method"):
        table.add_column(name)
    for name in ("samples", "overlap %", *map(str, sizes)):
        table.add_column(name, justify="right")
    for score in scores:
        cells = {
            part.actions: f"{part.accuracy:.1f} / {part.normalised_utility:.1f}"
            for part in score.by_actions
        }
        table.add_row(*_named(score), *(cells.get(size, "") for size in sizes))
    return table


def _named(score: Score) -> tuple[str, ...]:
    settings = (score.sample_size, score.overlap)
    return score.dataset, score.method, *("" if x is None else str(x) for x in settings)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
