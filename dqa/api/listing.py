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
from dqa.worlds.base import count_players

_KINDS = ("scenario", "decider", "database", "simulator", "set", "world")


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
    return {**found, "models": tuple(models)}


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
        return f"choose a {scenario.candidate_noun} to {scenario.goal} the {scenario.unit}"
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
    """Return what is decided in a world, and by how many players."""
    factory = plugins.world(name)
    try:
        many = count_players(factory)
    except MissingKeyError:  # its extra is not installed, and 'dqa play' says so
        return factory.description
    return f"{factory.description} ({counted(many, 'player')})"


def settings_of(decider: str) -> tuple[SettingInfo, ...]:
    """Return a decider's own settings, with what each accepts and its default."""
    return plugins.decider(decider).setting_infos
