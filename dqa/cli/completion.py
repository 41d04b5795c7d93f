"""Completion of names in a shell; only the modules that the names need are imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

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
