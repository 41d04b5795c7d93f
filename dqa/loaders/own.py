"""A user's own questions about the user's own databases, which are queried in place.

A file has a JSON object on each line (`dqa.loaders.own_question.OwnQuestion`); Python callers may
pass a list of the same. For a question that names its scenario, the database returns the outcomes
that the scenario gives by a statement or a formula; only a simulator in Python needs the data read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dqa import plugins
from dqa.core.database import Database
from dqa.core.display import candidate_name
from dqa.core.errors import (
    DataError,
    DqaError,
    ParseError,
    QueryError,
    UnknownNameError,
    UsageError,
)
from dqa.core.files import parse_json_of, read_text
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion, Truth
from dqa.guard import Audit, Policy
from dqa.loaders.asked import ask_scenario, require_candidates
from dqa.loaders.own_question import OwnQuestion, RulesFile
from dqa.loaders.places import name_of, whole_url
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
        One JSON object on each line; empty lines are skipped.
    places
        The databases that they are about: locations by name.
    scenario
        The scenario of lines without one: a name or a folder.
    scenarios, limit
        Which questions to keep, and how many of each scenario.
    policy, audit
        The policy of the databases, and the record of their statements.

    Raises
    ------
    ParseError
        A line is wrong; names file, line and field.
    UsageError
        The file cannot be read, or a database is missing.
    InfrastructureError
        A database failed.
    """
    lines = list(_lines_of_file(file, scenario))
    with closing(_Reading(name_of(str(file)), places, policy, audit)) as reading:
        return reading.read(lines, str(file), scenarios, limit)


def read_list(  # noqa: PLR0913  (as above)
    given: Iterable[Mapping[str, Any] | OwnQuestion],
    places: Mapping[str, str],
    *,
    name: str,
    scenario: str | None = None,
    policy: Policy | None = None,
    audit: Audit | None = None,
) -> QuestionSet:
    """Read a list of a user's own questions; a `UsageError` names the number of a wrong one.

    The parameters are those of `read_file`; `name` is the set's.
    """
    lines = list(_lines_of_list(given, scenario))
    with closing(_Reading(name, places, policy, audit)) as reading:
        return reading.read(lines, "The list of questions", None, None)


@dataclass(frozen=True, slots=True)
class _Line:
    """A question as it was written.

    Attributes
    ----------
    wrong
        Returns the error that says where a problem is.
    folder
        The file's; None for a list.
    """

    written: OwnQuestion
    id: str
    wrong: Callable[[str], DqaError]
    folder: Path | None = None


def _lines_of_file(file: Path, scenario: str | None) -> Iterator[_Line]:
    # Not splitlines(): other line separators may stand inside a JSON string.
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if line.strip():

            def wrong(problem: str, number: int = number) -> DqaError:
                return ParseError(file, number, problem)

            yield _line(parse_json_of(file, line, number), number, scenario, wrong, file.parent)


def _lines_of_list(
    given: Iterable[Mapping[str, Any] | OwnQuestion], scenario: str | None
) -> Iterator[_Line]:
    for number, one in enumerate(given, start=1):

        def wrong(problem: str, number: int = number) -> DqaError:
            return UsageError(f"Question {number} of the list: {problem}")

        if isinstance(one, OwnQuestion):
            yield _Line(one, one.id or str(number), wrong)
        else:
            yield _line(dict(one), number, scenario, wrong, None)


def _line(
    value: object,
    number: int,
    scenario: str | None,
    wrong: Callable[[str], DqaError],
    folder: Path | None,
) -> _Line:
    if scenario is not None and isinstance(value, dict):
        value = {"scenario": scenario, **value}
    try:
        written = OwnQuestion.checked(value)
    except ValueError as error:
        raise wrong(str(error)) from error
    return _Line(written, written.id or str(number), wrong, folder)


