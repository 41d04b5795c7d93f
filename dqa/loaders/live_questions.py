"""Ask a scenario's question about a live database.

The candidates and the values of parameters come from columns or from statements of the scenario. To
read a column, dqa generates a statement. A statement of the scenario runs unchanged if it is in the
database's language. No whole table is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from dqa.core.database import Database, Limits
from dqa.core.display import cell_of
from dqa.core.errors import ParseError, QueryError, UnknownNameError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.situation import Cell, Situation
from dqa.loaders.readback import read_situation
from dqa.scenarios.base import Scenario
from dqa.scenarios.document import Listing
from dqa.scenarios.embedded import LISTING, first_column
from dqa.scenarios.parameters import LIST_SEPARATOR, text_of, typed_text
from dqa.scenarios.reading import DOCUMENT
from dqa.scenarios.tables import order_of, table_in

_KNOWN = 10_000
"""The maximum number of values that an error message searches for a similar value."""
_NARROWED = 10_000
"""If a question has more candidates than this, its text contains the statement that lists them. A
model can then narrow the candidates down by queries.
"""
UNUSED = "question.txt does not name the parameter '${}': write it there"
"""The advice about a parameter that is not in the text of the question."""


def ask_scenario(scenario: Scenario, database: Database, target: Mapping[str, str]) -> Question:
    """Return a scenario's question. The candidates and values come from a database.

    Parameters
    ----------
    scenario
        The scenario.
    database
        A database with the scenario's tables, and perhaps with other tables.
    target
        The values of the question's parameters. A parameter with only one possible value may be
        missing.

    Raises
    ------
    ParseError
        The guesses of ``dqa init`` are not confirmed.
    UsageError
        The target or the database does not match the scenario.
    DataError
        Types in the database differ from the types in the scenario, or the database lists too many
        values.
    InfrastructureError
        The database failed.
    """
    require_confirmed(scenario)
    wanted = scenario.template.get_identifiers()
    for key in target:
        if key in scenario.parameters and key not in wanted:
            raise UsageError(f"{UNUSED.format(key)}.")
        if key not in wanted:
            raise UnknownNameError("target parameter", key, wanted)
    live = LiveScenario(scenario, database)
    try:
        whole = live.whole_target(target)
        candidates = live.candidates(whole)
    except QueryError as error:
        raise UsageError(
            f"The database {database.name} does not match the scenario '{scenario.name}' "
            f"({scenario.folder}/scenario.toml): {error}"
        ) from error
    question = scenario.question_with(database.name, "1", whole, candidates)
    if len(candidates) <= _NARROWED or scenario.listing.listed_in or scenario.listing.except_:
        return question
    return replace(question, candidate_query=live.statement(scenario.listing, whole))


def require_confirmed(scenario: Scenario) -> None:
    """Raise a `ParseError` if the goal and the outcomes are unconfirmed guesses of ``dqa init``."""
    if not scenario.outcomes.confirmed:
        file = Path(scenario.folder) / DOCUMENT
        raise ParseError(file, None, f"outcomes.confirmed: {unconfirmed(scenario)}")


def unconfirmed(scenario: Scenario) -> str:
    """Return what a user must check before a proposed scenario can be used."""
    return (
        f"The goal ({scenario.goal} the {scenario.unit}), the candidates and the outcomes are "
        "guesses of 'dqa init'. Check them, then write confirmed = true"
    )


def require_candidates(question: Question) -> None:
    """Raise a `UsageError` for a scenario's question that lists no candidates."""
    if question.candidates == ():
        about = ", ".join(f"{key}={value}" for key, value in question.target.items())
        raise UsageError(
            f"The scenario '{question.scenario}' lists no candidates"
            f"{f' for {about}' if about else ''}: fix its list of candidates, or choose another "
            "target ('dqa doctor --scenario DIR --database URL' reports the line)."
        )


