"""Find the known scenarios: scenarios of dqa, of other packages, and of users.

The scenarios of dqa are the folders in ``schemas/`` with a ``scenario.toml``. Another package
registers a folder as an entry point in the group ``dqa.scenarios``. `register` adds a user's folder
for the current process.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from dqa.core.errors import DqaError, PluginError, UnknownNameError, UsageError
from dqa.scenarios.base import Scenario
from dqa.scenarios.reading import DOCUMENT, read_scenario

GROUP = "dqa.scenarios"
"""The group of entry points for folders of scenarios."""

_registered: dict[str, tuple[Path, Scenario]] = {}


@cache
def _shipped() -> dict[str, Traversable]:
    """Return the folders of dqa's scenarios, in the installed package or in a checkout."""
    home: Traversable = files("dqa") / "schemas"
    if not home.is_dir():
        home = Path(__file__).parents[2] / "schemas"
    if not home.is_dir():
        raise PluginError("The scenarios are missing from this installation; install dqa again.")
    return {folder.name: folder for folder in home.iterdir() if (folder / DOCUMENT).is_file()}


@cache
def _added() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def scenario_names() -> tuple[str, ...]:
    """Return the sorted names of all known scenarios. No scenario is read."""
    return tuple(sorted({*_shipped(), *_added(), *_registered}))


def scenarios() -> tuple[Scenario, ...]:
    """Return all scenarios that have no errors, sorted by their field ``order`` and by name."""
    found = []
    for name in scenario_names():
        try:
            found.append(scenario(name))
        except DqaError:
            continue
    return tuple(
        sorted(found, key=lambda one: (one.document.order is None, one.document.order, one.name))
    )


def scenario(name: str) -> Scenario:
    """Return the scenario called `name`.

    Raises
    ------
    UnknownNameError
        The scenario is unknown.
    PluginError
        The folder of a package cannot be found, or two scenarios have the same name.
    ParseError
        The folder has an error. The message contains the file and the field.
    """
    if name in _registered:
        return _registered[name][1]
    return _installed(name)


@cache
def _installed(name: str) -> Scenario:
    shipped, added = _shipped().get(name), _added().get(name)
    if shipped is not None and added is not None:
        raise PluginError(
            f"Two scenarios have the name '{name}': one is part of dqa, and a package registers "
            f"{added.value}. Rename the scenario of the package."
        )
    folder = shipped if added is None else _folder_of(added)
    if folder is None:
        raise UnknownNameError("scenario", name, scenario_names())
    found = read_scenario(folder)
    if found.name != name:
        raise PluginError(
            f"The scenario in the folder {folder} has the name '{found.name}', but it is "
            f"registered as '{name}': use the same name in both places."
        )
    return found


def _folder_of(point: EntryPoint) -> Traversable:
    registered_as = f"The scenario '{point.name}' is registered as {point.value}, which"
    try:
        folder = point.load()
    except DqaError:
        raise
    except (Exception, SystemExit) as error:  # the import of a package can raise anything
        problem = f"cannot be loaded: {type(error).__name__}: {error}"
        raise PluginError(f"{registered_as} {problem}. Fix or remove the package.") from error
    folder = Path(folder) if isinstance(folder, str) else folder
    if not isinstance(folder, Traversable) or not (folder / DOCUMENT).is_file():
        raise PluginError(f"{registered_as} is not a folder with a {DOCUMENT}.")
    return folder


def register(folder: Path | str) -> Scenario:
    """Add the scenario of a folder to this process. If the folder is known, read it again.

    Raises
    ------
    ParseError
        The folder is wrong.
    UsageError
        Another scenario has this name.
    """
    path = Path(folder).resolve()
    found = read_scenario(path)
    before = _registered.get(found.name)
    taken = found.name in {*_shipped(), *_added()}
    if taken or (before is not None and before[0] != path):
        user = "a scenario of this installation" if before is None else before[0]
        raise UsageError(
            f"{path / DOCUMENT}: the name '{found.name}' is already used by {user}; choose another."
        )
    _registered[found.name] = path, found
    return found


def registered() -> dict[str, Path]:
    """Return the registered folders, by the name of their scenario."""
    return {name: folder for name, (folder, _) in _registered.items()}


def folder_or_name(name: str) -> str:
    """Return the name of a scenario unchanged, and the path of a folder as an absolute path."""
    is_folder = name not in scenario_names() and (Path(name) / DOCUMENT).is_file()
    return str(Path(name).absolute()) if is_folder else name


def scenario_name(name: str) -> str:
    """Return the name of a scenario; `name` is this name or a folder, which is then registered.

    Raises
    ------
    ParseError, UsageError
        See `register`. `UsageError` also means that a folder contains no scenario.
    """
    if name in scenario_names():
        return name
    folder = Path(name)
    if (folder / DOCUMENT).is_file():
        return register(folder).name
    if folder.is_dir() or len(folder.parts) > 1 or name.startswith("."):
        is_not = (
            "does not contain a" if folder.is_dir() else "does not exist, or does not contain a"
        )
        raise UsageError(
            f"{name} {is_not} {DOCUMENT}: give the folder of a scenario, or one of the scenarios "
            f"{', '.join(scenario_names())}."
        )
    return name
