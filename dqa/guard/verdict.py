"""What the guard says of a statement."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ALLOWED", "Refusal", "Verdict", "refused"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a statement may run, and if not, why and what to write instead."""

    allowed: bool
    reason: str = ""


ALLOWED = Verdict(True)


def refused(reason: str) -> Verdict:
    """Return the verdict that refuses for `reason`."""
    return Verdict(False, reason)


class Refusal(Exception):  # noqa: N818  (no error: what a check turns into a verdict)
    """Why a statement may not run; raised and caught inside the guard only."""
