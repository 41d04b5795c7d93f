"""Scenarios that are registered by one test are unknown to the next."""

from __future__ import annotations

import pytest

from dqa.scenarios import catalogue


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget, after each test, what it registered."""
    monkeypatch.setattr(catalogue, "_registered", {})
