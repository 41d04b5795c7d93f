"""Commands on stored runs: list, show, export, compare, analyse, report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dqa.cli import options
from dqa.cli.evaluate import described
from dqa.cli.options import argument
from dqa.cli.output import echo, echo_data, echo_json, echo_text
from dqa.cli.output import show as show_output
from dqa.core.errors import UsageError
from dqa.core.text import counted, shortened
from dqa.evaluation.play_spec import PlaySpec
from dqa.evaluation.results import Outcome
from dqa.report.table import Table

if TYPE_CHECKING:
    from dqa.api.runs import Run
    from dqa.api.stored import StoredRun
    from dqa.evaluation.findings import Analysis
    from dqa.evaluation.results import Result
    from dqa.report.counts import RunCounts

_TIES = 5
_ANSWER = 80
_STDOUT = "-"


def list_runs(
    *,
    folders: Annotated[list[str] | None, argument("FOLDER|STORE...")] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the runs in folders and stores, with their progress and accuracy.

    The newest run is first. A decision counts as failed if a server error, a spent budget or a bug
    ended it. 'dqa eval --resume RUN' repeats failed decisions and makes missing decisions.

    Decisions of 'dqa ask' are not listed: each is a file in ~/.local/share/dqa/decisions, or in the
    folder of the variable DQA_DECISIONS.

    Parameters
    ----------
    folders
        Stores, or folders whose direct subfolders are searched, too. By default, 'runs' and the
        current folder.
    """
    from dqa.api.stored import find_runs

    found = find_runs(*folders or ())
    nothing = "No runs were found. 'dqa eval ... --out runs/NAME' stores a run."
    lines = (line for run in found for line in _about(run))
    show_output(found, lines if found else [nothing], as_json=as_json)


def _about(run: StoredRun) -> Iterator[str]:
    from dqa.report.hints import resume_command

    known = {True: "complete", False: "not complete", None: "maybe complete"}
    state = "cannot be read" if run.problem else known[run.counts.complete]
    state = "running" if run.running else state
    began = "unknown date" if run.began is None else f"{run.began:%Y-%m-%d %H:%M} UTC"
    yield f"{run.folder}  {began}  {state}"
    if run.problem is not None:
        yield f"    {run.problem}"
        return
    yield f"    {run.questions}"
    deciders = ", ".join(run.deciders)
    if run.databases:
        deciders += f" on {', '.join(run.databases)}"
    deciders += f"; model: {run.model or ('none yet' if run.counts.missing else 'none')}"
    yield f"    {deciders}; {run.epochs} epochs" if run.epochs > 1 else f"    {deciders}"
    yield f"    {_figures(run.counts)}"
    if run.counts.complete is False and not run.running:
        yield f"    resume with: {resume_command(run.folder, games=run.games, own=run.own)}"


