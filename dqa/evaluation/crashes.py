"""Bugs: what a decider, a plug-in or a driver raised that nobody expects.

One bug ends one decision, which is never judged; the run goes on. What is the same for every
decision (a wrong key, a name, a plug-in that cannot be loaded) stops a run as before, and so do ten
crashes in a row.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from dqa.core.decision import Decision, Ending
from dqa.core.endings import ending_of
from dqa.core.errors import CrashError, DataError, PluginError, UsageError
from dqa.core.events import EndingEvent

if TYPE_CHECKING:
    from dqa.evaluation.traces import Trace

MOST_IN_A_ROW = 10
"""Crashes after which a run stops: what is broken is broken for every question."""

_STOPS = (UsageError, DataError, PluginError)
"""Errors that the user has to fix before anything else is decided."""


def ended_by(error: Exception, seconds: float = 0.0) -> Decision:
    """Return the decision that an error ended, or raise the error where it ends the whole run.

    Parameters
    ----------
    error
        What was raised where a decision was made or judged.
    seconds
        How long the decision took until then.
    """
    if isinstance(error, _STOPS):
        raise error
    ending, problem, outage = ending_of(error)
    trace: tuple[EndingEvent, ...] = ()
    if ending is Ending.CRASHED:
        lines = "".join(traceback.format_exception(error))
        trace = (EndingEvent(kind="crashed", problem=problem, traceback=lines),)
    return Decision(ending, seconds=seconds, error=problem, outage=outage, trace=trace)


class Crashes:
    """Counts the crashes of a run, and says when it has to stop. Used by one thread at a time.

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
