"""Audit every official label of a release.

The audit judges a label under every rule set of its scenario's simulator. A simulator may declare
which rule set follows the written rules, and how its other rule sets differ from the written rules
(`dqa.core.simulator.CountingRules`). If the label is best only under rule sets that differ from the
written rules, the verdict names the difference, such as a sum that is counted twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite

from pydantic import Field

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
from dqa.core.question_set import Defect, QuestionSet
from dqa.core.records import Record
from dqa.core.simulator import CountingRules, Outcomes, counting_of
from dqa.core.truth import LabelledQuestion
from dqa.evaluation.score import Judge, has_record, simulated_rules
from dqa.evaluation.shortcuts import Shortcut, measure_shortcuts

DATA_DEFECT, TIE, LAST_BIT = "data defect", "tie", "decided by the last bit"
EVERY, NONE, BY_TEXT = "every rule set", "no rule set", "right by the text"
"""Verdicts on a label. A label that is best only under some rule sets can also have the verdict
``rests on DIFFERENCES``, or ``only NAMES`` if the simulator declares no differences."""


class LabelAudit(Record):
    """One official label and the verdict on it.

    Attributes
    ----------
    scenario, question
        The question's scenario and id.
    official
        The label; None if the question has no label.
    verdict
        The verdict on the label.
    reason
        The rank of the label under each rule set, or the reason why the label cannot be judged.
    best
        The best candidate under each rule set, without rounding. The rule sets are in the
        simulator's order. Empty if the label cannot be judged.
    agrees
        For each rule set, whether the label is the candidate in `best`.
    regret, rank
        For each rule set, the loss of the label relative to the best candidate, and the rank of the
        label.
    tie_of
        The number of candidates that are best, up to rounding, under the first rule set.
    decided_by_last_bit
        Whether rounding decides which of the tied candidates is the best.
    defects
        Defects in the files of the question. Each defect says how dqa handled it.
    """

    scenario: str
    question: str
    official: Candidate | None
    verdict: str
    reason: str
    best: dict[str, Candidate] = Field(default_factory=dict)
    agrees: dict[str, bool] = Field(default_factory=dict)
    regret: dict[str, float] = Field(default_factory=dict)
    rank: dict[str, int] = Field(default_factory=dict)
    tie_of: int = 0
    decided_by_last_bit: bool = False
    defects: tuple[str, ...] = ()


class Totals(Record):
    """Counts of a scenario's labels. Every label has exactly one verdict in `verdicts`.

    Attributes
    ----------
    rule_sets
        The description of each rule set; "" for a rule set without a description.
    agree
        For each rule set, the number of labels that are the best candidate.
    only_first
        Number of labels that are best only under the first rule set.
    """

    scenario: str
    labels: int
    rule_sets: dict[str, str]
    agree: dict[str, int]
    only_first: int
    ties: int
    decided_by_last_bit: int
    verdicts: dict[str, int]


class ReleaseAudit(Record):
    """The audit of a question set: labels, totals by scenario, and defects in the files.

    `shortcuts` contains, for each heuristic, how often its answer is the official label.
    """

    name: str
    totals: tuple[Totals, ...]
    labels: tuple[LabelAudit, ...]
    shortcuts: tuple[Shortcut, ...]
    defects: tuple[str, ...]
    found: tuple[Defect, ...] = Field(exclude=True, repr=False)


def audit(question_set: QuestionSet) -> ReleaseAudit:
    """Judge every official label of a question set under every rule set of its simulator.

    Raises
    ------
    UsageError
        A question has neither a simulator nor recorded outcomes.
    UnknownNameError
        A situation is unknown.
    SituationError
        A situation is not valid for its scenario.
    """
    outcomes = _outcomes(question_set)
    simulated = simulated_rules(question_set)
    counting = {name: counting_of(plugins.simulator(name)) for name in simulated}
    labels = tuple(
        _label(
            labelled,
            outcomes[labelled.question.key],
            counting.get(labelled.question.scenario),
            _defects_of(labelled.question, question_set.defects),
        )
        for labelled in question_set.labelled
    )
    totals = tuple(
        _totals([label for label in labels if label.scenario == s], counting.get(s))
        for s in dict.fromkeys(label.scenario for label in labels)
    )
    return ReleaseAudit(
        name=question_set.name,
        totals=totals,
        labels=labels,
        shortcuts=measure_shortcuts(question_set, strict_official=True),
        defects=tuple(map(str, question_set.defects)),
        found=question_set.defects,
    )


def _outcomes(question_set: QuestionSet) -> dict[str, dict[str, Outcomes]]:
    """Return the outcomes of every question by rule set, in the simulator's order of rule sets."""
    found: dict[str, dict[str, Outcomes]] = {q.key: {} for q in question_set.questions}
    simulated = simulated_rules(question_set)
    for scenario in dict.fromkeys(q.scenario for q in question_set.questions):
        questions = question_set.select((scenario,))
        rule_sets = plugins.simulator(scenario).rule_sets if scenario in simulated else ("",)
        for rules in rule_sets:
            for question, outcomes in zip(
                questions.questions, simulate_all(questions, rules), strict=True
            ):
                found[question.key][rules] = outcomes
    return found


