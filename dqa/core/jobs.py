"""Independent jobs that run here or on other machines.

A `Mapper` gets data and a function that can be sent to another process. It decides where the jobs
run. Their results and the order of these are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


class Mapper(Protocol):
    """Runs jobs."""

    @property
    def slots(self) -> int:
        """How many jobs run at once."""
        ...

    def map(self, work: Callable[[_Job], _Result], jobs: Iterable[_Job]) -> Iterator[_Result]:
        """Yield the result of each job, in the order of the jobs.

        Parameters
        ----------
        work
            A function of a module, so that another process can import it. Its exceptions are
            raised here, in place of its result.
        jobs
            Data that can be pickled. They are read when needed; jobs that are not read do not run.
        """
        ...


class InOrder:
    """Runs each job in this thread when its result is read."""

    slots = 1

    def map(self, work: Callable[[_Job], _Result], jobs: Iterable[_Job]) -> Iterator[_Result]:
        """Yield the result of each job."""
        return map(work, jobs)


IN_ORDER = InOrder()
