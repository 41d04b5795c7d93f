"""Prepare a run of questions: look up names, connect models, read the questions, list the tasks.

A spec contains the names of embedded databases, and the URLs or names of servers. The URL of a
named server comes from the environment, such as ``DQA_MYSQL_URL`` for ``mysql``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

from dqa import plugins
from dqa.core.database import Database, Isolation, Kind
from dqa.core.decider import Decider, UpperBound
from dqa.core.decision import Usage
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.schema import describe
from dqa.core.secrets import redact
from dqa.core.situation import Schema, Situation
from dqa.databases.base import Backend
from dqa.evaluation.options import DEFAULT_CALLS, DEFAULT_RUN, CallOptions, RunOptions
from dqa.evaluation.results import NO_MODEL, DecisionKey
from dqa.evaluation.score import Judge, usual_rules
from dqa.evaluation.spec import RunSpec
from dqa.guard import Audit, Policy
from dqa.guard.visible import require_known
from dqa.loaders.locations import split_name, variable_of, whole_url
from dqa.loaders.sources import GeneratedQuestions
from dqa.scenarios import scenario_name

if TYPE_CHECKING:
    from dqa.evaluation.games import Game
from dqa.evaluation.connecting import Connected, PassedObjects, connect, named_decider

Group: TypeAlias = tuple[str, str]
"""A situation and a database. Tasks of one group share an open database."""
_HASH = 16
"""Number of digits of a hash that identify a situation in a run."""


class Access(TypedDict, total=False):
    """Settings for reading databases: policy, audit, and the process in which statements run."""

    policy: Policy | None
    audit: Audit | None
    isolation: Isolation


@dataclass(frozen=True, slots=True)
class DatabaseLocation:
    """The location of a database: a user's own database, or a database for situations.

    Attributes
    ----------
    location
        Location with its password; None for a database in memory.
    access
        Settings for reading the database.
    described
        Descriptions of the database's tables. They come from the scenarios of the questions.
    """

    backend: Backend
    location: str | None = field(default=None, repr=False)
    access: Access = field(default_factory=Access)
    described: tuple[Schema, ...] = ()

    @property
    def kind(self) -> Kind:
        """Relational or graph."""
        return self.backend.kind

    def load(self, situation: Situation, /) -> Database:
        """Open a situation in its own namespace. If the database lacks it, load it first."""
        return self.backend.load(situation, self.location, **self._access)

    def open(self) -> Database:
        """Open a user's own database, read-only and behind the guard."""
        return self.backend.open(self.location or "", **self._access).described(*self.described)

    @property
    def _access(self) -> Access:
        """The access, with the part of the policy that applies to this kind of database."""
        policy = self.access.get("policy")
        return {**self.access, "policy": policy and policy.part_for(self.kind)}


def parse_database(database: str) -> tuple[str, str | None]:
    """Return the name of a database's backend, and its location if `database` contains one.

    Parameters
    ----------
    database
        A backend, a URL, a file, or ``NAME=URL``.

    Raises
    ------
    UsageError
        In ``NAME=URL``, the URL does not belong to the backend NAME.
    """
    name, location = split_name(database)
    if name is not None:
        backend = plugins.backend(name)
        if not location.strip() or plugins.backend_for(location) is not backend:
            raise UsageError(
                f"'{redact(database)}' is not a {name} database: write {name}={backend.example}."
            )
    if "://" in location or "/" in location or Path(location).exists():
        return plugins.backend_for(location).name, location
    return location, None


def targets_of(databases: Sequence[str], **access: Unpack[Access]) -> dict[str, DatabaseLocation]:
    """Return the databases into which a run loads situations, by name.

    Parameters
    ----------
    databases
        The databases. An embedded database is given by its name. A server is given by its name, by
        its URL, or as ``NAME=URL``.
    **access
        Fields of `Access`.

    Raises
    ------
    UnknownNameError
        No backend has one of the names.
    UsageError
        Two databases have the same name, a server has no URL, or a URL is not valid.
    """
    targets: dict[str, DatabaseLocation] = {}
    for database in databases:
        label, location = parse_database(database)
        if label in targets:
            raise UsageError(f"databases contains '{label}' twice: leave out one.")
        backend = plugins.backend(label)
        if location is not None:
            location = whole_url(location)
            backend.require_readable(location)
        location = location or os.environ.get(variable_of(label)) or None
        if location is None and not backend.embedded:
            raise UsageError(
                f"The URL of the server '{label}' is unknown: give the URL, or set "
                f"{variable_of(label)} to the URL."
            )
        targets[label] = DatabaseLocation(backend, location, access)
    return targets


