"""A user's own questions about the user's own databases, which are asked where they are.

The file has a JSON object a line (`dqa.loaders.own_question.OwnQuestion`); Python callers may hand
over a list of the same. Nothing is loaded: a question's database is its place
(`QuestionSet.places`). Of a question that names its scenario, the outcomes that the scenario states
by a statement or a formula are asked of the database in place and kept in the question's `Truth`;
only a simulator in Python has the data read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dqa import plugins
from dqa.core.database import Database
from dqa.core.display import candidate_name
from dqa.core.errors import (
    DataError,
    QueryError,
    UnknownNameError,
    UsageError,
)
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion, Truth
from dqa.guard import Audit, Policy
from dqa.loaders.asked import ask_scenario, require_candidates
from dqa.loaders.opened import OpenedDatabases
from dqa.loaders.own_lines import (
    WrittenLine,
    answers_of,
    lines_of_file,
    lines_of_list,
    refuse_twice,
    rules_of,
)
from dqa.loaders.own_question import OwnQuestion
from dqa.loaders.places import name_of
from dqa.loaders.readback import read_situation
from dqa.scenarios import scenario_name
from dqa.scenarios.embedded import LISTING, first_column
from dqa.scenarios.outcomes import StatedOutcomes
from dqa.scenarios.reading import DOCUMENT


def read_file(  # noqa: PLR0913  (each is a question of its own to the caller)
    file: Path,
    places: Mapping[str, str],
    *,
    scenario: str | None = None,
    scenarios: Sequence[str] | None = None,
    limit: int | None = None,
    policy: Policy | None = None,
    audit: Audit | None = None,
) -> QuestionSet:
    """Read a file of a user's own questions.

    Parameters
    ----------
    file
        One JSON object a line; empty lines are skipped.
    places
        The databases that they are about: locations by name.
    scenario
        Whose question each line asks that names none: a name, or a folder.
    scenarios, limit
        Which questions to keep, and most of each scenario.
    policy, audit
        What of the databases may be read, and who watches the statements that list candidates.

    Raises
    ------
    ParseError
        A line is wrong; names file, line and field.
    UsageError
        The file cannot be read, or a database is not there.
    InfrastructureError
        A database failed.
    """
    reading = _Reading(name_of(str(file)), places, policy, audit)
    return reading.read(list(lines_of_file(file, scenario)), str(file), scenarios, limit)


def read_list(  # noqa: PLR0913  (as above)
    given: Iterable[Mapping[str, Any] | OwnQuestion],
    places: Mapping[str, str],
    *,
    name: str,
    scenario: str | None = None,
    policy: Policy | None = None,
    audit: Audit | None = None,
) -> QuestionSet:
    """Read a list of a user's own questions; `UsageError` names the place of one that is wrong.

    The parameters are those of `read_file`; `name` is what the set is called.
    """
    lines = list(lines_of_list(given, scenario))
    return _Reading(name, places, policy, audit).read(lines, "The list of questions", None, None)


class _Reading:
    """Makes questions of what was written.

    Parameters
    ----------
    name
        What the set is called, and what its questions stand under that name no scenario.
    places
        Locations by name.
    policy, audit
        Of the databases.
    """

    def __init__(
        self,
        name: str,
        places: Mapping[str, str],
        policy: Policy | None,
        audit: Audit | None,
    ) -> None:
        self._name = name
        self._places = places
        self._guarding = policy, audit
        self._situations: dict[str, Situation] = {}
        self._lists: dict[tuple[Candidate, ...], tuple[Candidate, ...]] = {}

    def read(
        self,
        lines: Sequence[WrittenLine],
        called: str,
        scenarios: Sequence[str] | None,
        limit: int | None,
    ) -> QuestionSet:
        """Return the questions, of which those that are not kept ask their databases nothing."""
        if not lines:
            raise UsageError(f"{called} holds no question.")
        if not self._places:
            raise UsageError(f"{called} is about a database: name it (--database URL).")
        refuse_twice(lines)
        found: list[LabelledQuestion] = []
        counts: dict[str, int] = {}
        with OpenedDatabases(self._places, *self._guarding) as opened:
            for line in lines:
                scenario = self._scenario_of(line)
                if scenarios is not None and scenario not in scenarios:
                    continue
                counts[scenario] = counts.get(scenario, 0) + 1
                if limit is None or counts[scenario] <= limit:
                    found.append(self._labelled(line, scenario, opened))
        used = {question.situation for question, _ in found}
        made = QuestionSet.of(self._name, found, self._situations)
        return replace(
            made, places={name: where for name, where in self._places.items() if name in used}
        )

    def _scenario_of(self, line: WrittenLine) -> str:
        """Return the scenario that a question stands under: its own, or the name of the set."""
        named = line.told.scenario
        if named is None:
            if self._name in plugins.names("scenario"):
                raise line.wrong(
                    f"the questions would stand under '{self._name}', which is a scenario: give "
                    "the file another name"
                )
            return self._name
        # A folder is read from that of the questions; a name is nobody's folder.
        beside = named if line.folder is None else str(line.folder / named)
        is_folder = named not in plugins.names("scenario") and (Path(beside) / DOCUMENT).is_file()
        try:
            known = scenario_name(beside if is_folder else named)
            return plugins.scenario(known).name
        except UsageError as error:
            raise line.wrong(f"scenario: {error}") from error

    def _labelled(
        self, line: WrittenLine, scenario: str, opened: OpenedDatabases
    ) -> LabelledQuestion:
        told = line.told
        place = self._place_of(line)
        if told.scenario is None:
            asked = Question(scenario, line.id, told.question or "", rules_of(line))
        else:
            asked = self._scenarios_own(line, scenario, opened.of(place))
        candidates = self._candidates(line, place, opened)
        if candidates is None:
            try:
                require_candidates(asked)
            except UsageError as error:
                raise line.wrong(f"target: {error}") from error
            candidates = asked.candidates
        if candidates is not None:
            # Questions that choose from the same, which may be very many, hold them together.
            candidates = self._lists.setdefault(candidates, candidates)
        asked = replace(
            asked,
            id=line.id,
            situation=place,
            candidates=candidates,
            candidate_query=_statement_of(told, asked),
            context_queries=told.context,
            tags=told.tags,
        )
        truth = Truth(answers_of(line, asked.candidates))
        if told.scenario is not None:
            truth = self._with_outcomes(line, asked, truth, opened.of(place))
        return LabelledQuestion(asked, truth)

    def _place_of(self, line: WrittenLine) -> str:
        named = line.told.database
        if named is None:
            if len(self._places) > 1:
                raise line.wrong(
                    f"database: is missing, and there are {', '.join(self._places)}: name one"
                )
            return next(iter(self._places))
        if named not in self._places:
            raise line.wrong(f"database: {UnknownNameError('database', named, self._places)}")
        return named

    def _scenarios_own(self, line: WrittenLine, scenario: str, database: Database) -> Question:
        """Return a scenario's question about what a database holds."""
        try:
            return ask_scenario(plugins.scenario(scenario), database, line.told.target)
        except (DataError, QueryError, UsageError) as error:
            raise line.wrong(f"scenario: {error}") from error

    def _with_outcomes(
        self, line: WrittenLine, asked: Question, truth: Truth, database: Database
    ) -> Truth:
        """Return what is right with the outcomes that the scenario states.

        They are asked of the database where it is; only for a simulator in Python is it read.
        """
        if asked.scenario not in plugins.names("simulator"):
            return truth  # outcomes are recorded, and a line has no record
        simulator = plugins.simulator(asked.scenario)
        try:
            if isinstance(simulator, StatedOutcomes) and simulator.serves(database.kind):
                outcomes = simulator.outcomes_in(database, asked)
                answers = truth.answers or (outcomes.answer,)
                return Truth(answers, tuple(outcomes.values.tolist()))
            self._read(line, asked, database)
        except (DataError, QueryError, UsageError) as error:
            raise line.wrong(f"scenario: {error}") from error
        return truth

    def _read(self, line: WrittenLine, asked: Question, database: Database) -> None:
        """Read what a database holds, once for all questions of a scenario about it."""
        held = self._situations.get(asked.situation)
        if held is None:
            schema = plugins.scenario(asked.scenario).schema
            self._situations[asked.situation] = read_situation(database, schema, asked.situation)
        elif held.schema.scenario != asked.scenario:
            raise line.wrong(
                f"scenario: '{asked.situation}' is asked as a database of "
                f"'{held.schema.scenario}' before: give each scenario a database of its own"
            )

    def _candidates(
        self, line: WrittenLine, place: str, opened: OpenedDatabases
    ) -> tuple[Candidate, ...] | None:
        """Return what can be chosen; a statement is run, once and through the guard."""
        told = line.told.candidates
        if not isinstance(told, str):
            return None if told is None else tuple(dict.fromkeys(told))
        try:
            cells = first_column(opened.of(place), told, LISTING, "The statement")
        except DataError as error:
            raise line.wrong(
                f"candidates: {error} It is run on '{place}'; candidates that are known are a list"
            ) from error
        if not cells:
            raise line.wrong("candidates: the statement lists none: its first column is empty")
        return tuple(dict.fromkeys(map(candidate_name, cells)))


def _statement_of(told: OwnQuestion, asked: Question) -> str | None:
    """Return what lists the candidates: the line's own statement, or else its scenario's."""
    if told.candidates is None:
        return asked.candidate_query
    return told.candidates if isinstance(told.candidates, str) else None
