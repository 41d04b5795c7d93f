"""Plug-ins: what other packages add, found by entry point.

Nothing here imports a plug-in by name, so `dqa` depends on none of them, and other packages add
theirs by declaring an entry point in one of the groups: ``dqa.scenarios``, ``dqa.deciders``,
``dqa.databases``, ``dqa.simulators``, ``dqa.events``, ``dqa.commands``, ``dqa.formats``. A plug-in is imported when
it is asked for; one that cannot be, or is not what its group needs, is one line and hides no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from dqa.core.errors import PluginError, UnknownNameError, UsageError
from dqa.core.secrets import redact

if TYPE_CHECKING:
    import typer

    from dqa.core.events import Event
    from dqa.core.records import Record
    from dqa.core.simulator import Simulator
    from dqa.databases.base import Backend
    from dqa.deciders.base import DeciderFactory
    from dqa.scenarios.base import Scenario

__all__ = [
    "backend",
    "backend_for",
    "command",
    "decider",
    "events",
    "format_class",
    "found",
    "names",
    "scenario",
    "simulator",
]

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "scenario": ("name", "schema", "rules", "template", "goal", "unit", "candidate_noun"),
    "decider": ("name", "description", "make", "needs_model", "protocols", "options"),
    "database": ("name", "kind", "dialect", "embedded", "accepts", "open", "load"),
    "simulator": ("scenario", "rule_sets", "outcomes", "simulate"),
    "event": (),
    "command": ("registered_commands",),
    "format": ("json_schema",),
}
"""By kind of plug-in, what it has to have."""


@cache
def _points(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in sorted(entry_points(group=group))}


def names(kind: str) -> tuple[str, ...]:
    """Return the sorted names registered for `kind`: scenario, decider, database, ..."""
    return tuple(_points(f"dqa.{kind}s"))


@cache
def _load(kind: str, name: str) -> Any:  # noqa: ANN401  (each caller below states its type)
    points = _points(f"dqa.{kind}s")
    if name not in points:
        raise UnknownNameError(kind, name, points)
    where = f"The {kind} '{name}' is registered as {points[name].value}"
    try:
        loaded = points[name].load()
    except Exception as error:
        # Whatever a stranger's module raises while it is imported.
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginError(
            f"{where} but cannot be loaded ({problem}). Install what it needs, or remove the "
            "package that registers it."
        ) from error
    missing = [needed for needed in _NEEDS[kind] if not hasattr(loaded, needed)]
    if missing:
        raise PluginError(
            f"{where}, which is no {kind}: it has no {', '.join(missing)}. Mend or remove the "
            "package that registers it."
        )
    return loaded


def found(kind: str, name: str) -> Any:  # noqa: ANN401  (any plug-in)
    """Return the plug-in called `name`; None where it cannot be loaded or nobody registered it."""
    try:
        return _load(kind, name)
    except (PluginError, UnknownNameError):
        return None


def scenario(name: str) -> Scenario:
    """Return the scenario called `name`."""
    loaded: Scenario = _load("scenario", name)
    return loaded


def decider(name: str) -> DeciderFactory:
    """Return the decider factory called `name`."""
    loaded: DeciderFactory = _load("decider", name)
    return loaded


def simulator(name: str) -> Simulator:
    """Return the simulator of the scenario called `name`."""
    loaded: Simulator = _load("simulator", name)
    return loaded


def command(name: str) -> typer.Typer:
    """Return the commands of the method called `name`."""
    loaded: typer.Typer = _load("command", name)
    return loaded


def format_class(name: str) -> type[Record]:
    """Return the class of what a method writes for others to read."""
    loaded: type[Record] = _load("format", name)
    return loaded


@cache
def events() -> tuple[type[Event], ...]:
    """Return the classes of all events: those that every method may tell of, and methods' own.

    Those of a package that cannot be loaded are left out: its events are read as `OtherEvent`.
    """
    from dqa.core.events import CORE_EVENTS

    own = (found("event", name) for name in names("event"))
    return CORE_EVENTS + tuple(event for classes in own if classes for event in classes)


def backend(name: str) -> Backend:
    """Return the database backend called `name`."""
    loaded: Backend = _load("database", name)
    return loaded


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
            loaded = backend(name)
        except PluginError as error:
            # A driver that is missing matters only where nothing else opens the location.
            broken.append(str(error))
            continue
        known.append(name)
        if loaded.accepts(location):
            return loaded
    raise UsageError(
        f"No database backend opens '{redact(location)}': it is no existing file and no URL that "
        f"one of {', '.join(known) or 'them'} knows. {' '.join(broken)}".rstrip()
    )
