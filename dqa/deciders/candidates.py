"""What can be chosen: what it is called, where a statement lists it, what a record says of it."""

from __future__ import annotations

import json

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.core.errors import DataError, UsageError
from dqa.core.events import WarningEvent
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Goal, Outcomes
from dqa.core.truth import Truth
from dqa.scenarios.embedded import first_column

_MOST = Limits(rows=100_000, bytes=20_000_000, cell=20_000_000)

_OFFERED = 200
_OFFERED_CHARACTERS = 8_000
"""The most candidates, and characters of them, that a question of the user's own names."""
_EXAMPLES = 20


def nouns_of(question: Question) -> tuple[str, ...]:
    """Return what a question's candidates may be called, such as "trade node"; the usual first."""
    scenario = plugins.scenario_of(question)
    return ("candidate",) if scenario is None else scenario.candidate_nouns


def recorded_outcomes(question: Question, truth: Truth) -> Outcomes | None:
    """Return the outcomes that a question's record tells; None where there is no record.

    A scenario that states its outcomes says what deciding nothing leads to. Elsewhere that is 0
    where more is better; where less is, no record tells what it costs.
    """
    if truth.outcomes is None or question.candidates is None:
        return None
    import numpy as np

    scenario = plugins.scenario_of(question)
    goal: Goal = "maximise" if scenario is None else scenario.goal
    values = np.array(truth.outcomes, dtype=np.float64)
    baseline = 0.0 if goal == "maximise" else None
    if scenario is not None and scenario.outcomes.source in ("query", "formula"):
        baseline = scenario.outcomes.baseline
    return Outcomes(question.candidates, values, goal, baseline)


def candidates_of(question: Question, database: Database) -> tuple[Candidate, ...] | None:
    """Return what can be chosen, by a question's list or its query; None where it has neither.

    Raises
    ------
    UsageError, InfrastructureError
        As `queried_candidates` raises them.
    """
    if question.candidates is not None or question.candidate_query is None:
        return question.candidates
    return queried_candidates(question.candidate_query, database)


def queried_candidates(
    statement: str, database: Database, called: str = "The query of the candidates"
) -> tuple[Candidate, ...]:
    """Return what a statement lists in its first column, each once and NULL never.

    Parameters
    ----------
    statement
        SQL or Cypher.
    database
        What it runs on.
    called
        What errors call it.

    Raises
    ------
    UsageError
        It cannot run, or lists more than can be compared.
    InfrastructureError
        The database failed.
    """
    try:
        cells = first_column(database, statement, _MOST, called)
    except DataError as error:
        # Whoever asks wrote the statement; it is no part of the data.
        raise UsageError(str(error)) from error
    return tuple(
        dict.fromkeys(cell if isinstance(cell, str | int) else str(cell) for cell in cells)
    )


def offer_candidates(
    question: Question, candidates: tuple[Candidate, ...] | None
) -> tuple[str, WarningEvent | None]:
    """Return what a model is told can be chosen, and a warning where it cannot know of all.

    Nothing is told where a scenario's own question says it, or nobody listed any.

    Parameters
    ----------
    question
        What is asked.
    candidates
        What can be chosen.
    """
    if not candidates or plugins.scenario_of(question) is not None:
        return "", None
    names = [_one_line(candidate) for candidate in candidates]
    count = f"{len(names):,}"
    if len(names) <= _OFFERED and sum(map(len, names)) <= _OFFERED_CHARACTERS:
        return "\n".join(
            [
                f"One of these {count} is to be chosen, spelled as it is here:",
                *(f"- {n}" for n in names),
            ]
        ), None
    if question.candidate_query is not None:
        told = f"One of {count} is to be chosen, as the first column of this statement lists them:"
        return f"{told}\n{question.candidate_query.strip()}", None
    some = names[:_EXAMPLES]
    told = f"One of {count} is to be chosen, spelled as these {len(some)} of them are:"
    warning = WarningEvent(
        about="candidates",
        text=f"The model was shown {len(some)} of {count} candidates by name, which are too many "
        "for a prompt: give them by a statement (--candidates, or 'candidates' of a file's "
        "question), which the model can narrow down, or list fewer.",
        considered=len(some),
        total=len(names),
    )
    return "\n".join([told, *(f"- {name}" for name in some)]), warning


def _one_line(candidate: Candidate) -> str:
    text = str(candidate)
    return text if text.isprintable() else json.dumps(text, ensure_ascii=False)
