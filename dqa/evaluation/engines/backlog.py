"""What is still to be decided, and who gets which of it next. Knows nothing of any cluster.

Decisions about one situation go to one worker as long as others have something of their own, so a
situation is loaded once; at the end, workers that are done help the others. Decisions are handed
out some at a time, as many as take about half a second, so that little is lost with a worker and
all are done at about the same time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence

from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.plan import Task

MOST_DEATHS = 3
"""Workers that may die of one decision, or beside it, before it is given up."""
_ALONE_FROM = 2
"""Deaths from which a decision is made by a worker that makes no other meanwhile."""
_SECONDS = 0.5
"""What a batch takes, as far as anybody knows."""
_MOST = 64
"""Most decisions of a batch."""


class Backlog:
    """The decisions of a run that are to be made. Used by one thread.

    Parameters
    ----------
    tasks
        In the order of the plan.
    slots
        How many batches are under way at once, over all workers.
    """

    def __init__(self, tasks: Iterable[Task], slots: int) -> None:
        self._slots = slots
        self._groups: dict[tuple[str, str], deque[Task]] = {}
        for task in tasks:
            self._groups.setdefault(task.group, deque()).append(task)
        self._taken: set[tuple[str, str]] = set()
        self._again: deque[Task] = deque()
        self._deaths: Counter[DecisionKey] = Counter()
        self._made, self._seconds = 0, 0.0

    def __len__(self) -> int:
        return len(self._again) + sum(map(len, self._groups.values()))

    def clear(self) -> None:
        """Forget what is left."""
        self._groups.clear()
        self._again.clear()

    def took(self, made: int, seconds: float) -> None:
        """Take note of how long a batch took."""
        self._made += made
        self._seconds += seconds

    def next_for(
        self, opened: Sequence[tuple[str, str]], *, idle: bool
    ) -> tuple[tuple[Task, ...], bool]:
        """Return what a worker is to make next, and whether it may make nothing else meanwhile.

        Parameters
        ----------
        opened
            The groups whose databases the worker has open, the latest last.
        idle
            Whether it makes nothing at present.
        """
        for _ in range(len(self._again)):
            task = self._again.popleft()
            alone = self._deaths[task.key] >= _ALONE_FROM
            if idle or not alone:
                return (task,), alone
            self._again.append(task)
        group = self._next_group(opened)
        if group is None:
            return (), False
        left = self._groups[group]
        batch = tuple(left.popleft() for _ in range(min(self._size(), len(left))))
        if not left:
            del self._groups[group]
        return batch, False

    def give_back(self, batch: Iterable[Task]) -> tuple[Task, ...]:
        """Take back what a worker died over, and return what is not to be tried again."""
        given_up: list[Task] = []
        for task in batch:
            self._deaths[task.key] += 1
            (given_up if self._deaths[task.key] >= MOST_DEATHS else self._again).append(task)
        return tuple(given_up)

    def _next_group(self, opened: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
        own = next((group for group in reversed(opened) if group in self._groups), None)
        new = own or next((group for group in self._groups if group not in self._taken), None)
        # Nothing of its own is left: it helps where most is.
        found = new or max(self._groups, key=lambda group: len(self._groups[group]), default=None)
        if found is not None:
            self._taken.add(found)
        return found

    def _size(self) -> int:
        if not self._made:
            return 1
        fitting = int(_SECONDS / max(self._seconds / self._made, _SECONDS / _MOST))
        return max(1, min(fitting, len(self) // (2 * self._slots)))
