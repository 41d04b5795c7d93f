"""Completion of names in a shell; only the modules that the names need are imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Thread
from typing import TypeAlias

import typer

_PATIENCE = 3.0
"""Seconds to wait for values of a database."""

Completion: TypeAlias = Callable[[str], list[str]]
"""Returns the words that begin so."""


def by_name(kind: str, *, listed: bool = False) -> Completion:
    """Return what completes the names of a kind of plug-in.

    Parameters
    ----------
    kind
        As `dqa.plugins.names` takes it.
    listed
        Whether the option takes several, separated by commas.
    """

    def complete(incomplete: str) -> list[str]:
        from dqa import plugins

        return _beginning(incomplete, plugins.names(kind), listed=listed)

    return complete


def by_model(incomplete: str) -> list[str]:
    """Complete the names of scripted models; those of providers are theirs to know."""
    from dqa import plugins

    return _beginning(incomplete, [f"scripted:{name}" for name in plugins.script_names()])


def by_target(context: typer.Context, incomplete: str) -> list[str]:
    """Complete a target's key, and behind it the values that the database has.

    Scenario, database and policy are those of the command line so far; where they are missing or
    fail, or take longer than a reader waits, nothing is offered.
    """
    scenario, database = context.params.get("scenario"), context.params.get("database")
    one = database[0] if isinstance(database, list | tuple) and database else database
    if not scenario:
        return []
    found: list[str] = []

    def complete() -> None:
        from dqa.api.target_values import complete_target
        from dqa.core.errors import DqaError

        try:
            told = context.params.get("target") or ()
            place, policy = str(one) if one else None, context.params.get("policy")
            found.extend(complete_target(str(scenario), place, told, incomplete, policy=policy))
        except (DqaError, OSError):
            return  # a shell has nowhere to say it

    # A database that does not answer keeps its thread, but does not block the shell.
    worker = Thread(target=complete, daemon=True)
    worker.start()
    worker.join(_PATIENCE)
    return [] if worker.is_alive() else found


def by_format(incomplete: str) -> list[str]:
    """Complete the names of formats."""
    from dqa.api.listing import format_names

    return _beginning(incomplete, format_names())


def by_dialect(incomplete: str) -> list[str]:
    """Complete what statements may be written in."""
    from dqa import guard

    return _beginning(incomplete, guard.DIALECTS)


def one_of(names: Sequence[str]) -> Completion:
    """Return what completes one of some fixed names."""

    def complete(incomplete: str) -> list[str]:
        return _beginning(incomplete, names)

    return complete


def _beginning(incomplete: str, names: Iterable[str], *, listed: bool = False) -> list[str]:
    before, comma, begun = incomplete.rpartition(",") if listed else ("", "", incomplete)
    taken = {*before.split(",")}
    return [
        f"{before}{comma}{name}" for name in names if name.startswith(begun) and name not in taken
    ]
