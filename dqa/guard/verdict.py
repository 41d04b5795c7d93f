"""The verdict of the guard on a statement."""

from __future__ import annotations

from dataclasses import dataclass, field

from dqa.core.errors import RefusedStatementError


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """Whether a statement may run, and if not, why and what to write instead.

    Attributes
    ----------
    allowed
        Whether it may run.
    reason
        Why not; empty where it may run.
    statement
        The text that the database runs in its place; empty where it may not run.
    """

    allowed: bool
    reason: str = ""
    statement: str = field(default="", compare=False)


SEVERAL = "it is more than one statement; write one statement at a time"
"""Why several statements may not run."""


def refused(reason: str) -> GuardVerdict:
    """Return the verdict that refuses for `reason`."""
    return GuardVerdict(False, reason)


def not_run(reason: str) -> RefusedStatementError:
    """Return the error of a statement that was refused for `reason`."""
    end = "" if reason.endswith(("?", ".")) else "."
    return RefusedStatementError(f"The statement was not run: {reason}{end}")


class Refusal(Exception):  # noqa: N818  (a check turns it into a verdict)
    """Why a statement may not run; raised and caught inside the guard only."""