def _defects_of(question: Question, defects: Sequence[Defect]) -> tuple[str, ...]:
    """Return the defects in files that are named after a question's situation or id."""
    stems = {question.situation, f"q{question.id}"}
    return tuple(
        f"{defect.problem}; {defect.action}"
        for defect in defects
        if defect.file.stem in stems and question.scenario in defect.file.parts
    )


def _label(
    labelled: LabelledQuestion,
    by_rules: Mapping[str, Outcomes],
    counting: CountingRules | None,
    defects: tuple[str, ...],
) -> LabelAudit:
    question, official = labelled.question, labelled.truth.official
    first = next(iter(by_rules.values()))
    unknown = LabelAudit(
        scenario=question.scenario,
        question=question.id,
        official=official,
        verdict=DATA_DEFECT,
        reason="The question has no official answer.",
        defects=defects,
    )
    if official is None:
        return unknown
    if official not in first.candidates:
        return unknown.changed(reason=f"The label {official} is not a candidate of this question.")
    return unknown.changed(
        verdict=_verdict(official, by_rules, counting),
        reason=" ".join(_under(name, official, found) for name, found in by_rules.items()),
        best={name: outcomes.answer for name, outcomes in by_rules.items()},
        agrees={name: official == outcomes.answer for name, outcomes in by_rules.items()},
        regret={name: outcomes.regret(official) for name, outcomes in by_rules.items()},
        rank={name: outcomes.rank(official) for name, outcomes in by_rules.items()},
        tie_of=len(first.ties),
        decided_by_last_bit=first.decided_by_last_bit,
    )


def _verdict(
    official: Candidate, by_rules: Mapping[str, Outcomes], counting: CountingRules | None
) -> str:
    first = next(iter(by_rules.values()))
    if official in first.ties and len(first.ties) > 1:
        some = len(first.ties) < len(first.candidates)
        return LAST_BIT if some and first.decided_by_last_bit else TIE
    agreeing = tuple(name for name, outcomes in by_rules.items() if official in outcomes.ties)
    others = tuple(name for name in by_rules if name not in agreeing)
    if not agreeing or not others:
        return EVERY if agreeing else NONE
    if counting is None:
        return f"only {' and '.join(agreeing)}"
    text = counting.text in agreeing
    return BY_TEXT if text else f"rests on {_grounds(agreeing, others, counting)}"


def _grounds(agreeing: Sequence[str], others: Sequence[str], counting: CountingRules) -> str:
    """Return the differences from the written rules that all rule sets in `agreeing` share.

    If there are shared differences that occur in no rule set of `others`, return only those. If the
    rule sets in `agreeing` share no difference, return their names.
    """
    first, *rest = (counting.grounds[name] for name in agreeing)
    shared = [ground for ground in first if all(ground in grounds for grounds in rest)]
    elsewhere = {ground for name in others for ground in counting.grounds[name]}
    own = [ground for ground in shared if ground not in elsewhere]
    return " and ".join(own or shared or agreeing)


def _under(name: str, official: Candidate, outcomes: Outcomes) -> str:
    under = f"Under {name}, " if name else "By the recorded outcomes, "
    if official == outcomes.answer:
        return f"{under}the label is best."
    if official in outcomes.ties:
        count = len(outcomes.ties)
        return f"{under}{count} candidates are best, such as the label and {outcomes.answer}."
    best = f"{under}{outcomes.answer} is best; the label has rank {outcomes.rank(official)}"
    share = outcomes.relative_regret(official)
    if share is None or not isfinite(share):
        return f"{best}."
    return f"{best} and loses {share:.1%} of the gain of the best candidate."


