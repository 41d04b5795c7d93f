"""``dqa analyse``: what the PlanRAG paper measures about runs, taken from their traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqa.cli import options
from dqa.cli.asking import model_line
from dqa.cli.output import echo_json, echo_table
from dqa.report.untrusted import visible

__all__ = ["analyse"]

_REFERENCE = "iterrag"


def analyse(
    *,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of 'dqa eval --out'.")],
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="DECIDER",
            help="Decider whose number of retrievals tells single-retrieval questions (SR) from "
            f"multiple-retrieval ones (MR); '{_REFERENCE}' by default, where it took part.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure a run's traces: retrievals, re-plannings, missed data and classes of failures.

    Every measure is a written rule that asks no model; docs/analysis.md has them. Databases are
    counted together. With --json every single run is listed with its own measures, too.
    """
    from dqa.evaluation.analysis import analyse as analyse_cases
    from dqa.evaluation.analysis import read_cases

    cases = read_cases(run)
    if reference is None and any(case.result.decider == _REFERENCE for case in cases.judged):
        reference = _REFERENCE
    found = analyse_cases(cases, reference)
    if as_json:
        echo_json(found.to_json())
        return
    from dqa.models.registry import is_scripted
    from dqa.report.analyse_tables import notes, tables

    for title, table in tables(found):
        typer.echo(visible(title))
        echo_table(table)
    if reference is None:
        typer.echo(
            f"No table of SR and MR questions: '{_REFERENCE}' took no part; name another decider "
            "with --reference."
        )
    for line in notes(found):
        typer.echo(visible(line))
    for model in found.models:
        typer.echo(visible(model_line(model)))
    if any(is_scripted(model) for model in found.models):
        typer.echo("What scripts look up is their own choice: it says nothing of language models.")
