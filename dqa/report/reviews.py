"""What people were asked to approve in a decision, and said, as a reader is told it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dqa.core.events import Event
from dqa.core.review import reviews_in
from dqa.core.text import counted

_DONE = {"approve": "approved", "correct": "corrected", "refuse": "refused"}


def review_title(review: Mapping[str, Any]) -> str:
    """Return who did what, of the data of a review's event."""
    by = str(review.get("by") or "")
    who = f"a person ({by})" if by else "a person"
    if review["action"] == "end":
        return f"{who} ended the run when asked about the {review['about']}"
    return f"{who} {_DONE[review['action']]} the {review['about']}"


def review_lines(review: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was shown and what was said; what was approved stands behind it."""
    if review["action"] != "approve":
        yield from str(review["text"]).splitlines()
    if review.get("correction"):
        yield "to:" if not review.get("problem") else "to what cannot be used:"
        yield from str(review["correction"]).splitlines()
    for name in ("reason", "problem"):
        if review.get(name):
            yield f"{name.capitalize()}: {review[name]}"


def reviews_line(events: Iterable[Event]) -> str | None:
    """Return in one line how much was approved, corrected and refused; None for nothing."""
    found = [event for event in reviews_in(events) if event.action in _DONE and not event.problem]
    if not found:
        return None
    done = Counter((event.about, event.action) for event in found)
    by = ", ".join(dict.fromkeys(event.by for event in found if event.by))
    told = [f"{counted(many, about)} {_DONE[action]}" for (about, action), many in done.items()]
    return f"Reviewed{f' by {by}' if by else ''}: {', '.join(told)}"
