"""The progress of a command: a bar on a terminal's stderr, and nothing anywhere else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Self, TypeVar

from dqa.api.watching import Watcher
from dqa.cli.output import echo, report_defects
from dqa.cli.steps import fault_line
from dqa.core.text import visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from dqa.core.events import FaultEvent, WarningEvent
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.playing.setup import GameSetup
    from dqa.evaluation.results import Result

_REPAIRED = frozenset({"after_stop", "unsupported"})
"""Faults that cost nothing: the reply is there."""
_Item = TypeVar("_Item")


def track(items: Sequence[_Item], what: str = "Loading") -> Iterator[_Item]:
    """Yield the items, and show how many the caller has taken."""
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    yield from progress.track(items, what, console=console, disable=not sys.stderr.isatty())


def open_bar(detail: str = "") -> Bar:
    """Return a started bar; it shows nothing if stderr is not a terminal."""
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn(detail),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=console,
        disable=not sys.stderr.isatty(),
    )
    bar.start()
    return bar


class Progress(Watcher):
    """Prints what is wrong in the data of a run, then shows its progress.

    Attributes
    ----------
    total, done
        Decisions of the whole run, and those that are made, by this process or another.
    """

    def __init__(self, *, verbose: bool) -> None:
        self.total = self.done = 0
        self._verbose = verbose
        self._bar: Bar | None = None
        self._correct = self._failed = self._elsewhere = 0
        self._counting = threading.Lock()
        self._printed: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _open(self, detail: str, what: str, total: int, done: int = 0) -> None:
        self._close()
        self._bar = open_bar(detail)
        self._task = self._bar.add_task(what, total=total, completed=done, correct=0, failed=0)

    def started(self, built: BuiltRun, done: int) -> None:
        """Print what is wrong in the data, and show the bar."""
        for warning in built.warnings:
            echo(f"warning: {warning}", err=True)
        report_defects(built.setup.questions.defects, self._verbose)
        self.total, self.done = built.setup.size, done
        self._open("{task.fields[correct]} correct", "Deciding", self.total, done)

    def playing(self, setup: GameSetup, done: int) -> None:
        """Show how many games were played."""
        for warning in setup.warnings:
            echo(f"warning: {warning}", err=True)
        self.total, self.done = setup.spec.size, done
        self._open("{task.fields[failed]} failed", "Playing", self.total, done)

    def training(self, players: Sequence[str]) -> None:
        """Show how many of the players that learn were trained."""
        self._open("", f"Training {visible(', '.join(players))}", len(players))

    def trained(self, player: str) -> None:
        """Count one trained player."""
        del player
        if self._bar is not None:
            self._bar.update(self._task, advance=1)
            if self._bar.finished:
                self._close()

    def unreadable(self, text: str) -> None:
        """Print the problem of a stored player."""
        echo(f"warning: {visible(text)}", err=True)

    def decided(self, result: Result) -> None:
        """Count one decision."""
        from dqa.evaluation.results import Outcome

        with self._counting:
            self.done += 1
        self._correct += result.outcome is Outcome.CORRECT
        self._failed += result.outcome.repeated
        self._update()

    def decided_elsewhere(self, count: int) -> None:
        """Count the decisions that other processes have made of the same run."""
        with self._counting:
            self.done += count - self._elsewhere
            self._elsewhere = count
        self._update()

    def _update(self) -> None:
        if self._bar is not None:
            self._bar.update(
                self._task, completed=self.done, correct=self._correct, failed=self._failed
            )

    def faulted(self, fault: FaultEvent) -> None:
        """Print the first failure of each kind at once; the others are in the traces."""
        if fault.fault not in _REPAIRED:
            self._print_once(fault.fault, fault_line(fault))

    def warned(self, warning: WarningEvent) -> None:
        """Print the first warning of each kind."""
        self._print_once(warning.about, warning.text)

    def _print_once(self, kind: str, text: str) -> None:
        if kind in self._printed:
            return
        self._printed.add(kind)
        line = f"warning: {visible(text)} (more of this kind is in the traces)"
        if self._bar is None or self._bar.disable:
            echo(line, err=True)
        else:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
