"""``dqa dellma tree``: what a DeLLMa decision rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options
from dqa.cli.help import OUTPUT
from dqa.cli.output import echo, echo_json
from dqa.cli.progress import track
from dqa.core.errors import UsageError
from dqa.core.files import require_new_file

if TYPE_CHECKING:
    from dqa.evaluation.traces import Trace


def tree(  # noqa: PLR0913  (one parameter an option)
    *,
    run: options.RunOrTrace,
    question: options.RunQuestion = None,
    database: options.OnDatabase = None,
    decider: options.ByDecider = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="PATH",
            help="New page with a tree that unfolds; of a folder without QUESTION a new folder "
            "with a page for every tree and an index.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Shorten nothing: every action, state and ranking.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show what a DeLLMa decision rests on: beliefs, states, rankings, utilities, and why."""
    from dqa.api.stored import read_run
    from dqa_dellma.tree.reading import find_tree

    if html is not None and question is None and Path(run).is_dir():
        _write_all(Path(run), database, decider, html, as_json=as_json)
        return
    if html is not None:
        require_new_file(html)
    found = find_tree(read_run(run).select(question, database, decider))
    if html is not None:
        from dqa_dellma.tree.page import write_tree

        write_tree(found, html)
    if as_json:
        echo_json(found.to_json())
    elif html is not None:
        echo(f"The page is in {html}.")
    else:
        from dqa_dellma.tree.text import echo_tree

        echo_tree(found, full=full)


def _write_all(
    run: Path, database: str | None, decider: str | None, folder: Path, *, as_json: bool
) -> None:
    from dqa.api.stored import read_run
    from dqa_dellma.tree.report import INDEX, write_tree_report

    if as_json:
        raise UsageError("--json shows one tree: name its QUESTION, or leave --json away.")
    read = read_run(run)
    wanted = read.select(None, database, decider, several=True)
    problems = write_tree_report(wanted, read.by_key, folder, watch=_watched)
    for problem in problems:
        echo(f"left out: {problem}", err=True)
    echo(f"The pages are in {folder}: open {folder / INDEX}.")


def _watched(traces: Sequence[Trace]) -> Iterator[Trace]:
    return track(traces, "Writing")
