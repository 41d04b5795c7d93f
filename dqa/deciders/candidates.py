"""List and describe the candidates of a question, and read their nouns and recorded outcomes."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Goal, Outcomes
from dqa.core.truth import Truth
from dqa.scenarios.embedded import listed_candidates


def nouns_of(question: Question) -> tuple[str, ...]:
    """Return the nouns for a question's candidates, such as "trade node", the usual noun first."""
    scenario = plugins.scenario_of(question)
    return ("candidate",) if scenario is None else (scenario.listing.noun, *scenario.listing.called)


def recorded_outcomes(question: Question, truth: Truth) -> Outcomes | None:
    """Return the recorded outcomes of a question; None if there are none.

    The baseline is the outcome without a decision. A scenario whose outcomes come from a query
    defines the baseline. In other scenarios, the baseline is 0 for the goal ``maximise``, and
    unknown for the goal ``minimise``.
    """
    if truth.outcomes is None or question.candidates is None:
        return None
    import numpy as np

    scenario = plugins.scenario_of(question)
    goal: Goal = "maximise" if scenario is None else scenario.goal
    values = np.array(truth.outcomes, dtype=np.float64)
    baseline = 0.0 if goal == "maximise" else None
    if scenario is not None and scenario.outcomes.source == "query":
        baseline = scenario.outcomes.baseline
    return Outcomes(question.candidates, values, goal, baseline)


MOST_COMPARED = 10_000
"""The maximum length of a short list of candidates. Agents narrow a longer list by queries."""


def among(candidates: Iterable[Candidate], texts: AbstractSet[str]) -> tuple[Candidate, ...]:
    """Return the candidates that are in a set of texts.

    Trailing spaces are ignored, because columns of fixed width pad texts with spaces.
    """
    return tuple(one for one in candidates if str(one) in texts or str(one).rstrip(" ") in texts)


def candidates_of(question: Question, database: Database) -> tuple[Candidate, ...] | None:
    """Return the candidates of a question; None if the question defines no candidates.

    Raises
    ------
    UsageError, InfrastructureError
        See `listed_candidates`.
    """
    if question.candidates is not None or question.candidate_query is None:
        return question.candidates
    return listed_candidates(question.candidate_query, database)


def list_candidates(question: Question, database: Database, decider: str) -> tuple[Candidate, ...]:
    """Return the candidates. If there are none, raise `UsageError` with the decider's name."""
    check_listed(question, decider)
    listed = candidates_of(question, database)
    if not listed:
        raise _unlisted(question, decider)
    return listed


def check_listed(question: Question, decider: str) -> None:
    """Raise `UsageError` for a question with neither candidates nor a statement that lists them."""
    if not question.candidates and (question.candidates == () or not question.candidate_query):
        raise _unlisted(question, decider)


def _unlisted(question: Question, decider: str) -> UsageError:
    return UsageError(
        f"Question '{question.key}' lists no candidates, but {decider} chooses from a list: add a "
        "list (--candidates, or the field 'candidates' of a question in a file)."
    )