def _figures(counts: RunCounts) -> str:
    """Describe how many decisions are judged, right, failed and missing."""
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
    only: options.DecisionOptions,
    wrong: bool = False,
    failed: bool = False,
    outcome: list[Outcome] | None = None,
    scenario: str | None = None,
    epoch: options.CountOrNone = None,
    full: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Print the results of a stored run, list its decisions, or show the steps of one decision.

    This command reads only the stored run. It needs no release, database or model.

    Without other options, it prints the table of results. With options that select decisions, it
    lists these decisions with their choice, the right answer, and the command that shows the steps.
    With QUESTION, or if RUN is the file of one decision, it shows the steps of the decision. If
    several decisions match QUESTION, it lists these decisions.

    Parameters
    ----------
    wrong
        List judged decisions that are not right, including decisions without a choice.
    failed
        List decisions that ended with a server error, a spent budget or a bug.
    outcome : NAME
        List decisions with this outcome: correct, wrong, forbidden, no_candidate, ambiguous,
        step_limit, unparsable, infrastructure, budget, stopped, crashed, no_decision or played.
        May be repeated.
    scenario : NAME
        Select only questions of this scenario.
    epoch
        Select only this repetition of the questions, counted from 1.
    full
        Show the complete prompt and all texts without shortening.
    """
    from dqa.api.stored import read_run

    found = read_run(only.run)
    ended = {"outcomes": outcome or (), "wrong": wrong, "failed": failed}
    lists = any(ended.values())
    if found.location is None:
        if scenario or lists:
            raise UsageError(
                "--scenario, --wrong, --failed and --outcome select decisions of a run, but this "
                "file contains a single decision: leave these options out."
            )
    elif only.question is None or scenario or lists:
        found.require_results(f"wait until one is, or resume it with '{found.resuming}'")
        if not (lists or scenario or only.database or only.decider or epoch):
            figures = found.figures()
            show_output(figures, described(figures), as_json=as_json)
            return
        listed = found.find(*only.where(), scenario=scenario, epoch=epoch, **ended)  # type: ignore[arg-type]
        show_output(listed, _decisions(found, listed), as_json=as_json)
        return
    wanted = found.select(*only.where(), epoch=epoch)
    if as_json or len(wanted) > 1:
        results = [found.by_key[one.key] for one in wanted if one.key in found.by_key]
        names = ("question", "database", "decider", "epoch", "model")
        written = [
            {name: getattr(one, name) for name in names} | {"passages": found.passages(one)}
            for one in wanted
        ]
        show_output(written, _decisions(found, results), as_json=as_json)
        return
    from dqa.report.trace_text import passages_to_text

    echo_text(passages_to_text(found.passages(wanted[0]), full=full))


def _decisions(run: Run, wanted: Sequence[Result]) -> Iterator[str]:
    from dqa.report.hints import trace_command

    repeated = run.is_repeated
    for result in wanted:
        where = f"{result.question} on {result.database} by {result.decider}"
        where += f", epoch {result.epoch}" if repeated else ""
        yield f"{where}: {result.outcome}. {_describe_result(result)}"
        if run.location is not None:
            yield f"    {trace_command(run.location, result.key, repeated=repeated)}"
    failed = len(run.find(failed=True))
    rest = f"; {run.counts.missing:,} are not made yet" if run.counts.missing else ""
    rest += f"; {failed:,} failed (--failed)" if failed else ""
    yield f"{len(wanted)} of {len(run.results)} decisions{rest}."


def _describe_result(result: Result) -> str:
    """Describe the choice, the right answer, and the error of a decision."""
    text = "Chose nothing" if result.choice is None else f"Chose {result.choice}"
    if result.choice is None and result.answer:
        text += f" (the answer: {shortened(result.answer, _ANSWER)})"
    if result.ties:
        more = " ..." if len(result.ties) > _TIES else ""
        text += f"; the right answer is {' or '.join(map(str, result.ties[:_TIES]))}{more}"
    if result.official is not None and result.ties != (result.official,):
        text += f"; the official answer is {result.official}"
    return f"{text}. {result.error or ''}".rstrip()


def export(*, run: options.Run, as_format: str | None = None, out: str = _STDOUT) -> None:
    """Export a run for other programs, or copy it to another folder or store.

    There is one row for each decision, with its result, time, cost, and the answers of the
    scenario's heuristics. All figures of 'dqa show' can be computed from these rows. Existing files
    are never overwritten.

    Parameters
    ----------
    as_format : FORMAT
        Format: jsonl, csv, parquet, inspect (logs of Inspect AI), or run (a copy of the run that
        can be resumed). By default, the ending of --out selects it.
    out : FILE|DIR|STORE
        New file; for inspect a new folder; for run a new folder or STORE#NAME. '-' is standard
        output.
    """
    from dqa.api.reporting import export_rows, export_run, require_format
    from dqa.report.export_rows import encode_rows

    if as_format == "run":
        from dqa.api.stored import copy_run

        if out == _STDOUT:
            raise UsageError("Name a new folder or STORE#NAME for the copy of the run (--out).")
        echo(f"The run is in {copy_run(run, out)}.")
        return
    if out != _STDOUT:
        written = export_run(run, out, as_format)
        echo(f"The run is in {written}.")
        return
    wanted = require_format(as_format or "jsonl")
    if wanted == "parquet" or wanted == "inspect":  # noqa: PLR1714  (type checkers narrow it so)
        raise UsageError(f"The format {wanted} needs a new file or folder (--out).")
    echo_data(encode_rows(export_rows(run), wanted).decode())


def compare(
    *,
    runs: options.Runs,
    deciders: str | None = None,
    shared: bool = False,
    times: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare deciders on the same questions, or players on the same games.

    Differences are paired: by question and database (averaged over epochs), or by deal of a game.
    Decisions that could not be judged are left out, and their number is printed.

    Intervals and p-values 'by situation' are correct even if several questions use the same data.
    docs/statistics.md explains which figure to use.

    All pairs are compared. If a decider or player is in several runs, only pairs with the same
    decider or player are compared.

    Parameters
    ----------
    deciders : NAMES
        Compare only these deciders or players, separated by commas. With several runs, RUN:NAME
        selects a decider or player of one run.
    shared
        If the runs have different questions, compare on the questions that they share.
    times
        Also print the durations of decisions.
    """
    from dqa.api.comparing import compare as compare_runs
    from dqa.api.comparing import compare_games
    from dqa.api.stored import open_run
    from dqa.report.compare_tables import game_lines, game_tables, notes, tables

    read = [open_run(run) for run in runs]
    names = options.names_in("--deciders", deciders)
    if all(isinstance(run.spec, PlaySpec) for run in read):
        if shared or times:
            raise UsageError(
                "--shared and --times apply only to runs of questions: leave them out."
            )
        played = compare_games(*read, players=names)
        models = {one.player: one.model for one in played.players}
        show_output(played, [*game_tables(played), *game_lines(played, models)], as_json=as_json)
        return
    found = compare_runs(*read, deciders=names, only_shared=shared, times=times)
    show_output(found, [*tables(found), *notes(found)], as_json=as_json)