@dataclass
class _Reading:
    """Reads questions, and opens their databases when they are needed.

    Attributes
    ----------
    name
        The set's, and the scenario of its questions without one.
    places
        Locations by name.
    """

    name: str
    places: Mapping[str, str]
    policy: Policy | None
    audit: Audit | None
    situations: dict[str, Situation] = field(default_factory=dict)
    lists: dict[tuple[Candidate, ...], tuple[Candidate, ...]] = field(default_factory=dict)
    databases: dict[str, Database] = field(default_factory=dict)
    opened: ExitStack = field(default_factory=ExitStack)

    def close(self) -> None:
        """Close the databases."""
        self.opened.close()

    def read(
        self,
        lines: Sequence[_Line],
        called: str,
        scenarios: Sequence[str] | None,
        limit: int | None,
    ) -> QuestionSet:
        """Return the wanted questions; the others need no database."""
        if not lines:
            raise UsageError(f"{called} holds no question.")
        if not self.places:
            raise UsageError(f"{called} is about a database: name it (--database URL).")
        first: dict[str, int] = {}
        for position, line in enumerate(lines, start=1):
            if line.id in first:
                raise line.wrong(
                    f"id: '{line.id}' is that of question {first[line.id]}, too (a line without an "
                    "id has its number): give each another"
                )
            first[line.id] = position
        found: list[LabelledQuestion] = []
        counts: dict[str, int] = {}
        for line in lines:
            scenario = self._scenario_of(line)
            if scenarios is None or scenario in scenarios:
                counts[scenario] = counts.get(scenario, 0) + 1
                if limit is None or counts[scenario] <= limit:
                    found.append(self._labelled(line, scenario))
        used = {question.situation for question, _ in found}
        read = QuestionSet.of(self.name, found, self.situations)
        return replace(read, places={name: at for name, at in self.places.items() if name in used})

    def _database(self, place: str) -> Database:
        if place not in self.databases:
            where = whole_url(self.places[place], place)
            backend = plugins.backend_for(where)
            database = backend.open(where, policy=self.policy, audit=self.audit)
            self.databases[place] = database
            self.opened.callback(database.close)
        return self.databases[place]

    def _scenario_of(self, line: _Line) -> str:
        """Return a question's scenario: its own, or the name of the set."""
        named = line.written.scenario
        known = plugins.names("scenario")
        if named is None:
            if self.name in known:
                raise line.wrong(
                    f"the questions would belong to '{self.name}', which is a scenario: give the "
                    "file another name"
                )
            return self.name
        # The path of a scenario's folder starts at the folder of the questions.
        path = named if line.folder is None else str(line.folder / named)
        is_folder = named not in known and (Path(path) / DOCUMENT).is_file()
        try:
            return plugins.scenario(scenario_name(path if is_folder else named)).name
        except UsageError as error:
            raise line.wrong(f"scenario: {error}") from error

    def _labelled(self, line: _Line, scenario: str) -> LabelledQuestion:
        written, place = line.written, self._place_of(line)
        if written.scenario is None:
            asked = Question(scenario, line.id, written.question or "", _rules_of(line))
        else:
            asked = self._asked(line, scenario, place)
        candidates = self._candidates(line, place)
        if candidates is None:
            try:
                require_candidates(asked)
            except UsageError as error:
                raise line.wrong(f"target: {error}") from error
            candidates = asked.candidates
        if candidates is not None:
            # Many questions with the same candidates share them.
            candidates = self.lists.setdefault(candidates, candidates)
        statement = written.candidates if written.candidates is not None else asked.candidate_query
        asked = replace(
            asked,
            id=line.id,
            situation=place,
            candidates=candidates,
            candidate_query=statement if isinstance(statement, str) else None,
            context_queries=written.context,
            tags=written.tags,
        )
        truth = Truth(_answers_of(line, asked.candidates))
        if written.scenario is not None:
            truth = self._with_outcomes(line, asked, truth)
        return LabelledQuestion(asked, truth)

    def _place_of(self, line: _Line) -> str:
        named = line.written.database
        if named is None:
            if len(self.places) > 1:
                raise line.wrong(
                    f"database: is missing, and there are {', '.join(self.places)}: name one"
                )
            return next(iter(self.places))
        if named not in self.places:
            raise line.wrong(f"database: {UnknownNameError('database', named, self.places)}")
        return named

    def _asked(self, line: _Line, scenario: str, place: str) -> Question:
        """Return a scenario's question about a database."""
        database = self._database(place)
        try:
            return ask_scenario(plugins.scenario(scenario), database, line.written.target)
        except (DataError, QueryError, UsageError) as error:
            raise line.wrong(f"scenario: {error}") from error

    def _with_outcomes(self, line: _Line, asked: Question, truth: Truth) -> Truth:
        """Return the truth with the outcomes that the scenario gives by a statement or formula.

        For a simulator in Python the database is read, once for all questions of a scenario.
        """
        if asked.scenario not in plugins.names("simulator"):
            return truth  # outcomes are recorded, and a line has no record
        simulator, database = plugins.simulator(asked.scenario), self._database(asked.situation)
        try:
            if isinstance(simulator, StatedOutcomes) and simulator.serves(database.kind):
                outcomes = simulator.outcomes_in(database, asked)
                answers = truth.answers or (outcomes.answer,)
                return Truth(answers, tuple(outcomes.values.tolist()))
            held = self.situations.get(asked.situation)
            if held is None:
                schema = plugins.scenario(asked.scenario).schema
                held = read_situation(database, schema, asked.situation)
                self.situations[asked.situation] = held
        except (DataError, QueryError, UsageError) as error:
            raise line.wrong(f"scenario: {error}") from error
        if held.schema.scenario != asked.scenario:
            raise line.wrong(
                f"scenario: '{asked.situation}' is already read for '{held.schema.scenario}': give "
                "each scenario a database of its own"
            )
        return truth

    def _candidates(self, line: _Line, place: str) -> tuple[Candidate, ...] | None:
        """Return the candidates; a statement runs once, through the guard."""
        written = line.written.candidates
        if not isinstance(written, str):
            return None if written is None else tuple(dict.fromkeys(written))
        try:
            cells = first_column(self._database(place), written, LISTING, "The statement")
        except DataError as error:
            raise line.wrong(
                f"candidates: {error} It is run on '{place}'; candidates that are known are a list"
            ) from error
        if not cells:
            raise line.wrong("candidates: the statement lists none: its first column is empty")
        return tuple(dict.fromkeys(map(candidate_name, cells)))


