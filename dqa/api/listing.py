"""What is installed: every plug-in by name, with what it is in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dqa import plugins
from dqa.core.errors import DqaError, MissingKeyError
from dqa.core.records import Record
from dqa.core.text import counted
from dqa.deciders.settings import SettingInfo
from dqa.loaders.set_files import summary_of
from dqa.scenarios import scenario_name

_KINDS = ("scenario", "decider", "database", "simulator", "set")


_SEE_WORLDS = "'dqa list --worlds' says what is played, and by how many"


class Entry(Record):
    """One plug-in: its name, and what it is or why it cannot be used."""

    name: str
    description: str


def installed(scenarios: Iterable[str] = ()) -> Mapping[str, tuple[Entry, ...]]:
    """Return scenarios, deciders, databases, simulators, named sets and scripted models.

    Parameters
    ----------
    scenarios
        Folders of scenarios that nobody installed, which are made known first.
    """
    for folder in scenarios:
        plugins.scenario(scenario_name(folder))
    found = {f"{kind}s": tuple(_entry(kind, n) for n in plugins.names(kind)) for kind in _KINDS}
    program = "a program, not a language model"
    models = (
        Entry(name=f"scripted:{name}", description=program) for name in plugins.script_names()
    )
    # Not what they are: nobody who only looks what there is waits for their numerics.
    worlds = tuple(Entry(name=name, description=_SEE_WORLDS) for name in plugins.names("world"))
    return {**found, "worlds": worlds, "models": tuple(models)}


def list_worlds() -> tuple[Entry, ...]:
    """Return every world, with how many players it has and which programs play it."""
    return tuple(_entry("world", name) for name in plugins.names("world"))


def list_deciders() -> tuple[Entry, ...]:
    """Return every decider."""
    return installed()["deciders"]


def _entry(kind: str, name: str) -> Entry:
    """Describe one plug-in; one that cannot be loaded says why and hides no other."""
    try:
        return Entry(name=name, description=_description(kind, name))
    except DqaError as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001  (whatever a package's own code raises)
        problem = f"{type(error).__name__}: {error}"
    return Entry(name=name, description=f"cannot be loaded: {' '.join(problem.split())}")


def _description(kind: str, name: str) -> str:
    if kind == "scenario":
        scenario = plugins.scenario(name)
        return f"choose a {scenario.listing.noun} to {scenario.goal} the {scenario.unit}"
    if kind == "decider":
        return plugins.decider(name).description
    if kind == "database":
        backend = plugins.backend(name)
        return f"{backend.kind} database, {backend.dialect}"
    if kind == "set":
        return summary_of(name)
    if kind == "world":
        return _world_described(name)
    # Not the simulator itself: nobody who only looks what there is waits for its numerics.
    outcomes = plugins.scenario(name).outcomes
    return f"outcomes by {outcomes.python or f'a {outcomes.source}'}"


def _world_described(name: str) -> str:
    """Return what is decided in a world, by how many players, and which programs play it."""
    from dqa.worlds.base import count_players

    factory = plugins.world(name)
    programs = f"; programs: {', '.join(factory.policies)}" if factory.policies else ""
    try:
        many = f" ({counted(count_players(factory), 'player')})"
    except MissingKeyError:  # its extra is not installed, and 'dqa play' says so
        many = ""
    return f"{factory.description}{many}{programs}"


def settings_of(decider: str) -> tuple[SettingInfo, ...]:
    """Return a decider's own settings, with what each accepts and its default."""
    return plugins.decider(decider).setting_infos
