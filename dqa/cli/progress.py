"""How far a command is: a bar, live on a terminal and silent everywhere else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self, TypeVar

from dqa.api.watching import Watcher
from dqa.cli.output import echo, report_defects
from dqa.cli.steps import fault_line
from dqa.core.text import visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from dqa.core.events import FaultEvent, WarningEvent
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.playing.setup import GameSetup
    from dqa.evaluation.results import Result

_MENDED = frozenset({"after_stop", "unsupported"})
"""Faults that cost nothing: the reply is there."""
_Item = TypeVar("_Item")


def track(items: Sequence[_Item], what: str = "Loading") -> Iterator[_Item]:
    """Yield the items, showing on stderr how far that is on a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich import progress as bar
    from rich.console import Console

    yield from bar.track(items, what, console=Console(stderr=True))


class Progress(Watcher):
    """Says what is wrong in the data of a run, then shows on stderr how far that is.

    Attributes
    ----------
    total, done
        Decisions of the whole run, and those that are made, by this process or another.
    """

    def __init__(self, *, verbose: bool) -> None:
        self.total = self.done = 0
        self._verbose = verbose
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._correct = self._failed = self._elsewhere = 0
        self._counting = threading.Lock()
        self._said: set[str] = set()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def started(self, built: BuiltRun, done: int) -> None:
        """Say what is wrong in the data, and begin to show."""
        for warning in built.warnings:
            echo(f"warning: {warning}", err=True)
        report_defects(built.setup.questions.defects, self._verbose)
        self.total, self.done = built.setup.size, done
        if sys.stderr.isatty():
            self._bar = self._open.enter_context(_bar("{task.fields[correct]} correct"))
            self._task = self._bar.add_task("Deciding", total=self.total, completed=done, correct=0)

    def training(self, players: Sequence[str]) -> None:
        """Begin to show how many of the players that learn were trained."""
        if not sys.stderr.isatty():
            return
        if self._bar is None:
            self._bar = self._open.enter_context(_bar(""))
        named = visible(", ".join(players))
        self._task = self._bar.add_task(f"Training {named}", total=len(players))

    def trained(self, player: str) -> None:
        """Show one player more."""
        del player
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=1)
            if self._bar.finished:
                self._open.close()
                self._bar = self._task = None

    def unreadable(self, text: str) -> None:
        """Say it at once."""
        echo(f"warning: {visible(text)}", err=True)

    def playing(self, setup: GameSetup, done: int) -> None:
        """Begin to show how many games were played."""
        for warning in setup.warnings:
            echo(f"warning: {warning}", err=True)
        self.total, self.done = setup.spec.size, done
        if sys.stderr.isatty():
            self._bar = self._open.enter_context(_bar("{task.fields[failed]} failed"))
            self._task = self._bar.add_task("Playing", total=self.total, completed=done, failed=0)

    def decided(self, result: Result) -> None:
        """Show one decision more."""
        from dqa.evaluation.results import Outcome

        with self._counting:
            self.done += 1
        self._correct += result.outcome is Outcome.CORRECT
        self._failed += result.outcome.repeated
        if self._bar is not None and self._task is not None:
            self._bar.update(
                self._task, completed=self.done, correct=self._correct, failed=self._failed
            )

    def decided_elsewhere(self, count: int) -> None:
        """Show what other processes have made of the same run."""
        with self._counting:
            self.done += count - self._elsewhere
            self._elsewhere = count
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self.done)

    def faulted(self, fault: FaultEvent) -> None:
        """Say the first failure of each kind at once: what follows waits, and is in the traces."""
        if fault.fault not in _MENDED:
            self._say_once(fault.fault, fault_line(fault))

    def warned(self, warning: WarningEvent) -> None:
        """Say the first of each kind that a decision leaves out of account."""
        self._say_once(warning.about, warning.text)

    def _say_once(self, kind: str, told: str) -> None:
        if kind in self._said:
            return
        self._said.add(kind)
        line = f"warning: {visible(told)} (more of this kind is in the traces)"
        if self._bar is None:
            echo(line, err=True)
        else:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)


def _bar(told: str) -> Bar:
    from rich import progress as bar
    from rich.console import Console

    return bar.Progress(
        bar.TextColumn("{task.description}"),
        bar.BarColumn(),
        bar.MofNCompleteColumn(),
        bar.TextColumn(told),
        bar.TimeElapsedColumn(),
        bar.TimeRemainingColumn(),
        console=Console(stderr=True),
    )
