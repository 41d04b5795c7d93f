"""Look up deciders and connect their models, before the questions are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.core.budgets import DecisionBudget
from dqa.core.decider import Decider
from dqa.core.decision import Usage
from dqa.core.errors import UsageError
from dqa.deciders.base import DeciderFactory, Settings, share_options
from dqa.evaluation.options import CallOptions
from dqa.evaluation.results import NO_MODEL
from dqa.evaluation.spec import Deciding, ModelSpec

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


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
    """Deciders with connected models.

    Attributes
    ----------
    ready
        The deciders that a caller passed.
    contestants
        The factory, settings and model of every other decider, by its name in results.
    settings
        The settings that all deciders share.
    chats
        The chat models of each epoch.
    models
        The name of each decider's model, or `NO_MODEL`.
    warnings
        Differences between the package versions in a cassette and the installed versions.
    """

    ready: Mapping[str, Decider]
    contestants: Mapping[str, _ConnectedDecider]
    settings: Settings
    chats: tuple[Mapping[ModelSpec, BaseChatModel], ...]
    models: Mapping[str, str]
    warnings: tuple[str, ...]

    @property
    def scenarios(self) -> Mapping[str, tuple[str, ...]]:
        """The scenarios of each decider that supports only some scenarios."""
        return {
            name: made.factory.scenarios
            for name, made in self.contestants.items()
            if made.factory.scenarios
        }

    @property
    def makers(self) -> Mapping[str, Decider | DeciderFactory]:
        """The deciders that a caller passed, and the factories of all other deciders, by name."""
        return {**self.ready, **{name: one.factory for name, one in self.contestants.items()}}

    def check_reachable(self) -> None:
        """Check that the servers of the models answer.

        Raises
        ------
        ModelUnavailableError
            No server answers at the address of a model.
        """
        if self.chats[0]:  # otherwise, import no model packages
            from dqa.models.registry import check_reachable

            for model, chat in self.chats[0].items():
                check_reachable(model.called, chat)

    def deciders(self, rule_set: str | None) -> tuple[Mapping[str, Decider], ...]:
        """Make the deciders of each epoch, by name.

        Parameters
        ----------
        rule_set
            The rule set of the simulators; None for the first rule set of each simulator.
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
    """Look up deciders and connect the models that they need. Other API keys are not required.

    Parameters
    ----------
    deciding
        The model and the limits of the deciders.
    names
        The names of the deciders.
    calls
        Options of model calls.
    models
        Models for every decider. They replace the model of `deciding`.
    epochs
        The number of repetitions of each question.
    resumed
        Returns the usage of a resumed run outside of this process; None for a new run.
    given
        Deciders and chat models that a Python caller passed as objects.

    Raises
    ------
    UsageError
        No decider has one of the settings, or no decider supports the protocol.
    """
    ready = {name: made for name, made in given.deciders.items() if isinstance(made, Decider)}
    factories = {
        name: made if isinstance(made, DeciderFactory) else plugins.decider(name)
        for name, made in ((name, given.deciders.get(name)) for name in names if name not in ready)
    }
    if factories and not any(deciding.protocol in one.protocols for one in factories.values()):
        raise UsageError(
            f"The deciders {', '.join(factories)} do not support protocol {deciding.protocol}: "
            "choose another one (--protocol)."
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
    """Return for each decider its name in results for each model.

    With several models, the name is ``decider@model``. A decider without a model has one entry.
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
    """Return a budget with prices, if it limits the cost."""
    if budget.cost is None or budget.price_input is not None:
        return budget
    prices = calls.prices
    if prices is None:
        raise UsageError(
            "A budget in money (--max-cost) needs the prices of a million tokens: give "
            "--price-input and --price-output."
        )
    parts = ("input", "output", "cached", "reasoning")
    return replace(budget, **{f"price_{part}": getattr(prices, part) for part in parts})


def _chats(  # noqa: PLR0913  (each is a question of its own to the caller)
    models: Sequence[ModelSpec],
    deciding: Deciding,
    epochs: int,
    calls: CallOptions,
    given: GivenObjects,
    *,
    resumed: bool,
) -> tuple[tuple[dict[ModelSpec, BaseChatModel], ...], tuple[str, ...]]:
    """Return the chat models of each epoch, and warnings about package versions in the cassette."""
    if not models:  # do not import model packages
        return ({},) * epochs, ()
    from dqa.models.registry import Connection, chat_model, given_model

    names = tuple(dict.fromkeys(model.name for model in models))
    cassette = calls.cassette(names, resume=resumed)

    def connected(model: ModelSpec, seed: int) -> BaseChatModel:
        if model.name in given.chats:
            connection = Connection(cassette=cassette, reply_limit=calls.reply_limit)
            return given_model(model.name, given.chats[model.name], connection)
        stored = {"--base-url": model.base_url, "--extra-body": model.parameters}
        for option, value in stored.items():
            if "***" in json.dumps(value):
                raise UsageError(
                    f"The stored {option} of {model.name} contains *** instead of a secret: give "
                    f"the whole value ({option})."
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
