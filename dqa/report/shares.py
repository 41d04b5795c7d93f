"""Shares and their intervals as every table and line prints them: in percent, with one digit."""

from __future__ import annotations


def share_text(right: int, of: int) -> str:
    """Return a share with what it is counted from: ``66.7 (2/3)``."""
    return f"{100 * right / of:.1f} ({right}/{of})"


def interval_text(low: float, high: float) -> str:
    """Return an interval of a share: ``[20.8, 93.9]``."""
    return f"[{100 * low:.1f}, {100 * high:.1f}]"
