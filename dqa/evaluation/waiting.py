"""Waiting for what a decider is asked, no longer than it may take."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from threading import Lock, Thread
from time import monotonic
from typing import TypeVar

from dqa.core.decision import Decision, Ending, Usage
from dqa.core.events import Event
from dqa.core.recorder import DecisionWatcher, current_watcher, watched_by

_Answer = TypeVar("_Answer")

_LENIENCE = 2.0
"""How much longer a decision may take than its budget before nobody waits for it: one that keeps to
its budget by itself is never cut off."""

LONGEST_SILENCE = 600.0
"""Seconds without a request or an event after which nobody waits for a decider without a bound of
its own: a slow model goes on, and a call that never comes back is not waited for."""


class LateError(Exception):
    """What was asked for did not come in time; nobody waits for it any more.

    Parameters
    ----------
    decision
        The decision that was not made, with what was recorded until then.
    """

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.error)
        self.decision = decision


def call_within(call: Callable[[], _Answer], name: str, seconds: float | None) -> _Answer:
    """Return what a decider's call returns.

    Parameters
    ----------
    call
        It is made in a thread of its own, for nothing else ends the wait for code that does not
        come back.
    name
        The decider's.
    seconds
        How long it may take by its budget; it is waited for somewhat longer. With None it is waited
        for until nothing is recorded of it for `LONGEST_SILENCE` seconds.

    Raises
    ------
    LateError
        It did not come in time; nothing that comes later is kept.
    """
    found: list[_Answer] = []
    failed: list[BaseException] = []
    kept = _Kept(current_watcher())

    def make() -> None:
        try:
            with watched_by(kept):
                found.append(call())
        except BaseException as error:  # noqa: BLE001  (raised again by who waits)
            failed.append(error)

    asked = Thread(target=copy_context().run, args=(make,), daemon=True)
    began = monotonic()
    asked.start()
    problem = _wait_for(asked, kept, seconds)
    if failed:
        raise failed[0]
    if not found:
        raise LateError(kept.cut_off(f"{name} {problem}", monotonic() - began))
    return found[0]


class _Kept(DecisionWatcher):
    """Keeps what happened in a decision, and tells another watcher, until nobody waits for it."""

    def __init__(self, watcher: DecisionWatcher) -> None:
        self._watcher = watcher
        self._waiting = Lock()
        self._has_ended = False
        self._events: list[Event] = []
        self._usage = Usage()
        self._steps = 0
        self.heard = monotonic()

    def asking(self, step: int) -> None:
        """Take note that a model is asked."""
        with self._waiting:
            if not self._has_ended:
                self.heard, self._steps = monotonic(), step - 1
                self._watcher.asking(step)

    def happened(self, event: Event, usage: Usage) -> None:
        """Keep an event."""
        with self._waiting:
            if not self._has_ended:
                self.heard, self._usage = monotonic(), usage
                self._events.append(event)
                self._watcher.happened(event, usage)

    def cut_off(self, problem: str, seconds: float) -> Decision:
        """Return the decision that was not made; nothing that comes later is kept."""
        with self._waiting:
            self._has_ended = True
            return Decision(
                Ending.NO_DECISION,
                usage=self._usage,
                steps=self._steps,
                seconds=seconds,
                error=problem,
                trace=tuple(self._events),
                ended_by="budget: seconds",
            )


def _wait_for(asked: Thread, kept: _Kept, seconds: float | None) -> str:
    """Wait for a call as long as somebody does; return what is wrong where it did not come."""
    if seconds is not None:
        asked.join(_LENIENCE * seconds)
        return f"did not decide within {_LENIENCE * seconds:g} s"
    while asked.is_alive() and (left := kept.heard + LONGEST_SILENCE - monotonic()) > 0:
        asked.join(left)
    return f"did not decide, and nothing was heard of it for {LONGEST_SILENCE:g} s"
