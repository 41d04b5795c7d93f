"""What the guard says of a statement."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """Whether a statement may run, and if not, why and what to write instead."""

    allowed: bool
    reason: str = ""


ALLOWED = GuardVerdict(True)


def refused(reason: str) -> GuardVerdict:
    """Return the verdict that refuses for `reason`."""
    return GuardVerdict(False, reason)


class Refusal(Exception):  # noqa: N818  (no error: what a check turns into a verdict)
    """Why a statement may not run; raised and caught inside the guard only."""
