"""A scenario's question about a live database, which is queried in place.

A listing of a table's column becomes a statement over that column; a statement in the database's
language runs as it is. No table is read whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from dqa.scenarios.document import Listing
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
"""The length of the prefix that finds similar names in longer columns."""


def ask_scenario(scenario: Scenario, database: Database, target: Mapping[str, str]) -> Question:
    """Make a scenario's question about a database, which lists candidates and values itself.

    Parameters
    ----------
    scenario
        Whose question it is.
    database
        Holds the scenario's tables, and may hold any others.
    target
        The values of its parameters; those with one choice may be missing.

    Raises
    ------
    ParseError
        The guesses of ``dqa init`` are not confirmed; names the file and the line.
    UsageError
        The target does not fit the scenario, or the database does not.
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
    asked = scenario.question_with(database.name, "1", whole, candidates)
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
    """Return the candidates for a target, as the database lists them.

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
        The values of the others.
    most
        Most values.

    Raises
    ------
    QueryError, DataError, InfrastructureError
        The values cannot be listed.
    """
    return _Held(scenario, database).first_values(key, target, most)


class _Held:
    """The part of a database that a scenario describes."""

    def __init__(self, scenario: Scenario, database: Database) -> None:
        self.scenario = scenario
        self.database = database

    # --- listings ---

    def table(self, listing: Listing) -> LiveTable | None:
        """Return the table whose column is listed; None for a statement."""
        if listing.table is None:
            return None
        return live_table(self.scenario.schema, listing.table, self.database)

    def conditions(
        self, table: LiveTable, listing: Listing, target: Mapping[str, str]
    ) -> list[str] | None:
        """Return the conditions for the rows of a listing; None if no row can fulfil them."""
        found: list[str] = []
        for column, parameter in listing.where.items():
            if parameter not in target:
                raise DataError(
                    f"The target has no '{parameter}', which chooses rows of '{listing.table}'; it "
                    f"has {', '.join(target) or 'nothing'}."
                )
            condition = table.equals(column, target[parameter])
            if condition is None:
                return None
            found.append(condition)
        return found

    def listed(self, listing: Listing, target: Mapping[str, str]) -> Sequence[Cell]:
        """Return the cells of a listing; those of a column in the order of its values."""
        table = self.table(listing)
        if table is not None:
            conditions = self.conditions(table, listing, target)
            if conditions is None:
                return ()
            statement = table.listing(listing.column or "", conditions)
            called = f"The values of {listing.table}.{listing.column}: the statement {statement}"
            return sorted(first_column(self.database, statement, LISTING, called), key=order_of)
        written = self.scenario.statement(listing, self.database.kind, target)
        if written is not None:
            called = self.scenario.called(listing, self.database.kind)
            return first_column(self.database, written, LISTING, called)
        # The statement is in the other language, so the whole situation is read.
        return self.scenario.lister(self._situation)(listing, target)

    def listing_statement(self, listing: Listing, target: Mapping[str, str]) -> str | None:
        """Return the statement of a listing; None if the database's language has none."""
        table = self.table(listing)
        if table is None:
            return self.scenario.statement(listing, self.database.kind, target)
        conditions = self.conditions(table, listing, target)
        return None if conditions is None else table.listing(listing.column or "", conditions)

    @cached_property
    def _situation(self) -> Situation:
        return read_situation(self.database, self.scenario.schema, self.database.name)

    # --- values of parameters ---

    def values_listing(self, key: str) -> Listing | None:
        """Return the listing of a parameter's values; None if it accepts any."""
        parameter = self.scenario.parameters[key]
        listing: Listing = parameter.follows or parameter
        return listing if listing.is_given else None

    def first_values(self, key: str, target: Mapping[str, str], most: int) -> tuple[str, ...]:
        """Return some values of a parameter, in a fixed order."""
        listing = self.values_listing(key)
        if listing is None or not listing.needs <= {*target}:
            return ()
        table = self.table(listing)
        if table is None:
            return self._texts(key, self.listed(listing, target))[:most]
        conditions = self.conditions(table, listing, target)
        return () if conditions is None else self._column(key, table, conditions, most)

    def named_value(self, key: str, target: Mapping[str, str], text: str) -> str:
        """Return the value that a text means, as the database has it.

        Raises
        ------
        UnknownNameError
            There is no such value.
        """
        listing = self.values_listing(key)
        known: tuple[str, ...] = ()
        more = False
        if listing is not None and listing.needs <= {*target}:
            table = self.table(listing)
            if table is None:
                known = self._texts(key, self.listed(listing, target))
            elif (conditions := self.conditions(table, listing, target)) is not None:
                column = listing.column or ""
                same = table.equals(column, text)
                if same is not None and (found := self._column(key, table, [*conditions, same], 1)):
                    return found[0]
                known = self._column(key, table, conditions, _KNOWN + 1)
                more = len(known) > _KNOWN
                if more and table.type_of(column) == "text":
                    near = table.begins(column, text[:_START])
                    known += self._column(key, table, [*conditions, near], _KNOWN)
        if text in known:
            return text
        where = f"{key} in {self.database.name} called"
        raise UnknownNameError(where, text, known, more=more)

    def _column(
        self, key: str, table: LiveTable, conditions: Sequence[str], most: int
    ) -> tuple[str, ...]:
        listing = self.values_listing(key)
        column = "" if listing is None else listing.column or ""
        limits = Limits(most, LISTING.bytes, LISTING.seconds)
        rows = self.database.query(table.listing(column, conditions, most), limits).rows
        return self._texts(key, [cell_of(row[0]) for row in rows if row[0] is not None])

    def _texts(self, key: str, cells: Sequence[Cell]) -> tuple[str, ...]:
        kind = self.scenario.type_of(key)
        return tuple(dict.fromkeys(typed_text(cell, kind) for cell in cells))


def _whole_target(held: _Held, given: Mapping[str, str]) -> dict[str, str]:
    """Return the target with every value that has one choice; `UsageError` if it is wrong."""
    scenario = held.scenario
    wanted = scenario.template.get_identifiers()
    target = {key: value for key, value in given.items() if value}
    named = dict(target)
    scenario.values(named)
    for key in wanted:
        if held.values_listing(key) is None:
            continue
        if key in named:
            target[key] = _named(held, key, named[key], named)
        elif scenario.parameters[key].type != "list":
            only = held.first_values(key, named, 2)
            if len(only) == 1:
                target[key] = only[0]
    missing = [key for key in wanted if key not in target]
    if missing:
        examples = {key: next(iter(held.first_values(key, named, 1)), "...") for key in missing}
        shown = " ".join(f'--target {key}="{value}"' for key, value in examples.items())
        raise UsageError(
            f"The question of the scenario '{scenario.name}' needs more values: give, "
            f"for example, {shown}."
        )
    return target


def _named(held: _Held, key: str, text: str, target: Mapping[str, str]) -> str:
    """Return a value of the target as the database has it."""
    scenario = held.scenario
    if scenario.parameters[key].type != "list":
        value = scenario.values({key: text})[key]
        return held.named_value(key, target, text if isinstance(value, tuple) else text_of(value))
    if key == scenario.listing.listed_in:
        return text  # compared with the candidates later
    parts = text.split(LIST_SEPARATOR)
    return LIST_SEPARATOR.join(held.named_value(key, target, part) for part in parts)
