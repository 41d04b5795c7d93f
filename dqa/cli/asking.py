"""Deciders by name, with the model they ask: what ``eval`` and ``ask`` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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

    def deciders(self, names: Sequence[str]) -> tuple[dict[str, Decider], dict[str, str]]:
        """Return deciders by name, and the name of the model behind each.

        A decider that needs no model leaves it alone, so no key is asked for on its behalf.
        """
        from dqa import plugins
        from dqa.databases.base import Limits
        from dqa.deciders.base import Settings
        from dqa.models.registry import chat_model

        factories = {name: plugins.decider(name) for name in names}
        asking = {name for name, made in factories.items() if made.needs_model}
        chat = chat_model(self.model, self.base_url, self.seed) if asking else None
        settings = Settings(max_steps=self.max_steps, limits=Limits(rows=self.row_limit))
        deciders = {name: made(chat, settings) for name, made in factories.items()}
        return deciders, {name: self.model if name in asking else NO_MODEL for name in names}


def model_line(model: str) -> str:
    """Return the line that says who answered; a program is never taken for a language model."""
    from dqa.models.registry import is_scripted

    if model == NO_MODEL:
        return "Model: none (a baseline asks no model)."
    scripted = " A scripted program, not a language model." if is_scripted(model) else ""
    return f"Model: {model}.{scripted}"
