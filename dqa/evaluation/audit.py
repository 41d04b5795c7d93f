"""What every official label of a release rests on, label by label.

A label is judged under every rule set that its scenario's simulator has. The DQA release's are
``released``, which continues from tables that already hold one simulation's results, and
``paper``, one clean simulation a candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite

from pydantic import Field

from dqa import plugins
from dqa.core.question import Candidate, Question
from dqa.core.question_set import Defect, QuestionSet
from dqa.core.records import Record
from dqa.core.simulator import Outcomes
from dqa.core.truth import LabelledQuestion
from dqa.evaluation.annotate import simulate_all
from dqa.evaluation.shortcuts import Shortcut, measure_shortcuts

_ROUNDING = 1e-12
"""Values that differ by less than this share of themselves differ by rounding alone."""


DATA_DEFECT, TIE, LAST_BIT = "data defect", "tie", "decided by the last bit"
EVERY, NONE = "every rule set", "no rule set"
"""What a label rests on; of several that hold, the first. Others are ``only NAME`` of rule sets."""


class LabelAudit(Record):
    """One official label and what it rests on.

    Attributes
    ----------
    scenario, question
        The question's scenario and id.
    official
        The label, None where the question has none.
    verdict
        What it rests on, in a word.
    reason
        The same in a sentence.
    best
        By rule set the best candidate, of ties the first in table order; empty where the label
        cannot be judged. Rule sets are in the simulator's order.
    agrees
        By rule set, whether the label is that candidate.
    regret, rank
        By rule set what the label gives away (same unit as the outcome) and its rank.
    tie_of
        How many candidates are exactly the best under the first rule set; 1 where it is unique.
    decided_by_last_bit
        Whether rounding decides between the best and the next under the first rule set.
    defects
        What was wrong in the label's files and what was done about it.
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
    """Counts over a scenario's labels; unlike verdicts, these may overlap.

    Attributes
    ----------
    agree
        By rule set, the labels that are best.
    only_first
        Labels that are best under the first rule set alone.
    """

    scenario: str
    labels: int
    agree: dict[str, int]
    only_first: int
    ties: int
    decided_by_last_bit: int
    verdicts: dict[str, int]


class ReleaseAudit(Record):
    """The audit of a question set: its labels, totals by scenario, and its files' defects.

    `shortcuts` is how often each heuristic of its scenarios is right, ties of the best accepted.
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
    UnknownNameError
        A scenario without a simulator.
    SituationError
        A situation that breaks what its scenario needs.
    """
    outcomes = _outcomes(question_set)
    labels = tuple(
        _label(
            labelled,
            outcomes[labelled.question.key],
            _defects_of(labelled.question, question_set.defects),
        )
        for labelled in question_set.labelled
    )
    scenarios = dict.fromkeys(label.scenario for label in labels)
    totals = tuple(
        _totals(s, [label for label in labels if label.scenario == s]) for s in scenarios
    )
    return ReleaseAudit(
        name=question_set.name,
        totals=totals,
        labels=labels,
        shortcuts=measure_shortcuts(question_set),
        defects=tuple(map(str, question_set.defects)),
        found=question_set.defects,
    )


def _outcomes(question_set: QuestionSet) -> dict[str, dict[str, Outcomes]]:
    """Return the outcomes of every question by rule set, in the order of its simulator's."""
    found: dict[str, dict[str, Outcomes]] = {q.key: {} for q in question_set.questions}
    simulated = plugins.names("simulator")
    for scenario in dict.fromkeys(q.scenario for q in question_set.questions):
        asked = question_set.select((scenario,))
        known = scenario in simulated
        for rules in plugins.simulator(scenario).rule_sets if known else ("",):
            for question, outcomes in zip(asked.questions, simulate_all(asked, rules), strict=True):
                found[question.key][rules] = outcomes
    return found


