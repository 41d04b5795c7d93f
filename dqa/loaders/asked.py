"""A scenario's question about what a live database holds, which is asked in place.

What the scenario lists by a table's column becomes a statement over that column; what it lists by a
statement in the database's own language is asked as it is. No table is read whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from dqa.core.database import Database, Limits
from dqa.core.display import cell_of
from dqa.core.errors import DataError, ParseError, QueryError, UnknownNameError, UsageError
from dqa.core.files import read_text
from dqa.core.question import Candidate, Question
from dqa.core.situation import Cell, Situation
from dqa.loaders.readback import read_situation
from dqa.scenarios.base import Scenario
from dqa.scenarios.document import Listing, Parameter
from dqa.scenarios.embedded import LISTING, first_column
from dqa.scenarios.parameters import LIST_SEPARATOR, text_of, typed_text
from dqa.scenarios.reading import DOCUMENT
from dqa.scenarios.tables import LiveTable, live_table, order_of
from dqa.scenarios.toml_lines import line_of, lines_of

_KNOWN = 10_000
"""Values among which a near one is looked for, where a column has no such value."""
_NARROWED = 10_000
"""Candidates beyond which a question names the statement that lists them: for a model, which has to
narrow them down."""
_START = 3
"""Characters at the beginning of a name by which others like it are found, where there are more."""


def ask_scenario(scenario: Scenario, database: Database, target: Mapping[str, str]) -> Question:
    """Make a scenario's question about what a database holds.

    What it lists is asked of the database itself, in its own language.

    Parameters
    ----------
    scenario
        Whose question it is.
    database
        Holds the scenario's tables, and may hold any others.
    target
        What it is about; what can only be one thing need not be told.

    Raises
    ------
    ParseError
        Nobody has confirmed what ``dqa init`` guessed; names the file and the line.
    UsageError
        The target is not what the scenario asks about, or the database does not hold the scenario.
    DataError
        It holds the scenario, but not in its types, or lists more than can be compared.
    InfrastructureError
        The database failed.
    """
    require_confirmed(scenario)
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
            f"{database.name} does not hold the scenario '{scenario.name}' as "
            f"{scenario.folder}/scenario.toml describes it: {error}"
        ) from error
    asked = scenario.asked(database.name, "1", whole, candidates)
    if len(candidates) <= _NARROWED or scenario.listing.listed_in or scenario.listing.except_:
        return asked
    return replace(asked, candidate_query=held.listing_statement(scenario.listing, whole))


def require_confirmed(scenario: Scenario) -> None:
    """Refuse, with a `ParseError`, to decide by goals and outcomes that ``dqa init`` guessed."""
    if scenario.outcomes.confirmed:
        return
    file = Path(scenario.folder) / DOCUMENT
    line = line_of(("outcomes", "confirmed"), lines_of(read_text(file)))
    raise ParseError(file, line, unconfirmed(scenario))


def unconfirmed(scenario: Scenario) -> str:
    """Return what to check before a proposed scenario decides."""
    return (
        f"outcomes.confirmed: 'dqa init' guessed the goal ({scenario.goal} the {scenario.unit}), "
        "the candidates and the outcomes. Check them, then write confirmed = true"
    )


def require_candidates(question: Question) -> None:
    """Refuse a scenario's question that lists nothing to choose from, by a `UsageError`."""
    if question.candidates == ():
        about = ", ".join(f"{key}={value}" for key, value in question.target.items())
        raise UsageError(
            f"The scenario '{question.scenario}' lists nothing that can be chosen"
            f"{f' for {about}' if about else ''}: mend its candidates, or take another target "
            "('dqa doctor --scenario DIR --database URL' says where)."
        )


def list_candidates(
    scenario: Scenario, database: Database, target: Mapping[str, str]
) -> tuple[Candidate, ...]:
    """Return what can be chosen by a target, asked of the database itself.

    Raises
    ------
    QueryError, DataError, InfrastructureError
        The candidates cannot be listed.
    """
    return scenario.candidates_by(_Held(scenario, database).listed, target)


