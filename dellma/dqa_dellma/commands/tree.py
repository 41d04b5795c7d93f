"""``dqa dellma tree``: what a DeLLMa decision rests on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqa.cli import options
from dqa.cli.help import OUTPUT
from dqa.cli.output import echo, echo_json
from dqa.core.files import require_new_file


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
            metavar="FILE",
            help="New page with a tree that unfolds, down to states, rankings and statements.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what a DeLLMa decision rests on: beliefs, utilities, and why."""
    from dqa.api.stored import read_run
    from dqa_dellma.tree.decision_tree import find_tree
    from dqa_dellma.tree.page import write_tree
    from dqa_dellma.tree.text import echo_tree

    if html is not None:
        require_new_file(html)
    found = find_tree(read_run(run).select(question, database, decider))
    if html is not None:
        write_tree(found, html)
    if as_json:
        echo_json(found.to_json())
    elif html is not None:
        echo(f"The page is in {html}.")
    else:
        echo_tree(found)
