"""Statements written in another dialect than the database's.

The paper's models write MySQL, and many write it wherever they are, or mix functions of others into
what they write. A statement is tried in the database's own dialect first; only where that cannot be
read is it translated, and the guard judges what comes out as it would judge anything else. What the
guard does not let run in the dialect that it is read in is never translated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache, partial

from sqlglot import exp

from dqa.core.schema import sql_name
from dqa.guard.check import check
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.quotes import around, may_only_be_name, split
from dqa.guard.reading import read
from dqa.guard.sql.dialects import dialect_of
from dqa.guard.sql.text import spaced
from dqa.guard.verdict import Refusal

_SPEAK_MYSQL = frozenset({"mysql", "mariadb"})
_CONCATENATION = "||"
"""Two texts joined, in every dialect but MySQL's, where it is OR."""
_GIVES_NAME = re.compile(r"\bAS\s+$", re.IGNORECASE)
_IS_GIVEN = re.compile(r"\s*AS\s*\(", re.IGNORECASE)
_NAMES: Mapping[str, str] = {"ansi": ""}
"""What sqlglot calls a dialect, where that is not what the guard calls it."""


def translations(
    statement: str,
    dialect: str,
    policy: Policy = DEFAULT,
    names: Callable[[], Collection[str] | None] = frozenset,
) -> Iterator[str]:
    """Yield what a statement that `dialect` cannot read may have meant, each thing once.

    What stands in double quotes is a text in MySQL, unless the statement says that it is a name:
    one of `names` that could not be written without quotes, or one where only names can be, such as
    behind a FROM. Then all of `names` in it are, and those that it gives itself. Where `names`
    gives None, nobody knows them, and such a statement is not read as MySQL's.

    It is read as MySQL's, and as the dialect's own with functions of others (``IF``,
    ``STRING_AGG``); the other way round where it joins texts with ``||``, which are OR in MySQL.
    It is read as no third: formats of ``TO_CHAR`` come out as others, and run.
    """
    if dialect in _SPEAK_MYSQL:
        return
    sources = ["mysql", dialect]
    if _CONCATENATION in statement:
        sources.reverse()
    found: set[str] = set()
    as_mysql = _with_backticks(statement, names) if '"' in statement else statement
    for source in sources:
        written = as_mysql if source == "mysql" else statement
        translated = None if written is None else translate(written, source, dialect, policy)
        if translated is not None and translated not in found:
            found.add(translated)
            yield translated


def _with_backticks(statement: str, names: Callable[[], Collection[str] | None]) -> str | None:
    """Return a statement with names in backticks that are meant as such by their double quotes.

    None where nobody can tell which are: a name that is taken for a text gives rows that are wrong.
    """
    parts = split(statement, "mysql")
    texts = [part.text for part in parts]
    quoted = [at for at, part in enumerate(parts) if part.kind == "quoted"]
    places = {at: around(parts, at) for at in quoted if texts[at].startswith('"')}
    if not places or any(texts[at].startswith("`") for at in quoted):
        return statement
    there = names()
    if there is None:
        return None
    known = {name.lower() for name in there}
    inside = {at: texts[at][1:-1].replace('""', '"') for at in places}
    named = {at for at in places if may_only_be_name(*places[at])}
    is_odd = (name.lower() in known and sql_name(name) != name for name in inside.values())
    if not named and not any(is_odd):
        return statement
    known.update(inside[at].lower() for at in places if _is_given(*places[at]))
    for at, name in inside.items():
        if (at in named or name.lower() in known) and "`" not in name:
            texts[at] = f"`{name}`"
    return "".join(texts)


def _is_given(before: str, behind: str) -> bool:
    """Whether a statement gives what stands there to a column or a part of itself as its name."""
    return bool(_GIVES_NAME.search(before) or _IS_GIVEN.match(behind))


@lru_cache(maxsize=1_024)
def translate(statement: str, source: str, dialect: str, policy: Policy = DEFAULT) -> str | None:
    """Return a statement of the dialect `source` in `dialect`, where it may run.

    Returns
    -------
    str or None
        None where the statement is none of `source`, where translation changes nothing, and
        where the guard refuses either side.
    """
    if not check(statement, source, policy).allowed:
        return None
    try:
        translated = read(partial(_translated, statement, source, dialect))
    except Refusal:
        return None
    if translated is None or translated == statement:
        return None
    return translated if check(translated, dialect, policy).allowed else None


def _translated(statement: str, source: str, dialect: str) -> str | None:
    """Return a query in `dialect`; None for what is no query, which means something else there."""
    read_in, target = (dialect_of(_NAMES.get(name, name)) for name in (source, dialect))
    trees = read_in.parse(spaced(statement, source))
    if len(trees) != 1 or not isinstance(trees[0], (exp.Query, exp.Values)):
        return None
    return target.generate(trees[0], copy=False)
