"""What a scenario's question may be about: keys of its target, and values that a database has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dqa.api.looking import opened
from dqa.core.database import Database
from dqa.core.errors import UnknownNameError
from dqa.guard import Audit, Policy
from dqa.loaders.live_questions import list_values
from dqa.plugins import scenario as scenario_called
from dqa.scenarios import Scenario
from dqa.scenarios.reading import DOCUMENT, read_scenario

_OFFERED = 50
"""Values that are offered."""
_LOOKED_AT = 1_000
"""Values among which those are looked for that begin so."""


def list_target_values(  # noqa: PLR0913  (each is a question of its own to the caller)
    scenario: str | Path,
    database: str | Path | Database,
    key: str,
    target: Mapping[str, str] | None = None,
    *,
    most: int = 100,
    policy: Policy | Path | str | None = None,
    audit: Audit | Path | str | None = None,
) -> tuple[str, ...]:
    """Return values that a parameter of a scenario's question can have in a database.

    Parameters
    ----------
    scenario
        Its name or folder.
    database
        A URL, files, or a database that is open already.
    key
        The parameter.
    target
        What is told of the others, on which the values may depend.
    most
        Most values.
    policy, audit
        What may be read, and who watches; for a database that is opened here.

    Returns
    -------
    tuple of str
        As a target tells them, in a fixed order; () where it can have any.

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
    with opened(database, policy=policy, audit=audit) as there:
        return list_values(found, there, key, dict(target or {}), most)


def complete_target(
    scenario: str,
    database: str | None,
    told: Sequence[str],
    incomplete: str,
    policy: Path | str | None = None,
) -> list[str]:
    """Return what ``KEY=VALUE`` may become: keys, and behind a key its values.

    Parameters
    ----------
    scenario
        Its name or folder.
    database
        Where the values are; without one, keys alone are completed.
    told
        What was given before, as ``KEY=VALUE``.
    incomplete
        The beginning.
    policy
        What may be read.
    """
    found = _scenario(scenario)
    target = dict(pair.split("=", 1) for pair in told if "=" in pair)
    key, equals, begun = incomplete.partition("=")
    if not equals:
        asked = dict.fromkeys(found.template.get_identifiers())
        return [f"{name}=" for name in asked if name.startswith(key) and name not in target]
    if database is None or key not in found.parameters:
        return []
    with opened(database, policy=policy) as there:
        values = list_values(found, there, key, target, _LOOKED_AT)
    return [f"{key}={value}" for value in values if value.startswith(begun)][:_OFFERED]


def _scenario(scenario: str | Path) -> Scenario:
    """Return a scenario without making it known to the process."""
    folder = Path(scenario)
    if (folder / DOCUMENT).is_file():
        return read_scenario(folder)
    return scenario_called(str(scenario))
