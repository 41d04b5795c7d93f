"""From a spec to a run: names looked up, models connected, questions read, deciders made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from dqa import plugins
from dqa.core.decider import Decider, UpperBound
from dqa.core.decision import Usage
from dqa.core.errors import UsageError
from dqa.core.question_set import QuestionSet
from dqa.core.schema import describe
from dqa.core.truth import Truth
from dqa.deciders.base import DeciderFactory, Examples, Settings, share_options
from dqa.evaluation.examples import OtherQuestions
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.plan import Setup
from dqa.evaluation.results import NO_MODEL
from dqa.evaluation.score import Judge, usual_rules
from dqa.evaluation.spec import Deciding, ModelSpec, RunSpec
from dqa.evaluation.targets import places_of, targets_of
from dqa.guard import Audit, Policy
from dqa.loaders.sources import GeneratedQuestions
from dqa.scenarios import scenario_name

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True, slots=True)
class Deciders:
    """Deciders, each with what answers behind it.

    Attributes
    ----------
    by_name
        The deciders.
    models
        By decider the name of its model, of several joined by ``+``, or `NO_MODEL`.
    warnings
        How the versions of a cassette differ from ours.
    """

    by_name: Mapping[str, Decider]
    models: Mapping[str, str]
    warnings: tuple[str, ...] = ()

    def with_truths(self, truths: Mapping[str, Truth]) -> Mapping[str, Decider]:
        """Return the deciders, of which those that are bounds know what is right."""
        return {
            name: made.with_truths(truths) if isinstance(made, UpperBound) else made
            for name, made in self.by_name.items()
        }


@dataclass(frozen=True, slots=True)
class Connected:
    """Deciders that are looked up and whose models are connected, before a question is read.

    Attributes
    ----------
    ready
        Those that a caller made.
    factories, settings
        By name, what makes the others.
    chat
        The model that they ask; None where none asks one.
    chats
        Every model that one of them asks, by what it is called.
    models, warnings
        As in `Deciders`.
    """

    ready: Mapping[str, Decider]
    factories: Mapping[str, DeciderFactory]
    settings: Mapping[str, Settings]
    chat: BaseChatModel | None
    chats: Mapping[str, BaseChatModel]
    models: Mapping[str, str]
    warnings: tuple[str, ...]

    @property
    def scenarios(self) -> Mapping[str, tuple[str, ...]]:
        """The scenarios of the deciders that decide some alone, by decider."""
        return {name: made.scenarios for name, made in self.factories.items() if made.scenarios}

    def check_reachable(self) -> None:
        """Connect to the models' servers, before anything is asked.

        Raises
        ------
        ModelUnavailableError
            Nobody is where a model should be.
        """
        if self.chats:  # else nothing that talks to one is imported
            from dqa.models.reaching import check_reachable

            for name, chat in self.chats.items():
                check_reachable(name, chat)

    def deciders(self, rule_set: str | None, examples: Examples | None = None) -> Deciders:
        """Make the deciders.

        Parameters
        ----------
        rule_set
            What simulators count by; None for the first of each.
        examples
            Where agents that are shown an example take it from; None where there is none.
        """
        made = {
            name: factory(
                self.chat, replace(self.settings[name], rules=rule_set, examples=examples)
            )
            for name, factory in self.factories.items()
        }
        by_name = {**self.ready, **made}
        return Deciders({name: by_name[name] for name in self.models}, self.models, self.warnings)


@dataclass(frozen=True, slots=True)
class BuiltRun:
    """A run that is ready to begin. Close it in the end; it is a context manager, too.

    Attributes
    ----------
    spec
        What is evaluated, its rule set named.
    setup
        Questions, databases and deciders.
    judge
        Judges each decision.
    examples
        Where agents that are shown an example take it from.
    connected
        The deciders' models.
    warnings
        What the user should know before it begins.
    """

    spec: RunSpec
    setup: Setup
    judge: Judge
    examples: OtherQuestions
    connected: Connected
    warnings: tuple[str, ...] = ()

    def close(self) -> None:
        """Close the databases of examples."""
        self.examples.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def build(  # noqa: PLR0913  (each is a question of its own to the caller)
    spec: RunSpec,
    *,
    calls: CallOptions,
    options: RunOptions,
    resumed: Path | None = None,
    questions: QuestionSet | None = None,
    given: Mapping[str, Decider | DeciderFactory] | None = None,
    chats: Mapping[str, BaseChatModel] | None = None,
) -> BuiltRun:
    """Make a run of a spec; see `RunSpec.build`.

    Names are looked up before questions are read: a wrong name costs no reading.
    """
    examples = OtherQuestions()
    # Scenarios that are named by their folders may bring deciders of their own.
    for name in (*(spec.questions.scenarios or ()), *spec.questions.asked):
        scenario_name(name)
    connected = connect(spec, spec.deciders, calls, resumed=resumed, given=given or {}, chats=chats)
    policy = _policy(spec)
    audit = None if options.audit is None else Audit.to_file(options.audit)
    targets = targets_of(spec.databases, policy, audit, options.isolation)
    if questions is None:
        questions = spec.questions.read(policy, audit)
    places = places_of(questions.places, policy, audit, options.isolation)
    if spec.rule_set is None:
        spec = spec.changed(rule_set=usual_rules(questions))
    if policy is not None:
        loaded = [s for name, s in questions.situations.items() if name not in questions.places]
        if loaded:
            policy.check([describe(found.schema) for found in loaded])
    examples.take(questions)
    made = connected.deciders(spec.rule_set, examples)
    deciders = made.with_truths(questions.truths)
    setup = Setup(questions, targets, deciders, made.models, connected.scenarios, places)
    unasked: tuple[str, ...] = ()
    if isinstance(spec.questions, GeneratedQuestions) and spec.questions.scenarios is None:
        setup, unasked = _without_refused(setup)
    left_out = _check(setup)
    judge = Judge(setup.questions, spec.rule_set, spec.strict_official)
    return BuiltRun(spec, setup, judge, examples, connected, (*made.warnings, *unasked, *left_out))


def _policy(spec: RunSpec) -> Policy | None:
    if spec.policy is None:
        return None
    lists: dict[str, Any] = dict(spec.policy)
    return Policy(**lists)


def connect(  # noqa: PLR0913  (each is a question of its own to the caller)
    deciding: Deciding,
    names: Sequence[str],
    calls: CallOptions,
    *,
    resumed: Path | None = None,
    given: Mapping[str, Decider | DeciderFactory] | None = None,
    chats: Mapping[str, BaseChatModel] | None = None,
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
    resumed
        The folder of the run that goes on, whose spending counts; None for a new run.
    given
        Deciders and factories that no entry point names, by name.
    chats
        Chat models that no provider's name makes, by name.

    Raises
    ------
    UsageError
        A planner is named and no decider has one, or a setting that none of them has.
    """
    from dqa.evaluation.folders import usage_so_far

    known = given or {}
    ready = {name: made for name, made in known.items() if isinstance(made, Decider)}
    factories = {
        name: made if isinstance(made, DeciderFactory) else plugins.decider(name)
        for name, made in ((name, known.get(name)) for name in names if name not in ready)
    }
    if factories:
        _check_models(deciding, factories)
    shared = share_options(factories.values(), deciding.settings)
    models = {name: _models(deciding, made) for name, made in factories.items()}
    used = tuple(dict.fromkeys(model for asked in models.values() for model in asked))
    made, warnings = _chats(used, deciding.seed, calls, chats or {}, resumed=resumed is not None)
    spent = Usage() if resumed is None else usage_so_far(resumed)
    settings = Settings(
        max_steps=deciding.max_steps,
        max_parse_failures=deciding.max_parse_failures,
        limits=deciding.limits,
        display=deciding.display,
        calls=calls.policy(deciding.seed, spent),
        protocol=deciding.protocol,
        planner=None if deciding.planning is None else made.get(deciding.planning),
    )
    asked = {name: " + ".join(m.name for m in models.get(name, ())) or NO_MODEL for name in names}
    own = {name: replace(settings, options=options) for name, options in shared.items()}
    by_name = {model.name: chat for model, chat in made.items()}
    return Connected(ready, factories, own, made.get(deciding.model), by_name, asked, warnings)


