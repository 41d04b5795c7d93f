"""Reviews by people, as passages and in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from dqa.core.events import Event
from dqa.core.review import reviews_in
from dqa.core.text import counted
from dqa.report.passages import Passage

_DONE = {"approve": "approved", "correct": "corrected", "refuse": "refused"}


def review_passage(step: int, review: Mapping[str, Any]) -> Passage:
    """Return the passage of a `dqa.core.events.ReviewEvent`."""
    by = str(review.get("by") or "")
    who = f"a person ({by})" if by else "a person"
    about = review["about"]
    title = f"{who} ended the run when asked about the {about}"
    if review["action"] != "end":
        title = f"{who} {_DONE[review['action']]} the {about}"
    lines = []
    if review["action"] != "approve":
        lines += str(review["text"]).splitlines()
    if review.get("correction"):
        lines.append("to what cannot be used:" if review.get("problem") else "to:")
        lines += str(review["correction"]).splitlines()
    names = [name for name in ("reason", "problem") if review.get(name)]
    lines += [f"{name.capitalize()}: {review[name]}" for name in names]
    return Passage("noted", title, step, text="\n".join(lines))


def reviews_line(events: Iterable[Event]) -> str | None:
    """Return in one line how much was approved, corrected and refused; None for nothing."""
    found = [event for event in reviews_in(events) if event.action in _DONE and not event.problem]
    if not found:
        return None
    done = Counter((event.about, event.action) for event in found)
    by = ", ".join(dict.fromkeys(event.by for event in found if event.by))
    counts = [f"{counted(many, about)} {_DONE[action]}" for (about, action), many in done.items()]
    return f"Reviewed{f' by {by}' if by else ''}: {', '.join(counts)}"
