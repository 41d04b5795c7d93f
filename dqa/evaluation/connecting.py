"""Look up deciders and connect their models, before the questions are read."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
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


_MODEL = "@"
"""Separates the name of a decider from the name of its model."""


@dataclass(frozen=True, slots=True)
class PassedObjects:
    """Deciders and chat models that a Python caller passed, by name."""

    deciders: Mapping[str, Decider | DeciderFactory] = field(default_factory=dict)
    chats: Mapping[str, BaseChatModel] = field(default_factory=dict)

    @property
    def sources(self) -> dict[str, str]:
        """The hashes of the files that define the caller's own deciders, by name of the decider.

        For a decider in a notebook, its class is hashed. A class without source code is left out.
        """
        hashes = {}
        for name, decider in self.deciders.items():
            own = decider.make if isinstance(decider, DeciderFactory) else type(decider)
            while isinstance(own, partial):
                own = own.func
            for part in (inspect.getmodule(own) or own, own):
                with suppress(OSError, TypeError):
                    source = inspect.getsource(part)
                    hashes[name] = hashlib.sha256(source.encode()).hexdigest()
                    break
        return hashes


@dataclass(frozen=True, slots=True)
class NamedDecider:
    """A decider of a run.

    Attributes
    ----------
    name
        The name of the decider in results.
    made
        The factory of the decider, or the decider itself if a Python caller passed it.
    model
        The model of the decider; ignored if the decider needs no model.
    options
        The settings that apply only to this decider.
    """

    name: str
    made: Decider | DeciderFactory
    model: ModelSpec
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs_model(self) -> bool:
        """Whether dqa connects a model for the decider."""
        return isinstance(self.made, DeciderFactory) and self.made.needs_model


def find_decider(
    name: str, objects: PassedObjects, programs: Collection[str] = ()
) -> Decider | DeciderFactory:
    """Return the passed decider of this name, or else the factory of this name.

    Raises
    ------
    UsageError
        A passed decider has the name of an installed decider or of one of the world's `programs`.
    """
    found = objects.deciders.get(name)
    if found is None:
        return plugins.decider(name)
    is_installed = name in plugins.names("decider") and found != plugins.decider(name)
    if is_installed or name in programs:
        raise same_name(name)
    return found


def same_name(name: str) -> UsageError:
    """Return the error for two deciders with the same name."""
    return UsageError(f"Two deciders have the name '{name}': rename yours.")


def decider_of(name: str, objects: PassedObjects) -> str:
    """Return the name of a decider without the model in ``decider@provider:model``."""
    return name if name in objects.deciders else name.partition(_MODEL)[0]


def named_decider(
    name: str, deciding: Deciding, objects: PassedObjects, programs: Collection[str] = ()
) -> NamedDecider:
    """Find a decider by its name in a spec: ``decider``, or ``decider@provider:model``.

    Raises
    ------
    UsageError
        The decider does not exist, it does not use the model in its name, or a passed decider has
        the name of another one (see `find_decider`).
    """
    own = decider_of(name, objects)
    found = NamedDecider(name, find_decider(own, objects, programs), deciding.model)
    if own == name:
        return found
    if not found.needs_model:
        raise UsageError(f"{name}: the decider '{own}' does not use a chat model: omit the model.")
    if ":" not in (model := name.removeprefix(f"{own}{_MODEL}")):
        raise UsageError(f"{name}: '{model}' is not a model: write {own}@provider:model.")
    return replace(found, model=deciding.model_named(model))


@dataclass(frozen=True, slots=True)
class Connected:
    """Deciders with connected models.

    Attributes
    ----------
    contestants
        The deciders by their names in results.
    settings
        The settings that all deciders share.
    chats
        For each epoch, the chat model of each `ModelSpec`.
    """

    contestants: Mapping[str, NamedDecider]
    settings: Settings
    chats: tuple[Mapping[ModelSpec, BaseChatModel], ...]

    @property
    def models(self) -> dict[str, str]:
        """The name of each decider's model, or `NO_MODEL`."""
        deciders = self.contestants.items()
        return {name: one.model.name if one.needs_model else NO_MODEL for name, one in deciders}

    @property
    def scenarios(self) -> Mapping[str, tuple[str, ...]]:
        """For each decider that supports only some scenarios, the names of these scenarios."""
        return {
            name: one.made.scenarios
            for name, one in self.contestants.items()
            if isinstance(one.made, DeciderFactory) and one.made.scenarios
        }

    def check_reachable(self) -> None:
        """Check that the servers of the models answer.

        Raises
        ------
        ModelUnavailableError
            No server answers at the address of a model.
        """
        if self.chats[0]:  # without models, do not import the model packages
            from dqa.models.registry import check_reachable

            for model, chat in self.chats[0].items():
                check_reachable(model.name, chat)

    def deciders(self, rule_set: str | None) -> tuple[Mapping[str, Decider], ...]:
        """Make new deciders for each epoch. Return them by name.

        Parameters
        ----------
        rule_set
            The rule set of the simulators; None for the first rule set of each simulator.
        """
        epochs = []
        for number, chats in enumerate(self.chats, 1):
            shared = replace(self.settings, rules=rule_set, epoch=number)
            epochs.append(
                {
                    name: one.made
                    if isinstance(one.made, Decider)
                    else one.made(chats.get(one.model), replace(shared, options=one.options))
                    for name, one in self.contestants.items()
                }
            )
        return tuple(epochs)


