"""Commands that measure runs: ``compare``, ``analyse``, ``report`` and ``view``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dqa.cli import options
from dqa.cli.completion import by_name
from dqa.cli.help import MODELS, OUTPUT, QUESTIONS
from dqa.cli.options import option
from dqa.cli.output import echo, echo_json, show
from dqa.core.errors import UsageError
from dqa.core.text import counted
from dqa.report.table import Table

if TYPE_CHECKING:
    from dqa.evaluation.findings import Analysis

Title = Annotated[
    str | None, option("--title TEXT", OUTPUT, "The report's title; by default the runs' names.")
]


def compare(  # noqa: PLR0913  (one parameter per option)
    *,
    runs: options.Runs,
    deciders: Annotated[str | None, option("--deciders NAMES", MODELS)] = None,
    against: Annotated[str | None, option("--against NAME", MODELS)] = None,
    all_pairs: Annotated[bool, option("--all-pairs", MODELS)] = False,
    scenario: options.OfScenario = None,
    shared: Annotated[bool, option("--shared", QUESTIONS)] = False,
    times: Annotated[bool, option("--times", OUTPUT)] = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare deciders, of one run or several, on the questions that they share.

    Differences are paired: question by question, databases apart, epochs averaged. Intervals and
    p-values by situations allow for questions about the same data; docs/statistics.md explains
    which figure to use. A decision that could not be judged is left out of its pairs, and counted.

    Parameters
    ----------
    deciders
        Only these deciders, separated by commas.
    against
        Compare each other decider with this one, not all pairs.
    all_pairs
        Compare all pairs; without it, several runs that share deciders are compared decider by
        decider.
    shared
        Compare on the questions that all were asked, if they differ.
    times
        Also print how long decisions took; reads all traces.
    """
    from dqa.api.comparing import compare as compare_runs
    from dqa.report.compare_tables import notes, tables

    found = compare_runs(
        *runs,
        deciders=options.names_in("--deciders", deciders),
        against=against,
        scenario=scenario,
        only_shared=shared,
        times=times,
        all_pairs=all_pairs,
    )
    show(found, [*tables(found), *notes(found)], as_json=as_json)


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
    from dqa.api import measuring
    from dqa.report.paper_tables import paper_notes, paper_tables

    if paper is not None:
        view = measuring.view_paper(run, paper, reference, questions=questions)
        show(view, [*paper_tables(view), *paper_notes(view)], as_json=as_json)
    else:
        found = measuring.analyse(run, reference, questions=questions)
        show(found, _analysis(run, found), as_json=as_json)


def _analysis(run: str, found: Analysis) -> Iterator[str | Table]:
    from dqa.api.stored import read_run
    from dqa.report.paper_tables import finding_table
    from dqa.report.tables import model_line

    yield from (finding_table(measured) for measured in found.tables if measured.rows)
    yield from (*read_run(run).figures().scoring(), *found.notes, *map(model_line, found.models))


def report(  # noqa: PLR0913  (one parameter per option)
    *,
    runs: options.Runs,
    out: Annotated[Path | None, option("--out FILE", OUTPUT)] = None,
    title: Title = None,
    questions: options.QuestionsFolder = None,
    analysis: Annotated[bool, option("--analysis", OUTPUT)] = False,
    details: Annotated[bool | None, option("--details/--no-details", OUTPUT)] = None,
    as_json: options.AsJson = False,
) -> None:
    """Write runs as one self-contained page: figures, charts, questions and traces.

    It opens offline and makes no network requests. With --json its figures are printed, too, or
    alone.

    Parameters
    ----------
    out
        New page; optional with --json.
    analysis
        Also assign failures to the paper's classes, as 'dqa analyse' does.
    details
        Include every trace and every candidate's outcome; by default up to 2,500 decisions.
    """
    from dqa.api.reporting import read_report, write_report

    if out is None:
        if not as_json:
            raise UsageError("Name the page to write (--out FILE), or print the figures (--json).")
        echo_json(read_report(*runs, title=title, questions=questions, analysis=analysis))
        return
    found = write_report(
        runs, out, title=title, questions=questions, analysis=analysis, details=details
    )
    size = out.stat().st_size / 1e6
    said = f"The report on {counted(len(found.questions), 'question')} is {out} ({size:.1f} MB)."
    show(found, filter(None, (found.pictures, found.traces, said)), as_json=as_json)


def view(
    *,
    runs: options.Runs,
    title: Title = None,
    port: Annotated[int, option("--port N", OUTPUT, least=0, most=65535)] = 0,
) -> None:
    """Serve the report of runs to this machine, live, until Ctrl-C.

    The page is that of 'dqa report', and is updated as decisions are made; open parts stay open.

    Parameters
    ----------
    port
        Port; 0 for any free one.
    """
    from dqa.api.viewing import ReportServer

    server = ReportServer(runs, title, port)
    echo(f"The report is at {server.url} until Ctrl-C.")
    server.serve()
