"""Measure runs as the PlanRAG paper does, from results and traces, without a model.

``docs/analysis.md`` explains the rules, their sources and their limits.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dqa import plugins
from dqa.core.errors import UnknownNameError
from dqa.core.evidence import QUERY, SIMULATING
from dqa.core.question_set import QuestionSet
from dqa.evaluation.findings import AnalysedRun, Analysis, Case, Cases, Finding, FindingTable
from dqa.evaluation.results import Outcome
from dqa_planrag.analysis.critical import Found, Relevance, found_values, read_statements
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
    judged, relevances = cases.judged, [_relevance(case, questions) for case in cases.judged]
    runs = list(map(_measured, judged, relevances))
    types = _types(judged, reference) if reference else {}
    planning = {(run.scenario, run.decider) for run in runs if run.measures["plans"]}
    kinds = {kind for run in runs for kind in run.measures["replannings"]}
    findings = {measure: list[Finding]() for measure in _TITLES}
    for run, case in zip(runs, judged, strict=True):
        kind = types.get(run.key[:2])
        marks = {} if kind is None else {"question_types": {kind: case.correct}}
        if case.has_steps:
            marks |= _marks(run, kinds if (run.scenario, run.decider) in planning else None)
        for measure, columns in marks.items():
            scenario = "" if measure == "question_types" else run.scenario
            findings[measure] += [
                Finding(scenario, run.decider, column, run.question, holds)
                for column, holds in columns.items()
            ]
    needed = "The table of SR and MR questions needs --reference DECIDER."
    sr = f"SR: '{reference}' retrieved once. MR: it retrieved more often."
    return Analysis(
        reference=reference,
        without_data=sum(
            relevance.data is None and bool(run.measures["critical_values"])
            for run, relevance in zip(runs, relevances, strict=True)
        ),
        tables=tuple(FindingTable.of(m, title, findings[m]) for m, title in _TITLES.items()),
        notes=(sr if reference else needed, _CLASSES),
        runs=tuple(runs),
    )


def _marks(run: AnalysedRun, kinds: Collection[str] | None) -> dict[str, dict[str, bool]]:
    """Return in which columns of each measure a run counts, and whether it counts as true.

    `kinds` are the kinds of re-planning in all runs; None if the decider makes no plans.
    """
    replanned, values = run.measures["replannings"], run.measures["critical_values"]
    missed = {name: how is Found.MISSED for name, how in values.items()}
    number = str(min(len(replanned), _MOST_REPLANNINGS))
    marks = {"failures": {name: run.failure == name for name in CLASSES}}
    marks["failures"]["failed"] = run.failure is not None
    if kinds is not None:
        marks["replannings"] = dict.fromkeys((number, "total"), run.outcome is Outcome.CORRECT)
    if replanned:
        marks["kinds"] = {kind: kind in replanned for kind in kinds or ()}
    if missed:
        marks["missed"] = {**missed, "any": any(missed.values())}
    return marks


def _relevance(case: Case, questions: QuestionSet | None) -> Relevance:
    """Return the relevant objects of a case's question; all objects if they are unknown."""
    scenario, asked = plugins.find_scenario(case.result.scenario), case.result.question
    listed = () if questions is None else questions.questions
    question = next((one for one in listed if one.key == asked), None)
    if questions is None or question is None or scenario is None or not case.has_steps:
        return Relevance()
    return Relevance.of(question, scenario, questions.situation_of(question))


def _measured(case: Case, relevance: Relevance) -> AnalysedRun:
    result, evidence = case.result, case.trace.evidence
    scenario = plugins.find_scenario(result.scenario) if case.has_steps else None
    values = scenario.document.critical_values if scenario is not None else ()
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
    types = {
        case.result.key[:2]: ("none", "SR", "MR")[min(_retrievals(case), 2)]
        for case in cases
        if case.result.decider == reference and case.has_steps
    }
    if not types:
        deciders = dict.fromkeys(case.result.decider for case in cases if case.has_steps)
        raise UnknownNameError("judged decider with retrievals in this run", reference, deciders)
    return types