def connect(  # noqa: PLR0913  (each is a question of its own to the caller)
    deciding: Deciding,
    contestants: Sequence[NamedDecider],
    calls: CallOptions,
    *,
    epochs: int = 1,
    resumed: Callable[[], Usage] | None = None,
    given: PassedObjects = PassedObjects(),
) -> Connected:
    """Connect the models that deciders need. Only the API keys of these models are required.

    Parameters
    ----------
    deciding
        The settings and the limits of the deciders.
    contestants
        The deciders. This function sets their `options`.
    calls
        Options of model calls.
    epochs
        The number of repetitions of each question.
    resumed
        Required only if a run is resumed. Returns the tokens and calls of all other processes of
        this run, including processes that have ended.
    given
        Chat models that a Python caller passed as objects.

    Raises
    ------
    UsageError
        A setting belongs to none of the deciders, or none of the deciders supports the protocol.
    """
    factories = [one.made for one in contestants if isinstance(one.made, DeciderFactory)]
    asking = [one for one in factories if one.needs_model]
    if asking and not any(deciding.protocol in one.protocols for one in asking):
        raise UsageError(
            f"The deciders {', '.join(one.name for one in asking)} do not support protocol "
            f"{deciding.protocol}: choose another protocol (--protocol)."
        )
    options = share_options(factories, deciding.settings)
    used = tuple(dict.fromkeys(one.model for one in contestants if one.needs_model))
    chats = _chats(used, deciding, epochs, calls, given, resumed=resumed is not None)
    settings = Settings(
        max_steps=deciding.max_steps,
        max_parse_failures=deciding.max_parse_failures,
        limits=deciding.limits,
        display=deciding.display,
        calls=calls.policy(deciding.seed, resumed or Usage),
        protocol=deciding.protocol,
        budget=_priced(deciding.budget, calls) if used else deciding.budget,
    )
    deciders = (replace(one, options=options.get(one.made.name, {})) for one in contestants)
    return Connected({one.name: one for one in deciders}, settings, chats)


def _priced(budget: DecisionBudget, calls: CallOptions) -> DecisionBudget:
    """Add the prices of tokens to a budget that limits the cost."""
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
    objects: PassedObjects,
    *,
    resumed: bool,
) -> tuple[dict[ModelSpec, BaseChatModel], ...]:
    """Return the chat models of each epoch."""
    if not models:  # do not import model packages
        return ({},) * epochs
    from dqa.models.registry import Connection, chat_model, passed_model

    names = tuple(dict.fromkeys(model.name for model in models))
    cassette = calls.cassette(names, resume=resumed)

    def connected(model: ModelSpec, seed: int) -> BaseChatModel:
        if model.name in objects.chats:
            connection = Connection(cassette=cassette)
            return passed_model(model.name, objects.chats[model.name], connection)
        stored = {"--base-url": model.base_url, "--extra-body": model.parameters}
        for option, value in stored.items():
            if "***" in json.dumps(value):
                raise UsageError(
                    f"The stored {option} of {model.name} contains *** instead of a secret: give "
                    f"{option} again with its whole value."
                )
        connection = Connection(
            *(model.base_url, calls.timeout, cassette),
            reply_tokens=deciding.reply_tokens,
            parameters=model.parameters,
        )
        return chat_model(model.name, connection, seed, deciding.temperature)

    seeds = range(deciding.seed, deciding.seed + epochs)
    return tuple({model: connected(model, seed) for model in models} for seed in seeds)
