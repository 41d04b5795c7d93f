"""Prepare a run of questions: look up names, connect models, read the questions, list the tasks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from dqa import plugins
from dqa.core.budgets import DecisionBudget
from dqa.core.database import Database, Kind
from dqa.core.decider import Decider, UpperBound
from dqa.core.decision import Usage
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.schema import describe
from dqa.deciders.base import DeciderFactory, Settings, share_options
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.options import DEFAULT_CALLS, DEFAULT_RUN, CallOptions, RunOptions
from dqa.evaluation.results import NO_MODEL
from dqa.evaluation.score import Judge, usual_rules
from dqa.evaluation.spec import Deciding, ModelSpec, RunSpec
from dqa.evaluation.targets import Access, DatabaseLocation, descriptions_for, places_of, targets_of
from dqa.guard import Audit, Policy
from dqa.guard.visible import require_known
from dqa.loaders.sources import GeneratedQuestions
from dqa.scenarios import scenario_name

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa.evaluation.games import Game

Group: TypeAlias = tuple[str, str]
"""A situation and a database: tasks of one group share an open database."""
_HASH = 16
"""Digits of the hash of a situation that identify it in a run."""


@dataclass(frozen=True, slots=True)
class Task:
    """One decision to make, or one game to play.

    Attributes
    ----------
    situation
        The data of the question: the beginning of their hash, or the name of their database.
    epoch
        The repeat, from 1.
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
        """Its situation and database."""
        return self.situation, self.database

    @property
    def key(self) -> DecisionKey:
        """Question, database, decider and epoch: unique in a run."""
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
        By epoch, the deciders by name; those of later epochs have other seeds.
    models
        The name of the model of each decider, or `NO_MODEL`.
    judge
        Judges the decisions.
    scenarios
        The scenarios that a decider decides, if it does not decide all.
    places
        The user's own databases, by name.
    """

    questions: QuestionSet
    targets: Mapping[str, DatabaseLocation]
    deciders: tuple[Mapping[str, Decider], ...]
    models: Mapping[str, str]
    judge: Judge
    scenarios: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    places: Mapping[str, DatabaseLocation] = field(default_factory=dict)

    @property
    def locations(self) -> tuple[str, ...]:
        """The locations of the databases that are not in memory, with their passwords."""
        known = (one.location for one in (*self.targets.values(), *self.places.values()))
        return tuple(location for location in known if location is not None)

    @property
    def size(self) -> int:
        """How many decisions there are to make."""
        return len(self.tasks)

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Every task, grouped by situation and database.

        Situations are in the order of their first question. Within a group tasks are ordered by
        question, then by epoch and then by decider: the same setup gives the same tasks.
        """
        questions, locations = self.questions, {**self.targets, **self.places}
        by_situation: dict[str, list[Question]] = {}
        for question in questions.questions:
            situation = question.situation
            if not questions.is_in_place(question):
                situation = questions.situation_of(question).content_hash[:_HASH]
            by_situation.setdefault(situation, []).append(question)
        return tuple(
            Task(question, name, decider, situation, epoch, locations[name].kind, model)
            for situation, asked in by_situation.items()
            for name in ((asked[0].situation,) if questions.is_in_place(asked[0]) else self.targets)
            for question in asked
            for epoch in range(1, len(self.deciders) + 1)
            for decider in _able(self.deciders[0], self.scenarios, question.scenario)
            for model in (self.models[decider],)
        )

    def decider_of(self, task: Task) -> Decider:
        """Return the decider of a task."""
        return self.deciders[task.epoch - 1][task.decider]

    def open(self, task: Task) -> Database:
        """Open the database of a task read-only; load its situation unless it is asked in place."""
        if self.questions.is_in_place(task.question):
            return self.places[task.database].open()
        return self.targets[task.database].load(self.questions.situation_of(task.question))


@dataclass(frozen=True, slots=True)
class GivenObjects:
    """Deciders and chat models that a Python caller passed, by name."""

    deciders: Mapping[str, Decider | DeciderFactory] = field(default_factory=dict)
    chats: Mapping[str, BaseChatModel] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _ConnectedDecider:
    """A decider with its own settings and its model."""

    factory: DeciderFactory
    options: Mapping[str, str]
    model: ModelSpec