def locations_of(
    locations: Mapping[str, str],
    described: Mapping[str, tuple[Schema, ...]] = MappingProxyType({}),
    **access: Unpack[Access],
) -> dict[str, DatabaseLocation]:
    """Return the user's own databases by name.

    Each database is opened once, to test whether it can be reached. An unreachable database
    therefore raises an error before any decision is made. `described` contains the scenarios'
    descriptions of tables, by the name of the database.

    Raises
    ------
    UsageError
        A database is missing, or the policy names tables or columns that the database lacks.
    DatabaseUnavailableError
        A database cannot be reached.
    """
    found: dict[str, DatabaseLocation] = {}
    for name, location in locations.items():
        where = whole_url(location, name)
        backend, schemas = plugins.backend_for(where), described.get(name, ())
        found[name] = DatabaseLocation(backend, where, access, schemas)
        found[name].open().close()
    return found


def descriptions_for(questions: QuestionSet) -> dict[str, tuple[Schema, ...]]:
    """Return, for each user's own database, the schemas of the scenarios that ask about it."""
    schemas_of: dict[str, dict[str, Schema]] = {}
    for question in questions.questions:
        scenario = plugins.scenario_of(question) if questions.has_location(question) else None
        if scenario is not None:
            schemas_of.setdefault(question.situation, {}).setdefault(scenario.name, scenario.schema)
    return {name: tuple(schemas.values()) for name, schemas in schemas_of.items()}


@dataclass(frozen=True, slots=True)
class Task:
    """One decision to make, or one game to play.

    Attributes
    ----------
    situation
        Identifies the data: the beginning of its hash, or the name of the user's own database.
    epoch
        The number of the repetition (counted from 1).
    kind, model
        The kind of the database, and the model of the decider.
    game
        The game of this task.
    """

    question: Question
    database: str
    decider: str
    situation: str
    epoch: int = 1
    kind: Kind = "relational"
    model: str = NO_MODEL
    game: Game | None = None

    @property
    def group(self) -> Group:
        """The situation and the database of the task.

        Tasks of a group use the same open database.
        """
        return self.situation, self.database

    @property
    def key(self) -> DecisionKey:
        """The question, database, decider and epoch, which identify the task in a run."""
        return DecisionKey(self.question.key, self.database, self.decider, self.epoch)


