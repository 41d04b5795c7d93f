"""The known name that is closest to one that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def closest(unknown: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """Return `` Did you mean 'x'?``, or nothing where no known name is as close as `cutoff`."""
    by_lower = {name.lower(): name for name in sorted(known, reverse=True)}
    found = get_close_matches(unknown.rsplit(".", 1)[-1].lower(), by_lower, n=1, cutoff=cutoff)
    return f" Did you mean '{by_lower[found[0]]}'?" if found else ""