def analyse(
    *,
    run: options.Run,
    reference: str | None = None,
    questions: Path | None = None,
    paper: str | None = None,
    as_json: options.AsJson = False,
) -> None:
    """Analyse a run's traces: retrievals, re-planning, missed data and classes of failures.

    The measures are fixed rules and use no model; docs/analysis.md describes them. Decisions on all
    databases are combined. With --json, the measures of each single decision are printed, too.

    Parameters
    ----------
    reference : DECIDER
        Decider whose number of retrievals classifies questions as single-retrieval (SR) or
        multiple-retrieval (MR). By default, the decider of the paper, if it is in the run.
    questions : DIR
        Folder that now contains the run's questions, if they were moved.
    paper : NAME
        Print this paper's tables, with the run's rows below the printed rows.
    """
    from dqa.api import reporting
    from dqa.report.paper_tables import paper_notes, paper_tables

    if paper is not None:
        view = reporting.view_paper(run, paper, reference, questions=questions)
        show_output(view, [*paper_tables(view), *paper_notes(view)], as_json=as_json)
    else:
        found = reporting.analyse(run, reference, questions=questions)
        show_output(found, _analysis(run, found), as_json=as_json)


def _analysis(run: str, found: Analysis) -> Iterator[str | Table]:
    from dqa.api.stored import read_run
    from dqa.report.paper_tables import finding_table
    from dqa.report.spending import model_lines

    yield from (finding_table(measured) for measured in found.tables if measured.rows)
    yield from (*read_run(run).figures().scoring(), *found.notes, *model_lines(found.models))


def report(  # noqa: PLR0913  (one parameter per option)
    *,
    runs: options.Runs,
    out: Path | None = None,
    title: str | None = None,
    questions: Path | None = None,
    details: bool | None = None,
    as_json: options.AsJson = False,
) -> None:
    """Write a report on runs as one HTML page with figures, charts, questions and traces.

    The page works offline and makes no network requests. With --json, the figures are also printed.

    Parameters
    ----------
    out
        New HTML file. Optional with --json.
    title
        Title of the report. By default, the names of the runs.
    questions : DIR
        Folder that now contains the run's questions, if they were moved.
    details
        Include all traces and the outcomes of all candidates. By default, this is done for runs
        with at most 2,500 decisions.
    """
    from dqa.api.reporting import read_report, write_report

    if out is None:
        if not as_json:
            raise UsageError("Give a file for the page (--out FILE), or print figures (--json).")
        echo_json(read_report(*runs, title=title, questions=questions))
        return
    found = write_report(runs, out, title=title, questions=questions, details=details)
    size = out.stat().st_size / 1e6
    message = f"The report on {counted(len(found.questions), 'question')} is {out} ({size:.1f} MB)."
    show_output(found, filter(None, (found.outcomes, found.traces, message)), as_json=as_json)