def list_values(
    scenario: Scenario, database: Database, key: str, target: Mapping[str, str], most: int = 100
) -> tuple[str, ...]:
    """Return values that a parameter can have, as a target tells them; () where it can have any.

    Parameters
    ----------
    scenario, database
        Whose parameter it is, and what holds the values.
    key
        The parameter.
    target
        What is told of the others.
    most
        Most values.

    Raises
    ------
    QueryError, DataError, InfrastructureError
        The values cannot be listed.
    """
    found = _Held(scenario, database).values_of(key, target)
    return () if found is None else found.first(most)


@dataclass(frozen=True, slots=True)
class _Values:
    """The values that a parameter can have, none of which is read before it is asked for.

    Where the parameters are not told on which they depend, there are none.
    """

    held: _Held
    key: str
    listing: Listing
    target: Mapping[str, str]

    def first(self, most: int) -> tuple[str, ...]:
        """Return some of the values, in a fixed order."""
        if not self._told:
            return ()
        table = self.held.table(self.listing)
        if table is None:
            return self._texts(self.held.listed(self.listing, self.target))[:most]
        conditions = self.held.conditions(table, self.listing, self.target)
        return () if conditions is None else self._column(table, conditions, most)

    def named(self, text: str) -> str:
        """Return the value that a text means, as the database has it.

        Raises
        ------
        UnknownNameError
            It has no such value.
        """
        if not self._told:
            raise self._unknown(text, (), more=False)
        table, column = self.held.table(self.listing), self.listing.column or ""
        if table is None:
            known = self._texts(self.held.listed(self.listing, self.target))
            if text in known:
                return text
            raise self._unknown(text, known, more=False)
        conditions = self.held.conditions(table, self.listing, self.target)
        same = table.equals(column, text)
        if conditions is not None and same is not None:
            found = self._column(table, [*conditions, same], 1)
            if found:
                return found[0]
        known = () if conditions is None else self._column(table, conditions, _KNOWN + 1)
        more = len(known) > _KNOWN
        if more and conditions is not None and table.type_of(column) == "text":
            near = table.begins(column, text[:_START])
            known += self._column(table, [*conditions, near], _KNOWN)
        raise self._unknown(text, known, more=more)

    @property
    def _told(self) -> bool:
        return self.listing.needs <= {*self.target}

    def _column(self, table: LiveTable, conditions: Sequence[str], most: int) -> tuple[str, ...]:
        statement = table.listing(self.listing.column or "", conditions, most)
        limits = Limits(most, LISTING.bytes, LISTING.seconds)
        rows = self.held.database.query(statement, limits).rows
        return self._texts([cell_of(row[0]) for row in rows if row[0] is not None])

    def _texts(self, cells: Sequence[Cell]) -> tuple[str, ...]:
        kind = self.held.scenario.type_of(self.key)
        return tuple(dict.fromkeys(typed_text(cell, kind) for cell in cells))

    def _unknown(self, text: str, known: Sequence[str], *, more: bool) -> UnknownNameError:
        where = f"{self.key} in {self.held.database.name} called"
        return UnknownNameError(where, text, known, more=more)