@dataclass(frozen=True, slots=True)
class Connected:
    """Deciders that are looked up and whose models are connected, before a question is read.

    Attributes
    ----------
    ready
        The deciders that a caller passed.
    contestants
        By name, the factories and models of the others.
    settings
        The settings of all.
    chats
        By epoch, every model.
    models
        By decider the name of its model, or `NO_MODEL`.
    warnings
        How the versions of a cassette differ from ours.
    """

    ready: Mapping[str, Decider]
    contestants: Mapping[str, _ConnectedDecider]
    settings: Settings
    chats: tuple[Mapping[ModelSpec, BaseChatModel], ...]
    models: Mapping[str, str]
    warnings: tuple[str, ...]

    @property
    def scenarios(self) -> Mapping[str, tuple[str, ...]]:
        """The scenarios of the deciders that decide some alone, by decider."""
        return {
            name: made.factory.scenarios
            for name, made in self.contestants.items()
            if made.factory.scenarios
        }

    @property
    def makers(self) -> Mapping[str, Decider | DeciderFactory]:
        """The deciders that a caller passed, and the factories of the others, by name."""
        return {**self.ready, **{name: one.factory for name, one in self.contestants.items()}}

    def check_reachable(self) -> None:
        """Connect to the models' servers, before anything is asked.

        Raises
        ------
        ModelUnavailableError
            No server answers at the address of a model.
        """
        if self.chats[0]:  # else nothing that talks to one is imported
            from dqa.models.registry import check_reachable

            for model, chat in self.chats[0].items():
                check_reachable(model.called, chat)

    def deciders(self, rule_set: str | None) -> tuple[Mapping[str, Decider], ...]:
        """Make the deciders of each epoch, by name.

        Parameters
        ----------
        rule_set
            The rules of simulators; None for the first of each.
        """
        epochs = []
        for number, chats in enumerate(self.chats, 1):
            shared = replace(self.settings, rules=rule_set, epoch=number)
            made = dict(self.ready) | {
                name: one.factory(chats.get(one.model), replace(shared, options=one.options))
                for name, one in self.contestants.items()
            }
            epochs.append({name: made[name] for name in self.models})
        return tuple(epochs)


