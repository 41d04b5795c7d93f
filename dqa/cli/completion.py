"""Completion of names in a shell. The modules that know the names are imported when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

Completion: TypeAlias = Callable[[str], list[str]]
"""A function that returns the words that begin with a text."""


def one_of(
    names: Iterable[str] | Callable[[], Iterable[str]], *, listed: bool = False
) -> Completion:
    """Return a function that completes a name; with `listed`, names separated by commas."""

    def complete(incomplete: str) -> list[str]:
        known = names() if callable(names) else names
        before, comma, begun = incomplete.rpartition(",") if listed else ("", "", incomplete)
        taken = {*before.split(",")}
        return [f"{before}{comma}{n}" for n in known if n.startswith(begun) and n not in taken]

    return complete


def by_name(kind: str, *, listed: bool = False) -> Completion:
    """Return a function that completes the names of a kind of plug-in.

    Parameters
    ----------
    kind
        The argument of `dqa.plugins.names`.
    listed
        Whether the option takes several names, separated by commas.
    """

    def names() -> Iterable[str]:
        from dqa import plugins

        return plugins.names(kind)

    return one_of(names, listed=listed)


def by_model(incomplete: str) -> list[str]:
    """Complete the names of scripted models; the names of providers' models are unknown."""
    from dqa import plugins

    return one_of([f"scripted:{name}" for name in plugins.script_names()])(incomplete)


def by_format(incomplete: str) -> list[str]:
    """Complete the names of file formats."""
    from dqa.api.listing import format_names

    return one_of(format_names())(incomplete)


def by_dialect(incomplete: str) -> list[str]:
    """Complete the names of SQL and Cypher dialects."""
    from dqa import guard

    return one_of(guard.DIALECTS)(incomplete)
