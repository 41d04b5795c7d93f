"""Calculate the measures of the PlanRAG paper from the results and traces of a run.

``docs/analysis.md`` explains the rules, their sources and their limits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from dqa import plugins
from dqa.core.errors import UnknownNameError
from dqa.core.evidence import QUERY, SIMULATING
from dqa.core.question_set import QuestionSet
from dqa.evaluation.findings import AnalysedRun, Analysis, Case, Cases, Finding, FindingTable
from dqa.evaluation.results import Outcome, Result
from dqa_planrag.analysis.critical import Asked, Found, Relevance, found_values, read_statements
from dqa_planrag.analysis.replanning import replannings

_MOST_REPLANNINGS = 4
"""The last column of Table 7 contains all decisions with at least this number of re-plannings."""
_TITLES = {
    "question_types": "Accuracy in % by number of retrievals of the reference decider (Figure 5)",
    "replannings": "Accuracy in % by number of re-plannings (Table 7)",
    "kinds": "Kinds of re-planning, in % of the questions that were re-planned (Table 12)",
    "missed": "Missed data analysis, in % of the questions (Table 6)",
    "failures": "Failures by class, in % of all judged questions (Figure 6)",
}
CLASSES = ("CAN", "MIS", "DEEP", "QUR", "OTH")

_WORTHLESS = 1.0 - 1e-9
"""A choice with at least this relative regret gains nothing compared with making no decision."""
_QUOTES = " \t\r\n.,;:!?'\"`*"
_CLASSES = (
    "CAN: improper candidate. MIS: missed data. DEEP: wrong use of data or equations. QUR: failed "
    "queries. OTH: other."
)


def analyse(cases: Cases, reference: str | None, questions: QuestionSet | None) -> Analysis:
    """Calculate the measures of a run; see `dqa.evaluation.findings.Analyse`.

    A measure covers the decisions on all databases, as in the paper. Decisions without steps, such
    as those of a baseline, affect only the accuracies. A scenario without critical values has no
    table of missed data and no failures of class MIS.
    """
    judged, relevances = cases.judged, [_relevance(case, questions) for case in cases.judged]
    runs = list(map(_measured, judged, relevances))
    with_steps = [run for run, case in zip(runs, judged, strict=True) if case.has_steps]
    types = _types(with_steps, reference) if reference else {}
    findings = {measure: list[Finding]() for measure in _TITLES}
    findings["question_types"] = [
        Finding("", run.decider, types[run.key[:2]], run.question, run.outcome is Outcome.CORRECT)
        for run in runs
        if run.key[:2] in types
    ]
    planning = {(run.scenario, run.decider) for run in runs if run.measures["plans"]}
    kinds = {kind for run in runs for kind in run.measures["replannings"]}
    for run in with_steps:
        plans = (run.scenario, run.decider) in planning
        for measure, column, holds in _marks(run, kinds if plans else None):
            findings[measure].append(
                Finding(run.scenario, run.decider, column, run.question, holds)
            )
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


def _marks(run: AnalysedRun, kinds: Collection[str] | None) -> Iterator[tuple[str, str, bool]]:
    """Yield ``(table, column, is_hit)`` for every column that counts the decision `run`.

    A column shows the percentage of hits among the decisions that it counts. `kinds` contains all
    kinds of re-planning that occur in the run; None if the decider does not plan.
    """
    replanned, values = run.measures["replannings"], run.measures["critical_values"]
    if kinds is not None:
        for column in (str(min(len(replanned), _MOST_REPLANNINGS)), "total"):
            yield "replannings", column, run.outcome is Outcome.CORRECT
    for kind in kinds or () if replanned else ():
        yield "kinds", kind, kind in replanned
    if values:
        yield "missed", "any", Found.MISSED in values.values()
    for name, how in values.items():
        yield "missed", name, how is Found.MISSED
    for name in CLASSES:
        yield "failures", name, run.failure == name
    yield "failures", "failed", run.failure is not None


def _relevance(case: Case, questions: QuestionSet | None) -> Relevance:
    """Return the relevant objects of a question.

    If the data is unknown, all objects are relevant.
    """
    scenario, key = plugins.find_scenario(case.result.scenario), case.result.question
    listed = () if questions is None else questions.questions
    question = next((one for one in listed if one.key == key), None)
    if questions is None or question is None or scenario is None or not case.has_steps:
        return Relevance()
    return Relevance.of(question, scenario, questions.situation_of(question))


def _measured(case: Case, relevance: Relevance) -> AnalysedRun:
    result, evidence = case.result, case.trace.evidence
    scenario = plugins.find_scenario(result.scenario) if case.has_steps else None
    values = scenario.document.critical_values if scenario is not None else ()
    statements = read_statements(
        case.trace, scenario.schema if scenario is not None and values else None
    )
    found = found_values(statements, values, relevance)
    failure, reason = failure_of(case, found, statements, relevance) or (None, None)
    return AnalysedRun(
        **result.key._asdict(),
        scenario=result.scenario,
        model=result.model,
        outcome=result.outcome,
        failure=failure,
        reason=reason,
        measures={
            "retrievals": sum(one.tool == QUERY and one.error is None for one in evidence),
            "failed": sum(one.tool == QUERY and one.error is not None for one in evidence),
            "simulations": sum(one.tool in SIMULATING and one.error is None for one in evidence),
            "plans": len(case.trace.plans),
            "replannings": replannings(case.trace),
            "critical_values": found,
        },
    )


def _types(runs: Sequence[AnalysedRun], reference: str) -> dict[tuple[str, str], str]:
    """Return the type of each question: how often the decider `reference` retrieved data for it.

    The type is ``SR`` for a single retrieval, ``MR`` for several, and ``none`` for no retrieval.
    """
    counts = {run.key[:2]: run.measures["retrievals"] for run in runs if run.decider == reference}
    if not counts:
        deciders = dict.fromkeys(run.decider for run in runs)
        raise UnknownNameError(
            "decider with recorded steps in judged decisions, called", reference, deciders
        )
    return {key: ("none", "SR", "MR")[min(count, 2)] for key, count in counts.items()}


def failure_of(
    case: Case, found: Mapping[str, Found], asked: Sequence[Asked], relevance: Relevance
) -> tuple[str, str] | None:
    """Return the class of a failure, and the reason for this class.

    The result is None if the decision is correct or has no steps. The first matching rule decides.
    ``docs/analysis.md`` explains the rules.

    Parameters
    ----------
    case
        A judged decision.
    found
        How the decider found each critical value of the scenario.
    asked
        The statements of the decider.
    relevance
        The relevant objects of the question.
    """
    result = case.result
    if case.correct or not case.has_steps:
        return None
    missed = [name for name, how in found.items() if how is Found.MISSED]
    vain = sum(not one.brought_data(relevance) for one in asked)
    lacks_data = bool(missed) if found else vain == len(asked)
    is_known = result.answer.strip(_QUOTES).casefold() in map(str.casefold, relevance.names)
    improper = result.outcome is Outcome.NO_CANDIDATE and is_known
    in_vain = bool(asked) and 2 * vain >= len(asked) and lacks_data
    rules = (
        ("QUR", in_vain, f"{vain} of {len(asked)} statements returned no data"),
        ("CAN", improper, "the answer is not a candidate"),
        ("OTH", result.outcome is not Outcome.WRONG, f"no decision to judge: {result.outcome}"),
        ("CAN", _gains_nothing(result), "the chosen candidate gains nothing"),
        ("MIS", bool(missed), f"did not retrieve: {', '.join(missed)}"),
        ("DEEP", True, "had the data, but chose a worse candidate"),
    )
    return next((name, reason) for name, holds, reason in rules if holds)


def _gains_nothing(result: Result) -> bool:
    """Return whether the chosen candidate gains nothing compared with making no decision.

    The result is False if this is unknown.
    """
    if result.relative_regret is not None:
        return result.relative_regret >= _WORTHLESS
    return result.value is not None and result.baseline is not None  # no candidate has a gain
