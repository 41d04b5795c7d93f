"""A scenario of another package."""

from __future__ import annotations

from pathlib import Path

FIFTH = Path(__file__).parent / "fifth"
"""Another package's scenario, ``suppliers``, and a small release of its questions."""
