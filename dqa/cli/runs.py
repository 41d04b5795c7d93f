"""Commands on stored runs: list, show, export, compare, analyse, report."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dqa.cli import options
from dqa.cli.completion import by_name
from dqa.cli.evaluate import described
from dqa.cli.help import MODELS, OUTPUT, QUESTIONS
from dqa.cli.options import argument, option
from dqa.cli.output import echo, echo_exactly, echo_json
from dqa.cli.output import show as show_output
from dqa.core.errors import UsageError
from dqa.core.text import counted
from dqa.evaluation.results import Outcome
from dqa.evaluation.spec import PlaySpec
from dqa.report.table import Table

if TYPE_CHECKING:
    from dqa.api.runs import Run
    from dqa.api.stored import StoredRun
    from dqa.evaluation.findings import Analysis
    from dqa.evaluation.results import Result
    from dqa.evaluation.traces import Trace
    from dqa.report.counts import RunCounts

_TIES = 5
_STDOUT = "-"


def list_runs(
    *,
    folders: Annotated[list[str] | None, argument("FOLDER|STORE")] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the runs below folders and in stores, with their progress and accuracy.

    The latest comes first. Decisions that a failing server, a spent budget or a bug ended have
    failed; 'dqa eval --resume RUN' repeats them and makes the missing ones.

    Parameters
    ----------
    folders
        Folders to search, with those below, or stores; by default 'runs' and the current folder.
    """
    from dqa.api.stored import find_runs

    found = find_runs(*folders or ())
    nothing = "There is no run here: 'dqa eval ... --out runs/NAME' writes one."
    lines = (line for run in found for line in _about(run))
    show_output(found, lines if found else [nothing], as_json=as_json)


def _about(run: StoredRun) -> Iterator[str]:
    from dqa.report.hints import resume_command

    known = {True: "complete", False: "not complete", None: "maybe complete"}
    state = known[run.counts.complete] if run.problem is None else "cannot be read"
    began = "unknown date" if run.began is None else f"{run.began:%Y-%m-%d %H:%M} UTC"
    yield f"{run.folder}  {began}  {state}"
    if run.problem is not None:
        yield f"    {run.problem}"
        return
    yield f"    {run.questions}"
    asked = ", ".join(run.deciders)
    if run.databases:  # those of a user's own questions are known from its decisions
        asked += f" on {', '.join(run.databases)}"
    asked += f"; model: {run.model or 'none'}"
    if run.labelled:
        asked += f", labels: {', '.join(run.labelled)}"
    yield f"    {asked}; {run.epochs} epochs" if run.epochs > 1 else f"    {asked}"
    yield f"    {_figures(run.counts)}"
    if run.counts.complete is False:
        yield f"    resume by: {resume_command(run.folder, games=run.games)}"


def _figures(counts: RunCounts) -> str:
    """Return how much is judged, failed and missing, and how much of the judged is right."""
    of = "" if counts.planned is None else f" of {counts.planned}"
    first = f"{counts.played}{of} games played" if counts.played else f"{counts.judged}{of} judged"
    if counts.right is not None:
        first += f", {100 * counts.right:.1f} % of them right"
    others = {
        "without a known answer": counts.unlabelled,
        "failed": counts.failed,
        "not made yet": counts.missing,
    }
    return "; ".join([first, *(f"{count} {what}" for what, count in others.items() if count)])


