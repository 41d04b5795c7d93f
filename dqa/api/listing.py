"""List the installed plug-ins, each with a description in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pkgutil import resolve_name
from typing import Any

from dqa import plugins
from dqa.core.errors import DqaError, MissingKeyError, UnknownNameError
from dqa.core.records import Record
from dqa.core.text import counted
from dqa.deciders.base import SettingInfo
from dqa.loaders.set_files import read_document
from dqa.scenarios import scenario_name
from dqa.scenarios.document import Part

_KINDS = ("scenario", "decider", "database", "simulator", "set")


_SEE_WORLDS = "'dqa list --worlds' describes it"


class Entry(Record):
    """The name of a plug-in, with its description or the reason why it cannot be used.

    Only deciders have a group: the package of their paper, ``baselines`` or
    ``heuristics of SCENARIO``.
    """

    name: str
    description: str
    group: str = ""


def installed(scenarios: Iterable[str] = ()) -> Mapping[str, tuple[Entry, ...]]:
    """Return scenarios, deciders, databases, simulators, named sets and scripted models.

    Parameters
    ----------
    scenarios
        Folders of scenarios that are not installed; they are registered first.
    """
    for folder in scenarios:
        plugins.scenario(scenario_name(folder))
    found = {f"{kind}s": tuple(_entry(kind, n) for n in plugins.names(kind)) for kind in _KINDS}
    found["deciders"] = list_deciders()
    program = "a program, not a language model"
    models = (
        Entry(name=f"scripted:{name}", description=program) for name in plugins.script_names()
    )
    # Without descriptions, which would import slow numerical packages.
    worlds = tuple(Entry(name=name, description=_SEE_WORLDS) for name in plugins.names("world"))
    return {**found, "worlds": worlds, "models": tuple(models)}


def list_worlds() -> tuple[Entry, ...]:
    """Return every world, with its number of players and the programs that can play it."""
    return tuple(_entry("world", name) for name in plugins.names("world"))


def list_deciders() -> tuple[Entry, ...]:
    """Return the deciders: those of papers first, then baselines, then heuristics by scenario."""
    groups = {name: plugins.decider_group(name) for name in plugins.names("decider")}
    groups = {name: "baselines" if group == "dqa" else group for name, group in groups.items()}
    own = ("baselines", "heuristics of")
    ordered = sorted(groups, key=lambda name: (groups[name].startswith(own), groups[name], name))
    return tuple(_entry("decider", name, groups[name]) for name in ordered)


def _entry(kind: str, name: str, group: str = "") -> Entry:
    """Return the entry of one plug-in. If the plug-in cannot be loaded, the entry says why."""
    try:
        return Entry(name=name, description=_description(kind, name), group=group)
    except DqaError as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001  (whatever a package's own code raises)
        problem = f"{type(error).__name__}: {error}"
    return Entry(
        name=name, description=f"cannot be loaded: {' '.join(problem.split())}", group=group
    )


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
        return str(read_document(name).get("summary", ""))
    if kind == "world":
        return _world_described(name)
    # Without the simulator, which would import slow numerical packages.
    outcomes = plugins.scenario(name).outcomes
    return f"outcomes by {outcomes.python or f'a {outcomes.source}'}"


def _world_described(name: str) -> str:
    """Return the description of a world, its number of players, and its programs."""
    from dqa.worlds.base import count_players

    factory = plugins.world(name)
    programs = f"; programs: {', '.join(factory.policies)}" if factory.policies else ""
    try:
        many = f" ({counted(count_players(factory), 'player')})"
    except MissingKeyError:  # its extra is not installed; 'dqa games play' reports that
        many = ""
    return f"{factory.description}{many}{programs}"


def settings_of(decider: str) -> tuple[SettingInfo, ...]:
    """Return the settings of a decider, each with its accepted values and its default.

    A model after ``@`` in the name is ignored.
    """
    return plugins.decider(decider.partition("@")[0]).setting_infos


_OWN: Mapping[str, str] = {
    "analysis": "dqa.evaluation.findings:Analysis",
    "annotation": "dqa.evaluation.audit:Annotation",
    "audit": "dqa.evaluation.audit:ReleaseAudit",
    "checked_statement": "dqa.api.checking:CheckedStatement",
    "comparison": "dqa.evaluation.statistics.comparing:Comparison",
    "database_health": "dqa.api.databases:DatabaseHealth",
    "evaluation": "dqa.report.tables:Evaluation",
    "exported_decision": "dqa.report.export_rows:ExportedDecision",
    "loaded": "dqa.api.databases:LoadedHere",
    "manifest": "dqa.loaders.generator.manifest:Manifest",
    "own_question": "dqa.loaders.custom_question:OwnQuestion",
    "publication": "dqa.evaluation.papers:Publication",
    "proposed_scenario": "dqa.api.scenarios:ProposedScenario",
    "result": "dqa.evaluation.results:Result",
    "run": "dqa.evaluation.record:RunRecord",
    "scenario": "dqa.scenarios.document:ScenarioFile",
    "scenario_check": "dqa.api.scenarios:ScenarioCheck",
    "scenario_tables": "dqa.scenarios.document:SharedParts",
    "schema": "dqa.api.looking:ShownSchema",
    "shortcut_choices": "dqa.evaluation.shortcuts:ShortcutChoices",
    "spec": "dqa.evaluation.spec:RunSpec",
    "stored_run": "dqa.api.stored:StoredRun",
    "trace": "dqa.evaluation.traces:Trace",
    "trained_player": "dqa.api.games:TrainedPlayer",
}
"""The classes of formats by name, imported on use.

Packages add formats with the entry point ``dqa.formats``.
"""


def format_names() -> tuple[str, ...]:
    """Return the sorted names of the formats that have a JSON Schema."""
    return tuple(sorted({*_OWN, *plugins.names("format")}))


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a format.

    Raises
    ------
    UnknownNameError
        No format has this name.
    PluginError
        The package that defines the format cannot be loaded.
    """
    if name not in format_names():
        raise UnknownNameError("format", name, format_names())
    own = _OWN.get(name)
    kind: type[Record | Part] = resolve_name(own) if own is not None else plugins.format_class(name)
    schema = kind.json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
