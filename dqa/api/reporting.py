"""Report the results of runs as typed data or as an HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dqa.api.comparing import find_contestants
from dqa.api.runs import Run, name_runs
from dqa.api.stored import AnyRun, find_questions, open_run
from dqa.core.distribution import shell_command as command
from dqa.core.errors import DqaError, UsageError
from dqa.core.files import require_new_file
from dqa.core.question_set import QuestionSet
from dqa.core.text import counted
from dqa.evaluation.audit import ReleaseAudit
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.location import RunLocation
from dqa.evaluation.results import Result
from dqa.evaluation.traces import Trace
from dqa.report.pages import write_page
from dqa.report.run_report.figures import Decided, ReportedRun, by_question, make_report
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
    """Return the data of the report, and the details of every question; see `write_report`."""
    if not runs:
        raise UsageError("Name at least one run to report.")
    opened = [open_run(run) for run in runs]
    for run in opened:
        run.require_questions(_NO_REPORT)
        run.require_results("nothing to report")
    made = sum(len(run.results) for run in opened)
    is_detailed = made <= MOST_DETAILS if details is None else details
    none = (None, None)
    reported = [
        ReportedRun(run, name, *(find_questions(run, questions) if is_detailed else none))
        for run, name in zip(opened, name_runs(opened), strict=True)
    ]
    # Runs of older versions record no content of questions, but of all questions together.
    contents = [
        (run.record and run.record.content_hash) or f"run {place}"
        for place, run in enumerate(opened)
    ]
    asked = find_contestants(opened, contents=contents)
    decided = by_question(reported, asked.names)
    title = title or f"Report of {', '.join(one.name for one in reported)}"
    missing = _missing(reported, is_detailed=is_detailed)
    report = make_report(title, reported, asked.by_run, decided, **missing)
    return report, _details(report, reported, decided) if is_detailed else {}


def _missing(reported: Sequence[ReportedRun], *, is_detailed: bool) -> dict[str, str]:
    """Return the reasons why the page lacks traces, or outcomes of candidates."""
    if not is_detailed:
        made = sum(len(one.run.results) for one in reported)
        places = (str(one.run.location or "RUN") for one in reported)
        shown = " or ".join(f"'{command('show', place)}'" for place in places)
        traces = (
            f"This page has only the figures of {counted(made, 'decision')}. {shown} shows the "
            "traces. 'dqa report --details' writes a page with all traces."
        )
        return {"traces": traces}
    lacking = [one.lacking or "" for one in reported if one.asked is None]
    no_outcomes = "The outcomes of candidates are not shown: the questions are not available."
    return {"outcomes": f"{no_outcomes} {lacking[0]}"} if lacking else {}


def _details(
    report: Report, reported: Sequence[ReportedRun], decided: Sequence[Sequence[Decided]]
) -> dict[str, Any]:
    """Return the details of every question."""
    traces: list[Mapping[DecisionKey, Trace]] = [
        {} if one.run.location is None else {trace.key: trace for trace in one.run.each_trace()}
        for one in reported
    ]
    return {
        row.id: question_details(
            _truth(reported[own[0].run], [one.result for one in own]),
            [(one.result, traces[one.run].get(one.result.key)) for one in own],
            row.unit,
        )
        for row, own in zip(report.questions, decided, strict=True)
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
    """Write an audit as one self-contained page for a reviewer; see `write_page`."""
    from dqa.report.audit_page import render_audit

    write_page(render_audit(audited), file)
