"""What every official label of a release rests on, label by label.

A label is judged under two rule sets: ``released``, which continues from tables that already hold
one simulation's results, and ``paper``, one clean simulation a candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from math import isfinite

from pydantic import Field

from dqa.core.question import Candidate, Question
from dqa.core.question_set import Defect, QuestionSet
from dqa.core.records import Record
from dqa.core.simulator import Outcomes
from dqa.core.truth import LabelledQuestion
from dqa.evaluation.annotate import simulate_all

__all__ = ["LabelAudit", "LabelVerdict", "ReleaseAudit", "Totals", "audit"]


_ROUNDING = 1e-12
"""Values that differ by less than this share of themselves differ by rounding alone."""


class LabelVerdict(StrEnum):
    """What a label rests on; of several that hold, the first of these."""

    DATA_DEFECT = "data defect"
    TIE = "tie"
    LAST_BIT = "decided by the last bit"
    BOTH = "both rule sets"
    RELEASED_ONLY = "only released"
    PAPER_ONLY = "only paper"
    NEITHER = "neither"


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
    released, paper
        The best candidate under each rule set, of ties the first in table order; None where the
        label cannot be judged.
    agrees_released, agrees_paper
        Whether the label is that candidate.
    tie_of
        How many candidates are exactly the best under ``released``; 1 where the best is unique.
    decided_by_last_bit
        Whether rounding decides between the best and the next under ``released``.
    paper_regret, paper_rank
        What the label gives away under ``paper`` (same unit as the outcome) and its rank there.
    defects
        What was wrong in the label's files and what was done about it.
    """

    scenario: str
    question: str
    official: Candidate | None
    verdict: LabelVerdict
    reason: str
    released: Candidate | None = None
    paper: Candidate | None = None
    agrees_released: bool = False
    agrees_paper: bool = False
    tie_of: int = 0
    decided_by_last_bit: bool = False
    paper_regret: float | None = None
    paper_rank: int | None = None
    defects: tuple[str, ...] = ()


class Totals(Record):
    """Counts over a scenario's labels; unlike verdicts, these may overlap."""

    scenario: str
    labels: int
    agree_released: int
    agree_paper: int
    only_released: int
    ties: int
    decided_by_last_bit: int
    verdicts: dict[LabelVerdict, int]


class ReleaseAudit(Record):
    """The audit of a question set: its labels, totals by scenario, and its files' defects."""

    name: str
    totals: tuple[Totals, ...]
    labels: tuple[LabelAudit, ...]
    defects: tuple[str, ...]
    found: tuple[Defect, ...] = Field(exclude=True, repr=False)


def audit(question_set: QuestionSet) -> ReleaseAudit:
    """Judge every official label of a question set under both rule sets.

    Raises
    ------
    UnknownNameError
        A scenario without a simulator, or whose simulator lacks one of the two rule sets.
    SituationError
        A situation that breaks what its scenario needs.
    """
    released = simulate_all(question_set, "released")
    paper = simulate_all(question_set, "paper")
    labels = tuple(
        _label(labelled, ours, theirs, _defects_of(labelled.question, question_set.defects))
        for labelled, ours, theirs in zip(question_set.labelled, released, paper, strict=True)
    )
    scenarios = dict.fromkeys(label.scenario for label in labels)
    totals = tuple(
        _totals(s, [label for label in labels if label.scenario == s]) for s in scenarios
    )
    return ReleaseAudit(
        name=question_set.name,
        totals=totals,
        labels=labels,
        defects=tuple(map(str, question_set.defects)),
        found=question_set.defects,
    )


def _defects_of(question: Question, defects: Sequence[Defect]) -> tuple[str, ...]:
    """Return what was wrong in a question's database: a file called as its situation or number."""
    stems = {question.situation, f"q{question.id}"}
    return tuple(
        f"{defect.problem}; {defect.action}"
        for defect in defects
        if defect.file.stem in stems and question.scenario in defect.file.parts
    )


