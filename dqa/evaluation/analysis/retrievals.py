"""How often runs retrieved, and which questions are SR and MR (PlanRAG, section 5.2, Figure 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from dqa.core.evidence import QUERY, SIMULATING
from dqa.evaluation.analysis.cases import Case
from dqa.evaluation.traces import Trace


@dataclass(frozen=True, slots=True)
class Retrievals:
    """What a run asked for.

    Attributes
    ----------
    returned
        Statements that ran on the database, whether or not any row matched: its retrievals.
    failed
        Statements that were refused, failed or took too long: these retrieved nothing.
    simulations
        Answers of the simulator.
    """

    returned: int
    failed: int
    simulations: int

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """Count what a run asked for."""
        asked = [evidence for evidence in trace.evidence if evidence.tool == QUERY]
        simulated = [evidence for evidence in trace.evidence if evidence.tool in SIMULATING]
        return cls(
            returned=sum(evidence.error is None for evidence in asked),
            failed=sum(evidence.error is not None for evidence in asked),
            simulations=sum(evidence.error is None for evidence in simulated),
        )


class QuestionType(StrEnum):
    """What the reference decider's run says of a question on a database."""

    SINGLE = "SR"
    MULTIPLE = "MR"
    NEVER = "none"

    @classmethod
    def of(cls, retrievals: int) -> Self:
        """Return the type that a number of retrievals makes."""
        return cls("none" if retrievals == 0 else "SR" if retrievals == 1 else "MR")


def question_types(cases: Iterable[Case], reference: str) -> Mapping[tuple[str, str], QuestionType]:
    """Return the type of every question and database that the reference decider was judged on.

    A reference that leaves no trace of how it decides, as a baseline does, gives no type.
    """
    return {
        case.key[:2]: QuestionType.of(Retrievals.of(case.trace).returned)
        for case in cases
        if case.result.decider == reference and case.told
    }
