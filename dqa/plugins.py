"""Find plug-ins of other packages, by entry point or in the folder of a scenario.

This module does not import any plug-in by name, so dqa does not depend on plug-ins. Entry points
register deciders, databases, readers of question sets and other plug-ins. A scenario is a folder
(`dqa.scenarios.catalogue`) that names its simulator, generator and scripts. A plug-in is imported
when it is used. If the import fails, the error message is one line, and all other plug-ins still
work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from dqa.core.errors import DqaError, PluginError, UnknownNameError, UsageError
from dqa.core.secrets import redact

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import typer

    from dqa.core.question import Question
    from dqa.core.records import Record
    from dqa.core.simulator import Simulator
    from dqa.databases.base import Backend
    from dqa.deciders.base import DeciderFactory
    from dqa.evaluation.findings import Analyse
    from dqa.evaluation.papers import Publication
    from dqa.loaders.reading import QuestionReader
    from dqa.models.scripted import Responder
    from dqa.scenarios.base import Scenario
    from dqa.scenarios.generation import Generator
    from dqa.worlds.base import WorldFactory

_CONTRACTS: Mapping[str, str] = {
    "decider": "dqa.deciders.base:DeciderFactory",
    "database": "dqa.databases.base:Backend",
    "reader": "dqa.loaders.reading:QuestionReader",
    "command": "typer:Typer",
    "format": "dqa.core.records:Record",
    "publication": "dqa.evaluation.papers:Publication",
    "scripted": "dqa.models.scripted:Responder",
    "world": "dqa.worlds.base:WorldFactory",
    "set": "importlib.resources.abc:Traversable",
}
"""The class or protocol of each kind of plug-in, imported on first use."""


@cache
def _points(kind: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of one kind of plug-in, sorted by name."""
    group = "dqa.scripted" if kind == "scripted" else f"dqa.{kind}s"
    return tuple(sorted(set(entry_points(group=group))))


@cache
def _registered(kind: str) -> dict[str, EntryPoint]:
    """Return the entry points of the plug-ins of one kind, by name."""
    return {point.name: point for point in _points(kind)}


def names(kind: str) -> tuple[str, ...]:
    """Return the sorted names of a kind of plug-in.

    Parameters
    ----------
    kind
        ``scenario``, ``decider``, ``database``, ``reader``, ``set`` (of questions), ``world`` or
        ``scripted`` (replies of scripted models). For ``simulator`` and ``generator``, the result
        contains the names of the scenarios that have a simulator or generator.
    """
    if kind == "scenario":
        from dqa.scenarios.catalogue import scenario_names

        return scenario_names()
    if kind in {"simulator", "generator"}:
        return tuple(sorted(found.name for found in _scenarios() if _has(found, kind)))
    registered = _registered(kind)
    if kind == "database":
        from dqa.databases.backends import BUILT_IN

        return tuple(sorted({*registered, *BUILT_IN}))
    return tuple(sorted({*registered, *_heuristics()}) if kind == "decider" else registered)


def _scenarios() -> tuple[Scenario, ...]:
    from dqa.scenarios.catalogue import scenarios

    return scenarios()


def _has(scenario: Scenario, kind: str) -> bool:
    if kind == "generator":
        return scenario.document.generator is not None
    return scenario.outcomes.source != "recorded"


@cache
def _load(kind: str, name: str) -> Any:  # noqa: ANN401  (each caller below states its type)
    found = _registered(kind).get(name)
    if found is None:
        raise UnknownNameError("question set" if kind == "set" else kind, name, names(kind))
    values = [point.value for point in _points(kind) if point.name == name]
    if len(values) > 1:
        raise PluginError(
            f"{len(values)} packages register the {kind} '{name}': {', '.join(values)}. Rename or "
            "remove all but one."
        )
    where = f"The {kind} '{name}' is registered as {found.value}"
    return _object(found.value, where, _CONTRACTS[kind], is_class=kind == "format")


def _part(scenario: Scenario, part: str, value: str, contract: str) -> Any:  # noqa: ANN401
    """Load the object that a scenario's document names."""
    return _object(value, f"The {part} of scenario '{scenario.name}' is {value}", contract)


