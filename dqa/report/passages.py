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
        Number of the model's reply to which the passage belongs, from 1; None if it belongs to no
        reply.
    tone
        Whether the passage reports a success, a failure or a warning.
    detail
        Whether the passage is a detail, which only the full view shows.
    statement, translated
        `statement` is the statement or request of the decider. If a different statement ran,
        `translated` is that statement.
    status
        Result of a call, in a few words.
    text
        Main text.
    items
        Steps of a plan.
    columns, rows
        The columns and rows of the result of a call, if the result is a table.
    notes
        Notes, which are shown in small print.
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
