"""Observers: who is told of every decision that is made in this process, whoever asked for it.

This module imports nothing heavy, so that a test run can observe without paying for what its tests
do not use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from dqa.evaluation.traces import Trace

Observer: TypeAlias = "Callable[[Trace], object]"
"""Is given each decision with everything that led to it; may be called by several threads."""

_observers: list[Observer] = []
_changing = Lock()


@contextmanager
def observe_decisions(observer: Observer) -> Iterator[None]:
    """Tell `observer` of every decision that `ask` and `evaluate` make until the block ends.

    What it raises reaches whoever asked for the decision.
    """
    with _changing:
        _observers.append(observer)
    try:
        yield
    finally:
        with _changing:
            _observers.remove(observer)


def tell_observers(trace: Trace) -> Trace:
    """Tell all observers of a decision, and return it."""
    for observer in tuple(_observers):
        observer(trace)
    return trace