def _object(value: str, what: str, contract: str, *, is_class: bool = False) -> Any:  # noqa: ANN401
    """Load an instance of `contract`, or a subclass of `contract` if `is_class` is true."""
    try:
        loaded = resolve_name(value)
    except DqaError:
        raise
    except (Exception, SystemExit) as error:  # the import of a package can raise anything
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginError(
            f"{what} but cannot be loaded: {problem}. Install the package that it needs, or "
            "remove the plug-in."
        ) from error
    wanted = resolve_name(contract)
    if is_class:
        fits = isinstance(loaded, type) and issubclass(loaded, wanted)
    else:  # `isinstance` accepts a class that has the protocol's methods
        fits = isinstance(loaded, wanted) and (wanted is Callable or not isinstance(loaded, type))
    if not fits:
        found = "a class" if isinstance(loaded, type) else f"a {type(loaded).__name__}"
        needed = f"{'a subclass' if is_class else 'an object'} of {contract.replace(':', '.')}"
        raise PluginError(
            f"{what}. It has the wrong type: {found}, not {needed}. Fix or remove it."
        )
    return loaded


def _loadable(kind: str, load: Callable[[str], Any]) -> Iterator[Any]:
    """Yield the plug-ins of a kind that can be loaded."""
    for name in names(kind):
        with suppress(PluginError):
            yield load(name)


command: Callable[[str], typer.Typer] = partial(_load, "command")
"""Return the commands of a method."""


def command_file(name: str) -> Path:
    """Return the source file of a group of commands, without importing its package.

    The file may not exist. The path is empty if the package is not installed.
    """
    package, *parts = _registered("command")[name].module.split(".")
    spec = find_spec(package)
    folders = (spec and spec.submodule_search_locations) or []
    if parts and folders:
        return Path(folders[0], *parts).with_suffix(".py")
    return Path((spec and spec.origin) or "")


format_class: Callable[[str], type[Record]] = partial(_load, "format")
"""Return the class of a method's format."""
publication: Callable[[str], Publication] = partial(_load, "publication")
"""Return the printed figures of a paper."""
question_set: Callable[[str], Traversable] = partial(_load, "set")
"""Return the folder of a named question set."""
reader: Callable[[str], QuestionReader] = partial(_load, "reader")
"""Return a reader of question sets."""
world: Callable[[str], WorldFactory] = partial(_load, "world")
"""Return the factory of a world."""


def backend(name: str) -> Backend:
    """Return a database backend of `dqa` or of another package."""
    from dqa.databases.backends import BUILT_IN

    return BUILT_IN[name] if name in BUILT_IN else _load("database", name)


def scenario(name: str) -> Scenario:
    """Return the scenario called `name`."""
    from dqa.scenarios.catalogue import scenario as known

    return known(name)


def find_scenario(name: str) -> Scenario | None:
    """Return the scenario called `name`; None if it does not exist."""
    return scenario(name) if name in names("scenario") else None


def scenario_of(question: Question) -> Scenario | None:
    """Return the scenario of a question; None if it is unknown."""
    return find_scenario(question.scenario)


def analyse(paper: str | None = None) -> Analyse:
    """Return the analysis function of a paper, or of the first paper that has such a function.

    Raises
    ------
    UsageError
        The paper has no analysis function, or no installed paper has one.
    """
    listed = _loadable("publication", publication) if paper is None else [publication(paper)]
    for found in listed:
        if found.analysis is not None:
            return resolve_name(found.analysis)  # type: ignore[no-any-return]
    no = "No package contains an" if paper is None else f"The package of '{paper}' contains no"
    raise UsageError(f"{no} analysis of runs: install the package of a method with an analysis.")


def deciders() -> tuple[DeciderFactory, ...]:
    """Return the factories of all deciders that can be loaded, by name."""
    return tuple(_loadable("decider", decider))


def decider(name: str) -> DeciderFactory:
    """Return the factory of a decider, which may be a scenario's heuristic.

    Raises
    ------
    UnknownNameError
        No decider has this name.
    PluginError
        Two deciders have this name, or the package cannot be loaded.
    """
    registered, heuristics = _registered("decider"), _heuristics().get(name, ())
    holders = [f"a heuristic in {found.folder}" for found in heuristics]
    if name in registered:
        holders.insert(0, f"the plug-in {registered[name].value}")
    if len(holders) > 1:
        raise PluginError(
            f"{len(holders)} deciders have the name '{name}': {'; '.join(holders)}. Rename all "
            "but one."
        )
    if not heuristics:
        return _load("decider", name)  # type: ignore[no-any-return]
    # The import is late, because deciders import this module.
    make: Callable[..., DeciderFactory] = resolve_name("dqa.deciders.baselines:heuristic_factory")
    return make(heuristics[0], name)


