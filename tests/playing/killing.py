"""A run of games that kills its own process: ``python -m tests.playing.killing OUT GAMES``."""

from __future__ import annotations

import os
import signal
import sys

import dqa
from dqa.evaluation.results import Result
from tests.playing.duel import register


class _Patch:
    """Sets an attribute, like pytest's monkeypatch, and never takes it back."""

    setattr = staticmethod(setattr)


class _Killer(dqa.Watcher):
    """Kills the process once so many games were played."""

    def __init__(self, games: int) -> None:
        self._left = games

    def decided(self, result: Result) -> None:
        """Count."""
        del result
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    register(_Patch())
    out, most = sys.argv[1:]
    dqa.play(
        *("kuhn", ("uniform", "eager"), "uniform"),
        out=out,
        games=8,
        mirror=True,
        watcher=_Killer(int(most)),
    )
