"""Read a user's own questions about the user's databases.

A file has a JSON object on each line (`dqa.loaders.custom_question.OwnQuestion`). Python callers
may pass a list of such objects. If a question names a scenario, the scenario's statement returns
the outcomes. Only for a scenario with a simulator in Python, dqa reads the whole database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import DataError, ParseError, QueryError, UnknownNameError, UsageError
from dqa.core.files import json_lines, read_text
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion, Truth
from dqa.guard import Audit, Policy
from dqa.loaders.custom_question import OwnQuestion, RulesFile, list_candidates, read_question
from dqa.loaders.locations import name_of, whole_url
from dqa.loaders.readback import read_situation
from dqa.scenarios import scenario_name
from dqa.scenarios.base import Scenario
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
        A file with one JSON object per line, or a list of objects with the same fields.
    locations
        The locations of the databases, by name.
    name
        The name of the set; by default the name of the file.
    scenario
        The name or folder of the scenario for questions that do not name a scenario.
    scenarios, limit
        The scenarios to read, and the maximum number of questions per scenario.
    policy, audit
        The policy that defines the data that may be read, and the audit that records statements.

    Raises
    ------
    ParseError
        A line of the file is wrong. The message names the file, the line and the field.
    UsageError
        A question in the list is wrong, the file cannot be read, or a database is missing.
    InfrastructureError
        A database failed.
    """
    file = questions if isinstance(questions, Path) else None
    written = json_lines(questions) if isinstance(questions, Path) else enumerate(questions, 1)
    lines = [_line(value, _Position(number, file), scenario) for number, value in written]
    where = "The list of questions" if file is None else str(file)
    if not lines:
        raise UsageError(f"{where} does not contain a question.")
    if not locations:
        raise UsageError(f"{where} needs a database: give its URL (--database URL).")
    reading = _Reading(name or name_of(str(file)), locations, policy, audit)
    with reading.opened:
        return reading.read(lines, scenarios, limit)


class _Position(NamedTuple):
    """The position of a question: its line in a file, or its number in a list."""

    number: int
    file: Path | None

    @contextmanager
    def field(self, name: str = "") -> Iterator[None]:
        """Add the question's position and the field's name to errors of the ``with`` block."""
        try:
            yield
        except (DataError, QueryError, UsageError) as error:
            problem = f"{name}: {error}" if name else str(error)
            if self.file is None:
                raise UsageError(f"Question {self.number} of the list: {problem}") from error
            raise ParseError(self.file, self.number, problem) from error


class _Line(NamedTuple):
    """A question as the user wrote it. Its scenario and database are not looked up yet."""

    written: OwnQuestion
    at: _Position

    @property
    def id(self) -> str:
        return self.written.id or str(self.at.number)


def _line(value: object, at: _Position, scenario: str | None) -> _Line:
    if isinstance(value, OwnQuestion):
        return _Line(value, at)
    if isinstance(value, Mapping) and scenario is not None:
        value = {"scenario": scenario, **value}
    with at.field():
        return _Line(OwnQuestion.checked(value), at)


