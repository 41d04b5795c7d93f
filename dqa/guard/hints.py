"""What helps the author of a statement that an engine refuses, beyond what the engine says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from dqa.core.errors import QueryError
from dqa.core.schema import DatabaseSchema
from dqa.core.secrets import redact
from dqa.guard.names import closest
from dqa.guard.reading import read
from dqa.guard.sql import sources
from dqa.guard.sql.instead import instead_of, instead_of_clause
from dqa.guard.sql.lists import lists
from dqa.guard.sql.text import read as read_text
from dqa.guard.verdict import Refusal

_NEAR = re.compile(r'(?:near |at or near )"(?P<word>[^"]+)"(?: at character (?P<place>\d+))?')
_NO_FUNCTION = re.compile(
    r"no such function: (\w+)|function (\w+)\(.*\) does not exist|FUNCTION (?:\w+\.)?(\w+) does not"
    r"|Function with name (\w+) does not exist",
    re.IGNORECASE,
)
_AMBIGUOUS = re.compile(
    r"ambiguous column name: (?:\w+\.)?(\w+)|column reference \"([^\"]+)\" is ambiguous"
    r"|Column '(?:\w+\.)?([^']+)' in .* is ambiguous"
)
_SHOWN = 32
"""Characters of a statement that are shown on either side of a place."""


def with_hints(
    error: QueryError,
    statement: str,
    dialect: str,
    schema: Callable[[], DatabaseSchema | None],
) -> QueryError:
    """Return an engine's error with what helps its statement's author; the same where nothing does.

    Parameters
    ----------
    error
        What the engine said.
    statement
        What was written.
    dialect
        One of `dqa.guard.DIALECTS`.
    schema
        Reads what may be read, where the error is about that; None where it cannot in time.
    """
    problem = str(error)
    advice = " ".join(_advice(problem, statement, dialect, schema))
    return type(error)(f"{problem} {advice}") if advice else error


def _advice(
    problem: str, statement: str, dialect: str, schema: Callable[[], DatabaseSchema | None]
) -> Iterator[str]:
    near = _NEAR.search(problem)
    if near is not None:
        yield from _place(near["word"], near["place"], statement, dialect)
    function = _first_group(_NO_FUNCTION, problem)
    if function is not None:
        others = lists(dialect).functions - {function.lower()}
        instead = instead_of(function, dialect)
        yield from filter(None, [instead or closest(function, others, cutoff=0.8).strip()])
    column = _first_group(_AMBIGUOUS, problem)
    known = None if column is None else schema()
    if column is not None and known is not None:
        yield from _owners(column, statement, dialect, known)
    yield from filter(None, [instead_of_clause(problem, statement, dialect)])


def _first_group(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return None if found is None else next(filter(None, found.groups()), None)


def _place(word: str, place: str | None, statement: str, dialect: str) -> Iterator[str]:
    """Yield what stands around a word, where it can be told which one is meant."""
    if place is not None:
        start = int(place) - 1
    else:
        try:
            code = read(partial(read_text, statement, dialect)).code
        except Refusal:
            return
        bounds = (r"\b" if word[0].isalnum() else "", r"\b" if word[-1].isalnum() else "")
        found = [m.start() for m in re.finditer(re.escape(word).join(bounds), code)]
        if len(found) != 1:
            return
        start = found[0]
    begin, end = max(0, start - _SHOWN), start + len(word) + _SHOWN
    shown = " ".join(statement[begin:end].split())
    if shown and redact(statement) == statement:  # of a secret a part could be shown
        before, after = "..." * (begin > 0), "..." * (end < len(statement))
        yield f"It is in: {before}{shown}{after}"


def _owners(column: str, statement: str, dialect: str, schema: DatabaseSchema) -> Iterator[str]:
    """Yield which sources of the statement have a column."""
    found = [
        source.told
        for source in sources.named(statement, dialect, schema)
        if column.casefold() in map(str.casefold, source.columns)
    ]
    if found:
        names = " and ".join(dict.fromkeys(found))
        first = found[0].partition(" ")[0]
        yield f"'{column}' is in {names}: write which one is meant, as in {first}.{column}."