class _Held:
    """What a database holds of a scenario."""

    def __init__(self, scenario: Scenario, database: Database) -> None:
        self.scenario = scenario
        self.database = database

    def table(self, listing: Listing) -> LiveTable | None:
        """Return the table that a listing is a column of; None where a statement lists."""
        if listing.table is None:
            return None
        return live_table(self.scenario.schema, listing.table, self.database)

    def conditions(
        self, table: LiveTable, listing: Listing, target: Mapping[str, str]
    ) -> list[str] | None:
        """Return what the rows of a listing have to fulfil; None where no row can."""
        found: list[str] = []
        for column, parameter in listing.where.items():
            if parameter not in target:
                raise DataError(
                    f"The target does not tell '{parameter}', by which rows of '{listing.table}' "
                    f"are chosen; it tells {', '.join(target) or 'nothing'}."
                )
            condition = table.equals(column, target[parameter])
            if condition is None:
                return None
            found.append(condition)
        return found

    def listed(self, listing: Listing, target: Mapping[str, str]) -> Sequence[Cell]:
        """Return what a listing lists: of a column in the order of its values."""
        table = self.table(listing)
        if table is not None:
            conditions = self.conditions(table, listing, target)
            if conditions is None:
                return ()
            statement = table.listing(listing.column or "", conditions)
            called = f"The values of {listing.table}.{listing.column}: the statement {statement}"
            return sorted(self._column(statement, called), key=order_of)
        written = self.scenario.statement(listing, self.database.kind, target)
        if written is not None:
            return self._column(written, self.scenario.called(listing, self.database.kind))
        return self.scenario.lister(self._situation)(listing, target)

    def listing_statement(self, listing: Listing, target: Mapping[str, str]) -> str | None:
        """Return the statement that lists what a listing does; None where none of its own does."""
        table = self.table(listing)
        if table is None:
            return self.scenario.statement(listing, self.database.kind, target)
        conditions = self.conditions(table, listing, target)
        return None if conditions is None else table.listing(listing.column or "", conditions)

    def _column(self, statement: str, called: str) -> tuple[Cell, ...]:
        return first_column(self.database, statement, LISTING, called)

    @cached_property
    def _situation(self) -> Situation:
        """Everything, read back for a statement in another language than the database's."""
        return read_situation(self.database, self.scenario.schema, self.database.name)

    def values_of(self, key: str, target: Mapping[str, str]) -> _Values | None:
        """Return the values that a parameter can have; None where it can have any."""
        parameter: Parameter = self.scenario.parameters[key]
        listing: Listing = parameter.follows or parameter
        if not listing.is_given:
            return None
        return _Values(self, key, listing, target)


def _whole_target(held: _Held, given: Mapping[str, str]) -> dict[str, str]:
    """Return the target with what can only be one thing; `UsageError` where it is wrong."""
    scenario = held.scenario
    wanted = scenario.template.get_identifiers()
    told = {key: value for key, value in given.items() if value}
    scenario.values(told)
    target = dict(told)
    for key, values in _in_order(held, wanted, told):
        if key in told:
            target[key] = _named(scenario, key, told[key], values)
        elif scenario.parameters[key].type != "list":
            only = values.first(2)
            if len(only) == 1:
                target[key] = only[0]
    missing = [key for key in wanted if key not in target]
    if missing:
        shown = " ".join(f'--target {key}="{_example(held, key, told)}"' for key in missing)
        raise UsageError(
            f"The question of the scenario '{scenario.name}' is about more than was told: give, "
            f"for example, {shown}."
        )
    return target


def _in_order(
    held: _Held, keys: Sequence[str], told: Mapping[str, str]
) -> Iterator[tuple[str, _Values]]:
    for key in keys:
        values = held.values_of(key, told)
        if values is not None:
            yield key, values


def _named(scenario: Scenario, key: str, text: str, values: _Values) -> str:
    """Return what was told of a parameter as the database has it."""
    if scenario.parameters[key].type != "list":
        return values.named(_canonical(scenario, key, text))
    if key == scenario.listing.listed_in:
        return text  # held against the candidates
    return LIST_SEPARATOR.join(values.named(part) for part in text.split(LIST_SEPARATOR))


def _canonical(scenario: Scenario, key: str, text: str) -> str:
    value = scenario.values({key: text})[key]
    return text if isinstance(value, tuple) else text_of(value)


def _example(held: _Held, key: str, told: Mapping[str, str]) -> str:
    values = held.values_of(key, told)
    return next(iter(() if values is None else values.first(1)), "...")
