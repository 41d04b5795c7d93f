"""Deciders by name, with the model they ask: what ``eval`` and ``ask`` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dqa.cli.calling import Calling

if TYPE_CHECKING:
    from dqa.deciders.base import Decider

__all__ = ["NO_MODEL", "Asking", "model_line"]

NO_MODEL = "none"
"""What results call the model of a decider that asks none."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The model that deciders ask, and what bounds them."""

    model: str
    base_url: str | None
    seed: int
    max_steps: int
    row_limit: int

    def deciders(
        self, names: Sequence[str], calling: Calling, resumed: Path | None = None
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
        """
        from dqa import plugins
        from dqa.databases.base import Limits
        from dqa.deciders.base import Settings
        from dqa.decision import Usage
        from dqa.evaluation.store import usage_so_far
        from dqa.models.registry import Connection, chat_model

        factories = {name: plugins.decider(name) for name in names}
        asking = {name for name, made in factories.items() if made.needs_model}
        chat = None
        if asking:
            cassette = calling.cassette((self.model,), resume=resumed is not None)
            connection = Connection(self.base_url, calling.timeout, cassette)
            chat = chat_model(self.model, connection, self.seed)
        spent = Usage() if resumed is None else usage_so_far(resumed)
        settings = Settings(
            max_steps=self.max_steps,
            limits=Limits(rows=self.row_limit),
            calls=calling.policy(self.seed, spent),
        )
        deciders = {name: made(chat, settings) for name, made in factories.items()}
        return deciders, {name: self.model if name in asking else NO_MODEL for name in names}


def model_line(model: str) -> str:
    """Return the line that says who answered; a program is never taken for a language model."""
    from dqa.models.registry import is_scripted

    if model == NO_MODEL:
        return "Model: none (a baseline asks no model)."
    scripted = " A scripted program, not a language model." if is_scripted(model) else ""
    return f"Model: {model}.{scripted}"