def _defects_of(question: Question, defects: Sequence[Defect]) -> tuple[str, ...]:
    """Return what was wrong in a question's database: a file called as its situation or number."""
    stems = {question.situation, f"q{question.id}"}
    return tuple(
        f"{defect.problem}; {defect.action}"
        for defect in defects
        if defect.file.stem in stems and question.scenario in defect.file.parts
    )


def _label(
    labelled: LabelledQuestion, by_rules: Mapping[str, Outcomes], defects: tuple[str, ...]
) -> LabelAudit:
    question, official = labelled.question, labelled.truth.official
    first = next(iter(by_rules.values()))
    if official is None or official not in first.candidates:
        return LabelAudit(
            scenario=question.scenario,
            question=question.id,
            official=official,
            verdict=DATA_DEFECT,
            reason=(
                "The question has no official answer."
                if official is None
                else f"The label {official} is no candidate of this question."
            ),
            defects=defects,
        )
    verdict = _verdict(official, by_rules)
    return LabelAudit(
        scenario=question.scenario,
        question=question.id,
        official=official,
        verdict=verdict,
        reason=_reason(verdict, official, by_rules),
        best={name: outcomes.answer for name, outcomes in by_rules.items()},
        agrees={name: official == outcomes.answer for name, outcomes in by_rules.items()},
        regret={name: outcomes.regret(official) for name, outcomes in by_rules.items()},
        rank={name: outcomes.rank(official) for name, outcomes in by_rules.items()},
        tie_of=len(first.ties),
        decided_by_last_bit=first.decided_by_last_bit,
        defects=defects,
    )


def _verdict(official: Candidate, by_rules: Mapping[str, Outcomes]) -> str:
    first = next(iter(by_rules.values()))
    if official in first.ties:
        if len(first.ties) > 1:
            return TIE
        if first.decided_by_last_bit:
            return LAST_BIT
    agreeing = [name for name, outcomes in by_rules.items() if official == outcomes.answer]
    if not agreeing:
        return NONE
    return EVERY if len(agreeing) == len(by_rules) else f"only {' and '.join(agreeing)}"


def _reason(verdict: str, official: Candidate, by_rules: Mapping[str, Outcomes]) -> str:
    (name, first), *others = by_rules.items()
    elsewhere = " ".join(_under(other, official, outcomes) for other, outcomes in others)
    if verdict == TIE:
        every = len(first.ties) == len(first.candidates)
        who = "All" if every else f"{len(first.ties)} of the"
        place = "the first" if official == first.answer else "not the first"
        said = (
            f"{who} {len(first.candidates)} candidates are exactly as good; the label is "
            f"{place} of them in table order."
        )
    elif verdict == LAST_BIT:
        said = (
            f"Under {name} the best and the next differ by no more than rounding, so the order "
            "of summation decides."
        )
    elif verdict == EVERY:
        return "The label is the best decision under every rule set."
    else:
        said = _under(name, official, first)
    return f"{said} {elsewhere}".strip()


def _under(name: str, official: Candidate, outcomes: Outcomes) -> str:
    if official == outcomes.answer:
        return f"Under {name} the label is best."
    if official in outcomes.ties:
        ties = len(outcomes.ties)
        return f"Under {name} it is one of {ties} ties, of which {outcomes.answer} is first."
    best = f"Under {name} {outcomes.answer} is best; the label ranks {outcomes.rank(official)}"
    if outcomes.regret(official) <= _ROUNDING * abs(outcomes.value(official)):
        return f"{best}, behind by no more than rounding."
    share = outcomes.relative_regret(official)
    if share is None:
        return f"{best}."
    if not isfinite(share):
        return f"{best}, though even the best gains nothing."
    return f"{best} and gives away {share:.1%} of what the best gains."


def _totals(scenario: str, labels: Sequence[LabelAudit]) -> Totals:
    rules = tuple(dict.fromkeys(name for label in labels for name in label.agrees))
    return Totals(
        scenario=scenario,
        labels=len(labels),
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