@dataclass(frozen=True)
class Setup:
    """The questions of a run, their databases, deciders and judge.

    Attributes
    ----------
    questions
        The questions and their situations.
    targets
        The databases into which situations are loaded, by name.
    deciders
        For each epoch, the deciders by name. Each epoch has a different seed.
    models
        The name of the model of each decider, or `NO_MODEL`.
    judge
        Judges the decisions.
    scenarios
        For each decider that supports only some scenarios, the names of these scenarios.
    locations
        The user's own databases, by name.
    """

    questions: QuestionSet
    targets: Mapping[str, DatabaseLocation]
    deciders: tuple[Mapping[str, Decider], ...]
    models: Mapping[str, str]
    judge: Judge
    scenarios: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    locations: Mapping[str, DatabaseLocation] = field(default_factory=dict)

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks, grouped by situation and database. The same setup always gives the same order.

        Situations are in the order in which questions first ask about them. The tasks of a group
        are ordered by question, then by epoch, then by decider.
        """
        questions, locations = self.questions, {**self.targets, **self.locations}
        by_situation: dict[str, list[Question]] = {}
        for question in questions.questions:
            situation = question.situation
            if not questions.has_location(question):
                situation = questions.situation_of(question).content_hash[:_HASH]
            by_situation.setdefault(situation, []).append(question)
        return tuple(
            Task(question, name, decider, situation, epoch, locations[name].kind, model)
            for situation, own_questions in by_situation.items()
            for name in (
                (own_questions[0].situation,)
                if questions.has_location(own_questions[0])
                else self.targets
            )
            for question in own_questions
            for epoch in range(1, len(self.deciders) + 1)
            for decider in _supporting(self.deciders[0], self.scenarios, question.scenario)
            for model in (self.models[decider],)
        )

    def open(self, task: Task) -> Database:
        """Open the database of a task read-only, after loading its situation if necessary."""
        if self.questions.has_location(task.question):
            return self.locations[task.database].open()
        return self.targets[task.database].load(self.questions.situation_of(task.question))


@dataclass(frozen=True, kw_only=True)
class PreparedRun(Setup):
    """A run of questions that is ready to start.

    Attributes
    ----------
    spec
        The spec. If the caller's spec names no rule set, this spec contains the rule set of the
        question set.
    connected
        The models of the deciders.
    warnings
        Warnings for the user before the run starts.
    """

    spec: RunSpec
    connected: Connected
    warnings: tuple[str, ...] = ()


def prepare(  # noqa: PLR0913  (each is a question of its own to the caller)
    spec: RunSpec,
    *,
    calls: CallOptions = DEFAULT_CALLS,
    options: RunOptions = DEFAULT_RUN,
    resumed: Callable[[], Usage] | None = None,
    questions: QuestionSet | None = None,
    given: PassedObjects = PassedObjects(),  # noqa: B008  (frozen)
) -> PreparedRun:
    """Look up all names, connect the models, and then read the questions.

    Parameters
    ----------
    spec
        The spec of the run.
    calls
        Options of model calls.
    options
        Options of the run that do not change results.
    questions
        Questions that a Python caller passed instead of a source.
    resumed, given
        See `connect`.
    """
    # A scenario that is named by its folder may define deciders.
    for name in (*(spec.questions.scenarios or ()), *spec.questions.default_scenarios):
        scenario_name(name)
    contestants = [named_decider(name, spec, given) for name in spec.deciders]
    connected = connect(
        *(spec, contestants, calls), epochs=spec.epochs, resumed=resumed, given=given
    )
    lists: dict[str, Any] | None = None if spec.policy is None else dict(spec.policy)
    policy = None if lists is None else Policy(**lists)
    audit = None if options.audit is None else Audit.to_file(options.audit)
    access = Access(policy=policy, audit=audit, isolation=options.isolation)
    targets = targets_of(spec.databases, **access)
    if questions is None:
        questions = spec.questions.read(policy, audit)
    locations = locations_of(questions.locations, descriptions_for(questions), **access)
    if questions.situations.keys() - questions.locations.keys():
        for target in targets.values():
            target.backend.require_installed()
    if spec.rule_set is None:
        spec = spec.changed(rule_set=usual_rules(questions))
    if policy is not None:
        loaded = [s for name, s in questions.situations.items() if name not in questions.locations]
        require_known(policy, [describe(found.schema) for found in loaded])
    deciders = tuple(
        {
            name: one.with_truths(questions.truths) if isinstance(one, UpperBound) else one
            for name, one in epoch.items()
        }
        for epoch in connected.deciders(spec.rule_set)
    )
    is_open = isinstance(spec.questions, GeneratedQuestions) and spec.questions.scenarios is None
    scenarios = connected.scenarios
    questions, left_out = _select(questions, deciders[0], scenarios, may_leave_out=is_open)
    return PreparedRun(
        *(questions, targets, deciders, connected.models),
        Judge(questions, spec.rule_set, spec.strict_official, spec.r_ves),
        *(scenarios, locations),
        spec=spec,
        connected=connected,
        warnings=tuple(left_out),
    )


def _supporting(
    deciders: Iterable[str], scenarios: Mapping[str, tuple[str, ...]], scenario: str
) -> list[str]:
    """Return the names of the deciders that support a scenario, in the order of `deciders`."""
    return [name for name in deciders if scenario in scenarios.get(name, (scenario,))]


def _select(
    questions: QuestionSet,
    deciders: Mapping[str, Decider],
    scenarios: Mapping[str, tuple[str, ...]],
    *,
    may_leave_out: bool,
) -> tuple[QuestionSet, list[str]]:
    """Before any model is called, leave out each scenario with a question that a decider refuses.

    Returns
    -------
    QuestionSet
        The questions of the scenarios that are not left out.
    list of str
        A line for each scenario that is left out, and for each decider that does not answer all
        questions.

    Raises
    ------
    UsageError
        A scenario must be left out although `may_leave_out` is false, or no decider supports any
        remaining scenario.
    """
    lines: list[str] = []
    refused: dict[str, UsageError] = {}
    for question in questions.questions:
        try:
            for name in _supporting(deciders, scenarios, question.scenario):
                check_decider(deciders[name], question)
        except UsageError as error:
            refused.setdefault(question.scenario, error)
    asked = dict.fromkeys(question.scenario for question in questions.questions)
    stay = tuple(scenario for scenario in asked if scenario not in refused)
    if refused and not (may_leave_out and stay):
        raise next(iter(refused.values()))
    for scenario, problem in sorted(refused.items()):
        lines.append(f"The scenario {scenario} is left out: {problem}")
    for name, decided in scenarios.items():
        if left := sorted(set(stay) - set(decided)):
            only, rest = " and ".join(decided), " and ".join(left)
            lines.append(f"{name} supports only {only}; questions of {rest} are left out.")
    if not any(_supporting(deciders, scenarios, scenario) for scenario in stay):
        raise UsageError(
            f"None of the deciders supports the questions of {questions.name}: {' '.join(lines)} "
            "Name other deciders (--deciders)."
        )
    return questions.select(stay) if refused else questions, lines


def check_decider(decider: Decider, question: Question) -> None:
    """Raise an error if a decider cannot answer a question."""
    if question.answer_form not in decider.answer_forms:
        form = "a statement" if question.answer_form == "statement" else "one of its candidates"
        raise UsageError(
            f"'{decider.name}' cannot answer '{question.key}', because the answer must be {form}: "
            "choose another decider (--deciders)."
        )
    decider.check(question)
