"""Progress of runs and steps of decisions, shown on stderr.

If stderr is not a terminal, only warnings are printed.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, TypeVar

from dqa.api.watching import Watcher
from dqa.cli.output import echo, report_defects
from dqa.core import events
from dqa.core.recorder import DecisionWatcher
from dqa.core.text import counted, shortened, visible

if TYPE_CHECKING:
    from dqa.core.budgets import Prices
    from dqa.core.decision import Usage
    from dqa.evaluation.games import GameSetup
    from dqa.evaluation.prepare import PreparedRun
    from dqa.evaluation.results import Result

_REPAIRED = frozenset({"after_stop", "unsupported"})
"""Faults that are not reported, because the reply arrived."""
_LONGEST = 72
"""Maximum number of characters that are shown of a statement."""
_Item = TypeVar("_Item")


def track(items: Sequence[_Item], what: str = "Loading") -> Iterable[_Item]:
    """Return the items, and show a progress bar with the number of processed items."""
    from rich import progress
    from rich.console import Console

    hidden = not sys.stderr.isatty()
    return progress.track(items, what, console=Console(stderr=True), disable=hidden)


class Progress(Watcher):
    """Prints the defects in the data of a run, then shows the progress of the run.

    Attributes
    ----------
    total
        Number of decisions of the run.
    done
        Number of decisions that this process or another process has made.
    """

    def __init__(self, *, verbose: bool = False) -> None:
        from rich import progress
        from rich.console import Console

        self.total = self.done = 0
        self._verbose = verbose
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[detail]}", markup=False),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )
        self._plays = False
        self._correct = self._failed = self._elsewhere = 0
        self._counting = threading.Lock()
        self._printed: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def _start(self, what: str, total: int, done: int = 0, detail: str = "") -> None:
        """Show a progress bar for a new task."""
        self._bar.start()
        self._task = self._bar.add_task(visible(what), total=total, completed=done, detail=detail)

    def started(self, setup: PreparedRun | GameSetup, done: int) -> None:
        """Print the defects in the data, and show the progress bar."""
        from dqa.evaluation.prepare import PreparedRun

        for warning in setup.warnings:
            self._warn(warning)
        self.total, self.done = len(setup.tasks), done
        if isinstance(setup, PreparedRun):
            report_defects(setup.questions.defects, self._verbose)
            self._start("Deciding", self.total, done, "0 correct")
        else:
            self._plays = True
            self._start("Playing", self.total, done, "0 failed")

    def training(self, players: Sequence[str]) -> None:
        """Show the progress bar for training players."""
        self._start(f"Training {', '.join(players)}", len(players))

    def advanced(self, done: int, iterations: int) -> None:
        """Show the progress of training a single player."""
        self._bar.update(self._task, completed=done, total=iterations)

    def trained(self, player: str) -> None:
        """Advance the progress bar by one trained player."""
        del player
        self._bar.advance(self._task)

    def unreadable(self, text: str) -> None:
        """Print the reason why a stored player cannot be read."""
        self._warn(text)

    def decided(self, result: Result) -> None:
        """Advance the progress bar by one decision."""
        from dqa.evaluation.results import Outcome

        with self._counting:
            self.done += 1
        self._correct += result.outcome is Outcome.CORRECT
        self._failed += result.outcome.repeated
        detail = f"{self._failed} failed" if self._plays else f"{self._correct} correct"
        self._bar.update(self._task, completed=self.done, detail=detail)

    def decided_elsewhere(self, count: int) -> None:
        """Update the number of decisions that other processes have made for this run."""
        with self._counting:
            self.done += count - self._elsewhere
            self._elsewhere = count
        self._bar.update(self._task, completed=self.done)

    def faulted(self, fault: events.FaultEvent) -> None:
        """Print a failed model call if it is the first of its kind.

        The traces contain all failures.
        """
        if fault.fault not in _REPAIRED:
            self._warn_once(fault.fault, step_line(fault) or "")

    def warned(self, warning: events.WarningEvent) -> None:
        """Print a warning if it is the first of its kind. The traces contain all warnings."""
        self._warn_once(warning.about, warning.text)

    def _warn_once(self, kind: str, text: str) -> None:
        if kind not in self._printed:
            self._printed.add(kind)
            self._warn(f"{text} (the traces contain further warnings of this kind)")

    def _warn(self, text: str) -> None:
        """Print a warning above the progress bar. Without a terminal, print it on stderr."""
        if self._bar.disable:
            echo(f"warning: {text}", err=True)
        else:
            line = f"warning: {visible(text)}"
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)


class Steps(DecisionWatcher):
    """Shows the steps of a decision while the decider works.

    Parameters
    ----------
    prices
        Token prices for the cost; None if the user gave no prices.
    """

    def __init__(self, prices: Prices | None = None) -> None:
        from rich.console import Console

        self._prices = prices
        shown = sys.stderr.isatty()
        self._console = Console(stderr=True, highlight=False, force_terminal=shown, quiet=not shown)
        self._status = self._console.status("Reading the database")
        self._spent = self._purpose = ""

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Hide the status while a reviewer uses the terminal."""
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()

    def asking(self, step: int) -> None:
        """Show that the model is thinking."""
        self._status.update(f"Step {step}: thinking{self._purpose}{self._spent}")

    def happened(self, event: events.Event, usage: Usage) -> None:
        """Print a line for an important event."""
        if tokens := usage.input_tokens + usage.output_tokens:
            known = None if self._prices is None else self._prices.known_cost(usage)
            cost = "" if known is None else f", cost {known:.4f}"
            self._spent = f"  ({tokens:,} tokens{cost})"
        if isinstance(event, events.PromptEvent):
            self._purpose = "" if event.purpose is None else f" about {visible(event.purpose)}"
        if line := step_line(event):
            spends = not isinstance(event, events.FaultEvent | events.WarningEvent)
            text = f"{line}{self._spent}" if spends else line
            self._console.print(visible(text), markup=False, soft_wrap=True)


def step_line(event: events.Event) -> str | None:
    """Describe an event in one line; return None for an unimportant event."""
    match event:
        case events.ToolEvent():
            text = f"{shortened(event.statement, _LONGEST)} -> {_outcome(event)}"
        case events.PlanEvent():
            plan = "a plan" if event.kind == "plan" else "a new plan"
            text = f"{plan} of {len(event.text.strip().splitlines())} lines"
        case events.ParseFailureEvent():
            text = f"the reply has an error: {shortened(event.problem, _LONGEST)}"
        case events.FaultEvent():
            wait = event.wait
            after = "not asked again" if wait is None else f"asked again in {wait:.1f} s"
            text = f"attempt {event.attempt} failed, {after}: {event.message}"
        case events.WarningEvent():
            return f"warning: {event.text}"
        case _:
            return None
    return f"Step {event.step}: {text}"


def _outcome(event: events.ToolEvent) -> str:
    if event.error is not None:
        return f"failed: {shortened(event.observation, _LONGEST)}"
    cut = "" if event.cut is None else f", cut by the limit on {event.cut}"
    return f"{counted(event.row_count, 'row')}{cut}"
