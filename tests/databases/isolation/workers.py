"""What tests of isolation look at: statements that would never end, and processes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from dqa import Limits
from dqa.databases.isolation.pool import WorkerPool

SHORT = Limits(seconds=1.0)
NOISE = 1.0
"""Seconds for a machine that is busy with something else."""
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
DEAF = "SELECT instr(printf('%.8000000c', 'a'), printf('%.4000000c', 'a') || 'b')"
"""Compares texts for hours, and looks at no interrupt meanwhile."""
CRASH = "RETURN id(NULL)"
"""Ends LadybugDB with a segmentation fault."""


def pool_of(database: object) -> WorkerPool:
    """Return the workers behind a database."""
    pool: Any = database._session._pool  # type: ignore[attr-defined]
    assert isinstance(pool, WorkerPool)
    return pool


def numbers_of(pool: WorkerPool) -> list[int]:
    """Return the process numbers of idle workers."""
    return [worker._process._number for worker in pool._idle]  # type: ignore[attr-defined]


def is_running(number: int) -> bool:
    """Whether a process runs; a dead one that nobody has asked after does not."""
    try:
        return _facts_of(number)[0] != "Z"
    except FileNotFoundError:
        return False


def _facts_of(number: int) -> list[str]:
    """Return what Linux says of a process, from its state on."""
    return Path(f"/proc/{number}/stat").read_text("ascii").rsplit(")", 1)[1].split()


def _ticks_of(number: int) -> int:
    """Return for how many hundredths of a second a process has been calculating."""
    return int(_facts_of(number)[11])


def wait_until_busy(number: int) -> None:
    """Wait until a process runs its statement, however late it comes to that."""
    enough, until = _ticks_of(number) + 20, time.monotonic() + 60.0
    while _ticks_of(number) < enough:
        assert time.monotonic() < until, "the worker does nothing"
        time.sleep(0.01)


def wait_until_gone(*numbers: int) -> None:
    """Wait until processes have ended."""
    until = time.monotonic() + 10.0
    while any(map(is_running, numbers)):
        assert time.monotonic() < until, "a worker is left running"
        time.sleep(0.01)