class LiveScenario:
    """The candidates and the parameters' values of a scenario in a live database.

    Each method raises `QueryError`, `DataError` or `InfrastructureError` if the database cannot
    list the values.
    """

    def __init__(self, scenario: Scenario, database: Database) -> None:
        self._scenario = scenario
        self._database = database

    def candidates(self, target: Mapping[str, str]) -> tuple[Candidate, ...]:
        """Return the candidates for a target, as the database lists them."""
        return self._scenario.candidates_by(self.listed, target)

    def listed(self, listing: Listing, target: Mapping[str, str]) -> Sequence[Cell]:
        """Return the values of a listing. If they come from a column, they are sorted."""
        statement = self.statement(listing, target)
        if listing.table is not None:
            if statement is None:
                return ()
            called = f"The values of {listing.table}.{listing.column}: the statement {statement}"
            return sorted(first_column(self._database, statement, LISTING, called), key=order_of)
        if statement is not None:
            called = self._scenario.called(listing, self._database.kind)
            return first_column(self._database, statement, LISTING, called)
        # The statement is in another language, so the whole situation is read.
        return self._scenario.lister(self._situation)(listing, target)

    def statement(
        self,
        listing: Listing,
        target: Mapping[str, str],
        *,
        equal: str | None = None,
        most: int | None = None,
    ) -> str | None:
        """Return the statement that lists the values of a listing.

        The result is None if no row can match, or if the scenario has no statement in the
        database's language. `equal` and `most` apply only to values from a column: `equal` is the
        only value to list, and `most` is the maximum number of values.
        """
        if listing.table is None:
            return self._scenario.statement(listing, self._database.kind, target)
        table = table_in(
            self._scenario.schema, listing.table, self._database.kind, self._database.dialect
        )
        column = listing.column or ""
        conditions: list[str | None] = [] if equal is None else [table.equals(column, equal)]
        for name, parameter in listing.where.items():
            self._scenario.require(target, parameter, f"the list of '{listing.table}'")
            conditions.append(table.equals(name, target[parameter]))
        possible = [condition for condition in conditions if condition is not None]
        return table.listing(column, possible, most) if possible == conditions else None

    @cached_property
    def _situation(self) -> Situation:
        return read_situation(self._database, self._scenario.schema, self._database.name)

    # --- values of parameters ---

    def values(
        self, key: str, target: Mapping[str, str], most: int = 100, equal: str | None = None
    ) -> tuple[str, ...]:
        """Return the possible values of a parameter, as texts; () if it accepts any value.

        Parameters
        ----------
        key
            The parameter.
        target
            The values of other parameters.
        most
            The maximum number of values.
        equal
            The only value to look for; None for all values.
        """
        parameter = self._scenario.parameters[key]
        listing: Listing = parameter.follows or parameter
        if not listing.is_given or not listing.needs <= {*target}:
            return ()
        kind = self._scenario.type_of(key)
        if listing.table is None:
            cells = self.listed(listing, target)
            texts = dict.fromkeys(typed_text(cell, kind) for cell in cells)
            return tuple(text for text in texts if equal is None or text == equal)[:most]
        statement = self.statement(listing, target, equal=equal, most=most)
        if statement is None:
            return ()
        limits = Limits(most, LISTING.bytes, LISTING.seconds)
        rows = self._database.query(statement, limits).rows
        found = [cell_of(row[0]) for row in rows if row[0] is not None]
        return tuple(dict.fromkeys(typed_text(cell, kind) for cell in found))

    def _named(self, key: str, text: str, target: Mapping[str, str]) -> str:
        """Return the value of a parameter that a text names.

        Raise `UnknownNameError` if no value has this name.
        """
        found = self.values(key, target, 1, equal=text)
        if found:
            return found[0]
        known = self.values(key, target, _KNOWN + 1)
        where = f"{key} in {self._database.name} called"
        raise UnknownNameError(where, text, known, more=len(known) > _KNOWN)

    def whole_target(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return the target. Add each missing parameter that has only one possible value."""
        scenario = self._scenario
        target = {key: value for key, value in values.items() if value}
        named = dict(target)
        typed = scenario.values(named)
        for key in scenario.template.get_identifiers():
            parameter = scenario.parameters[key]
            is_list = parameter.type == "list"
            if not (parameter.follows or parameter).is_given:
                continue
            if key in named and is_list and key != scenario.listing.listed_in:
                parts = named[key].split(LIST_SEPARATOR)
                target[key] = LIST_SEPARATOR.join(self._named(key, part, named) for part in parts)
            elif key in named and not is_list:
                value = typed[key]
                text = named[key] if isinstance(value, tuple) else text_of(value)
                target[key] = self._named(key, text, named)
            elif not is_list:
                only = self.values(key, named, 2)
                if len(only) == 1:
                    target[key] = only[0]
        missing = [key for key in scenario.template.get_identifiers() if key not in target]
        if missing:
            examples = {key: next(iter(self.values(key, named, 1)), "...") for key in missing}
            shown = " ".join(f'--target {key}="{value}"' for key, value in examples.items())
            raise UsageError(
                f"The question of the scenario '{scenario.name}' needs values for more parameters: "
                f"give, for example, {shown} (in a question file, the field 'target')."
            )
        return target
