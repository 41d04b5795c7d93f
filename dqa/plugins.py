"""Plug-ins: scenarios, deciders, simulators and databases found by entry point.

Nothing here imports a plug-in by name, so `dqa` depends on none of them and other packages add
theirs by declaring an entry point in one of the four groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeAlias

from dqa.core.errors import PluginError, UnknownNameError, UsageError
from dqa.core.events import CORE_EVENTS, Event
from dqa.core.secrets import redact
from dqa.core.simulator import Simulator
from dqa.databases.base import Backend
from dqa.deciders.base import DeciderFactory
from dqa.scenarios.base import Scenario

if TYPE_CHECKING:
    from dqa.report.passages import Passage

__all__ = [
    "Rendering",
    "backend",
    "backend_for",
    "decider",
    "events",
    "names",
    "renderings",
    "scenario",
    "simulator",
]

Rendering: TypeAlias = "Callable[[Event], Iterable[Passage] | None]"
"""Shows a method's own events as passages; None for an event that it does not know."""


@cache
def _found(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in sorted(entry_points(group=group))}


def names(kind: str) -> tuple[str, ...]:
    """Return the sorted names registered for `kind`: scenario, decider, simulator or database."""
    return tuple(_found(f"dqa.{kind}s"))


@cache
def _load(kind: str, name: str) -> Any:  # noqa: ANN401  (each caller below states its type)
    found = _found(f"dqa.{kind}s")
    if name not in found:
        raise UnknownNameError(kind, name, found)
    try:
        return found[name].load()
    except (ImportError, AttributeError) as error:
        raise PluginError(
            f"The {kind} '{name}' is registered as {found[name].value} but cannot be loaded: "
            f"{error}. Install what it needs, or remove the package that registers it."
        ) from error


def scenario(name: str) -> Scenario:
    """Return the scenario called `name`."""
    found: Scenario = _load("scenario", name)
    return found


def decider(name: str) -> DeciderFactory:
    """Return the decider factory called `name`."""
    found: DeciderFactory = _load("decider", name)
    return found


def simulator(name: str) -> Simulator:
    """Return the simulator of the scenario called `name`."""
    found: Simulator = _load("simulator", name)
    return found


def backend(name: str) -> Backend:
    """Return the database backend called `name`."""
    found: Backend = _load("database", name)
    return found


@cache
def events() -> tuple[type[Event], ...]:
    """Return the events that traces are read into: everybody's, and each method's own.

    A method that cannot be loaded has none: its events are read as `OtherEvent`.
    """
    return CORE_EVENTS + tuple(event for told in _loadable("event") for event in told)


@cache
def renderings() -> tuple[Rendering, ...]:
    """Return what shows the methods' own events, as far as it can be loaded."""
    return tuple(_loadable("rendering"))


def _loadable(kind: str) -> Iterator[Any]:
    for name in names(kind):
        try:
            yield _load(kind, name)
        except PluginError:
            # A trace is read all the same: what nobody knows is shown as it is.
            continue


def backend_for(location: str) -> Backend:
    """Return the backend that opens `location`.

    Raises
    ------
    UsageError
        It is no existing file and no URL that a backend knows.
    """
    known, broken = [], []
    for name in names("database"):
        try:
            found = backend(name)
        except PluginError as error:
            # A driver that is missing matters only where nothing else opens the location.
            broken.append(str(error))
            continue
        known.append(name)
        if found.accepts(location):
            return found
    raise UsageError(
        f"No database backend opens '{redact(location)}': it is no existing file and no URL that "
        f"one of {', '.join(known) or 'them'} knows. {' '.join(broken)}".rstrip()
    )
