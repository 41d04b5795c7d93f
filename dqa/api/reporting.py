"""Analyse, export and report runs, and compare them with papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from dqa import plugins
from dqa.api.comparing import find_contestants, require_comparable
from dqa.api.running import default_deciders
from dqa.api.runs import Run, name_runs
from dqa.api.stored import AnyRun, find_questions, open_run
from dqa.core import files
from dqa.core.errors import DqaError, UsageError
from dqa.core.files import require_new_file
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.text import counted
from dqa.evaluation.audit import ReleaseAudit
from dqa.evaluation.findings import Analysis, read_cases
from dqa.evaluation.location import RunLocation
from dqa.evaluation.papers import Publication, add_rows, game_figures, question_figures
from dqa.evaluation.play_spec import PlaySpec
from dqa.evaluation.record import require_questions
from dqa.evaluation.results import NO_MODEL, DecisionKey, Result
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.traces import Trace
from dqa.report.export_rows import ExportedDecision, encode_rows
from dqa.report.pages import write_page
from dqa.report.run_report.figures import Decided, ReportedRun, by_question, make_report
from dqa.report.run_report.page import question_details, render_report, truth_of
from dqa.report.run_report.records import Report
from dqa.report.spending import model_lines

_NO_ANALYSIS = (
    "an analysis needs right and wrong decisions, which games do not have. 'dqa show' prints the "
    "figures of games."
)


def analyse(
    run: AnyRun,
    reference: str | None = None,
    *,
    questions: QuestionSet | Path | str | None = None,
    paper: str | None = None,
) -> Analysis:
    """Measure a run's traces: retrievals, re-plannings, missed data and classes of failures.

    Parameters
    ----------
    run
        The run, or its location: a folder, or a run in a store.
    reference
        The decider whose traces determine which questions are single-retrieval questions. By
        default, it is the reference decider of the installed packages, if this decider is in the
        run.
    questions
        The questions, or the new location of their folder. By default, the questions are read or
        generated again, which can take time. If that fails, the data that each question needs is
        unknown, and all retrieved data is treated as needed (`Analysis.without_data`).
    paper
        The name of the paper whose package analyses the run. By default, it is the first installed
        paper.

    Raises
    ------
    UsageError
        The location has no run, or the folder has other questions than the run.
    DataError
        The folder of questions cannot be read.
    UnknownNameError
        No trace of the reference decider has steps.
    """
    found = open_run(run)
    require_questions(found.spec, found.where, _NO_ANALYSIS)
    cases = read_cases(found.reader)
    asked, lacking = (questions if isinstance(questions, QuestionSet) else None), None
    if any(case.has_steps for case in cases.judged):
        asked, lacking = find_questions(found, questions)
    if reference is None:
        took_part = {case.result.decider for case in cases.judged}
        usual = (name for name in default_deciders("reference") if name in took_part)
        reference = next(usual, None)
    analysis = plugins.analyse(paper)(cases, reference, asked)
    notes = [*analysis.notes, *cases.notes()]
    if analysis.without_data:
        notes.append(
            f"The questions of {counted(analysis.without_data, 'decision')} are not available, so "
            f"all retrieved values are treated as needed. {lacking or ''} Give the folder of the "
            "questions (--questions)."
        )
    models = dict.fromkeys(case.result.model for case in cases.judged)
    return analysis.changed(lacking=lacking, models=tuple(models), notes=tuple(notes))


def view_paper(
    run: AnyRun,
    paper: str,
    reference: str | None = None,
    *,
    questions: QuestionSet | Path | str | None = None,
) -> Publication:
    """Return the tables of a paper, with the rows of a run below the printed rows.

    Parameters
    ----------
    run
        A run of questions or games, or its location.
    paper
        The name of a paper whose tables an installed package contains.
    reference, questions
        See `analyse`.

    Raises
    ------
    UnknownNameError
        No package has a paper with this name.
    UsageError, DataError
        The paper has no table for this run. See also `analyse`.
    """
    publication, found = plugins.publication(paper), open_run(run)
    games = found.games
    about = found.spec.world if isinstance(found.spec, PlaySpec) else "questions"
    printed = dict.fromkeys(table.world or "questions" for table in publication.tables)
    if about not in printed:
        others = ", ".join(name for name in plugins.names("publication") if name != paper)
        raise UsageError(
            f"The paper '{paper}' has no table for this run. It has tables about "
            f"{', '.join(printed)}, but the run is about {about}: name another paper ({others})."
        )
    if games is not None:
        view = add_rows(publication, game_figures(games), {}, games.world)
        ours = games.pairs[0].reference if games.pairs else None
        notes = [
            f"{table.name}: the paper compares with {table.reference}, and this run compares with "
            f"{ours or 'no reference'} (--reference)."
            for table in view.tables
            if table.reference not in {None, ours}
        ]
        return view.changed(notes=tuple(notes))
    found.require_results("nothing to compare")
    analysed = None
    if publication.analysis is not None:
        analysed = analyse(found, reference, questions=questions, paper=paper)
    notes = model_lines(found.models.values())
    if found.strict_official != publication.strict_official:
        notes.insert(
            0,
            "In the paper, only the official answer counts as right. This run uses another rule: "
            "evaluate with --strict-official to compare.",
        )
    models = {name: model for name, model in found.models.items() if model != NO_MODEL}
    view = add_rows(publication, question_figures(found.summaries, analysed), models)
    return view.changed(notes=tuple(notes))


ExportFormat: TypeAlias = Literal["jsonl", "csv", "parquet", "inspect"]
"""The export formats."""


def export_rows(run: AnyRun) -> tuple[ExportedDecision, ...]:
    """Return one row per decision. These rows are sufficient for all summary statistics of a run.

    The durations are unknown for a run in memory.

    Raises
    ------
    UsageError
        The run does not exist, or it has no finished decision.
    """
    found = open_run(run)
    found.require_results("nothing to export")
    seconds = {} if found.location is None else found.seconds
    chosen = {line.question: line for line in found.shortcut_choices}
    rows = []
    for result in found.results:
        line = chosen.get(result.question)
        one = ExportedDecision(
            **dict(result),
            judged=result.outcome.judged,
            seconds=seconds.get(result.key),
            cost=None if found.prices is None else found.prices.known_cost(result.usage),
            candidates=None if line is None else line.candidates,
            shortcuts={} if line is None else line.choices,
        )
        rows.append(one)
    return tuple(rows)


def export_run(
    run: AnyRun,
    out: Path | str,
    as_format: str | None = None,
    *,
    questions: QuestionSet | None = None,
) -> Path:
    """Export a run as a table with one row per decision, or as logs of Inspect AI.

    If the export fails, no output remains. Existing files are not overwritten.

    Parameters
    ----------
    run
        The run, or its location: a folder, or a run in a store.
    out
        A new file. For ``inspect``, a new folder with one log for each decider, scenario and
        database (``inspect view --log-dir``).
    as_format
        The format. By default, the suffix of the file selects it: ``.jsonl``, ``.csv`` or
        ``.parquet``.
    questions
        The questions, whose texts and candidates the logs contain. By default, the questions are
        read or generated again. If that fails, the logs contain the prompts of the model instead.

    Returns
    -------
    pathlib.Path
        The new file or folder.

    Raises
    ------
    UsageError
        The format is unknown, the run does not exist, or the output cannot be written.
    """
    file = Path(out)
    named = file.suffix.removeprefix(".") if as_format is None else as_format
    wanted = require_format(named)
    (files.require_new_folder if wanted == "inspect" else files.require_new_file)(file)
    found = open_run(run)
    found.require_results("nothing to export")
    with files.file_errors(file, writing=True, more="The run is unchanged."):
        if wanted == "inspect":
            from dqa.report.inspect_log import write_logs

            logs = write_logs(found, export_rows(found), _questions(found, questions))
            files.make_private_folder(file)
            for name, content in logs:
                files.write_private(file / name, content)
        else:
            files.write_private(file, encode_rows(export_rows(found), wanted), new=True)
    return file


def require_format(name: str) -> ExportFormat:
    """Return the format with a name. Raise `UsageError` if the name is wrong."""
    known = get_args(ExportFormat)
    if name not in known:
        raise UsageError(
            f"'{name}' is not an export format: choose one of {', '.join(known)} (--format)."
        )
    return cast("ExportFormat", name)


def _questions(run: Run, given: QuestionSet | None) -> Mapping[str, Question]:
    """Return the caller's questions. Without them, read the questions again.

    If the questions differ from those of the run, return no questions.

    Questions about a user's own database are not read again, because the traces contain them.
    """
    asks_in_place = isinstance(run.spec, RunSpec) and run.spec.questions.asks_in_place
    found = given if asks_in_place else find_questions(run, given)[0]
    if found is None or run.record is None or found.content_hash != run.record.content_hash:
        return {}
    return {question.key: question for question in found.questions}


MOST_DETAILS = 2_500
"""By default, a report with up to this number of decisions contains all traces."""

_NO_REPORT = (
    "a report needs questions with right answers, which games do not have. 'dqa show RUN' prints "
    "the tables of games, and 'dqa show RUN GAME' every move."
)


def read_report(
    *runs: AnyRun, title: str | None = None, questions: QuestionSet | Path | str | None = None
) -> Report:
    """Return the data that `write_report` shows: the summary statistics of runs.

    Parameters
    ----------
    *runs
        Runs, or their locations.
    title
        The title of the report; by default the names of the runs.
    questions
        The questions, or the new location of their folder. By default, the questions are read
        again, if possible.

    Raises
    ------
    UsageError
        There is no run, a run has no finished decision, or several runs cannot be compared
        (`dqa.compare`).
    """
    return _make_report(runs, title, questions, details=None)[0]


def write_report(
    runs: AnyRun | Sequence[AnyRun],
    file: Path | str,
    *,
    title: str | None = None,
    questions: QuestionSet | Path | str | None = None,
    details: bool | None = None,
) -> Report:
    """Write a report of runs as one self-contained HTML page, and return its data.

    Parameters
    ----------
    runs
        One or more runs, or their locations.
    file
        A new file.
    title, questions
        See `read_report`.
    details
        Whether the page contains every trace and every candidate's outcome. By default, only a page
        with at most `MOST_DETAILS` decisions contains them.

    Raises
    ------
    UsageError
        There is no run, a run has no finished decision, several runs cannot be compared
        (`dqa.compare`), or the file exists already.
    """
    require_new_file(Path(file))
    listed = [runs] if isinstance(runs, Run | RunLocation | Path | str) else runs
    report, details_by_question = _make_report(listed, title, questions, details=details)
    write_page(render_report(report, details_by_question), file)
    return report


def _make_report(
    runs: Sequence[AnyRun],
    title: str | None,
    questions: QuestionSet | Path | str | None,
    *,
    details: bool | None,
) -> tuple[Report, dict[str, Any]]:
    """Return the data of the report, and the details of every question by its key."""
    if not runs:
        raise UsageError("Name at least one run to report.")
    opened = [open_run(run) for run in runs]
    for run in opened:
        require_questions(run.spec, run.where, _NO_REPORT)
        run.require_results("nothing to report")
    made = sum(len(run.results) for run in opened)
    is_detailed = made <= MOST_DETAILS if details is None else details
    none = (None, None)
    reported = [
        ReportedRun(run, name, *(find_questions(run, questions) if is_detailed else none))
        for run, name in zip(opened, name_runs(opened), strict=True)
    ]
    asked = find_contestants(opened)
    if len(opened) > 1:
        require_comparable(opened, asked)
    decided = by_question(reported, asked.names)
    title = title or f"Report of {', '.join(one.name for one in reported)}"
    missing = _missing(reported, is_detailed=is_detailed)
    report = make_report(title, reported, asked.by_run, decided, **missing)
    return report, _details(report, reported, decided) if is_detailed else {}


def _missing(reported: Sequence[ReportedRun], *, is_detailed: bool) -> dict[str, str]:
    """Return the reasons why parts of the page are missing.

    Keys are ``traces`` and ``outcomes``.
    """
    if not is_detailed:
        made = sum(len(one.run.results) for one in reported)
        traces = (
            f"This page has only the figures of {counted(made, 'decision')}. 'dqa show RUN' shows "
            "the traces. 'dqa report --details' writes a page with all traces."
        )
        return {"traces": traces}
    lacking = [one.lacking or "" for one in reported if one.asked is None]
    no_outcomes = "The outcomes of candidates are not shown: the questions are not available."
    return {"outcomes": f"{no_outcomes} {lacking[0]}"} if lacking else {}


def _details(
    report: Report, reported: Sequence[ReportedRun], decided: Sequence[Sequence[Decided]]
) -> dict[str, Any]:
    """Return the details of every question, by the key of the question."""
    traces: list[Mapping[DecisionKey, Trace]] = [
        {} if one.run.location is None else {trace.key: trace for trace in one.run.each_trace()}
        for one in reported
    ]
    return {
        row.key: question_details(
            _truth(reported[own[0].run], [one.result for one in own]),
            [(one.result, traces[one.run].get(one.result.key)) for one in own],
            row.unit,
        )
        for row, own in zip(report.questions, decided, strict=True)
    }


def _truth(one: ReportedRun, decided: Sequence[Result]) -> dict[str, Any] | None:
    """Return the text, rules and outcomes of a question; None if the question is not available."""
    question = one.questions.get(decided[0].question)
    if one.judge is None or question is None:
        return None
    outcomes = None
    with suppress(DqaError):  # without them, the page shows the outcomes in the results
        outcomes = one.judge.outcomes_of(question)
    chosen = [result.choice for result in decided if result.choice is not None]
    return truth_of(question, outcomes, chosen)


def write_audit_page(audited: ReleaseAudit, file: Path | str) -> None:
    """Write an audit as one self-contained page for a reviewer; see `write_page`."""
    from dqa.report.audit_page import render_audit

    write_page(render_audit(audited), file)