@dataclass
class _Reading:
    """Looks up the scenario and database of each question. Opens a database on first use.

    Attributes
    ----------
    name
        The name of the set. It is also the scenario of questions that do not name a scenario.
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
        self, lines: Sequence[_Line], scenarios: Sequence[str] | None, limit: int | None
    ) -> QuestionSet:
        """Return the selected questions. Only the databases of selected questions are opened."""
        first: dict[str, int] = {}
        for position, line in enumerate(lines, start=1):
            with line.at.field("id"):
                if first.setdefault(line.id, position) != position:
                    raise DataError(
                        f"question {first[line.id]} already has the id '{line.id}': give each "
                        "question its own id (by default, the number of its line)"
                    )
        found: list[LabelledQuestion] = []
        counts: Counter[str] = Counter()
        for line in lines:
            with line.at.field("scenario"):
                scenario = self._scenario_of(line)
            if scenarios is None or scenario in scenarios:
                counts[scenario] += 1
                if limit is None or counts[scenario] <= limit:
                    found.append(self._labelled(line, scenario))
        used = {question.situation for question, _ in found}
        used_locations = {name: at for name, at in self.locations.items() if name in used}
        return replace(QuestionSet.of(self.name, found, self.situations), locations=used_locations)

    def _scenario_of(self, line: _Line) -> str:
        """Return the scenario of a question.

        If the question names no scenario, return the name of the set.
        """
        named, file = line.written.scenario, line.at.file
        known = plugins.names("scenario")
        if named is None:
            if self.name in known:
                raise UsageError(
                    f"the file has the name of a scenario ('{self.name}'), but the question has no "
                    "field 'scenario': add the field, or rename the file"
                )
            return self.name
        # A relative scenario folder is relative to the folder of the questions.
        path = named if file is None else str(file.parent / named)
        is_folder = named not in known and (Path(path) / DOCUMENT).is_file()
        return plugins.scenario(scenario_name(path if is_folder else named)).name

    def _labelled(self, line: _Line, scenario: str) -> LabelledQuestion:
        written, field_of = line.written, line.at.field
        with field_of("database"):
            name = written.database
            if name is None and len(self.locations) > 1:
                raise UsageError(f"is missing: choose one of {', '.join(self.locations)}")
            if name is not None and name not in self.locations:
                raise UnknownNameError("database", name, self.locations)
            database = name or next(iter(self.locations))
        question = self._question(line, scenario, database)
        candidates = question.candidates
        with field_of("answer"):
            answers = _answers_of(written.answer, candidates)
        opening = partial(self._database, database)
        with field_of("heuristics"):
            heuristics = {
                name: _answers_of(list_candidates(listed, opening)[:1], candidates)[0]
                for name, listed in written.heuristics.items()
            }
        truth = Truth(answers, heuristics=heuristics)
        with field_of("outcomes" if written.outcomes else "forbidden"):
            truth = _judged_by(written, truth, candidates, plugins.scenario_of(question))
        with field_of("scenario"):
            return LabelledQuestion(question, self._with_outcomes(question, truth))

    def _question(self, line: _Line, scenario: str, database: str) -> Question:
        """Return the question of a line, together with its candidates."""
        written, rules = line.written, ""
        if written.scenario is None:
            with line.at.field("rules"):
                rules = _rules_of(line)
        question = read_question(
            written,
            None if written.scenario is None else scenario,
            rules,
            partial(self._database, database),
            line.at.field,
        )
        candidates = question.candidates
        if candidates is not None:
            candidates = self.lists.setdefault(candidates, candidates)  # stores equal lists once
        return replace(
            question,
            scenario=scenario,
            id=line.id,
            situation=database,
            candidates=candidates,
            tags=written.tags,
        )

    def _database(self, name: str) -> Database:
        if name not in self.databases:
            where = whole_url(self.locations[name], name)
            backend = plugins.backend_for(where)
            policy = self.policy and self.policy.part_for(backend.kind)
            opened = backend.open(where, policy=policy, audit=self.audit)
            self.databases[name] = opened
            self.opened.callback(opened.close)
        return self.databases[name]

    def _with_outcomes(self, question: Question, truth: Truth) -> Truth:
        """Return the right answers, with the outcomes that the scenario's statement returns.

        If the scenario has a simulator in Python, read the whole database (once per scenario).
        """
        scenario, name = question.scenario, question.situation
        if scenario not in plugins.names("simulator"):
            return truth  # there is no scenario that calculates outcomes
        simulator, database = plugins.simulator(scenario), self._database(name)
        if isinstance(simulator, ScenarioOutcomes) and simulator.serves(database.kind):
            outcomes = simulator.outcomes_in(database, question)
            answers, values = truth.answers or (outcomes.answer,), outcomes.values.tolist()
            return replace(truth, answers=answers, outcomes=tuple(values))
        if name not in self.situations:
            schema = plugins.scenario(scenario).schema
            self.situations[name] = read_situation(database, schema, name)
        other = self.situations[name].schema.scenario
        if other != scenario:
            raise UsageError(
                f"the database '{name}' is already used for scenario '{other}': give each "
                "scenario its own database"
            )
        return truth


def _rules_of(line: _Line) -> str:
    """Return the rules, from a text or from a file in the folder of the questions."""
    rules = line.written.rules or ""
    if not isinstance(rules, RulesFile):
        return rules
    if line.at.file is None:
        raise UsageError(
            "the questions were passed as a list, so there is no folder with files: pass the rules "
            "as text"
        )
    home = line.at.file.parent
    return read_text(home / rules.file, home=home)


def _judged_by(
    written: OwnQuestion,
    truth: Truth,
    candidates: tuple[Candidate, ...] | None,
    scenario: Scenario | None,
) -> Truth:
    """Return the right answers, together with forbidden candidates and outcomes of candidates."""
    if not written.forbidden and written.outcomes is None:
        return truth
    if candidates is None:
        raise UsageError("needs candidates: list them in 'candidates'")
    forbidden = _answers_of(written.forbidden, candidates)
    best, outcomes = tuple(one for one in candidates if one not in forbidden), None
    if written.outcomes is not None:
        spelled = {_answers_of((name,), candidates)[0]: x for name, x in written.outcomes.items()}
        values = {name: spelled[name] for name in best if name in spelled}
        missing = [str(one) for one in best if one not in values]
        if missing or not values:
            raise UsageError(f"is missing for {', '.join(missing) or 'every candidate'}")
        extremes = min(values.values()), max(values.values())
        worst, most = extremes[::-1] if scenario and scenario.goal == "minimise" else extremes
        outcomes = tuple(values.get(one, worst) for one in candidates)
        best = tuple(one for one, value in values.items() if value == most)
    wrong = [str(one) for one in truth.answers if one not in best]
    if wrong:
        raise UsageError(
            f"contradicts 'answer': {', '.join(wrong)} is not the best allowed candidate; correct "
            "one of the two fields"
        )
    answers = truth.answers or (best if outcomes else ())
    return replace(truth, answers=answers, outcomes=outcomes, forbidden=forbidden)


def _answers_of(
    answers: tuple[Candidate, ...], candidates: tuple[Candidate, ...] | None
) -> tuple[Candidate, ...]:
    """Return the right answers in the spelling of the candidates."""
    if candidates is None:
        return answers
    spelled: dict[Candidate, Candidate] = {str(one).strip(): one for one in candidates}
    spelled |= {candidate: candidate for candidate in candidates}
    found: dict[Candidate, None] = {}
    for answer in answers:
        right = spelled.get(answer, spelled.get(str(answer).strip()))
        if right is None:
            raise UnknownNameError("candidate", str(answer), map(str, candidates))
        found[right] = None
    return tuple(found)
