"""The progress bar of a run: live on a terminal, silent everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from dqa.evaluation.score import Result

__all__ = ["progress", "shown"]

_Item = TypeVar("_Item")


def shown(items: Sequence[_Item], what: str = "Loading") -> Iterator[_Item]:
    """Yield the items, showing on stderr how far that is on a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich import progress as bar
    from rich.console import Console

    yield from bar.track(items, what, console=Console(stderr=True))


@contextmanager
def progress(total: int, done: int = 0) -> Iterator[Callable[[Result], object]]:
    """Show how far a run is on stderr; yields what to call with each new result.

    Parameters
    ----------
    total
        Decisions of the whole run.
    done
        Decisions that an earlier start of it made.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich import progress as bar
    from rich.console import Console

    from dqa.evaluation.score import Outcome

    columns = (
        bar.TextColumn("{task.description}"),
        bar.BarColumn(),
        bar.MofNCompleteColumn(),
        bar.TextColumn("{task.fields[correct]} correct"),
        bar.TimeElapsedColumn(),
        bar.TimeRemainingColumn(),
    )
    with bar.Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task("Deciding", total=total, completed=done, correct=0)
        correct = 0

        def advance(result: Result) -> None:
            nonlocal correct
            correct += result.outcome is Outcome.CORRECT
            shown.update(task, advance=1, correct=correct)

        yield advance
