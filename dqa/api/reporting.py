"""Reporting: runs as typed figures, and as one page that a person opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from dqa import plugins
from dqa.api.measuring import analyse, find_questions
from dqa.api.reading import read_run
from dqa.api.runs import Run
from dqa.core.errors import DqaError, UsageError
from dqa.core.files import require_new_file
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.core.text import counted
from dqa.deciders.candidates import recorded_outcomes
from dqa.evaluation.record import require_questions
from dqa.evaluation.results import Result
from dqa.evaluation.score import has_record
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.stored_runs import RunReader
from dqa.evaluation.traces import Trace
from dqa.report.hints import command
from dqa.report.pages import write_page
from dqa.report.run_report.details import trace_details, truth_of
from dqa.report.run_report.figures import ReportedRun, group_by_question, make_report
from dqa.report.run_report.page import QuestionDetails, render_report
from dqa.report.run_report.records import QuestionTruth, Report
from dqa.report.tables import epoch_lines, interval_lines

MOST_DETAILS = 2_500
"""Decisions up to which a page holds every trace, unless a caller says otherwise."""

AnyRun: TypeAlias = Run | Path | str


_NO_REPORT = (
    "a report shows questions with what is right, and games have none; 'dqa results' prints their "
    "tables, and 'dqa trace' every move."
)


def read_report(
    *runs: AnyRun,
    title: str | None = None,
    questions: QuestionSet | Path | str | None = None,
    analysis: bool = False,
) -> Report:
    """Return the figures of runs as typed data: what `write_report` shows.

    Parameters
    ----------
    *runs
        Runs, or where they are.
    title
        What the report is called; by default as its runs.
    questions
        What was asked, or the folder where it lies by now; by default it is read again, where that
        is possible.
    analysis
        Whether failures are put into the paper's classes (`dqa.analyse`), which reads every trace.

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
        A run or several, or where they are.
    file
        A new file.
    title, questions, analysis
        As in `read_report`.
    details
        Whether the page holds every trace and what every candidate leads to; None for up to
        `MOST_DETAILS` decisions.

    Raises
    ------
    UsageError
        There is no run, one holds no finished decision, or the file is there already.
    """
    require_new_file(Path(file))
    listed = [runs] if isinstance(runs, Run | Path | str) else list(runs)
    found = ReportedRuns(
        listed, title=title, questions=questions, analysis=analysis, details=details
    )
    write_page(found.page(), Path(file))
    return found.report


@dataclass(frozen=True)
class AskedQuestions:
    """What each of several runs asked, where it is at hand, and why some of it is not."""

    sets: tuple[QuestionSet | None, ...]
    lacking: str | None = None


def read_asked(runs: Sequence[Run], given: QuestionSet | Path | str | None) -> AskedQuestions:
    """Return what runs asked: read or generated again, which may take its time.

    Parameters
    ----------
    runs
        The runs.
    given
        What was asked, or the folder where it lies by now; None for where it was.
    """
    sets: list[QuestionSet | None] = [None] * len(runs)
    lacking = None
    for place, run in enumerate(runs):
        if isinstance(given, QuestionSet):
            sets[place] = given
        elif run.place is not None:
            sets[place], why = find_questions(RunReader(run.place), given)
            lacking = lacking or why
    return AskedQuestions(tuple(sets), lacking)


class ReportedRuns:
    """Runs with all that a report says of them.

    Parameters
    ----------
    runs
        At least one, or where they are.
    title, questions, analysis, details
        As in `write_report`.
    live
        Whether runs may be without a decision yet.
    asked
        What they asked, where somebody has read it: it is not read again.

    Attributes
    ----------
    runs
        The runs as they were read.
    report
        The figures.
    """

    def __init__(  # noqa: PLR0913  (as above)
        self,
        runs: Sequence[AnyRun],
        *,
        title: str | None = None,
        questions: QuestionSet | Path | str | None = None,
        analysis: bool = False,
        details: bool | None = None,
        live: bool = False,
        asked: AskedQuestions | None = None,
    ) -> None:
        self.runs = [run if isinstance(run, Run) else read_run(run) for run in runs]
        for run in self.runs:
            require_questions(run.spec, str(run.place or "The run"), _NO_REPORT)
        if not self.runs:
            raise UsageError("Name at least one run to report.")
        names = _names(self.runs)
        for run, name in zip(self.runs, names, strict=True) if not live else ():
            if not run.results:
                raise UsageError(
                    f"{name} holds no finished decision yet, so there is nothing to report."
                )
        made = sum(len(run.results) for run in self.runs)
        self._detailed = made <= MOST_DETAILS if details is None else details
        if asked is None:
            asked = (
                read_asked(self.runs, questions)
                if self._detailed
                else AskedQuestions((None,) * len(self.runs))
            )
        self._asked = asked
        self._reported = [
            _reported(run, name, of, analysis=analysis)
            for run, name, of in zip(self.runs, names, asked.sets, strict=True)
        ]
        self.report = make_report(
            title or f"Report of {', '.join(names)}",
            self._reported,
            pictures=self._without_pictures(),
            traces=self._without_traces(),
        )

    def _without_pictures(self) -> str | None:
        if not self._detailed:
            return None
        if all(of is not None for of in self._asked.sets):
            return None
        why = self._asked.lacking or "Nothing was kept of where they are."
        return f"What every candidate leads to is not shown: the questions are not at hand. {why}"

    def _without_traces(self) -> str | None:
        if self._detailed:
            return None
        views = " or ".join(f"'{command('view', _place(run))}'" for run in self.runs)
        return (
            f"Of {counted(sum(len(run.results) for run in self.runs), 'decision')} this page "
            f"holds the figures alone; {views} shows every trace, and 'dqa report --details' "
            "writes them all into the page."
        )

    def page(self) -> str:
        """Return the page."""
        if not self._detailed:
            return render_report(self.report, {})
        traces = [_traces(run) for run in self.runs]
        grouped = zip(self.report.questions, group_by_question(self._reported), strict=True)
        details = {row.id: self._details(decided, traces) for row, decided in grouped}
        return render_report(self.report, details)

    def details_of(self, id_: str) -> QuestionDetails | None:
        """Return what is unfolded of one question; None where there is none of that id."""
        rows = [row.id for row in self.report.questions]
        if id_ not in rows:
            return None
        decided = group_by_question(self._reported)[rows.index(id_)]
        names = {place: result.question for place, result in decided}
        traces = [
            _traces(run, names[place]) if place in names else {}
            for place, run in enumerate(self.runs)
        ]
        return self._details(decided, traces)

    def _details(
        self,
        decided: Sequence[tuple[int, Result]],
        traces: Sequence[Mapping[object, Trace]],
    ) -> QuestionDetails:
        chosen = [result.choice for _, result in decided if result.choice is not None]
        scenario = plugins.find_scenario(decided[0][1].scenario)
        unit = "value" if scenario is None else scenario.unit
        found = {
            number: trace_details(traces[place][result.key], result, unit)
            for number, (place, result) in enumerate(decided)
            if result.key in traces[place]
        }
        place, first = decided[0]
        return QuestionDetails(self._truth(place, first.question, chosen), found)

    def _truth(self, run: int, question: str, chosen: Sequence[Candidate]) -> QuestionTruth | None:
        asked, spec = self._asked.sets[run], self.runs[run].spec
        known = None if asked is None else self._reported[run].questions.get(question)
        if asked is None or known is None:
            return None
        situation = asked.situations.get(known.situation)
        rules = (None if spec is None else spec.rule_set) or asked.rule_set
        return truth_of(known, _outcomes(asked, known, situation, rules), situation, chosen)


def _outcomes(
    asked: QuestionSet, question: Question, situation: Situation | None, rules: str | None
) -> Outcomes | None:
    """Return what the candidates of a question lead to; None where nothing tells it."""
    if question.answer_form == "statement":
        return None
    recorded = question.scenario not in plugins.names("simulator")
    if recorded or situation is None or has_record(asked, question):
        return recorded_outcomes(question, asked.truth_of(question))
    simulator = plugins.simulator(question.scenario)
    try:
        return simulator.outcomes(
            situation, [question], rules if rules in simulator.rule_sets else None
        )[0]
    except DqaError:  # results say what was known when the run was judged
        return None


def _traces(run: Run, question: str | None = None) -> dict[object, Trace]:
    """Return the traces of a run by their keys; none of a run that kept none."""
    try:
        found = run.traces if question is None else run.select(question)
    except UsageError:
        return {}
    return {trace.key: trace for trace in found}


def _reported(run: Run, name: str, asked: QuestionSet | None, *, analysis: bool) -> ReportedRun:
    classes = None
    if analysis and run.place is not None:
        measured = analyse(run.place, questions=asked).runs
        classes = {one.key: one.failure for one in measured}
    intervals, epochs = interval_lines(run.summaries), epoch_lines(run.epochs)
    return ReportedRun(
        name=name,
        results=run.results,
        summaries=run.summaries,
        shortcuts=run.shortcuts,
        chance=run.chance,
        prices=run.prices,
        planned=run.planned,
        complete=run.counts.complete,
        content=_content(run),
        measure=_measure(run),
        epochs=run.epochs,
        intervals=tuple(intervals),
        facts=tuple(_facts(run)),
        notes=tuple(line for line in run.lines() if line not in {*intervals, *epochs}),
        questions={} if asked is None else {one.key: one for one in asked.questions},
        classes=classes,
    )


def _names(runs: Sequence[Run]) -> list[str]:
    """Return what each run is called: its name, or with its number where others share it."""
    names = [run.name or "this run" for run in runs]
    return [
        name if names.count(name) == 1 else f"{number}-{name}"
        for number, name in enumerate(names, 1)
    ]


def _place(run: Run) -> str:
    return "RUN" if run.place is None else str(run.place)


def _content(run: Run) -> str:
    """Return what tells a run's questions from others of the same names."""
    return "" if run.record is None else run.record.content_hash


