"""A scenario's question about what a live database holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from dqa.core.database import Database
from dqa.core.errors import QueryError, UnknownNameError, UsageError
from dqa.core.question import Question
from dqa.core.situation import Cell, Situation
from dqa.loaders.readback import read_situation, read_table
from dqa.scenarios.base import Scenario, column_values
from dqa.scenarios.document import Listing, Parameter
from dqa.scenarios.embedded import first_column


def ask_scenario(scenario: Scenario, database: Database, target: Mapping[str, str]) -> Question:
    """Make a scenario's question about what a database holds.

    What the scenario lists by a statement in the database's own language is asked of the database
    itself; of what it lists by a table, that table alone is read.

    Parameters
    ----------
    scenario
        Whose question it is.
    database
        Holds the scenario.
    target
        What it is about; what can only be one thing need not be told.

    Raises
    ------
    UsageError
        The target is not what the scenario asks about, or the database does not hold the scenario.
    DataError
        It holds the scenario, but not in its types.
    InfrastructureError
        The database failed.
    """
    wanted = scenario.template.get_identifiers()
    for key in target:
        if key not in wanted:
            raise UnknownNameError(f"target of scenario '{scenario.name}' called", key, wanted)
    held = _Held(scenario, database)
    try:
        whole = _whole_target(held, target)
        candidates = scenario.candidates_by(held.listed, whole)
    except QueryError as error:
        raise UsageError(
            f"{database.name} does not hold the scenario '{scenario.name}' as 'dqa load' writes "
            f"it: {error}"
        ) from error
    return scenario.asked(database.name, "1", whole, candidates)


class _Held:
    """What a database holds of a scenario."""

    def __init__(self, scenario: Scenario, database: Database) -> None:
        self.scenario = scenario
        self.database = database

    def listed(self, listing: Listing, target: Mapping[str, str]) -> Sequence[Cell]:
        """Return what a listing lists, of the live database where that can be."""
        schema = self.scenario.schema
        if listing.table is not None:
            table = read_table(self.database, schema, schema.table(listing.table))
            return column_values(listing, table, target)
        statement = self.scenario.statement(listing, self.database.kind, target)
        if statement is not None:
            called = self.scenario.called(listing, self.database.kind)
            return first_column(self.database, statement, called=called)
        return self.scenario.lister(self._situation)(listing, target)

    @cached_property
    def _situation(self) -> Situation:
        """Everything, read back for a statement in another language than the database's."""
        return read_situation(self.database, self.scenario.schema, self.database.name)

    def choices(self, parameter: Parameter, target: Mapping[str, str]) -> tuple[str, ...] | None:
        """Return the values that a parameter can have; None where it can have any."""
        listing: Listing = parameter.follows or parameter
        if not listing.is_given:
            return None
        if not listing.needs <= {*target}:
            return ()
        return tuple(map(str, dict.fromkeys(self.listed(listing, target))))


def _whole_target(held: _Held, given: Mapping[str, str]) -> dict[str, str]:
    """Return the target with what can only be one thing; `UsageError` where it is wrong."""
    scenario = held.scenario
    wanted = scenario.template.get_identifiers()
    told = {key: value for key, value in given.items() if value}
    target = dict(told)
    known: dict[str, tuple[str, ...] | None] = {}
    for key in wanted:
        parameter = scenario.parameters[key]
        known[key] = choices = held.choices(parameter, told)
        if choices is None or parameter.type == "list":
            continue
        if key in told and told[key] not in choices:
            raise UnknownNameError(f"{key} in {held.database.name} called", told[key], choices)
        if key not in told and len(choices) == 1:
            target[key] = choices[0]
    missing = [key for key in wanted if key not in target]
    if missing:
        first = {key: next(iter(known[key] or ()), "...") for key in missing}
        shown = " ".join(f'--target {key}="{value}"' for key, value in first.items())
        raise UsageError(
            f"The question of the scenario '{scenario.name}' is about more than was told: give, "
            f"for example, {shown}."
        )
    return target
