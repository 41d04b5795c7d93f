"""What the PlanRAG paper measures about runs, taken from results and traces without a model.

Every measure is a written rule; ``docs/analysis.md`` states them with their sources and limits.
"""

from __future__ import annotations

from dqa.evaluation.analysis.actions import Action, actions_in
from dqa.evaluation.analysis.analyse import Analysis, analyse
from dqa.evaluation.analysis.cases import Case, Cases, Share, read_cases
from dqa.evaluation.analysis.critical_values import (
    CriticalValue,
    Found,
    found_values,
)
from dqa.evaluation.analysis.failures import RunFailure, failure_of
from dqa.evaluation.analysis.relevance import Data, Relevance
from dqa.evaluation.analysis.replanning import Replanning, kind_of
from dqa.evaluation.analysis.retrievals import QuestionType, Retrievals, question_types
from dqa.evaluation.analysis.statements import Asked, asked_in

__all__ = [
    "Action",
    "Analysis",
    "Asked",
    "Case",
    "Cases",
    "CriticalValue",
    "Data",
    "Found",
    "QuestionType",
    "Relevance",
    "Replanning",
    "Retrievals",
    "RunFailure",
    "Share",
    "actions_in",
    "analyse",
    "asked_in",
    "failure_of",
    "found_values",
    "kind_of",
    "question_types",
    "read_cases",
]
