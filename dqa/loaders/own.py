"""A user's own questions about the user's own databases, which are asked where they are.

The file has a JSON object a line (`dqa.loaders.own_question.OwnQuestion`); Python callers may hand
over a list of the same. Nothing is loaded: a question's database is its place
(`QuestionSet.places`). Of a question that names its scenario, the outcomes that the scenario states
by a statement or a formula are asked of the database in place and kept in the question's `Truth`;
only a simulator in Python has the data read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.core.errors import (
    DataError,
    DqaError,
    ParseError,
    QueryError,
    UnknownNameError,
    UsageError,
)
from dqa.core.files import parse_json, read_text
from dqa.core.paths import problem_of_path
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion, Truth
from dqa.guard import Audit, Policy
from dqa.loaders.asked import ask_scenario
from dqa.loaders.own_question import OwnQuestion, RulesFile
from dqa.loaders.places import name_of, whole_url
from dqa.loaders.readback import read_situation
from dqa.scenarios import scenario_name
from dqa.scenarios.embedded import first_column
from dqa.scenarios.outcomes import StatedOutcomes
from dqa.scenarios.reading import DOCUMENT

_MOST = Limits(rows=100_000, bytes=20_000_000, cell=20_000_000)
"""The most that a statement of candidates may list."""


class _Line(NamedTuple):
    """A question as it was written, and where.

    `wrong` makes the error that says where something is wrong; `folder` is that of the file, None
    of a list.
    """

    told: OwnQuestion
    id: str
    wrong: Callable[[str], DqaError]
    folder: Path | None


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
    return reading.read(list(_lines_of(file, scenario)), str(file), scenarios, limit)


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
    lines = list(_lines_in(given, scenario))
    return _Reading(name, places, policy, audit).read(lines, "The list of questions", None, None)


def _lines_of(file: Path, scenario: str | None) -> Iterator[_Line]:
    try:
        text = read_text(file)
    except OSError as error:
        raise UsageError(f"{problem_of_path(file, error)}.") from error
    except UnicodeDecodeError as error:
        raise ParseError(file, None, f"this is no UTF-8 text: {error}") from error
    # Not splitlines(): other line separators may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue

        def wrong(problem: str, number: int = number) -> DqaError:
            return ParseError(file, number, problem)

        try:
            written = parse_json(line)
        except ValueError as error:
            raise wrong(f"this is no JSON: {error}. Write one object a line, whole") from error
        yield _line(_of(written, scenario), str(number), wrong, file.parent)


def _of(written: object, scenario: str | None) -> object:
    """Return a line with the scenario that all those ask which name none."""
    if scenario is None or not isinstance(written, dict):
        return written
    return {"scenario": scenario, **written}


def _lines_in(
    given: Iterable[Mapping[str, Any] | OwnQuestion], scenario: str | None
) -> Iterator[_Line]:
    for number, one in enumerate(given, start=1):

        def wrong(problem: str, number: int = number) -> DqaError:
            return UsageError(f"Question {number} of the list: {problem}")

        if isinstance(one, OwnQuestion):
            yield _Line(one, one.id or str(number), wrong, None)
        else:
            yield _line(_of(dict(one), scenario), str(number), wrong, None)


def _line(
    written: object, number: str, wrong: Callable[[str], DqaError], folder: Path | None
) -> _Line:
    try:
        told = OwnQuestion.checked(written)
    except ValueError as error:
        raise wrong(str(error)) from error
    return _Line(told, told.id or number, wrong, folder)


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

    def read(
        self,
        lines: Sequence[_Line],
        called: str,
        scenarios: Sequence[str] | None,
        limit: int | None,
    ) -> QuestionSet:
        """Return the questions, of which those that are not kept ask their databases nothing."""
        if not lines:
            raise UsageError(f"{called} holds no question.")
        if not self._places:
            raise UsageError(f"{called} is about a database: name it (--database URL).")
        _refuse_twice(lines)
        found: list[LabelledQuestion] = []
        counts: dict[str, int] = {}
        with _Opened(self._places, *self._guarding) as opened:
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

    def _scenario_of(self, line: _Line) -> str:
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

    def _labelled(self, line: _Line, scenario: str, opened: _Opened) -> LabelledQuestion:
        told = line.told
        place = self._place_of(line)
        if told.scenario is None:
            asked = Question(scenario, line.id, told.question or "", _rules(line))
        else:
            asked = self._scenarios_own(line, scenario, opened.of(place))
        candidates = self._candidates(line, place, opened)
        asked = replace(
            asked,
            id=line.id,
            situation=place,
            candidates=asked.candidates if candidates is None else candidates,
            candidate_query=told.candidates if isinstance(told.candidates, str) else None,
            context_queries=told.context,
            tags=told.tags,
        )
        truth = Truth(_answers(line, asked.candidates))
        if told.scenario is not None:
            truth = self._with_outcomes(line, asked, truth, opened.of(place))
        return LabelledQuestion(asked, truth)

    def _place_of(self, line: _Line) -> str:
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

    def _scenarios_own(self, line: _Line, scenario: str, database: Database) -> Question:
        """Return a scenario's question about what a database holds."""
        try:
            return ask_scenario(plugins.scenario(scenario), database, line.told.target)
        except (DataError, QueryError, UsageError) as error:
            raise line.wrong(f"scenario: {error}") from error

    def _with_outcomes(
        self, line: _Line, asked: Question, truth: Truth, database: Database
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

    def _read(self, line: _Line, asked: Question, database: Database) -> None:
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

    def _candidates(self, line: _Line, place: str, opened: _Opened) -> tuple[Candidate, ...] | None:
        """Return what can be chosen; a statement is run, once and through the guard."""
        told = line.told.candidates
        if not isinstance(told, str):
            return None if told is None else tuple(dict.fromkeys(told))
        try:
            cells = first_column(opened.of(place), told, _MOST, "The statement")
        except DataError as error:
            raise line.wrong(
                f"candidates: {error} It is run on '{place}'; candidates that are known are a list"
            ) from error
        if not cells:
            raise line.wrong("candidates: the statement lists none: its first column is empty")
        return tuple(
            dict.fromkeys(cell if isinstance(cell, str | int) else str(cell) for cell in cells)
        )


class _Opened:
    """Databases that are opened when they are first asked, and closed together."""

    def __init__(
        self, places: Mapping[str, str], policy: Policy | None, audit: Audit | None
    ) -> None:
        self._places = places
        self._policy = policy
        self._audit = audit
        self._open: dict[str, Database] = {}
        self._closing = ExitStack()

    def of(self, place: str) -> Database:
        """Return the database that is called `place`, read-only and behind the guard."""
        if place not in self._open:
            where = whole_url(self._places[place], place)
            backend = plugins.backend_for(where)
            self._open[place] = backend.open(where, policy=self._policy, audit=self._audit)
            self._closing.callback(self._open[place].close)
        return self._open[place]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.close()


def _refuse_twice(lines: Sequence[_Line]) -> None:
    first: dict[str, str] = {}
    for position, line in enumerate(lines, start=1):
        if line.id in first:
            raise line.wrong(
                f"id: '{line.id}' is that of question {first[line.id]}, too (a line without an id "
                "has its number): give each another"
            )
        first[line.id] = str(position)


def _rules(line: _Line) -> str:
    rules = line.told.rules
    if not isinstance(rules, RulesFile):
        return rules
    if line.folder is None:
        raise line.wrong("rules: a list of questions lies in no folder: give the rules as a text")
    home = line.folder.resolve()
    file = (home / rules.file).resolve()
    if not file.is_relative_to(home):
        raise line.wrong(
            f"rules: {rules.file} lies outside the folder of the questions, {home}: put it there"
        )
    try:
        return read_text(file, home=home)
    except FileNotFoundError as error:
        raise line.wrong(
            f"rules: there is no {file}; a path is read from the folder of the questions"
        ) from error
    except OSError as error:
        raise line.wrong(f"rules: {problem_of_path(file, error)}") from error
    except UnicodeDecodeError as error:
        raise line.wrong(f"rules: {file} cannot be read as UTF-8 text: {error}") from error


def _answers(line: _Line, candidates: tuple[Candidate, ...] | None) -> tuple[Candidate, ...]:
    """Return what is right, spelled as the candidates are."""
    if candidates is None:
        return line.told.answer
    spelled = {str(candidate).strip(): candidate for candidate in candidates}
    found: list[Candidate] = []
    for answer in line.told.answer:
        if answer not in candidates and str(answer).strip() not in spelled:
            raise line.wrong(
                f"answer: {UnknownNameError('candidate', str(answer), map(str, candidates))}"
            )
        found.append(answer if answer in candidates else spelled[str(answer).strip()])
    return tuple(dict.fromkeys(found))
