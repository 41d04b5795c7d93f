"""One entry point for all dialects, and the verdict on a statement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from dqa.core.errors import RefusedStatementError, UnknownNameError
from dqa.guard.policy import DEFAULT, Policy

if TYPE_CHECKING:
    from dqa.guard.describe import Form

SEVERAL = "it is more than one statement; write one statement at a time"
"""Why several statements may not run."""
_LONGEST = 20_000
"""Characters: far more than a query needs, and little enough to read at once."""
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_CYPHER = ("neo4j", "ladybug")

DIALECTS = ("mysql", "mariadb", "postgres", "sqlite", "duckdb", "ansi", *_CYPHER)
"""The dialects that can be checked; ``ansi`` is what SQL databases have in common."""


class Refusal(Exception):  # noqa: N818  (a check turns it into a verdict)
    """Why a statement may not run; raised and caught inside the guard only."""


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
    form
        What it describes, if the schema answers it and not the database.
    """

    allowed: bool
    reason: str = ""
    statement: str = field(default="", compare=False)
    form: Form | None = field(default=None, compare=False, repr=False)

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

    @classmethod
    def split(
        cls,
        script: str,
        tokens: Iterable[tuple[int, int, bool]],
        problem: str = "",
        position: int = 0,
    ) -> Iterator[Self]:
        """Yield the statements of a script.

        Parameters
        ----------
        script
            The script.
        tokens
            Where each token begins and ends, and whether it is a semicolon.
        problem, position
            Why the rest of the script cannot be read with certainty, and from where on.
        """
        first, last = None, 0
        for start, end, is_semicolon in tokens:
            if not is_semicolon:
                first = start if first is None else first
            elif first is not None:
                yield cls(script[first:last].rstrip(), _line_of(script, first))
                first = None
            last = end
        if problem:
            first = len(script) - len(script[last:].lstrip()) if first is None else first
            last, problem = len(script), f"line {_line_of(script, position)}: {problem}"
        if first is not None:
            yield cls(script[first:last].rstrip(), _line_of(script, first), problem or None)


def _line_of(script: str, position: int) -> int:
    return script.count("\n", 0, position) + 1


def split(script: str, dialect: str) -> Iterator[ScriptStatement]:
    """Return the statements of a script, in order, without empty ones and comments.

    A semicolon ends a statement wherever it is not part of a text, a name or a comment, so the body
    of a procedure is several. From the first position on that cannot be read with certainty, the
    rest is one statement with a `problem`, and must be refused. None of them is checked.

    Parameters
    ----------
    script
        Statements with semicolons between them.
    dialect
        One of `DIALECTS`.

    Raises
    ------
    UnknownNameError
        The dialect is unknown.
    """
    if dialect in _CYPHER:
        from dqa.guard.cypher_tokens import statements
    elif dialect in DIALECTS:
        from dqa.guard.text import statements
    else:
        raise UnknownNameError("dialect", dialect, DIALECTS)

    return statements(script, dialect)


def check(statement: str, dialect: str, policy: Policy = DEFAULT) -> GuardVerdict:
    """Return whether `statement` is one single statement of `dialect` that only reads.

    Parameters
    ----------
    statement
        The text of a person or a model.
    dialect
        One of `DIALECTS`.
    policy
        Additions to the guard's lists, and limits on reading.

    Raises
    ------
    UnknownNameError
        The dialect is unknown.
    """
    if dialect in _CYPHER:
        from dqa.guard.cypher import judge
    elif dialect in DIALECTS:
        from dqa.guard.sql import judge
    else:
        raise UnknownNameError("dialect", dialect, DIALECTS)

    if len(statement) > _LONGEST:
        return GuardVerdict(False, f"it is longer than {_LONGEST} characters; write a shorter one")
    if _NO_TEXT.search(statement):
        return GuardVerdict(False, "it has a NUL or a lone surrogate, which is not text; remove it")
    try:
        return judge(statement, dialect, policy)
    except Refusal as refusal:
        return GuardVerdict(False, str(refusal))
    except RecursionError:
        return GuardVerdict(False, "it is nested too deeply; write it flatter")
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  (a parser's mistake must not let a statement run)
        name = type(error).__name__
        return GuardVerdict(
            False, f"it cannot be read: the parser failed on it ({name}); write it more simply"
        )


def require(statement: str, dialect: str, policy: Policy = DEFAULT) -> None:
    """Raise `RefusedStatementError` unless `check` allows the statement."""
    verdict = check(statement, dialect, policy)
    if not verdict.allowed:
        raise verdict.error()
