"""Scenarios that are registered by one test are unknown to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.scenarios import Scenario, catalogue, register

FIFTH = Path(__file__).parent / "fifth"
"""A stranger's scenario, ``suppliers``, and a small release of its questions."""


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget, after each test, what it registered."""
    monkeypatch.setattr(catalogue, "_registered", {})


@pytest.fixture
def suppliers() -> Scenario:
    """Register the stranger's scenario."""
    return register(FIFTH / "suppliers")