def _measure(run: Run) -> str:
    """Return what tells whether runs count the same answers as right."""
    if not isinstance(run.spec, RunSpec):
        return ""
    return f"{run.spec.rule_set or ''} {'official' if run.spec.strict_official else 'ties'}"


def _facts(run: Run) -> list[tuple[str, str]]:
    """Return what a run was made with, in words."""
    models = ", ".join(dict.fromkeys(run.models.values()))
    spec = run.spec
    if not isinstance(spec, RunSpec):
        return [("Model", models)]
    found = [
        ("Questions", spec.questions.told),
        ("Deciders", ", ".join(spec.deciders)),
        ("Databases", ", ".join(dict.fromkeys(result.database for result in run.results))),
        ("Model", models),
        *(("Label", model.told) for model in spec.models if model.label),
        ("Protocol", spec.protocol),
        ("Rule set", spec.rule_set or "the usual one"),
        ("Right is", "the official label" if spec.strict_official else "every best candidate"),
        ("Seed", str(spec.seed)),
        *([("Epochs", str(spec.epochs))] if spec.epochs > 1 else []),
        ("Most replies", str(spec.max_steps)),
        *(("Setting", f"{name} = {value}") for name, value in sorted(spec.settings.items())),
    ]
    record = run.record
    if record is not None and record.versions:
        if record.began is not None:
            found.append(("Began", record.began.isoformat(" ")))
        found.append(("Written by", f"dqa {record.written_by}"))
        if record.content_hash:
            found.append(("Data", record.content_hash[:16]))
    return found