def show(  # noqa: PLR0913  (one parameter per option)
    *,
    run: options.RunOrTrace,
    question: options.RunQuestion = None,
    wrong: Annotated[bool, option("--wrong", OUTPUT)] = False,
    failed: Annotated[bool, option("--failed", OUTPUT)] = False,
    outcome: Annotated[list[Outcome] | None, option("--outcome NAME", OUTPUT)] = None,
    scenario: options.OfScenario = None,
    database: options.OnDatabase = None,
    decider: options.ByDecider = None,
    epoch: Annotated[int | None, option("--epoch N", QUESTIONS, least=1)] = None,
    full: Annotated[bool, option("--full", OUTPUT)] = False,
    as_json: options.AsJson = False,
) -> None:
    """Print the table of a stored run, list its decisions, or show one step by step.

    Everything comes from the stored run: no release, database or model is needed. With an option
    that selects decisions, they are listed, each with the choice, the right answer, and the
    command that shows its steps. With QUESTION, or for a file of one decision, its steps are shown;
    if several decisions match, they are listed.

    Parameters
    ----------
    wrong
        List judged decisions that are not right: wrong, or none.
    failed
        List decisions that a failing server, a spent budget or a bug ended.
    outcome
        List decisions with this outcome: correct, wrong, forbidden, no_candidate, ambiguous,
        step_limit, unparsable, infrastructure, budget, stopped, crashed, no_decision or played;
        may be repeated.
    epoch
        Only this repeat.
    full
        Shorten nothing, and show the whole prompt.
    """
    from dqa.api.stored import read_run

    found = read_run(run)
    ended = {"outcomes": outcome or (), "wrong": wrong, "failed": failed}
    if found.location is not None and (question is None or any(ended.values())):
        if not found.results:
            from dqa.report.hints import resume_command

            how = resume_command(found.location)
            raise UsageError(f"{run} holds no finished decision yet: '{how}' resumes it.")
        if not (any(ended.values()) or scenario or database or decider or epoch):
            figures = found.figures()
            show_output(figures, described(figures), as_json=as_json)
            return
        selected = found.find(question, database, decider, scenario=scenario, **ended)  # type: ignore[arg-type]
        listed = [one for one in selected if epoch in {None, one.epoch}]
        show_output(listed, _decisions(found, listed), as_json=as_json)
        return
    wanted = found.select(question, database, decider, epoch=epoch)
    if as_json or len(wanted) > 1:
        results = [found.by_key[one.key] for one in wanted if one.key in found.by_key]
        show_output([*_written(found, wanted)], _decisions(found, results), as_json=as_json)
        return
    from dqa.report.trace_text import echo_passages

    echo_passages(found.passages(wanted[0]), full=full)


def _written(run: Run, traces: Sequence[Trace]) -> Iterator[dict[str, object]]:
    """Yield decisions with their steps, as ``--json`` prints them."""
    names = ("question", "database", "decider", "epoch", "model")
    for one in traces:
        yield {name: getattr(one, name) for name in names} | {"passages": run.passages(one)}


def _decisions(run: Run, wanted: Sequence[Result]) -> Iterator[str]:
    from dqa.report.hints import trace_command

    repeated = run.is_repeated
    for result in wanted:
        where = f"{result.question} on {result.database} by {result.decider}"
        where += f", epoch {result.epoch}" if repeated else ""
        yield f"{where}: {result.outcome}. {_worth(result)}"
        if run.location is not None:
            yield f"    {trace_command(run.location, result.key, repeated=repeated)}"
    yield f"{len(wanted)} of {len(run.results)} decisions."


def _worth(result: Result) -> str:
    """Return the choice and the right answer; without a choice, the reason."""
    error = "" if result.error is None else f". {result.error}"
    if result.match is not None:
        gold = result.ties[0] if result.ties else None
        wrote = "Wrote nothing." if result.choice is None else f"Wrote {result.choice}"
        return wrote + ("" if gold in {None, result.choice} else f"; gold is {gold}") + error
    text = "Chose nothing" if result.choice is None else f"Chose {result.choice}"
    if result.ties:
        more = " ..." if len(result.ties) > _TIES else ""
        text += f"; right is {' or '.join(map(str, result.ties[:_TIES]))}{more}"
    if result.official is not None and result.ties != (result.official,):
        text += f"; the official answer is {result.official}"
    return text + (error or ".")


