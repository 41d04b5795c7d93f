"""Deciders by name, with the model they ask: what ``eval`` and ``ask`` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dqa.cli import options
from dqa.cli.calling import Calling
from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa.core.decider import Decider
    from dqa.deciders.base import DeciderFactory, Examples

__all__ = ["NO_MODEL", "Asking", "model_line"]

NO_MODEL = "none"
"""What results call the model of a decider that asks none."""


@dataclass(frozen=True, slots=True)
class _Model:
    """A chat model by its name, and where it is; servers often give theirs the same name."""

    name: str
    url: str | None


@dataclass(frozen=True, slots=True)
class Asking:
    """The model that deciders ask, and what bounds them: all of it bears on results."""

    model: options.Model = "scripted:analyst"
    base_url: options.BaseUrl = None
    planner: options.Planner = None
    planner_base_url: options.PlannerUrl = None
    protocol: options.Protocol = "react"
    seed: options.Seed = 0
    max_steps: options.MaxSteps = 20
    row_limit: options.RowLimit = 200
    settings: options.Settings = None

    def deciders(
        self,
        names: Sequence[str],
        calling: Calling,
        resumed: Path | None = None,
        rules: str | None = None,
        examples: Examples | None = None,
    ) -> tuple[dict[str, Decider], dict[str, str]]:
        """Return deciders by name, and the name of the model behind each.

        A decider that needs no model leaves it alone, so no key is asked for on its behalf.

        Parameters
        ----------
        names
            The deciders.
        calling
            How models are called.
        resumed
            The folder of the run that goes on, whose spending counts; None for a new run.
        rules
            The rule set that agents simulate by; None for each scenario's first.
        examples
            Where agents that are shown an example take it from; None where there is none.

        Raises
        ------
        UsageError
            A planner is named and no decider has one, or a setting that none of them has.
        """
        from dqa import plugins
        from dqa.core.database import Limits
        from dqa.core.decision import Usage
        from dqa.deciders.base import Settings, share_options
        from dqa.evaluation.store import usage_so_far

        factories = {name: plugins.decider(name) for name in names}
        chosen = options.pairs_in(
            "--set", self.settings or (), "NAME=VALUE, e.g. dellma.samples=16"
        )
        self._check(factories)
        options_of = share_options(factories.values(), chosen)
        models = {name: self._models(made) for name, made in factories.items()}
        chats = self._chats(tuple(models.values()), calling, resumed=resumed is not None)
        spent = Usage() if resumed is None else usage_so_far(resumed)
        settings = Settings(
            max_steps=self.max_steps,
            limits=Limits(rows=self.row_limit),
            calls=calling.policy(self.seed, spent),
            protocol=self.protocol,
            rules=rules,
            planner=None if self._planning is None else chats.get(self._planning),
            examples=examples,
        )
        chat = chats.get(self._retrieving)
        deciders = {
            name: made(chat, replace(settings, options=options_of[name]))
            for name, made in factories.items()
        }
        asked = {name: " + ".join(model.name for model in models[name]) for name in names}
        return deciders, {name: told or NO_MODEL for name, told in asked.items()}

    def _check(self, factories: Mapping[str, DeciderFactory]) -> None:
        """Refuse a planner or protocol that no decider would use: it was meant for another one."""
        if self.planner is None and self.planner_base_url is not None:
            raise UsageError("--planner-base-url says where the model of --planner is: name one.")
        if self.planner is not None and not any(made.planner_apart for made in factories.values()):
            raise UsageError(
                f"--planner {self.planner} would not be asked: none of {', '.join(factories)} lets "
                "another model plan, as planrag-two-models does."
            )
        if not any(self.protocol in made.protocols for made in factories.values()):
            raise UsageError(
                f"--protocol {self.protocol} would change nothing: {', '.join(factories)} and "
                "their models talk in one way only. Leave it out."
            )

    @property
    def _retrieving(self) -> _Model:
        return _Model(self.model, self.base_url)

    @property
    def _planning(self) -> _Model | None:
        """The planner; it is where the other model is, unless its provider is another."""
        if self.planner is None:
            return None
        same_provider = self.planner.split(":", 1)[0] == self.model.split(":", 1)[0]
        return _Model(
            self.planner, self.planner_base_url or (self.base_url if same_provider else None)
        )

    def _models(self, made: DeciderFactory) -> tuple[_Model, ...]:
        """Return the models that a decider asks, the planning one first."""
        if not made.needs_model:
            return ()
        planning = self._planning if made.planner_apart else None
        return (self._retrieving,) if planning is None else (planning, self._retrieving)

    def _chats(
        self, asked: Sequence[tuple[_Model, ...]], calling: Calling, *, resumed: bool
    ) -> dict[_Model, BaseChatModel]:
        """Return the chat models; no key is asked for where none is needed."""
        from dqa.models.registry import Connection, chat_model

        used = tuple(dict.fromkeys(model for models in asked for model in models))
        if not used:
            return {}
        names = tuple(dict.fromkeys(model.name for model in used))
        cassette = calling.cassette(names, resume=resumed)
        return {
            model: chat_model(
                model.name, Connection(model.url, calling.timeout, cassette), self.seed
            )
            for model in used
        }


def model_line(model: str) -> str:
    """Return the line that says who answered; a program is never taken for a language model."""
    from dqa.models.registry import is_scripted

    if model == NO_MODEL:
        return "Model: none (a baseline asks no model)."
    parts = model.split(" + ")
    programs = [part for part in parts if is_scripted(part)]
    if not programs:
        return f"Model: {model}."
    if len(programs) == len(parts):
        return f"Model: {model}. A scripted program, not a language model."
    return f"Model: {model}. Of these, {programs[0]} is a program, not a language model."
