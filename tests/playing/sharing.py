"""Plays errands in a process of its own, for the test of several that play one run.

``python -m tests.playing.sharing PLACE``
"""

from __future__ import annotations

import sys

import pytest

import dqa
from dqa.evaluation.options import RunOptions
from tests.playing.test_attempts import Learning
from tests.worlds.errand import register

GAMES = 10


def play(place: str | None) -> dqa.Run:
    """Play the run."""
    options = RunOptions(isolation="none", workers=2)
    return dqa.play("errand", Learning(), games=GAMES, out=place, options=options)


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        register(patch)
        play(sys.argv[1])
