"""Report the results of runs as typed data or as an HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dqa.api.runs import Run, name_runs
from dqa.api.stored import AnyRun, find_questions, open_run
from dqa.core.errors import DqaError, UsageError
from dqa.core.files import require_new_file
from dqa.core.question_set import QuestionSet
from dqa.core.text import counted
from dqa.evaluation.audit import ReleaseAudit
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.location import RunLocation
from dqa.evaluation.results import Result
from dqa.evaluation.traces import Trace
from dqa.report.hints import command
from dqa.report.pages import write_page
from dqa.report.run_report.figures import ReportedRun, by_question, decisions_of, make_report
from dqa.report.run_report.page import question_details, render_report, truth_of
from dqa.report.run_report.records import Report

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
        The questions, or their folder if it has moved. By default they are read again, if
        possible.

    Raises
    ------
    UsageError
        There is no run, or a run has no finished decision.
    """
    return _report(title, *_read_runs(runs, questions, details=None))


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
        As in `read_report`.
    details
        Whether the page contains every trace and every candidate's outcome. None means yes for up
        to `MOST_DETAILS` decisions.

    Raises
    ------
    UsageError
        There is no run, a run has no finished decision, or the file exists already.
    """
    require_new_file(Path(file))
    listed = [runs] if isinstance(runs, Run | RunLocation | Path | str) else runs
    reported, is_detailed = _read_runs(listed, questions, details=details)
    report = _report(title, reported, is_detailed)
    write_page(render_report(report, _details(report, reported) if is_detailed else {}), Path(file))
    return report


def _read_runs(
    runs: Sequence[AnyRun], questions: QuestionSet | Path | str | None, *, details: bool | None
) -> tuple[list[ReportedRun], bool]:
    """Return the runs with their names, and whether the report has details.

    With details, the runs have their questions.
    """
    if not runs:
        raise UsageError("Name at least one run to report.")
    opened = [open_run(run) for run in runs]
    for run in opened:
        run.require_questions(_NO_REPORT)
        run.require_results("nothing to report")
    is_detailed = details
    if is_detailed is None:
        is_detailed = sum(len(run.results) for run in opened) <= MOST_DETAILS
    none = (None, None)
    return [
        ReportedRun(run, name, *(find_questions(run, questions) if is_detailed else none))
        for run, name in zip(opened, name_runs(opened), strict=True)
    ], is_detailed


def _report(title: str | None, reported: Sequence[ReportedRun], is_detailed: bool) -> Report:
    """Return the data of the report, with notes about missing details."""
    outcomes = traces = None
    lacking = [one.lacking or "" for one in reported if one.asked is None]
    if not is_detailed:
        made = sum(len(one.run.results) for one in reported)
        places = (str(one.run.location or "RUN") for one in reported)
        shown = " or ".join(f"'{command('show', place)}'" for place in places)
        traces = (
            f"This page has only the figures of {counted(made, 'decision')}. {shown} shows the "
            "traces. 'dqa report --details' writes a page with all traces."
        )
    elif lacking:
        outcomes = (
            "The outcomes of candidates are not shown: the questions are not available. "
            f"{lacking[0]}"
        )
    title = title or f"Report of {', '.join(one.name for one in reported)}"
    return make_report(title, reported, outcomes=outcomes, traces=traces)


def _details(report: Report, reported: Sequence[ReportedRun]) -> dict[str, Any]:
    """Return the details of every question."""
    traces: list[Mapping[DecisionKey, Trace]] = [
        {} if one.run.location is None else {trace.key: trace for trace in one.run.each_trace()}
        for one in reported
    ]
    questions = zip(report.questions, by_question(decisions_of(reported)), strict=True)
    return {
        row.id: question_details(
            _truth(reported[decided[0].run], [one.result for one in decided]),
            [(one.result, traces[one.run].get(one.result.key)) for one in decided],
            row.unit,
        )
        for row, decided in questions
    }


def _truth(one: ReportedRun, decided: Sequence[Result]) -> dict[str, Any] | None:
    """Return the outcomes of a question from the first run that decided it."""
    question = one.questions.get(decided[0].question)
    if one.judge is None or question is None:
        return None
    outcomes = None
    with suppress(DqaError):  # a result has the outcomes that the judge used
        outcomes = one.judge.outcomes_of(question)
    chosen = [result.choice for result in decided if result.choice is not None]
    return truth_of(question, outcomes, chosen)


def write_audit_page(audited: ReleaseAudit, file: Path | str) -> None:
    """Write an audit as one self-contained page for a reviewer.

    Raises
    ------
    UsageError
        The file exists already, or cannot be written.
    """
    from dqa.report.audit_page import render_audit

    require_new_file(Path(file))
    write_page(render_audit(audited), Path(file))