def _check_models(deciding: Deciding, factories: Mapping[str, DeciderFactory]) -> None:
    """Refuse what no decider would follow: it was meant for another one."""
    planner, made = deciding.planner, factories.values()
    if planner is not None and not any(factory.planner_apart for factory in made):
        raise UsageError(
            f"planner {planner.name} has no effect: none of {', '.join(factories)} lets "
            f"another model plan{_as_others_do()}."
        )
    if not any(deciding.protocol in factory.protocols for factory in made):
        raise UsageError(
            f"protocol {deciding.protocol} has no effect: {', '.join(factories)} support "
            "one protocol only. Leave it out."
        )


def _as_others_do() -> str:
    """Return who does let another model plan, of all that are installed and can be loaded."""
    apart = [made.name for made in plugins.deciders() if made.planner_apart]
    return f", as {' and '.join(apart)} does" if apart else ""


def _models(deciding: Deciding, made: DeciderFactory) -> tuple[ModelSpec, ...]:
    """Return the models that a decider asks, the planning one first."""
    if not made.needs_model:
        return ()
    planning = deciding.planning if made.planner_apart else None
    return (deciding.model,) if planning is None else (planning, deciding.model)


def _chats(
    models: Sequence[ModelSpec],
    seed: int,
    calls: CallOptions,
    given: Mapping[str, BaseChatModel],
    *,
    resumed: bool,
) -> tuple[dict[ModelSpec, BaseChatModel], tuple[str, ...]]:
    """Return the chat models, and what there is to know of their cassette."""
    if not models:  # and nothing that talks to one is imported
        return {}, ()
    from dqa.models.registry import Connection, chat_model, given_model

    names = tuple(dict.fromkeys(model.name for model in models))
    cassette = calls.cassette(names, resume=resumed)
    chats: dict[ModelSpec, BaseChatModel] = {}
    for model in models:
        if model.name in given:
            connection = Connection(cassette=cassette, reply_limit=calls.reply_limit)
            chats[model] = given_model(model.name, given[model.name], connection)
        else:
            connection = Connection(_address(model), calls.timeout, cassette, calls.reply_limit)
            chats[model] = chat_model(model.name, connection, seed)
    return chats, () if cassette is None else cassette.warnings


