"""Candidates: their nouns, their description for a model, and their recorded outcomes."""

from __future__ import annotations

import json

from dqa import plugins
from dqa.core.events import WarningEvent
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Goal, Outcomes
from dqa.core.truth import Truth
from dqa.deciders.choices import Choices

_OFFERED = 200
_OFFERED_CHARACTERS = 8_000
"""The most candidates, and characters of them, that a question of the user's own names."""
_EXAMPLES, _FEW = 20, 5
"""How many are named of a longer list, and of one that a statement lists."""
_NARROW = (
    "Narrow them by queries of your own: filter and rank inside a statement, return the best few, "
    "and decide between these. Spell the decision as the database does; it is checked against the "
    "whole list."
)


def nouns_of(question: Question) -> tuple[str, ...]:
    """Return the nouns for a question's candidates, such as "trade node"; the usual one first."""
    scenario = plugins.scenario_of(question)
    return ("candidate",) if scenario is None else (scenario.listing.noun, *scenario.listing.called)


def recorded_outcomes(question: Question, truth: Truth) -> Outcomes | None:
    """Return the recorded outcomes of a question; None without a record.

    The baseline is that of a scenario with stated outcomes. Otherwise it is 0 if more is better,
    and unknown if less is better.
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


def offer_candidates(
    question: Question, choices: Choices | None
) -> tuple[str, WarningEvent | None]:
    """Return the description of the candidates, and a warning if it omits some.

    It is empty if the question of a scenario describes them, unless there are so many that queries
    have to narrow them, and if there is no list. A free form is always described.

    Parameters
    ----------
    question
        The question.
    choices
        The candidates.
    """
    told, warning = _offered(question, choices)
    if not question.free_form:
        return told, warning
    form = f"{question.free_form} with words of your own in place of the dots"
    return (f"{told}\nOr else {form}." if told else f"What can be chosen: {form}."), warning


def _offered(question: Question, choices: Choices | None) -> tuple[str, WarningEvent | None]:
    """Return the description without the free form."""
    if choices is None or not choices.total:
        return "", None
    if plugins.scenario_of(question) is not None and not choices.is_large:
        return "", None
    count = f"{choices.total:,}"
    if choices.total <= _OFFERED:
        names = [_one_line(candidate) for candidate in choices.candidates]
        if sum(map(len, names)) <= _OFFERED_CHARACTERS:
            told = [f"One of these {count} is to be chosen, spelled as it is here:"]
            return "\n".join([*told, *(f"- {name}" for name in names)]), None
    statement = choices.statement
    some = [_one_line(one) for one in choices.candidates[: _FEW if statement else _EXAMPLES]]
    listed = [f"- {name}" for name in some]
    if statement is not None:
        told = [
            f"One of {count} is to be chosen: too many to name. Column 1 of this lists them:",
            statement.strip(),
            "It begins with:",
            *listed,
            _NARROW,
        ]
        return "\n".join(told), None
    told = [f"One of {count} is to be chosen, spelled as these {len(some)} of them are:", *listed]
    if plugins.scenario_of(question) is not None:
        told.append(_NARROW)
        return "\n".join(told), None
    warning = WarningEvent(
        about="candidates",
        text=f"The model was shown {len(some)} of {count} candidates by name, which are too many "
        "for a prompt: give them by a statement (--candidates, or 'candidates' of a file's "
        "question), which the model can narrow down, or list fewer.",
        considered=len(some),
        total=choices.total,
    )
    return "\n".join(told), warning


def _one_line(candidate: Candidate) -> str:
    text = str(candidate)
    return text if text.isprintable() else json.dumps(text, ensure_ascii=False)
