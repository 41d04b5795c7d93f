"""A scenario that is not one of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.scenarios import Scenario, register

FIFTH = Path(__file__).parent / "fifth"
"""A stranger's scenario, ``suppliers``, and a small release of its questions."""


@pytest.fixture
def suppliers() -> Scenario:
    """Register the stranger's scenario."""
    return register(FIFTH / "suppliers")
