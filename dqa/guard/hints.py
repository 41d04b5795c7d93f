"""Suggest names to the author of a failed statement, and list tables and columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from dqa.core.errors import StatementError
from dqa.core.schema import DatabaseSchema, Field, Part, replace_fields
from dqa.core.text import visible
from dqa.guard.lists import lists

_LONGEST_LISTING = 1_500
"""The maximum number of characters of a list of names."""
_OWNERS = 3
"""The maximum number of tables or labels to list as owners of a column or property."""
_OF_FIELD = re.compile("column|property", re.IGNORECASE)
"""Matches an error about the name of a column or a property."""
_OF_PART = re.compile(r"^(?!.*(?:column|property)).*\b(?:table|relation|label)\b", re.IGNORECASE)
"""Matches an error about the name of a table, a label or a type."""
_NO_FUNCTION = re.compile(
    r"no such function: (\w+)|function (\w+)\(.*\) does not exist|FUNCTION (?:\w+\.)?(\w+) does not"
    r"|Function with name (\w+) does not exist",
    re.IGNORECASE,
)


def closest(
    unknown: str,
    known: Iterable[str],
    cutoff: float = 0.5,
    schema: DatabaseSchema | None = None,
    *,
    whole: bool = False,
) -> str:
    """Return `` Did you mean 'x'?``, or an empty string if no known name is similar enough.

    The similarity (0 to 1) must reach `cutoff`. With `schema`, the hint quotes names that need
    quotes in statements. By default, only the last part of a name with dots is compared. With
    `whole`, all parts are compared.
    """
    by_lower = {name.lower(): name for name in sorted(known, reverse=True)}
    wanted = (unknown if whole else unknown.rsplit(".", 1)[-1]).lower()
    found = get_close_matches(wanted, by_lower, n=1, cutoff=cutoff)
    if not found:
        return ""
    name = by_lower[found[0]]
    spelled = schema.spell(name) if schema is not None else name
    return visible(
        f" Did you mean '{name}'?" + (f" Write it as {spelled}." if spelled != name else "")
    )


def instead_of(function: str, dialect: str) -> str:
    """Return ``Instead of f, use ...``, or an empty string if no advice is known."""
    advice = lists(dialect).instead.get(function.lower())
    return f"Instead of {function}, use {advice}." if advice else ""


def unknown_name(
    problem: str, name: str, schema: DatabaseSchema | None, statement: str
) -> StatementError:
    """Return an error with the most similar name and a list of the existing names."""
    if schema is None:
        return StatementError(
            f"{problem}. The schema could not be read in time for a hint. Send the statement again."
        )
    from dqa.core.fitting import rank_parts

    parts, named = rank_parts(schema, statement)
    bare = name.rpartition(".")[2]
    hint = ""
    if not _OF_PART.search(problem):
        names = [field.name for part in parts[:named] or parts for field in part.fields]
        if not schema.tables:  # LadybugDB does not say whether a property or a label is unknown
            names += [part.name for part in parts]
        hint = _owning(bare, parts, schema) or closest(bare, names, schema=schema)
    if not _OF_FIELD.search(problem):
        hint = hint or closest(bare, [part.name for part in parts], schema=schema)
    what = "Tables" if schema.tables else "There is"
    listing = f" {what}: {_listing(parts, schema)}" if parts else ""
    return StatementError(f"{problem}.{visible(hint + listing)}")


def advise(problem: str, dialect: str) -> StatementError:
    """Return an engine's error. If a function is unknown, add the function to use instead."""
    found = _NO_FUNCTION.search(problem)
    function = next(filter(None, found.groups())) if found is not None else ""
    advice = instead_of(function, dialect)
    return StatementError(f"{problem} {advice}" if advice else problem)


def _owning(name: str, parts: Sequence[Part], schema: DatabaseSchema) -> str:
    """Return a hint with the tables or labels that have a column or property, if there are any."""
    wanted = name.lower()
    owners = {p.name: f.name for p in parts for f in p.fields if f.name.lower() == wanted}
    if not owners:
        return ""
    more = f" and {len(owners) - _OWNERS} more" if len(owners) > _OWNERS else ""
    first = next(iter(owners.values()))
    advice = "" if schema.spell(first) == first else f" Write {schema.spell(first)}."
    return f" '{name}' is in {', '.join([*owners][:_OWNERS])}{more}.{advice}"


def _listing(parts: Sequence[Part], schema: DatabaseSchema) -> str:
    """Return the first parts of a schema with their fields and keys, as in the schema text."""
    length, shown = 0, []
    for part in parts:
        bare = [Field(field.name, "") for field in part.fields]
        line = schema.describe(replace_fields(part, bare, comment="", omitted=0))
        length += len(line)
        if length > _LONGEST_LISTING:
            break
        shown.append(line)
    more = len(parts) - len(shown)
    return "; ".join([*shown, f"and {more} more"] if more else shown) + "."
