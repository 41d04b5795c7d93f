"""Describe the candidates of a question, and select the tables that the prompt shows first."""

from __future__ import annotations

import json

from dqa import plugins
from dqa.core.events import WarningEvent
from dqa.core.question import Candidate, Question
from dqa.deciders.candidates import MOST_COMPARED

_OFFERED = 200
_OFFERED_CHARACTERS = 8_000
"""If a list has more candidates or characters than these limits, only examples are shown."""
_EXAMPLES, _FEW = 20, 5
"""The number of candidates shown as examples; `_FEW` if a statement lists all candidates."""
_NARROW = (
    "Narrow them by queries of your own: filter and rank inside a statement, return the best few, "
    "and decide between these. Spell the decision as the database does; it is checked against the "
    "whole list."
)


def offer_candidates(
    question: Question, candidates: tuple[Candidate, ...] | None
) -> tuple[str, WarningEvent | None]:
    """Return a description of the candidates, and a warning if the list of candidates is cut.

    The text of a question with a scenario already describes the candidates. The result describes
    them again only if there are more than `MOST_COMPARED`. If answers may also have a free form,
    the result always describes this form.

    Parameters
    ----------
    question
        The question.
    candidates
        All candidates; None if the question defines none.
    """
    listed, warning = _describe_list(question, candidates or ())
    if not question.free_form:
        return listed, warning
    form = f"{question.free_form} with your own words instead of the dots"
    return (f"{listed}\nOr choose {form}." if listed else f"Choose {form}."), warning


def _describe_list(
    question: Question, candidates: tuple[Candidate, ...]
) -> tuple[str, WarningEvent | None]:
    """Return the description of the listed candidates, and a warning if the list is cut."""
    has_scenario, total = plugins.scenario_of(question) is not None, len(candidates)
    if not total or (has_scenario and total <= MOST_COMPARED):
        return "", None
    count, statement = f"{total:,}", question.candidate_query
    if total <= _OFFERED:
        names = [f"- {_one_line(candidate)}" for candidate in candidates]
        if sum(map(len, names)) <= _OFFERED_CHARACTERS:
            begin = f"Choose one of these {count}, with exactly this spelling:"
            return "\n".join([begin, *names]), None
    some = candidates[: _FEW if statement else _EXAMPLES]
    lines = [f"Choose one of {count}. These {len(some)} show the spelling:"]
    if statement is not None:
        begin = (
            f"Choose one of {count}, which are too many to list here. Column 1 of this statement "
            "lists them:"
        )
        lines = [begin, statement.strip(), "The list begins with:"]
    text = "\n".join([*lines, *(f"- {_one_line(candidate)}" for candidate in some)])
    if statement is not None or has_scenario:
        return f"{text}\n{_NARROW}", None
    warning = WarningEvent(
        about="candidates",
        text=f"The model saw only {len(some)} of {count} candidates, because the full list is too "
        "long for a prompt. List fewer candidates. Or set --candidates (in a file of questions: "
        "the field 'candidates') to a statement that lists them. Then the model can filter them.",
        considered=len(some),
        total=total,
    )
    return text, warning


def _one_line(candidate: Candidate) -> str:
    text = str(candidate)
    return text if text.isprintable() else json.dumps(text, ensure_ascii=False)


def about_of(question: Question) -> str:
    """Return all texts of a question. These texts show which tables of a schema are relevant."""
    texts = [question.text, question.rules, question.candidate_query or ""]
    return "\n".join([*texts, *question.context_queries, *question.target.values()])


def tables_of(question: Question) -> tuple[str, ...]:
    """Return the tables, labels and relationship types of a question's scenario."""
    scenario = plugins.scenario_of(question)
    if scenario is None:
        return ()
    schema = scenario.schema
    names = [table.name for table in schema.tables]
    names += [node.label for node in schema.nodes] + [edge.label for edge in schema.edges]
    return tuple(dict.fromkeys(names))
