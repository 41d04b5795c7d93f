"""The values that the target of a scenario's question can have in a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

from dqa import plugins
from dqa.api.databases import Access, opened
from dqa.core.database import Database
from dqa.core.errors import UnknownNameError
from dqa.loaders.live_questions import list_values
from dqa.scenarios import Scenario
from dqa.scenarios.reading import DOCUMENT, read_scenario

_OFFERED, _SEARCHED = 50, 1_000
"""Values that are completed, and those among which they are searched."""


def list_target_values(
    scenario: str | Path,
    database: str | Path | Database,
    key: str,
    target: Mapping[str, str] | None = None,
    *,
    most: int = 100,
    **access: Unpack[Access],
) -> tuple[str, ...]:
    """Return values that a parameter of a scenario's question can have in a database.

    Parameters
    ----------
    scenario
        Its name or folder.
    database
        A URL, files, or an open database.
    key
        The parameter.
    target
        The other parameters, on which the values may depend.
    most
        Most values.
    **access
        ``tables``, ``policy`` and ``audit``, as in `open_database`, for a location.

    Returns
    -------
    tuple of str
        As a target has them, in a fixed order; () if it can have any.

    Raises
    ------
    UnknownNameError
        There is no such scenario or parameter.
    QueryError, DataError, InfrastructureError
        The values cannot be listed.
    """
    found = _scenario(scenario)
    if key not in found.parameters:
        raise UnknownNameError(f"parameter of '{found.name}' called", key, found.parameters)
    with opened(database, **access) as there:
        return list_values(found, there, key, dict(target or {}), most)


def complete_target(
    scenario: str,
    database: str | None,
    told: Sequence[str],
    incomplete: str,
    **access: Unpack[Access],
) -> list[str]:
    """Return the completions of ``KEY=VALUE``: keys, and after a key its values.

    Parameters
    ----------
    scenario
        Its name or folder.
    database
        Where the values are; without one, only keys are completed.
    told
        What was given before, as ``KEY=VALUE``.
    incomplete
        The beginning.
    **access
        As in `list_target_values`.
    """
    found = _scenario(scenario)
    target = dict(pair.split("=", 1) for pair in told if "=" in pair)
    key, equals, begun = incomplete.partition("=")
    if not equals:
        asked = dict.fromkeys(found.template.get_identifiers())
        return [f"{name}=" for name in asked if name.startswith(key) and name not in target]
    if database is None or key not in found.parameters:
        return []
    values = list_target_values(scenario, database, key, target, most=_SEARCHED, **access)
    return [f"{key}={value}" for value in values if value.startswith(begun)][:_OFFERED]


def _scenario(scenario: str | Path) -> Scenario:
    """Return a scenario without registering it in this process."""
    folder = Path(scenario)
    is_folder = (folder / DOCUMENT).is_file()
    return read_scenario(folder) if is_folder else plugins.scenario(str(scenario))
