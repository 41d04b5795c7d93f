"""Kuhn poker with players of its own."""

from __future__ import annotations

import pytest

from dqa import plugins
from dqa.worlds.base import WorldFactory
from tests.playing.duel import register
from tests.worlds.errand import ERRAND


@pytest.fixture
def duel(monkeypatch: pytest.MonkeyPatch) -> WorldFactory:
    """Let Kuhn poker be played by `tests.playing.duel`'s programs."""
    return register(monkeypatch)


@pytest.fixture
def errand(monkeypatch: pytest.MonkeyPatch) -> WorldFactory:
    """Let there be a world of one player."""
    names, world = plugins.names, plugins.world

    def known(kind: str) -> tuple[str, ...]:
        return (*names(kind), "errand") if kind == "world" else tuple(names(kind))

    monkeypatch.setattr(plugins, "names", known)
    monkeypatch.setattr(plugins, "world", lambda name: ERRAND if name == "errand" else world(name))
    return ERRAND
