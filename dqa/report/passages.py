"""Passages: the parts of a decision that terminals and pages show, one for each event."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

Change: TypeAlias = Literal["kept", "new", "gone"]
"""Whether a step was in the previous plan, is new, or was dropped."""

Tone: TypeAlias = Literal["", "good", "bad", "warning"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a decision.

    Texts come from models and databases. They are not shortened, wrapped or escaped; the renderers
    for terminals and pages do that.

    Attributes
    ----------
    kind
        Kind of the event: ``prompt``, ``plan``, ``thought``, ``called``, ``verdict`` and others.
    title
        Title.
    step
        Number of the model's reply, from 1; None for a passage that belongs to no reply.
    tone
        Whether the passage reports a success, a failure or a warning.
    detail
        Whether the passage is shown only in the full view.
    statement, translated
        Statement or request, and the statement that ran if it differs.
    status
        Result of a call, in a few words.
    text
        Main text.
    items
        Steps of a plan.
    columns, rows
        Result of a call, if it is a table.
    notes
        Notes in small print.
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
        empty = ("", (), None, False)
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if value not in empty}
