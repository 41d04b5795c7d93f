"""A scenario of another package."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.scenarios import Scenario, register

FIFTH = Path(__file__).parent / "fifth"
"""Another package's scenario, ``suppliers``, and a small release of its questions."""


@pytest.fixture
def suppliers() -> Scenario:
    """Register the scenario."""
    return register(FIFTH / "suppliers")
