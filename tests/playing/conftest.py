"""Kuhn poker with players of its own."""

from __future__ import annotations

import pytest

from dqa.worlds.base import WorldFactory
from tests.playing.duel import register


@pytest.fixture
def duel(monkeypatch: pytest.MonkeyPatch) -> WorldFactory:
    """Let Kuhn poker be played by `tests.playing.duel`'s programs."""
    return register(monkeypatch)
