"""Targets by which a scenario's statements are tried: values that the database itself has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from dqa.core.database import Database
from dqa.core.errors import DataError, QueryError
from dqa.loaders.asked import list_values
from dqa.scenarios import Scenario
from dqa.scenarios.parameters import LIST_SEPARATOR

_TRIED = 3
"""Targets that are tried."""
_ANY = {
    "integer": "1",
    "number": "1",
    "decimal": "1",
    "boolean": "true",
    "date": "2024-01-01",
    "timestamp": "2024-01-01 00:00:00",
}
"""By type, what stands for a value of which any will do."""


class UnlistedValuesError(DataError):
    """The values of a parameter cannot be listed, or there are none.

    Parameters
    ----------
    key
        The parameter.
    problem
        Why.
    """

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(problem)
        self.key = key


def sample_targets(
    scenario: Scenario, database: Database, keys: Collection[str], given: Mapping[str, str]
) -> tuple[dict[str, str], ...]:
    """Return a few targets of a scenario, with what is given in each of them.

    Parameters
    ----------
    scenario, database
        Whose they are, and what has the values.
    keys
        What they tell.
    given
        What is told already.

    Raises
    ------
    UnlistedValuesError
        A parameter has no values.
    InfrastructureError
        The database failed.
    """
    ordered = list(_in_order(scenario, keys))
    found: list[dict[str, str]] = []
    for number in range(_TRIED):
        target: dict[str, str] = {}
        for key in ordered:
            value = given.get(key) or _value(scenario, database, key, target, number)
            if value is not None:
                target[key] = value
        if target not in found:
            found.append(target)
    return tuple(found)


def _in_order(scenario: Scenario, keys: Collection[str]) -> Iterator[str]:
    """Yield the keys, each behind those that it depends on."""
    left = [*keys]
    done: set[str] = set()
    while left:
        ready = [key for key in left if _needs(scenario, key) & {*left} <= done] or left
        yield ready[0]
        done.add(ready[0])
        left.remove(ready[0])


def _needs(scenario: Scenario, key: str) -> frozenset[str]:
    parameter = scenario.parameters[key]
    return (parameter.follows or parameter).needs - {key}


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
        told = ", ".join(f"{name}={value}" for name, value in target.items())
        raise UnlistedValuesError(key, f"it has no values{f' with {told}' if told else ''}")
    if parameter.type == "list":
        return LIST_SEPARATOR.join(values[: number + 1])
    return values[number % len(values)]
