"""Passages: a decision as a reader sees it, one piece for each event."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

Change: TypeAlias = Literal["kept", "new", "gone"]
"""Whether a step of a plan was in the plan before, is new, or was dropped."""

Tone: TypeAlias = Literal["", "good", "bad", "warning"]


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of a decision.

    The text is not shortened, wrapped or escaped, and comes from models and databases. Each
    renderer (terminal, page) does that for its medium.

    Attributes
    ----------
    kind
        The kind of event: ``prompt``, ``plan``, ``thought``, ``called``, ``verdict`` and others.
    title
        The title.
    step
        Number of the model's reply that it belongs to, from 1; None outside of replies.
    tone
        Whether it reports success, a failure or a warning.
    detail
        Whether only a full view shows it.
    statement, translated
        A statement or request, and the statement that ran where it differs.
    status
        The result of a call, in a few words.
    text
        The text.
    items
        The steps of a plan.
    columns, rows
        A result, where it is a table.
    notes
        Small print below.
    """

    kind: str
    title: str = ""
    step: int | None = None
    tone: Tone = ""
    detail: bool = False
    statement: str = ""
    translated: str = ""
    status: str = ""
    text: str = ""
    items: tuple[tuple[Change, str], ...] = ()
    columns: tuple[Any, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fields that have a value."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value not in ("", (), None, False)}


def noted(step: int, title: str, lines: tuple[str, ...]) -> Passage:
    """Return a method's own event as a title and a few lines."""
    return Passage("noted", title, step, text="\n".join(lines))
