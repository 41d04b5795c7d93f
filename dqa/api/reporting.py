"""Report runs: as typed figures, and as one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from dqa import plugins
from dqa.api.measuring import analyse, find_questions
from dqa.api.runs import Run, name_runs
from dqa.api.stored import read_run
from dqa.core.errors import DqaError, UsageError
from dqa.core.files import require_new_file
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.core.text import counted
from dqa.deciders.candidates import recorded_outcomes
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.record import require_questions
from dqa.evaluation.results import Result
from dqa.evaluation.score import has_record
from dqa.evaluation.stored_runs import RunReader
from dqa.evaluation.traces import Trace
from dqa.report.hints import command
from dqa.report.pages import write_page
from dqa.report.run_report.figures import ReportedRun, group_by_question, make_report
from dqa.report.run_report.page import (
    QuestionDetails,
    render_report,
    trace_details,
    truth_of,
)
from dqa.report.run_report.records import QuestionTruth, Report

MOST_DETAILS = 2_500
"""The most decisions of a page with every trace, by default."""

AnyRun: TypeAlias = Run | Path | str
_Decided: TypeAlias = Sequence[tuple[int, Result]]
"""The results of a question, with the places of their runs."""

_NO_REPORT = (
    "a report shows questions with their right answers, and games have none; 'dqa results' prints "
    "their tables, and 'dqa trace' every move."
)


def read_report(
    *runs: AnyRun,
    title: str | None = None,
    questions: QuestionSet | Path | str | None = None,
    analysis: bool = False,
) -> Report:
    """Return the figures of runs as typed data, as `write_report` shows them.

    Parameters
    ----------
    *runs
        Runs, or their locations.
    title
        The title of the report; by default the names of the runs.
    questions
        The questions, or their folder if it has moved; by default they are read again, if that is
        possible.
    analysis
        Whether failures are assigned to the paper's classes (`dqa.analyse`), which reads every
        trace.

    Raises
    ------
    UsageError
        There is no run, or one holds no finished decision.
    """
    return ReportedRuns(runs, title=title, questions=questions, analysis=analysis).report


def write_report(  # noqa: PLR0913  (each is a choice of its own to the caller)
    runs: AnyRun | Sequence[AnyRun],
    file: Path | str,
    *,
    title: str | None = None,
    questions: QuestionSet | Path | str | None = None,
    analysis: bool = False,
    details: bool | None = None,
) -> Report:
    """Write runs as one self-contained page that opens anywhere, offline; return its figures.

    Parameters
    ----------
    runs
        A run or several, or their locations.
    file
        A new file.
    title, questions, analysis
        As in `read_report`.
    details
        Whether the page has every trace and every candidate's outcome; None for up to
        `MOST_DETAILS` decisions.

    Raises
    ------
    UsageError
        There is no run, one holds no finished decision, or the file exists already.
    """
    require_new_file(Path(file))
    listed = [runs] if isinstance(runs, Run | Path | str) else runs
    found = ReportedRuns(
        listed, title=title, questions=questions, analysis=analysis, details=details
    )
    write_page(found.page(), Path(file))
    return found.report


class ReportedRuns:
    """Runs with their report.

    Parameters
    ----------
    runs
        At least one run, or its location.
    title, questions, analysis, details
        As in `write_report`.

    Attributes
    ----------
    runs
        The runs.
    report
        The figures.
    """

    def __init__(
        self,
        runs: Sequence[AnyRun],
        *,
        title: str | None = None,
        questions: QuestionSet | Path | str | None = None,
        analysis: bool = False,
        details: bool | None = None,
    ) -> None:
        if not runs:
            raise UsageError("Name at least one run to report.")
        self.runs = [run if isinstance(run, Run) else read_run(run) for run in runs]
        for run in self.runs:
            place = str(run.location or "The run")
            require_questions(run.spec, place, _NO_REPORT)
            if not run.results:
                raise UsageError(f"{place} holds no finished decision yet: nothing to report.")
        made = sum(len(run.results) for run in self.runs)
        self._is_detailed = made <= MOST_DETAILS if details is None else details
        self._reported = [
            self._read(run, name, questions, analysis=analysis)
            for run, name in zip(self.runs, name_runs(self.runs), strict=True)
        ]
        outcomes = traces = None
        lacking = [one.lacking or "" for one in self._reported if one.asked is None]
        if not self._is_detailed:
            places = ["RUN" if run.location is None else str(run.location) for run in self.runs]
            shown = " or ".join(f"'{command('trace', place)}'" for place in places)
            traces = (
                f"Of {counted(made, 'decision')} this page has the figures alone; {shown} shows "
                "the traces, and 'dqa report --details' writes them all into the page."
            )
        elif lacking:
            outcomes = (
                "The outcomes of candidates are not shown: the questions are not available. "
                f"{lacking[0]}"
            )
        title = title or f"Report of {', '.join(one.name for one in self._reported)}"
        self.report = make_report(title, self._reported, outcomes=outcomes, traces=traces)

    def _read(
        self, run: Run, name: str, questions: QuestionSet | Path | str | None, *, analysis: bool
    ) -> ReportedRun:
        """Return a run with its questions and the classes of its failures, if they are wanted."""
        asked = lacking = None
        if self._is_detailed and run.location is not None:
            asked, lacking = find_questions(RunReader(run.location), questions)
        elif self._is_detailed:
            asked = questions if isinstance(questions, QuestionSet) else None
            lacking = "Their location is not stored."
        classes = None
        if analysis and run.location is not None:
            analysed = analyse(run.location, questions=asked)
            classes = {one.key: one.failure for one in analysed.runs}
        return ReportedRun(run, name, asked, lacking, classes)

    def page(self) -> str:
        """Return the page."""
        details = {}
        if self._is_detailed:
            traces = [_traces(run) for run in self.runs]
            grouped = group_by_question(self._reported)
            details = {
                row.id: self._details(decided, traces)
                for row, decided in zip(self.report.questions, grouped, strict=True)
            }
        return render_report(self.report, details)

    def _details(
        self, decided: _Decided, traces: Sequence[Mapping[DecisionKey, Trace]]
    ) -> QuestionDetails:
        scenario = plugins.find_scenario(decided[0][1].scenario)
        unit = "value" if scenario is None else scenario.unit
        found = {
            number: trace_details(traces[place][result.key], result, unit)
            for number, (place, result) in enumerate(decided)
            if result.key in traces[place]
        }
        return QuestionDetails(self._truth(decided), found)

    def _truth(self, decided: _Decided) -> QuestionTruth | None:
        place, first = decided[0]
        asked, spec = self._reported[place].asked, self.runs[place].spec
        question = self._reported[place].questions.get(first.question)
        if asked is None or question is None:
            return None
        situation = asked.situations.get(question.situation)
        rules = (None if spec is None else spec.rule_set) or asked.rule_set
        chosen = [result.choice for _, result in decided if result.choice is not None]
        return truth_of(question, _outcomes(asked, question, situation, rules), chosen)


def _outcomes(
    asked: QuestionSet, question: Question, situation: Situation | None, rules: str | None
) -> Outcomes | None:
    """Return the outcomes of the candidates of a question; None if they are unknown."""
    if question.answer_form == "statement":
        return None
    is_recorded = question.scenario not in plugins.names("simulator")
    if is_recorded or situation is None or has_record(asked, question):
        return recorded_outcomes(question, asked.truth_of(question))
    simulator = plugins.simulator(question.scenario)
    known = rules if rules in simulator.rule_sets else None
    try:
        return simulator.outcomes(situation, [question], known)[0]
    except DqaError:  # results have the outcomes that the judge knew
        return None


def _traces(run: Run) -> dict[DecisionKey, Trace]:
    """Return the traces of a run by their keys; none of a run that is not stored."""
    try:
        return {trace.key: trace for trace in run.traces}
    except UsageError:
        return {}
