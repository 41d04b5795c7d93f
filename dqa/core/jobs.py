"""Jobs: what can be worked out piece by piece, here or on other machines.

Whoever has many pieces of work that need nothing of each other hands them to a `Mapper`, as data
and a function that can both be sent to another process. It decides where they are worked out; what
comes back is the same everywhere, and in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

_Job = TypeVar("_Job")
_Made = TypeVar("_Made")


class Mapper(Protocol):
    """Works jobs out."""

    @property
    def slots(self) -> int:
        """How many jobs are worked out at once."""
        ...

    def map(self, work: Callable[[_Job], _Made], jobs: Iterable[_Job]) -> Iterator[_Made]:
        """Yield what `work` makes of each job, in the order of the jobs.

        Parameters
        ----------
        work
            A function of a module, so that another process finds it. What it raises is raised here,
            in the place of what it would have made.
        jobs
            Data that can be pickled. They are taken as they are needed; who stops reading before
            the end leaves the rest undone.
        """
        ...


class InOrder:
    """Works jobs out in this thread, each when it is asked for."""

    slots = 1

    def map(self, work: Callable[[_Job], _Made], jobs: Iterable[_Job]) -> Iterator[_Made]:
        """Yield what `work` makes of each job."""
        return map(work, jobs)


IN_ORDER = InOrder()