def _label(
    labelled: LabelledQuestion, released: Outcomes, paper: Outcomes, defects: tuple[str, ...]
) -> LabelAudit:
    question, official = labelled.question, labelled.truth.official
    if official is None or official not in released.candidates:
        return LabelAudit(
            scenario=question.scenario,
            question=question.id,
            official=official,
            verdict=LabelVerdict.DATA_DEFECT,
            reason=(
                "The question has no official answer."
                if official is None
                else f"The label {official} is no candidate of this question."
            ),
            defects=defects,
        )
    verdict = _verdict(official, released, paper)
    return LabelAudit(
        scenario=question.scenario,
        question=question.id,
        official=official,
        verdict=verdict,
        reason=_reason(verdict, official, released, paper),
        released=released.answer,
        paper=paper.answer,
        agrees_released=official == released.answer,
        agrees_paper=official == paper.answer,
        tie_of=len(released.ties),
        decided_by_last_bit=released.decided_by_last_bit,
        paper_regret=paper.regret(official),
        paper_rank=paper.rank(official),
        defects=defects,
    )


def _verdict(official: Candidate, released: Outcomes, paper: Outcomes) -> LabelVerdict:
    if official in released.ties:
        if len(released.ties) > 1:
            return LabelVerdict.TIE
        if released.decided_by_last_bit:
            return LabelVerdict.LAST_BIT
    agreements = {
        (True, True): LabelVerdict.BOTH,
        (True, False): LabelVerdict.RELEASED_ONLY,
        (False, True): LabelVerdict.PAPER_ONLY,
        (False, False): LabelVerdict.NEITHER,
    }
    return agreements[official == released.answer, official == paper.answer]


def _reason(verdict: LabelVerdict, official: Candidate, released: Outcomes, paper: Outcomes) -> str:
    under_paper = _under_paper(official, paper)
    if verdict is LabelVerdict.TIE:
        every = len(released.ties) == len(released.candidates)
        who = "All" if every else f"{len(released.ties)} of the"
        first = "the first" if official == released.answer else "not the first"
        return (
            f"{who} {len(released.candidates)} candidates are exactly as good; the label is "
            f"{first} of them in table order. {under_paper}"
        )
    if verdict is LabelVerdict.LAST_BIT:
        return (
            "Under released the best and the next differ by no more than rounding, so the order "
            f"of summation decides. {under_paper}"
        )
    if verdict is LabelVerdict.BOTH:
        return "The label is the best decision under both rule sets."
    if verdict is LabelVerdict.RELEASED_ONLY:
        return f"The label is best only where sums count twice. {under_paper}"
    return f"Under released {released.answer} is best. {under_paper}"


def _under_paper(official: Candidate, paper: Outcomes) -> str:
    if official == paper.answer:
        return "Under paper it is best too."
    if official in paper.ties:
        return f"Under paper it is one of {len(paper.ties)} ties, of which {paper.answer} is first."
    best = f"Under paper {paper.answer} is best; the label ranks {paper.rank(official)}"
    if paper.regret(official) <= _ROUNDING * abs(paper.value(official)):
        return f"{best}, behind by no more than rounding."
    share = paper.relative_regret(official)
    if share is None:
        return f"{best}."
    if not isfinite(share):
        return f"{best}, though even the best gains nothing."
    return f"{best} and gives away {share:.1%} of what the best gains."


def _totals(scenario: str, labels: Sequence[LabelAudit]) -> Totals:
    counts = Counter(label.verdict for label in labels)
    return Totals(
        scenario=scenario,
        labels=len(labels),
        agree_released=sum(label.agrees_released for label in labels),
        agree_paper=sum(label.agrees_paper for label in labels),
        only_released=sum(label.agrees_released and not label.agrees_paper for label in labels),
        ties=sum(label.tie_of > 1 for label in labels),
        decided_by_last_bit=sum(label.decided_by_last_bit for label in labels),
        verdicts={verdict: counts[verdict] for verdict in LabelVerdict},
    )