def export(
    *,
    run: options.Run,
    as_format: Annotated[str | None, option("--format FORMAT", OUTPUT)] = None,
    out: Annotated[str, option("--out FILE|DIR|STORE", OUTPUT)] = _STDOUT,
    for_spreadsheets: Annotated[bool, option("--for-spreadsheets", OUTPUT)] = False,
) -> None:
    """Write a run for other programs, or copy it into another folder or store.

    Rows have all fields of results, with seconds, cost and the answers of the scenario's
    heuristics: every figure of 'dqa show' can be computed from them. Existing files are never
    overwritten.

    Parameters
    ----------
    as_format
        jsonl, csv, parquet, inspect (logs of Inspect AI), or run: a copy that can be resumed; by
        default the ending of --out.
    out
        New file; for inspect a new folder; for run a new folder, or a store with #NAME; - for
        standard output.
    for_spreadsheets
        Begin texts of a CSV that a spreadsheet would run as a formula with an apostrophe; otherwise
        every text is exact.
    """
    from dqa.api.measuring import export_rows, export_run, require_format
    from dqa.report.export_rows import encode_rows

    if as_format == "run" and out != _STDOUT:
        from dqa.api.stored import copy_run

        echo(f"The run is in {copy_run(run, out)}.")
        return
    if out != _STDOUT:
        written = export_run(run, out, as_format, for_spreadsheets=for_spreadsheets)
        echo(f"The run is in {written}.")
        return
    wanted = require_format(as_format or "jsonl", for_spreadsheets=for_spreadsheets)
    if wanted == "parquet" or wanted == "inspect":  # noqa: PLR1714  (type checkers narrow it so)
        kind = "folder" if wanted == "inspect" else "file"
        raise UsageError(f"{wanted} is no text: name a new {kind} for it (--out).")
    text = encode_rows(export_rows(run), wanted, for_spreadsheets=for_spreadsheets).decode()
    if sys.stdout.isatty():  # which data must not control
        echo(*text.splitlines())
    else:
        echo_exactly(text)


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
    """Compare deciders on the questions that they share, or players on their games.

    Differences are paired: question by question, databases apart, epochs averaged; of games deal by
    deal. Intervals and p-values by situations allow for questions about the same data;
    docs/statistics.md explains which figure to use. A decision that could not be judged is left out
    of its pairs, and counted.

    Parameters
    ----------
    deciders
        Only these deciders or players, separated by commas.
    against
        Compare each other decider with this one, not all pairs.
    all_pairs
        Compare all pairs; without it, several runs that share deciders or players are compared one
        by one.
    shared
        Compare on the questions that all were asked, if they differ.
    times
        Also print how long decisions took.
    """
    from dqa.api.comparing import compare as compare_runs
    from dqa.api.comparing import compare_games
    from dqa.api.stored import open_run
    from dqa.report.compare_tables import notes, tables
    from dqa.report.game_tables import game_lines, game_tables

    read = [open_run(run) for run in runs]
    names = options.names_in("--deciders", deciders)
    if all(isinstance(run.spec, PlaySpec) for run in read):
        if scenario or shared or times:
            raise UsageError(
                "Players are compared on the deals that they share: leave out --scenario, "
                "--shared and --times, which are about questions."
            )
        played = compare_games(*read, players=names, against=against, all_pairs=all_pairs)
        models = {one.player: one.model for one in played.players}
        show_output(played, [*game_tables(played), *game_lines(played, models)], as_json=as_json)
        return
    found = compare_runs(
        *read,
        deciders=names,
        against=against,
        scenario=scenario,
        only_shared=shared,
        times=times,
        all_pairs=all_pairs,
    )
    show_output(found, [*tables(found), *notes(found)], as_json=as_json)


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
        show_output(view, [*paper_tables(view), *paper_notes(view)], as_json=as_json)
    else:
        found = measuring.analyse(run, reference, questions=questions)
        show_output(found, _analysis(run, found), as_json=as_json)


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
    title: Annotated[str | None, option("--title TEXT", OUTPUT)] = None,
    questions: options.QuestionsFolder = None,
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
    title
        Title of the report; by default the names of the runs.
    details
        Include every trace and every candidate's outcome; by default up to 2,500 decisions.
    """
    from dqa.api.reporting import read_report, write_report

    if out is None:
        if not as_json:
            raise UsageError("Name the page to write (--out FILE), or print the figures (--json).")
        echo_json(read_report(*runs, title=title, questions=questions))
        return
    found = write_report(runs, out, title=title, questions=questions, details=details)
    size = out.stat().st_size / 1e6
    said = f"The report on {counted(len(found.questions), 'question')} is {out} ({size:.1f} MB)."
    show_output(found, filter(None, (found.outcomes, found.traces, said)), as_json=as_json)
