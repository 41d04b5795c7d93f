"""Completion of names in a shell; only the modules that the names need are imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeAlias

import typer

_MOST_VALUES = 1_000
"""Values of a database among which a shell completes."""

Completion: TypeAlias = Callable[[str], list[str]]
"""Returns the words that begin so."""


def one_of(
    names: Iterable[str] | Callable[[], Iterable[str]], *, listed: bool = False
) -> Completion:
    """Return what completes one of some names, or with `listed` several, separated by commas."""

    def complete(incomplete: str) -> list[str]:
        known = names() if callable(names) else names
        before, comma, begun = incomplete.rpartition(",") if listed else ("", "", incomplete)
        taken = {*before.split(",")}
        return [f"{before}{comma}{n}" for n in known if n.startswith(begun) and n not in taken]

    return complete


def by_name(kind: str, *, listed: bool = False) -> Completion:
    """Return what completes the names of a kind of plug-in.

    Parameters
    ----------
    kind
        As `dqa.plugins.names` takes it.
    listed
        Whether the option takes several, separated by commas.
    """

    def names() -> Iterable[str]:
        from dqa import plugins

        return plugins.names(kind)

    return one_of(names, listed=listed)


def by_model(incomplete: str) -> list[str]:
    """Complete the names of scripted models; those of providers are theirs to know."""
    from dqa import plugins

    return one_of([f"scripted:{name}" for name in plugins.script_names()])(incomplete)


def by_format(incomplete: str) -> list[str]:
    """Complete the names of formats."""
    from dqa.api.listing import format_names

    return one_of(format_names())(incomplete)


def by_dialect(incomplete: str) -> list[str]:
    """Complete the dialects of statements."""
    from dqa import guard

    return one_of(guard.DIALECTS)(incomplete)


def by_target(context: typer.Context, incomplete: str) -> list[str]:
    """Complete a target's key, and behind it the values that the database has.

    Scenario, database and policy are those of the command line so far. If they are missing or
    fail, nothing is offered.
    """
    from dqa.api.scenarios import list_target_values, target_keys
    from dqa.core.errors import DqaError

    given = context.params
    database = given.get("database")
    database = database[0] if isinstance(database, list | tuple) and database else database
    target = dict(pair.split("=", 1) for pair in given.get("target") or () if "=" in pair)
    key, equals, _ = incomplete.partition("=")
    found: list[str] = []
    with suppress(DqaError, OSError):
        if given.get("scenario") and not equals:
            keys = target_keys(given["scenario"])
            found = [f"{name}=" for name in keys if name not in target]
        elif given.get("scenario") and database:
            values = list_target_values(
                *(given["scenario"], database, key, target),
                most=_MOST_VALUES,
                policy=given.get("policy"),
            )
            found = [f"{key}={value}" for value in values]
    return one_of(found)(incomplete)