@dataclass(frozen=True, kw_only=True)
class PreparedRun(Setup):
    """A run of questions that is ready to begin.

    Attributes
    ----------
    spec
        The spec with its rule set.
    connected
        The models of the deciders.
    warnings
        Warnings for the user before the run begins.
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
    given: GivenObjects = GivenObjects(),
) -> PreparedRun:
    """Look up every name, connect the models and read the questions.

    Names are looked up before questions are read: a wrong name costs no reading.

    Parameters
    ----------
    spec
        The spec.
    calls, options
        How models are called, and how the run works.
    resumed
        For a run that resumes, returns its usage outside of this process.
    questions
        The questions of a spec that does not say where they come from.
    given
        Deciders without an entry point, and chat models without a provider.
    """
    # Scenarios that are named by their folders may bring deciders of their own.
    for name in (*(spec.questions.scenarios or ()), *spec.questions.default_scenarios):
        scenario_name(name)
    connected = connect(
        *(spec, spec.deciders, calls),
        models=spec.models,
        epochs=spec.epochs,
        resumed=resumed,
        given=given,
    )
    lists: dict[str, Any] | None = None if spec.policy is None else dict(spec.policy)
    policy = None if lists is None else Policy(**lists)
    audit = None if options.audit is None else Audit.to_file(options.audit)
    access = Access(policy=policy, audit=audit, isolation=options.isolation)
    targets = targets_of(spec.databases, **access)
    if questions is None:
        questions = spec.questions.read(policy, audit)
    places = places_of(questions.places, descriptions_for(questions), **access)
    if spec.rule_set is None:
        spec = spec.changed(rule_set=usual_rules(questions))
    if policy is not None:
        loaded = [s for name, s in questions.situations.items() if name not in questions.places]
        if loaded:
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
        *(scenarios, places),
        spec=spec,
        connected=connected,
        warnings=(*connected.warnings, *left_out),
    )


def _able(
    deciders: Iterable[str], scenarios: Mapping[str, tuple[str, ...]], scenario: str
) -> list[str]:
    """Return the deciders that decide a scenario, in their order."""
    return [name for name in deciders if scenario in scenarios.get(name, (scenario,))]


def _select(
    questions: QuestionSet,
    deciders: Mapping[str, Decider],
    scenarios: Mapping[str, tuple[str, ...]],
    *,
    may_leave_out: bool,
) -> tuple[QuestionSet, list[str]]:
    """Let deciders refuse questions that they cannot decide, before anything is asked.

    Returns
    -------
    QuestionSet
        Without the scenarios that a decider refuses, if they `may_leave_out`: the user named none.
    list of str
        A line for each decider or scenario that leaves something out.

    Raises
    ------
    UsageError
        A decider refuses a scenario, or none of them decides any.
    """
    asked, lines = questions.questions, []
    first = {question.scenario: question for question in reversed(asked)}
    # Questions of a scenario are alike; a user's own questions may differ.
    own = [question for question in asked if questions.is_in_place(question)]
    refused: dict[str, UsageError] = {}
    for question in (*first.values(), *own):
        try:
            for name in _able(deciders, scenarios, question.scenario):
                check_decider(deciders[name], question)
        except UsageError as error:
            refused.setdefault(question.scenario, error)
    stay = tuple(scenario for scenario in first if scenario not in refused)
    if refused and not (may_leave_out and stay):
        raise next(iter(refused.values()))
    for scenario, problem in sorted(refused.items()):
        lines.append(f"{scenario}: left out, as it was not named (--scenarios): {problem}")
    for name, decided in scenarios.items():
        if left := sorted(set(stay) - set(decided)):
            only, rest = " and ".join(decided), " and ".join(left)
            lines.append(f"{name}: decides {only} only; questions of {rest} are left out.")
    if not any(_able(deciders, scenarios, scenario) for scenario in stay):
        raise UsageError(
            f"{questions.name} has no question for any of these deciders: {' '.join(lines)} "
            "Name others."
        )
    return questions.select(stay) if refused else questions, lines


def check_decider(decider: Decider, question: Question) -> None:
    """Let a decider refuse a question, or refuse one that wants another form of answer."""
    if question.answer_form not in decider.answer_forms:
        form = "a statement" if question.answer_form == "statement" else "one of its candidates"
        raise UsageError(
            f"'{decider.name}' cannot answer '{question.key}', which asks for {form}: name another "
            "decider (--deciders)."
        )
    decider.check(question)


def connect(  # noqa: PLR0913  (each is a question of its own to the caller)
    deciding: Deciding,
    names: Sequence[str],
    calls: CallOptions,
    *,
    models: Sequence[ModelSpec] = (),
    epochs: int = 1,
    resumed: Callable[[], Usage] | None = None,
    given: GivenObjects = GivenObjects(),
) -> Connected:
    """Look deciders up and connect the models that they ask.

    A decider that needs no model leaves it alone, so no key is asked for on its behalf.

    Parameters
    ----------
    deciding
        The models, and what bounds the deciders.
    names
        The deciders.
    calls
        How models are called.
    models
        Several models; every decider asks each of them. () for that of `deciding` alone.
    epochs
        How often each question will be asked.
    resumed
        For a run that resumes, returns its usage outside of this process; None for a new run.
    given
        Deciders without an entry point, and chat models without a provider.

    Raises
    ------
    UsageError
        None of them has one of the settings, or follows the protocol.
    """
    ready = {name: made for name, made in given.deciders.items() if isinstance(made, Decider)}
    factories = {
        name: made if isinstance(made, DeciderFactory) else plugins.decider(name)
        for name, made in ((name, given.deciders.get(name)) for name in names if name not in ready)
    }
    if factories and not any(deciding.protocol in one.protocols for one in factories.values()):
        raise UsageError(
            f"protocol {deciding.protocol} has no effect: {', '.join(factories)} support one "
            "protocol only."
        )
    made_of = _contestants(deciding, factories, models or (deciding.model,))
    contestants = {label: one for of in made_of.values() for label, one in of.items()}
    asking = {name: one for name, one in contestants.items() if one.factory.needs_model}
    used = tuple(dict.fromkeys(one.model for one in asking.values()))
    chats, warnings = _chats(used, deciding, epochs, calls, given, resumed=resumed is not None)
    settings = Settings(
        max_steps=deciding.max_steps,
        max_parse_failures=deciding.max_parse_failures,
        limits=deciding.limits,
        display=deciding.display,
        calls=calls.policy(deciding.seed, resumed or Usage),
        protocol=deciding.protocol,
        budget=_priced(deciding.budget, calls) if used else deciding.budget,
    )
    labels = [label for name in names for label in made_of.get(name, {name: None})]
    answering = {name: asking[name].model.name if name in asking else NO_MODEL for name in labels}
    return Connected(ready, contestants, settings, chats, answering, warnings)


def _contestants(
    deciding: Deciding, factories: Mapping[str, DeciderFactory], models: Sequence[ModelSpec]
) -> dict[str, dict[str, _ConnectedDecider]]:
    """Return each decider with its models, by what results call it: ``decider@model`` of several.

    A decider that asks no model appears once.
    """
    shared = share_options(factories.values(), deciding.settings)
    found: dict[str, dict[str, _ConnectedDecider]] = {}
    for name, factory in factories.items():
        asking = models if factory.needs_model else models[:1]
        for model in asking:
            label = name if len(asking) == 1 else f"{name}@{model.called}"
            found.setdefault(name, {})[label] = _ConnectedDecider(factory, shared[name], model)
    return found


def _priced(budget: DecisionBudget, calls: CallOptions) -> DecisionBudget:
    """Return a budget with the prices for its cost."""
    if budget.cost is None or budget.price_input is not None:
        return budget
    prices = calls.prices
    if prices is None:
        raise UsageError(
            "A budget in money (--max-cost) needs prices: give --price-input and --price-output, "
            "for a million tokens each."
        )
    return replace(
        budget,
        price_input=prices.input,
        price_output=prices.output,
        price_cached=prices.cached,
        price_reasoning=prices.reasoning,
    )


def _chats(  # noqa: PLR0913  (each is a question of its own to the caller)
    models: Sequence[ModelSpec],
    deciding: Deciding,
    epochs: int,
    calls: CallOptions,
    given: GivenObjects,
    *,
    resumed: bool,
) -> tuple[tuple[dict[ModelSpec, BaseChatModel], ...], tuple[str, ...]]:
    """Return the chat models of each epoch, and how the versions of their cassette differ."""
    if not models:  # and nothing that talks to one is imported
        return ({},) * epochs, ()
    from dqa.models.registry import Connection, chat_model, given_model

    names = tuple(dict.fromkeys(model.name for model in models))
    cassette = calls.cassette(names, resume=resumed)

    def connected(model: ModelSpec, seed: int) -> BaseChatModel:
        if model.name in given.chats:
            connection = Connection(cassette=cassette, reply_limit=calls.reply_limit)
            return given_model(model.name, given.chats[model.name], connection)
        if model.base_url is not None and ":***@" in model.base_url:
            raise UsageError(
                f"The address of {model.name}, {model.base_url}, was written without its "
                "password: give the whole address (--base-url)."
            )
        if "***" in json.dumps(model.parameters):
            raise UsageError(
                f"The parameters of {model.name} contain ***, which stands for a secret that is "
                "not stored: give the whole object (--extra-body)."
            )
        connection = Connection(
            *(model.base_url, calls.timeout, cassette, calls.reply_limit),
            reply_tokens=deciding.reply_tokens,
            parameters=model.parameters,
        )
        return chat_model(model.name, connection, seed, deciding.temperature)

    seeds = range(deciding.seed, deciding.seed + epochs)
    asked = tuple({model: connected(model, seed) for model in models} for seed in seeds)
    return asked, () if cassette is None else cassette.warnings
