"""Kuhn poker with players of its own."""

from __future__ import annotations

import pytest

from dqa.worlds.base import WorldFactory
from tests.playing.duel import register
from tests.worlds.errand import register as register_errand


@pytest.fixture
def duel(monkeypatch: pytest.MonkeyPatch) -> WorldFactory:
    """Let Kuhn poker be played by `tests.playing.duel`'s programs."""
    pytest.importorskip("pyspiel")
    return register(monkeypatch)


@pytest.fixture
def errand(monkeypatch: pytest.MonkeyPatch) -> WorldFactory:
    """Let there be a world of one player."""
    return register_errand(monkeypatch)
