"""The guard's verdict on a statement, and the statements of a script."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from dqa.core.errors import RefusedStatementError

SEVERAL = "it is more than one statement; write one statement at a time"
"""Why several statements may not run."""


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

    def error(self) -> RefusedStatementError:
        """Return the error of a refused statement."""
        end = "" if self.reason.endswith(("?", ".")) else "."
        return RefusedStatementError(f"The statement was not run: {self.reason}{end}")


@dataclass(frozen=True, slots=True)
class ScriptStatement:
    """A statement of a script.

    Attributes
    ----------
    text
        The statement, without the semicolon after it.
    line
        The line of its first word, from 1.
    problem
        Why its end is not certain, with the line; None where it is.
    """

    text: str
    line: int
    problem: str | None = None


class Span(NamedTuple):
    """Where a statement of a script begins and ends; `problem` says why its end is not certain."""

    start: int
    end: int
    problem: str = ""
    position: int = 0


class Refusal(Exception):  # noqa: N818  (a check turns it into a verdict)
    """Why a statement may not run; raised and caught inside the guard only."""