def decider_group(name: str) -> str:
    """Return the package of a decider (``dqa`` for baselines).

    For a heuristic, return its scenario.
    """
    if name in _registered("decider"):
        return _registered("decider")[name].module.partition(".")[0].removeprefix("dqa_")
    return f"heuristics of {_heuristics()[name][0].name}"


def _heuristics() -> dict[str, list[Scenario]]:
    """Return the scenarios that have a heuristic, by the name of the heuristic."""
    found: dict[str, list[Scenario]] = {}
    for one in _scenarios():
        for heuristic in one.heuristics:
            found.setdefault(heuristic.name, []).append(one)
    return found


_INSTEAD = {
    "simulator": "Use a decider that needs no simulator, or add [outcomes] to its scenario.toml.",
    "generator": "Use questions from a release or a file, or add [generator] to its scenario.toml.",
}
"""The advice about a scenario that lacks a part."""


def _scenario_with(part: str, name: str) -> Scenario:
    """Return the scenario called `name`. If it lacks a part, raise `UsageError`."""
    found = find_scenario(name)
    if found is None and name != "custom":  # the scenario of users' own questions
        raise UnknownNameError(part, name, names(part))
    if found is None or not _has(found, part):
        raise UsageError(
            f"The scenario '{name}' has no {part}. Scenarios with a {part}: "
            f"{', '.join(names(part)) or 'none'}. {_INSTEAD[part]}"
        )
    return found


def simulator(name: str) -> Simulator:
    """Return the simulator of a scenario.

    Either a package or the scenario's statements define the simulator.
    """
    return simulator_of(_scenario_with("simulator", name))


@cache
def simulator_of(scenario: Scenario) -> Simulator:
    """Return the simulator of a scenario. The scenario need not be registered."""
    from dqa.scenarios.outcomes import ScenarioOutcomes

    if scenario.outcomes.source == "query":
        return ScenarioOutcomes(scenario)
    value, contract = scenario.outcomes.python or "", "dqa.core.simulator:Simulator"
    return _part(scenario, "simulator", value, contract)  # type: ignore[no-any-return]


def generator(name: str) -> Generator:
    """Return the generator of the scenario called `name`."""
    scenario, contract = _scenario_with("generator", name), "dqa.scenarios.generation:Generator"
    part = scenario.document.generator
    return _part(scenario, "generator", part.python if part else "", contract)  # type: ignore[no-any-return]


def script_names() -> tuple[str, ...]:
    """Return the names of all scripts of scripted models, sorted."""
    return tuple(sorted({name for found in _scenarios() for name in found.document.scripts}))


def script(name: str, scenario: Scenario) -> Callable[..., Any]:
    """Return a script of a scenario. Raise `UnknownNameError` if the scenario lacks it."""
    scripts = scenario.document.scripts
    if name not in scripts:
        raise UnknownNameError(f"script of scenario '{scenario.name}'", name, scripts)
    return _part(scenario, f"script '{name}'", scripts[name], "collections.abc:Callable")  # type: ignore[no-any-return]


@cache
def responders() -> tuple[Responder, ...]:
    """Return the responders (replies of scripted models) that can be loaded, ordered by method."""
    return tuple(_loadable("scripted", partial(_load, "scripted")))


def backend_for(location: str) -> Backend:
    """Return the backend that opens `location`.

    Raises
    ------
    UsageError
        The location is neither an existing file nor a URL that a backend knows.
    """
    from dqa.databases.backends import BUILT_IN

    def searched() -> Iterator[str]:
        # Embedded backends come before the slow search for plug-ins. Other built-in backends come
        # last: some open any URL.
        yield from (name for name, one in BUILT_IN.items() if one.embedded)
        yield from _registered("database")
        yield from (name for name, one in BUILT_IN.items() if not one.embedded)

    broken = []
    for name in searched():
        try:
            found = backend(name)
        except PluginError as error:
            # A missing driver matters only if nothing else opens the location.
            broken.append(str(error))
            continue
        if found.accepts(location):
            return found
    what, named = "a URL" if "://" in location else "a database", f"'{redact(location)}'"
    problem = f"{named} is not {what} that any of {', '.join(names('database'))} can open"
    if "://" not in location and not Path(location).exists():
        problem = f"{named} does not exist"
    fix = "give an existing file or folder, or a URL"
    raise UsageError(" ".join([f"{problem}: {fix}.", *broken]))