def _totals(labels: Sequence[LabelAudit], counting: CountingRules | None) -> Totals:
    rules = tuple(dict.fromkeys(name for label in labels for name in label.agrees))
    return Totals(
        scenario=labels[0].scenario,
        labels=len(labels),
        rule_sets={name: counting.described[name] if counting else "" for name in rules},
        agree={name: sum(label.agrees.get(name, False) for label in labels) for name in rules},
        only_first=sum(
            [name for name, agrees in label.agrees.items() if agrees] == [*rules[:1]]
            for label in labels
            if len(rules) > 1
        ),
        ties=sum(label.tie_of > 1 for label in labels),
        decided_by_last_bit=sum(label.decided_by_last_bit for label in labels),
        verdicts=dict(Counter(label.verdict for label in labels)),
    )


class Annotation(Record):
    """The best decisions of a question under a rule set, and the official answer.

    Attributes
    ----------
    scenario, question
        The question's scenario and id. The id is an int if the release stores it as a number.
    rule_set
        The name of the rule set; empty if the scenario has no simulator.
    answer
        The candidate with the best unrounded outcome. If several candidates are equal, the answer
        is the first of them in table order.
    ties
        All candidates whose outcome equals the best outcome up to rounding, in table order.
    value
        The outcome of the answer, in the unit of the scenario.
    margin
        The difference between the outcome of `ties` and the next best outcome; 0 if all outcomes
        are equal.
    official
        The official answer; None if the question has no official answer.
    agrees
        Whether the official answer is `answer`; None if there is no official answer.
    decided_by_last_bit
        Whether only floating-point errors decide which of the ties is the answer.
    """

    scenario: str
    question: int | str
    rule_set: str
    answer: Candidate
    ties: tuple[Candidate, ...] = Field(min_length=1)
    value: float
    margin: float = Field(ge=0)
    official: Candidate | None
    agrees: bool | None
    decided_by_last_bit: bool


def simulate_all(question_set: QuestionSet, rule_set: str | None = None) -> list[Outcomes]:
    """Return the outcomes of every question, in order. Each situation is simulated once.

    Parameters
    ----------
    question_set
        Questions of scenarios that have a simulator, or with recorded outcomes.
    rule_set
        The name of a rule set. By default, it is the rule set that the question set names. If the
        question set names none, it is the first rule set of the simulator.

    Raises
    ------
    UsageError
        A question has neither a simulator nor recorded outcomes.
    UnknownNameError
        The rule set or a situation is unknown.
    SituationError
        A situation is not valid for its scenario.
    """
    judge = Judge(question_set, rule_set)
    simulated = simulated_rules(question_set, rule_set)
    found = []
    for question in question_set.questions:
        outcomes = judge.outcomes_of(question)
        has_source = question.scenario in simulated or has_record(question_set, question)
        if outcomes is None or not has_source:
            raise UsageError(
                f"Question '{question.key}' cannot be simulated, because scenario "
                f"'{question.scenario}' has no simulator. To score decisions by recorded "
                "answers and outcomes, use 'dqa eval'."
            )
        found.append(outcomes)
    return found


def annotate(question_set: QuestionSet, rule_set: str | None = None) -> list[Annotation]:
    """Return the best decisions of every question, in the order of the set.

    See `simulate_all` for the parameters and errors.
    """
    rules, annotations = simulated_rules(question_set, rule_set), []
    simulated = simulate_all(question_set, rule_set)
    for (question, truth), outcomes in zip(question_set.labelled, simulated, strict=True):
        official = truth.official
        annotations.append(
            Annotation(
                scenario=question.scenario,
                question=int(question.id) if question.id.isdecimal() else question.id,
                rule_set=rules.get(question.scenario, ""),
                answer=outcomes.answer,
                ties=outcomes.ties,
                value=outcomes.best,
                margin=outcomes.margin,
                official=official,
                agrees=None if official is None else official == outcomes.answer,
                decided_by_last_bit=outcomes.decided_by_last_bit,
            )
        )
    return annotations
