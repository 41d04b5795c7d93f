"""The steps of a decision: a line each on a terminal's stderr, and nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Self

from dqa.core.events import (
    Event,
    FaultEvent,
    ParseFailureEvent,
    PlanEvent,
    PromptEvent,
    ToolEvent,
    WarningEvent,
)
from dqa.core.recorder import DecisionWatcher
from dqa.core.text import counted, shortened, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from dqa.core.decision import Usage
    from dqa.models.budget import Prices

_LONGEST = 72
"""Characters that are shown of a statement."""
_WORDS = {
    "RefusedStatementError": "refused",
    "NotApprovedError": "refused by you",
    "StatementTimeoutError": "stopped, as it took too long",
}


class Steps(DecisionWatcher):
    """Shows the steps of a decision while it is made.

    Parameters
    ----------
    prices
        The prices of tokens, if the user gave them.
    """

    def __init__(self, prices: Prices | None = None) -> None:
        self._prices = prices
        self._open = ExitStack()
        self._console: Console | None = None
        self._status: Status | None = None
        self._spent = self._purpose = ""

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console

            self._console = Console(stderr=True, highlight=False)
            self._status = self._open.enter_context(self._console.status("Reading the database"))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to a reviewer."""
        if self._status is not None:
            self._status.stop()
        try:
            yield
        finally:
            if self._status is not None:
                self._status.start()

    def asking(self, step: int) -> None:
        """Show that a model thinks."""
        if self._status is not None:
            self._status.update(f"Step {step}: thinking{self._purpose}{self._spent}")

    def happened(self, event: Event, usage: Usage) -> None:
        """Show a line for an event that matters to a person."""
        if self._console is None:
            return
        if tokens := usage.input_tokens + usage.output_tokens:
            known = None if self._prices is None else self._prices.known_cost(usage)
            cost = "" if known is None else f", cost {known:.4f}"
            self._spent = f"  ({tokens:,} tokens{cost})"
        if isinstance(event, PromptEvent):
            self._purpose = "" if event.purpose is None else f" about {visible(event.purpose)}"
        if line := step_line(event):
            spends = not isinstance(event, FaultEvent | WarningEvent)
            text = f"{line}{self._spent}" if spends else line
            self._console.print(visible(text), markup=False, soft_wrap=True)


def step_line(event: Event) -> str | None:
    """Return an event in one line; None for an unimportant one."""
    match event:
        case ToolEvent():
            text = f"{shortened(event.statement, _LONGEST)} -> {_outcome(event)}"
        case PlanEvent():
            plan = "a plan" if event.kind == "plan" else "a new plan"
            text = f"{plan} of {len(event.text.strip().splitlines())} lines"
        case ParseFailureEvent():
            text = f"the reply could not be used: {shortened(event.problem, _LONGEST)}"
        case FaultEvent():
            wait = event.wait
            after = "not asked again" if wait is None else f"asked again in {wait:.1f} s"
            text = f"attempt {event.attempt} failed, {after}: {event.message}"
        case WarningEvent():
            return f"warning: {event.text}"
        case _:
            return None
    return f"Step {event.step}: {text}"


def _outcome(event: ToolEvent) -> str:
    if event.error is not None:
        return _WORDS.get(event.error, f"failed: {shortened(event.observation, _LONGEST)}")
    rows = counted(event.row_count, "row")
    if event.cut is None:
        return rows
    of = "" if event.total is None else f" of {event.total:,}"
    return f"{rows}{of}, cut by the limit on {event.cut}"
