"""``dqa analyse``: what a paper measures about runs, taken from their traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dqa.cli import options
from dqa.cli.completion import by_name
from dqa.cli.help import OUTPUT, QUESTIONS
from dqa.cli.options import option
from dqa.cli.output import echo, echo_json, echo_table


def analyse(
    *,
    run: options.Run,
    reference: Annotated[str | None, option("--reference DECIDER", QUESTIONS)] = None,
    questions: options.QuestionsFolder = None,
    paper: Annotated[
        str | None, option("--paper NAME", OUTPUT, complete=by_name("publication"))
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure a run's traces: retrievals, re-plannings, missed data and classes of failures.

    Every measure is a written rule that asks no model; docs/analysis.md has them. Databases are
    counted together. With --json every single run is listed with its own measures, too.

    Parameters
    ----------
    reference
        Decider whose number of retrievals separates single-retrieval questions (SR) from
        multiple-retrieval ones (MR); by default the usual one, if it took part.
    paper
        Print the tables and figures of this paper, and the run's numbers below.
    """
    if paper is not None:
        _print_paper(run, paper, reference, questions, as_json=as_json)
        return
    from dqa.api.measuring import analyse as analyse_run

    found = analyse_run(run, reference, questions=questions)
    if as_json:
        echo_json(found.to_json())
        return
    from dqa.api.reading import read_run
    from dqa.report.analyse_tables import finding_table
    from dqa.report.tables import model_line

    for measured in found.tables:
        if measured.rows:
            echo(measured.title)
            echo_table(finding_table(measured))
    for line in (*read_run(run).scoring(), *found.notes, *map(model_line, found.models)):
        echo(line)


def _print_paper(
    run: str, paper: str, reference: str | None, questions: Path | None, *, as_json: bool
) -> None:
    from dqa.api.measuring import view_paper
    from dqa.report.paper_tables import notes, tables

    view = view_paper(run, paper, reference, questions=questions)
    if as_json:
        echo_json(view.to_json())
        return
    for title, table in tables(view):
        echo(title)
        echo_table(table)
    for line in notes(view):
        echo(line)
