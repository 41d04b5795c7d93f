"""Register observers of every decision of this process.

This module imports only small modules, so that observing does not slow down test runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from dqa.evaluation.traces import Trace

Observer: TypeAlias = "Callable[[Trace], object]"
"""Receives each decision with its trace; several threads may call it."""

_observers: list[Observer] = []


@contextmanager
def observe_decisions(observer: Observer) -> Iterator[None]:
    """Call `observer` with every decision of `ask` and `evaluate` until the block ends.

    Errors of `observer` reach the caller of `ask` or `evaluate`.
    """
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


def tell_observers(trace: Trace) -> Trace:
    """Call all observers with a decision, and return it."""
    for observer in tuple(_observers):
        observer(trace)
    return trace
