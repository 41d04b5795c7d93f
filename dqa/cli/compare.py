"""``dqa compare``: deciders of one run or several, on the questions that they share."""

from __future__ import annotations

from typing import Annotated

import typer

from dqa.cli import options
from dqa.cli.help import MODELS, OUTPUT, QUESTIONS
from dqa.cli.output import echo, echo_json, echo_table


def compare(  # noqa: PLR0913  (one parameter an option)
    *,
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Folders or STORE#NAME of 'dqa eval --out'."),
    ],
    deciders: Annotated[
        str | None,
        typer.Option(
            "--deciders",
            metavar="NAMES",
            help="Only these deciders, separated by commas.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="NAME",
            help="Compare each of the others with this one, and not every two.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    all_pairs: Annotated[
        bool,
        typer.Option(
            "--all-pairs",
            help="Compare every two; several runs that share deciders are else compared decider by "
            "decider.",
            rich_help_panel=MODELS,
        ),
    ] = False,
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario",
            metavar="NAME",
            help="Only the questions of this scenario.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    shared: Annotated[
        bool,
        typer.Option(
            "--shared",
            help="Compare on the questions that all were asked, where not all were asked the same.",
            rich_help_panel=QUESTIONS,
        ),
    ] = False,
    times: Annotated[
        bool,
        typer.Option(
            "--times",
            help="Also tell how long decisions took, for which all traces are read.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare deciders, of one run or several, on the questions that they share.

    Differences are paired: question by question, databases apart, epochs averaged. Intervals and
    p-values by situations allow for questions about the same data; docs/evaluation.md says which
    figure to trust when. What could not be judged for both is left out of their pair, and counted.
    """
    from dqa.api.comparing import compare as compare_runs

    found = compare_runs(
        *runs,
        deciders=() if deciders is None else options.names_in("--deciders", deciders),
        against=against,
        scenario=scenario,
        only_shared=shared,
        times=times,
        all_pairs=all_pairs,
    )
    if as_json:
        echo_json(found.to_json())
        return
    from dqa.report.compare_tables import notes, tables

    for title, table in tables(found):
        echo(title)
        echo_table(table)
    for line in notes(found):
        echo(line)