def _address(model: ModelSpec) -> str | None:
    if model.base_url is not None and ":***@" in model.base_url:
        raise UsageError(
            f"The address of {model.name}, {model.base_url}, was written without its password: "
            "give the whole address (--base-url; of a planner --planner-base-url)."
        )
    return model.base_url


def _without_refused(setup: Setup) -> tuple[Setup, tuple[str, ...]]:
    """Leave out the scenarios that a decider refuses, where nobody named any.

    A scenario that somebody installs may be one that a script of ours knows nothing of: then the
    others are decided as before, and a line says what is left out.
    """
    first = {question.scenario: question for question in reversed(setup.questions.questions)}
    refused: dict[str, str] = {}
    for scenario, question in first.items():
        try:
            for name in setup.deciders_of(scenario):
                setup.deciders[name].check(question)
        except UsageError as error:
            refused[scenario] = str(error)
    kept = tuple(scenario for scenario in first if scenario not in refused)
    if not kept or not refused:
        return setup, ()
    lines = (
        f"{scenario}: left out, as nobody named it (scenarios, --scenarios): {problem}"
        for scenario, problem in sorted(refused.items())
    )
    return replace(setup, questions=setup.questions.select(kept)), tuple(lines)


def _check(setup: Setup) -> tuple[str, ...]:
    """Let deciders refuse what they could never decide, before anything is asked.

    Returns
    -------
    tuple of str
        By the scenarios that some of them decide alone, a line that says what they leave out.

    Raises
    ------
    UsageError
        A decider refuses a scenario, or none of them decides any.
    """
    asked = setup.questions.questions
    first = {question.scenario: question for question in reversed(asked)}
    # Those of a scenario are alike; of a user's own each may lack what the others have.
    own = [question for question in asked if setup.questions.is_in_place(question)]
    for question in (*first.values(), *own):
        for name in setup.deciders_of(question.scenario):
            setup.deciders[name].check(question)
    if not any(setup.deciders_of(scenario) for scenario in first):
        raise UsageError(
            f"{setup.questions.name} has no question for any of these deciders: "
            f"{', '.join(f'{name} decides {_all_of(of)}' for name, of in setup.scenarios.items())}"
            f", and its questions are of {_all_of(sorted(first))}. Name others."
        )
    together: dict[tuple[str, ...], list[str]] = {}
    for name, decided in setup.scenarios.items():
        together.setdefault(decided, []).append(name)
    return tuple(
        f"{', '.join(names)}: decided on questions of {_all_of(decided)} alone; those of "
        f"{_all_of(left)} are left out."
        for decided, names in together.items()
        if (left := sorted(set(first) - set(decided)))
    )


def _all_of(names: Sequence[str]) -> str:
    return " and ".join(names)
