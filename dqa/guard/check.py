"""Check a statement of any dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from dqa.core.errors import RefusedStatementError, UnknownNameError
from dqa.guard.policy import DEFAULT, Policy

if TYPE_CHECKING:
    from dqa.guard.visible import Form

SEVERAL = "it contains several statements; write one statement at a time"
"""The reason for refusing several statements."""
_LONGEST = 20_000
"""The maximum number of characters of a statement."""
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
CYPHER = ("neo4j", "ladybug")

DIALECTS = ("mysql", "mariadb", "postgres", "sqlite", "duckdb", "ansi", *CYPHER)
"""The dialects that can be checked; ``ansi`` is the SQL that most databases share."""


class Refusal(Exception):  # noqa: N818  (a check turns it into a verdict)
    """The reason for refusing a statement. `check` converts this exception to a verdict."""


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """Whether a statement may run. For a refused statement: the reason, and what to write instead.

    Attributes
    ----------
    allowed
        Whether the statement may run.
    reason
        The reason why the statement may not run; empty if it may run.
    statement
        The text that the database runs in place of the author's text; empty if the statement is
        refused.
    form
        The parsed form of SHOW, DESCRIBE or PRAGMA. dqa answers these statements from the schema
        instead of running them. None for a query.
    """

    allowed: bool
    reason: str = ""
    statement: str = field(default="", compare=False)
    form: Form | None = field(default=None, compare=False, repr=False)

    def error(self, statement: str) -> RefusedStatementError:
        """Return the error of a refused statement."""
        end = "" if self.reason.endswith(("?", ".")) else "."
        error = RefusedStatementError(f"The statement was not run: {self.reason}{end}")
        error.statement = statement
        return error


@dataclass(frozen=True, slots=True)
class ScriptStatement:
    """One statement of a script.

    Attributes
    ----------
    text
        The statement, without the semicolon after it.
    line
        The line of its first word, counted from 1.
    problem
        If the end of the statement is uncertain: the line and the reason. Otherwise None.
    """

    text: str
    line: int
    problem: str | None = None


def _module(dialect: str, of_cypher: str, of_sql: str) -> ModuleType:
    """Import the module for a dialect; raise `UnknownNameError` if the dialect is unknown."""
    if dialect not in DIALECTS:
        raise UnknownNameError("dialect", dialect, DIALECTS)
    return import_module(f"dqa.guard.{of_cypher if dialect in CYPHER else of_sql}")


class ScriptTokens(NamedTuple):
    """The tokens of the part of a script that can be read with certainty.

    Attributes
    ----------
    tokens
        The start and the end of each token, and whether the token is a semicolon.
    problem, position
        The reason why the rest of the script cannot be read, and the position (in characters) where
        this rest begins. If the whole script can be read, the problem is empty, and the position is
        the length of the script.
    """

    tokens: Sequence[tuple[int, int, bool]]
    problem: str
    position: int


def split(script: str, dialect: str) -> Iterator[ScriptStatement]:
    """Yield the statements of a script in order, without comments and empty statements.

    Every semicolon outside of strings, names and comments ends a statement. The body of a stored
    procedure therefore counts as several statements. If a part of the script cannot be read with
    certainty, the rest of the script is one statement with a `problem`, which the caller must
    refuse. The statements are not checked.

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
    found: ScriptTokens = _module(dialect, "cypher_tokens", "text").script_tokens(script, dialect)
    first, last = None, 0
    for start, end, is_semicolon in found.tokens:
        if not is_semicolon:
            first = start if first is None else first
        elif first is not None:
            yield ScriptStatement(script[first:last].rstrip(), _line_of(script, first))
            first = None
        last = end
    problem = None
    if found.problem:
        first = len(script) - len(script[last:].lstrip()) if first is None else first
        last, problem = len(script), f"line {_line_of(script, found.position)}: {found.problem}"
    if first is not None:
        yield ScriptStatement(script[first:last].rstrip(), _line_of(script, first), problem)


def _line_of(script: str, position: int) -> int:
    return script.count("\n", 0, position) + 1


def check(statement: str, dialect: str, policy: Policy = DEFAULT) -> GuardVerdict:
    """Return whether `statement` is a single statement of `dialect` that only reads.

    Parameters
    ----------
    statement
        The statement of a person or a model.
    dialect
        One of `DIALECTS`.
    policy
        The additional functions that may be called, and the data that may be read.

    Raises
    ------
    UnknownNameError
        The dialect is unknown.
    """
    module = _module(dialect, "cypher", "sql")
    if len(statement) > _LONGEST:
        return GuardVerdict(False, f"it is longer than {_LONGEST} characters; make it shorter")
    if _NO_TEXT.search(statement):
        return GuardVerdict(
            False,
            "it contains a character that is not text (NUL, or half of a surrogate pair); remove "
            "it",
        )
    try:
        verdict: GuardVerdict = module.judge(statement, dialect, policy)
    except Refusal as refusal:
        return GuardVerdict(False, str(refusal))
    except RecursionError:
        return GuardVerdict(False, "it is nested too deeply; use fewer levels of brackets")
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  (a parser's mistake must not let a statement run)
        name = type(error).__name__
        return GuardVerdict(False, f"the parser failed ({name}); write a simpler statement")
    return verdict


def require(statement: str, dialect: str, policy: Policy = DEFAULT) -> None:
    """Raise `RefusedStatementError` if `check` refuses the statement."""
    verdict = check(statement, dialect, policy)
    if not verdict.allowed:
        raise verdict.error(statement)