def _rules_of(line: _Line) -> str:
    """Return a line's rules, which may be a file in the folder of the questions."""
    rules = line.written.rules
    if not isinstance(rules, RulesFile):
        return rules
    if line.folder is None:
        raise line.wrong("rules: a list of questions has no folder: give the rules as a text")
    home = line.folder.resolve()
    file = (home / rules.file).resolve()
    if not file.is_relative_to(home):
        raise line.wrong(
            f"rules: {rules.file} lies outside the folder of the questions, {home}: put it there"
        )
    try:
        return read_text(file, home=home)
    except DataError as error:
        raise line.wrong(f"rules: {error}") from error


def _answers_of(line: _Line, candidates: tuple[Candidate, ...] | None) -> tuple[Candidate, ...]:
    """Return the right answers, spelled as the candidates are."""
    if candidates is None:
        return line.written.answer
    spelled = {str(candidate).strip(): candidate for candidate in candidates}
    found: list[Candidate] = []
    for answer in line.written.answer:
        if answer not in candidates and str(answer).strip() not in spelled:
            raise line.wrong(
                f"answer: {UnknownNameError('candidate', str(answer), map(str, candidates))}"
            )
        found.append(answer if answer in candidates else spelled[str(answer).strip()])
    return tuple(dict.fromkeys(found))
