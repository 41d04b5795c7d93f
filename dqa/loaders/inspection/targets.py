"""Sample targets from the database, to try a scenario's statements."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from graphlib import TopologicalSorter

from dqa.core.database import Database
from dqa.core.errors import DataError, QueryError
from dqa.loaders.live_questions import list_values
from dqa.scenarios import Scenario
from dqa.scenarios.parameters import LIST_SEPARATOR

_TRIED = 3
"""How many targets are tried."""
_ANY = {
    "integer": "1",
    "number": "1",
    "decimal": "1",
    "boolean": "true",
    "date": "2024-01-01",
    "timestamp": "2024-01-01 00:00:00",
}
"""By type, a value for a parameter that accepts any."""


class UnlistedValuesError(DataError):
    """The values of the parameter `key` cannot be listed, or there are none."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(problem)
        self.key = key


def sample_targets(
    scenario: Scenario, database: Database, keys: Collection[str], named: Mapping[str, str]
) -> tuple[dict[str, str], ...]:
    """Return a few targets of a scenario, each with the user's values.

    Parameters
    ----------
    scenario, database
        The scenario, and the database that has the values.
    keys
        The parameters of a target.
    named
        Values that the user named.

    Raises
    ------
    UnlistedValuesError
        A parameter has no values.
    InfrastructureError
        The database failed.
    """
    parameters = {key: scenario.parameters[key] for key in keys}
    needs = {key: {*(p.follows or p).needs} & {*keys} - {key} for key, p in parameters.items()}
    ordered = list(TopologicalSorter(needs).static_order())
    found: list[dict[str, str]] = []
    for number in range(_TRIED):
        target: dict[str, str] = {}
        for key in ordered:
            value = named.get(key) or _value(scenario, database, key, target, number)
            if value is not None:
                target[key] = value
        if target not in found:
            found.append(target)
    return tuple(found)


def _value(
    scenario: Scenario, database: Database, key: str, target: Mapping[str, str], number: int
) -> str | None:
    parameter = scenario.parameters[key]
    if not (parameter.follows or parameter).is_given:
        return None if parameter.optional else _ANY.get(parameter.type or "", "x")
    try:
        values = list_values(scenario, database, key, target, _TRIED)
    except (DataError, QueryError) as error:
        raise UnlistedValuesError(key, str(error)) from error
    if not values:
        others = ", ".join(f"{name}={value}" for name, value in target.items())
        raise UnlistedValuesError(key, f"it has no values{f' with {others}' if others else ''}")
    if parameter.type == "list":
        return LIST_SEPARATOR.join(values[: number + 1])
    return values[number % len(values)]
