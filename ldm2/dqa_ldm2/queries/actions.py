"""What can be done on the way to a decision, as text: ask for rows, or decide."""

from __future__ import annotations

from typing import Final

from dqa.core.database import Kind
from dqa.core.evidence import Evidence
from dqa_ldm2.prompting import cut

QUERY_FORM: Final = "query[...]"
DECIDE_FORM: Final = "decide[...]"
FORM: Final = f"{QUERY_FORM} or {DECIDE_FORM}"
"""The free form of a situation in which statements may be asked; see `Question.free_form`."""

SEEN: Final = 2_000
"""Most characters of a result that a step keeps."""

_QUERY, _DECIDE, _END = "query[", "decide[", "]"
_LANGUAGES: Final[dict[Kind, str]] = {"relational": "SQL", "graph": "Cypher"}


def query_action(statement: str) -> str:
    """Return the action that runs a statement."""
    return f"{_QUERY}{statement.strip()}{_END}"


def decide_action(answer: object) -> str:
    """Return the action that decides."""
    return f"{_DECIDE}{str(answer).strip()}{_END}"


def statement_of(action: str) -> str | None:
    """Return the statement that an action runs; None where it runs none."""
    return _inner(action, _QUERY)


def answer_of(action: str) -> str | None:
    """Return what an action decides for; None where it decides nothing."""
    return _inner(action, _DECIDE)


def _inner(action: str, opening: str) -> str | None:
    text = action.strip()
    if not text.startswith(opening) or not text.endswith(_END):
        return None
    return text.removeprefix(opening).removesuffix(_END).strip()


def language_of(kind: Kind) -> str:
    """Return what statements on databases of a kind are written in: ``SQL`` or ``Cypher``."""
    return _LANGUAGES[kind]


def beginning(kind: Kind) -> str:
    """Return what is seen before anything was asked."""
    return f"{language_of(kind)}: nothing was asked yet."


def seen_of(evidence: Evidence, kind: Kind) -> str:
    """Return what is seen after a statement: its rows as they were shown, cut to `SEEN`."""
    return seen(evidence.observation, kind)


def seen(text: str, kind: Kind) -> str:
    """Return a text as what is seen after a statement, or after a decision that did not count."""
    return f"{language_of(kind)} result, rows:\n{cut(text, SEEN)}"
