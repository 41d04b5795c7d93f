"""Choose the next tasks of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from math import ceil

from dqa.evaluation.prepare import Group, Task
from dqa.evaluation.results import DecisionKey


class OpenTasks:
    """The tasks of a run without a stored decision.

    Attributes
    ----------
    remaining
        The tasks by their keys.
    """

    def __init__(self, tasks: Iterable[Task] = ()) -> None:
        self.remaining: dict[DecisionKey, Task] = {}
        self._remaining_of: dict[Group, dict[DecisionKey, Task]] = {}
        for task in tasks:
            self.remaining[task.key] = task
            self._remaining_of.setdefault(task.group, {})[task.key] = task

    def drop(self, keys: Iterable[DecisionKey]) -> None:
        """Remove tasks."""
        for key in keys:
            task = self.remaining.pop(key, None)
            if task is not None:
                of_group = self._remaining_of[task.group]
                del of_group[key]
                if not of_group:
                    del self._remaining_of[task.group]

    def choose(
        self, busy: set[DecisionKey], working: set[Group], most: int, groups: Sequence[Group | None]
    ) -> list[list[Task]]:
        """Return the next batches. If few tasks remain, the batches are about equally large.

        A batch contains tasks whose database the worker has open, then tasks whose database no
        worker has open, then other tasks. The running time of this function depends on the number
        of claimed tasks, not on the number of remaining tasks.

        Parameters
        ----------
        busy
            The claimed tasks.
        working
            The groups whose database a worker has open.
        most
            Maximum number of tasks in a batch.
        groups
            For each free worker, the group whose database it has open.
        """
        most = min(most, ceil(len(self.remaining) / max(len(groups), 1)))
        working, taken, batches = set(working), set(busy), []
        for own in sorted(groups, key=lambda group: group not in self._remaining_of):
            batch: list[Task] = []
            while len(batch) < most and (found := self._next_tasks(own, working, taken)):
                batch += islice(found, most - len(batch))
                taken |= {task.key for task in batch}
                working.add(batch[-1].group)
            if batch:
                batches.append(batch)
        return batches

    def _next_tasks(
        self, own: Group | None, working: set[Group], taken: set[DecisionKey]
    ) -> Iterator[Task] | None:
        """Return the free tasks of the group that suits a worker best; None if no task is free."""
        unopened = (group for group in self._remaining_of if group not in working)
        for group in chain([own], unopened, self._remaining_of):
            remaining = self._remaining_of.get(group, {}) if group is not None else {}
            free = (task for key, task in remaining.items() if key not in taken)
            first = next(free, None)
            if first is not None:
                return chain([first], free)
        return None
