"""A user's own questions about the user's own databases, which are queried in place.

A file has a JSON object on each line (`dqa.loaders.custom_question.OwnQuestion`); Python callers
may pass a list of the same. For a question that names its scenario, the database returns the
outcomes that the scenario defines by a statement or a formula. Only a simulator in Python needs the
data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
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
from dqa.loaders.custom_question import OwnQuestion, RulesFile
from dqa.loaders.live_questions import ask_scenario, require_candidates
from dqa.loaders.locations import name_of, whole_url
from dqa.loaders.readback import read_situation
from dqa.scenarios import scenario_name
from dqa.scenarios.embedded import LISTING, first_column
from dqa.scenarios.outcomes import ScenarioOutcomes
from dqa.scenarios.reading import DOCUMENT


def read_custom(  # noqa: PLR0913  (independent options of the caller)
    questions: Path | Iterable[Mapping[str, Any] | OwnQuestion],
    locations: Mapping[str, str],
    *,
    name: str | None = None,
    scenario: str | None = None,
    scenarios: Sequence[str] | None = None,
    limit: int | None = None,
    policy: Policy | None = None,
    audit: Audit | None = None,
) -> QuestionSet:
    """Read a file or a list of a user's own questions.

    Parameters
    ----------
    questions
        A file with one JSON object on each line, or a list of the same.
    locations
        The databases of the questions: locations by name.
    name
        The name of the set; by default that of the file.
    scenario
        The scenario of questions without one: a name or a folder.
    scenarios, limit
        The scenarios to keep, and the most questions of each.
    policy, audit
        The policy of the databases, and the record of their statements.

    Raises
    ------
    ParseError
        A line of the file is wrong; names file, line and field.
    UsageError
        A question of the list is wrong; or the file cannot be read, or a database is missing.
    InfrastructureError
        A database failed.
    """
    file = questions if isinstance(questions, Path) else None
    written: Iterable[tuple[int, object]]
    if isinstance(questions, Path):
        # Not splitlines(): a JSON string may contain other line separators.
        numbered = enumerate(read_text(questions).split("\n"), start=1)
        written = ((n, parse_json_of(questions, line, n)) for n, line in numbered if line.strip())
    else:
        written = enumerate(questions, start=1)
    lines = [_line(value, number, file, scenario) for number, value in written]
    title = name or name_of(str(file))
    reading = _Reading(title, locations, policy, audit)
    with reading.opened:
        where = "The list of questions" if file is None else str(file)
        return reading.read(lines, where, scenarios, limit)


@dataclass(frozen=True, slots=True)
class _Line:
    """A question as it was written.

    Attributes
    ----------
    number, file
        Its line in the file, or its position in the list.
    """

    written: OwnQuestion
    number: int
    file: Path | None

    @property
    def id(self) -> str:
        return self.written.id or str(self.number)

    def wrong(self, problem: str) -> DqaError:
        return _wrong(self.file, self.number, problem)


def _wrong(file: Path | None, number: int, problem: str) -> DqaError:
    if file is None:
        return UsageError(f"Question {number} of the list: {problem}")
    return ParseError(file, number, problem)


def _line(value: object, number: int, file: Path | None, scenario: str | None) -> _Line:
    if isinstance(value, OwnQuestion):
        return _Line(value, number, file)
    if isinstance(value, Mapping):
        value = {**({} if scenario is None else {"scenario": scenario}), **value}
    try:
        return _Line(OwnQuestion.checked(value), number, file)
    except ValueError as error:
        raise _wrong(file, number, str(error)) from error


@dataclass
class _Reading:
    """Reads questions, and opens their databases when they are needed.

    Attributes
    ----------
    name
        The set's, and the scenario of its questions without one.
    locations
        Locations of databases by name.
    """

    name: str
    locations: Mapping[str, str]
    policy: Policy | None
    audit: Audit | None
    situations: dict[str, Situation] = field(default_factory=dict)
    lists: dict[tuple[Candidate, ...], tuple[Candidate, ...]] = field(default_factory=dict)
    databases: dict[str, Database] = field(default_factory=dict)
    opened: ExitStack = field(default_factory=ExitStack)

    def read(
        self, lines: Sequence[_Line], where: str, scenarios: Sequence[str] | None, limit: int | None
    ) -> QuestionSet:
        """Return the wanted questions; the others need no database."""
        if not lines:
            raise UsageError(f"{where} holds no question.")
        if not self.locations:
            raise UsageError(f"{where} is about a database: name it (--database URL).")
        first: dict[str, int] = {}
        for position, line in enumerate(lines, start=1):
            if first.setdefault(line.id, position) != position:
                raise line.wrong(
                    f"id: '{line.id}' is that of question {first[line.id]}, too (a line without an "
                    "id has its number): give each another"
                )
        found: list[LabelledQuestion] = []
        counts: Counter[str] = Counter()
        for line in lines:
            scenario = self._scenario_of(line)
            if scenarios is None or scenario in scenarios:
                counts[scenario] += 1
                if limit is None or counts[scenario] <= limit:
                    found.append(self._labelled(line, scenario))
        used = {question.situation for question, _ in found}
        read = QuestionSet.of(self.name, found, self.situations)
        return replace(
            read, places={name: at for name, at in self.locations.items() if name in used}
        )

    def _database(self, name: str) -> Database:
        if name not in self.databases:
            where = whole_url(self.locations[name], name)
            opened = plugins.backend_for(where).open(where, policy=self.policy, audit=self.audit)
            self.databases[name] = opened
            self.opened.callback(opened.close)
        return self.databases[name]

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
        path = named if line.file is None else str(line.file.parent / named)
        is_folder = named not in known and (Path(path) / DOCUMENT).is_file()
        try:
            return plugins.scenario(scenario_name(path if is_folder else named)).name
        except UsageError as error:
            raise line.wrong(f"scenario: {error}") from error

    def _labelled(self, line: _Line, scenario: str) -> LabelledQuestion:
        written, database = line.written, self._database_of(line)
        if written.scenario is None:
            question = Question(scenario, line.id, written.question or "", _rules_of(line))
        else:
            live = self._database(database)
            try:
                question = ask_scenario(plugins.scenario(scenario), live, written.target)
            except (DataError, QueryError, UsageError) as error:
                raise line.wrong(f"scenario: {error}") from error
        candidates = self._candidates(line, database)
        if candidates is None:
            try:
                require_candidates(question)
            except UsageError as error:
                raise line.wrong(f"target: {error}") from error
            candidates = question.candidates
        if candidates is not None:
            candidates = self.lists.setdefault(candidates, candidates)  # equal lists are shared
        statement = question.candidate_query if written.candidates is None else written.candidates
        question = replace(
            question,
            id=line.id,
            situation=database,
            candidates=candidates,
            candidate_query=statement if isinstance(statement, str) else None,
            context_queries=written.context,
            tags=written.tags,
        )
        truth = Truth(_answers_of(line, candidates))
        if written.scenario is not None:
            truth = self._with_outcomes(line, question, truth)
        return LabelledQuestion(question, truth)

    def _database_of(self, line: _Line) -> str:
        named = line.written.database
        if named is None:
            if len(self.locations) > 1:
                raise line.wrong(
                    f"database: is missing, and there are {', '.join(self.locations)}: name one"
                )
            return next(iter(self.locations))
        if named not in self.locations:
            raise line.wrong(f"database: {UnknownNameError('database', named, self.locations)}")
        return named

    def _with_outcomes(self, line: _Line, question: Question, truth: Truth) -> Truth:
        """Return the truth with the outcomes of the scenario's statement or formula.

        For a simulator in Python the database is read, once for all questions of a scenario.
        """
        scenario, name = question.scenario, question.situation
        if scenario not in plugins.names("simulator"):
            return truth  # recorded outcomes, which a line does not contain
        simulator, database = plugins.simulator(scenario), self._database(name)
        try:
            if isinstance(simulator, ScenarioOutcomes) and simulator.serves(database.kind):
                outcomes = simulator.outcomes_in(database, question)
                answers = truth.answers or (outcomes.answer,)
                return Truth(answers, tuple(outcomes.values.tolist()))
            if name not in self.situations:
                schema = plugins.scenario(scenario).schema
                self.situations[name] = read_situation(database, schema, name)
        except (DataError, QueryError, UsageError) as error:
            raise line.wrong(f"scenario: {error}") from error
        other = self.situations[name].schema.scenario
        if other != scenario:
            raise line.wrong(
                f"scenario: '{name}' is already read for '{other}': give each scenario a database "
                "of its own"
            )
        return truth

    def _candidates(self, line: _Line, database: str) -> tuple[Candidate, ...] | None:
        """Return the line's candidates; a statement runs once, through the guard."""
        written = line.written.candidates
        if not isinstance(written, str):
            return None if written is None else tuple(dict.fromkeys(written))
        try:
            cells = first_column(self._database(database), written, LISTING, "The statement")
        except DataError as error:
            raise line.wrong(
                f"candidates: {error} It is run on '{database}'; known candidates are a list"
            ) from error
        if not cells:
            raise line.wrong("candidates: the statement lists none: its first column is empty")
        return tuple(dict.fromkeys(map(candidate_name, cells)))


def _rules_of(line: _Line) -> str:
    """Return a line's rules, which may be a file in the folder of the questions."""
    rules = line.written.rules
    if not isinstance(rules, RulesFile):
        return rules
    if line.file is None:
        raise line.wrong("rules: a list of questions has no folder: pass the rules as a text")
    home = line.file.parent.resolve()
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
    """Return the right answers in the spelling of the candidates."""
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
