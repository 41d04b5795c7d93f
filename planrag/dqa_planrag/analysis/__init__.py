"""Measure runs as the PlanRAG paper does, from results and traces, without a model.

``docs/analysis.md`` explains the rules, their sources and their limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.evidence import QUERY, SIMULATING
from dqa.core.question_set import QuestionSet
from dqa.evaluation.findings import AnalysedRun, Analysis, Case, Cases, Finding, FindingTable
from dqa.evaluation.results import Outcome
from dqa_planrag.analysis.critical import Data, Found, Relevance, found_values, read_statements
from dqa_planrag.analysis.failures import CLASSES, failure_of
from dqa_planrag.analysis.replanning import replannings

_MOST_REPLANNINGS = 4
"""The last column of Table 7 is for runs with this number of re-plannings or more."""
_TITLES = {
    "question_types": "Accuracy in % by number of retrievals of the reference (Figure 5)",
    "replannings": "Accuracy in % by number of re-plannings (Table 7)",
    "kinds": "Kinds of re-planning, in % of the questions that were re-planned (Table 12)",
    "missed": "Missed data analysis, in % of the questions (Table 6)",
    "failures": "Failures by class, in % of all judged questions (Figure 6)",
}
_CLASSES = (
    "CAN: improper candidate. MIS: missed data. DEEP: wrong use of data or equations. QUR: failed "
    "queries. OTH: other."
)


def analyse(cases: Cases, reference: str | None, questions: QuestionSet | None) -> Analysis:
    """Measure runs; see `dqa.evaluation.findings.Analyse`.

    All databases are counted together, as in the paper. Runs without steps, such as the runs of a
    baseline, affect only the accuracies. A scenario without critical values has no table of missed
    data and no failures of class MIS.
    """
    relevances = list(_relevances(cases.judged, questions))
    runs = list(map(_measured, cases.judged, relevances))
    types = _types(cases.judged, reference) if reference else {}
    with_steps = [run for run, case in zip(runs, cases.judged, strict=True) if case.has_steps]
    findings = {measure: list[Finding]() for measure in _TITLES}
    findings["question_types"] = [
        Finding("", run.decider, types[run.key[:2]], run.question, run.outcome is Outcome.CORRECT)
        for run in runs
        if run.key[:2] in types
    ]
    for measure, finding in _findings(with_steps):
        findings[measure].append(finding)
    sr = f"SR: '{reference}' retrieved once. MR: it retrieved more often."
    return Analysis(
        reference=reference,
        without_data=sum(
            relevance.data is None and bool(run.measures["critical_values"])
            for run, relevance in zip(runs, relevances, strict=True)
        ),
        tables=tuple(FindingTable.of(m, title, findings[m]) for m, title in _TITLES.items()),
        notes=(
            sr if reference else "The table of SR and MR questions needs --reference DECIDER.",
            _CLASSES,
        ),
        runs=tuple(runs),
    )


def _relevances(cases: Iterable[Case], questions: QuestionSet | None) -> Iterator[Relevance]:
    """Yield the relevant objects of each case's question; all objects if they are unknown."""
    known = {} if questions is None else {one.key: one for one in questions.questions}
    data: dict[str, Data] = {}
    for case in cases:
        question = known.get(case.result.question)
        scenario = plugins.find_scenario(case.result.scenario)
        if questions is None or question is None or scenario is None or not case.has_steps:
            yield Relevance()
            continue
        if question.situation not in data:
            data[question.situation] = Data(questions.situation_of(question))
        yield Relevance.of(question, scenario, data[question.situation])


def _measured(case: Case, relevance: Relevance) -> AnalysedRun:
    result, evidence = case.result, case.trace.evidence
    scenario = plugins.find_scenario(result.scenario)
    values = scenario.document.critical_values if scenario is not None and case.has_steps else ()
    asked = read_statements(case.trace, scenario if values else None)
    found = found_values(asked, values, relevance)
    failure, reason = failure_of(case, found, asked, relevance) or (None, None)
    return AnalysedRun(
        **result.key._asdict(),
        scenario=result.scenario,
        model=result.model,
        outcome=result.outcome,
        failure=failure,
        reason=reason,
        measures={
            "retrievals": _retrievals(case),
            "failed": sum(one.tool == QUERY and one.error is not None for one in evidence),
            "simulations": sum(one.tool in SIMULATING and one.error is None for one in evidence),
            "plans": len(case.trace.plans),
            "replannings": replannings(case.trace),
            "critical_values": found,
        },
    )


def _retrievals(case: Case) -> int:
    """Return the number of statements that ran, including statements without matching rows."""
    return sum(one.tool == QUERY and one.error is None for one in case.trace.evidence)


def _types(cases: Sequence[Case], reference: str) -> dict[tuple[str, str], str]:
    """Return each question's type, which depends on the reference's number of retrievals."""
    theirs = [case for case in cases if case.result.decider == reference]
    if not theirs:
        deciders = dict.fromkeys(case.result.decider for case in cases)
        raise UnknownNameError("judged decider of this run", reference, deciders)
    with_steps = [case for case in theirs if case.has_steps]
    if not with_steps:
        raise UsageError(
            f"The traces of '{reference}' do not contain retrievals. Name a decider that writes "
            "statements for the database, such as iterrag."
        )
    return {
        case.result.key[:2]: ("none", "SR", "MR")[min(_retrievals(case), 2)] for case in with_steps
    }


def _findings(runs: Sequence[AnalysedRun]) -> Iterator[tuple[str, Finding]]:
    """Yield each run's findings about re-plannings, missed data and failures."""
    planning = {(run.scenario, run.decider) for run in runs if run.measures["plans"]}
    kinds = {kind for run in runs for kind in run.measures["replannings"]}
    for run in runs:
        replanned, values = run.measures["replannings"], run.measures["critical_values"]
        columns: list[tuple[str, str, bool]] = []
        if (run.scenario, run.decider) in planning:
            number = str(min(len(replanned), _MOST_REPLANNINGS))
            right = run.outcome is Outcome.CORRECT
            columns += [("replannings", column, right) for column in (number, "total")]
        if replanned:
            columns += [("kinds", kind, kind in replanned) for kind in kinds]
        if values:
            columns.append(("missed", "any", Found.MISSED in values.values()))
        columns += [("missed", name, how is Found.MISSED) for name, how in values.items()]
        columns += [("failures", name, run.failure == name) for name in CLASSES]
        columns.append(("failures", "failed", run.failure is not None))
        for measure, column, holds in columns:
            yield measure, Finding(run.scenario, run.decider, column, run.question, holds)
