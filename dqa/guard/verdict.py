"""What the guard says of a statement."""

from __future__ import annotations

from dataclasses import dataclass

from dqa.core.errors import RefusedStatementError


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """Whether a statement may run, and if not, why and what to write instead."""

    allowed: bool
    reason: str = ""


ALLOWED = GuardVerdict(True)
SEVERAL = "it is more than one statement; write one statement at a time"
"""Why several statements may not run."""


def refused(reason: str) -> GuardVerdict:
    """Return the verdict that refuses for `reason`."""
    return GuardVerdict(False, reason)


def not_run(reason: str) -> RefusedStatementError:
    """Return the error of a statement that was refused for `reason`."""
    end = "" if reason.endswith(("?", ".")) else "."
    return RefusedStatementError(f"The statement was not run: {reason}{end}")


class Refusal(Exception):  # noqa: N818  (no error: what a check turns into a verdict)
    """Why a statement may not run; raised and caught inside the guard only."""
