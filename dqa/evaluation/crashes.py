"""Bugs: unexpected errors of a decider, a plug-in or a driver.

One bug ends one decision, which is never judged; the run continues. Errors that are the same for
every decision (a wrong key or name, a plug-in that cannot be loaded) stop a run, and so do ten
crashes in a row.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from dqa.core.decision import Decision, Ending
from dqa.core.endings import ending_of
from dqa.core.errors import CrashError, DataError, PluginError, StoppedError, UsageError
from dqa.core.events import EndingEvent
from dqa.core.recorder import collect_recorders

if TYPE_CHECKING:
    from dqa.evaluation.traces import Trace

MOST_IN_A_ROW = 10
"""Crashes in a row after which a run stops, because every question would crash."""

_STOPS = (UsageError, DataError, PluginError)
"""Errors that the user has to fix before anything else is decided."""


def end_decision(decision: Decision, error: Exception) -> Decision:
    """Return a decision as an error ended it; raise the error if it ends the whole run.

    Evidence, events and usage from before stay; an answer does not.
    """
    if isinstance(error, _STOPS):
        raise error
    ending, problem, outage = ending_of(error)
    event = EndingEvent.of(ending, decision.steps, problem)
    if ending is Ending.CRASHED:
        lines = "".join(traceback.format_exception(error))
        event = EndingEvent(kind="crashed", problem=problem, traceback=lines)
    trace = (*decision.trace, event)
    return replace(
        decision,
        ending=ending,
        answer="",
        choice=None,
        error=problem,
        outage=outage,
        trace=trace,
    )


def decide_or_end(
    decide: Callable[[], Decision], where: str = "", *, debug: bool = False
) -> Decision:
    """Return a decision; if an error ends it, with everything that was recorded until then.

    Parameters
    ----------
    decide
        Makes the decision.
    where
        The decision, for the note of a traceback.
    debug
        Whether a bug raises its own error.
    """
    began = time.perf_counter()
    with collect_recorders() as recorders:
        try:
            return decide()
        except Exception as error:
            if debug and not isinstance(error, StoppedError):
                raise
            if where:
                error.add_note(f"It was raised at {where}.")
            parts = [recorder.decision(Ending.CRASHED) for recorder in recorders]
            seconds = time.perf_counter() - began
            return end_decision(Decision.join(parts, Ending.CRASHED, seconds=seconds), error)


class Crashes:
    """Counts the crashes of a run, and stops it after too many. Used by one thread at a time.

    Parameters
    ----------
    fail_fast
        Whether the first crash stops the run.
    """

    def __init__(self, *, fail_fast: bool = False) -> None:
        self._most = 1 if fail_fast else MOST_IN_A_ROW
        self._in_a_row = 0

    def count(self, name: str, decision: Decision | Trace) -> None:
        """Count one decision, made by or about `name`.

        Raises
        ------
        CrashError
            It is one crash too many.
        """
        if decision.ending is not Ending.CRASHED:
            self._in_a_row = 0
            return
        self._in_a_row += 1
        if self._in_a_row >= self._most:
            many = f"{self._in_a_row} decisions in a row" if self._most > 1 else "a decision"
            raise CrashError(
                f"The run was stopped: {many} crashed, the last at {name}: {decision.error}."
            )
