"""The workers of one run: who is ready, who makes what, and what becomes of the dead.

It knows no cluster but by what `Cluster` says, so how workers die can be tested without one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from dqa.core.decision import Decision, Ending, Usage
from dqa.core.errors import BudgetSpentError, InfrastructureError
from dqa.core.events import EndingEvent
from dqa.evaluation.engines.backlog import MOST_DEATHS, Backlog
from dqa.evaluation.engines.remote import Problem
from dqa.evaluation.making import unjudged

if TYPE_CHECKING:
    from dqa.evaluation.keys import DecisionKey
    from dqa.evaluation.making import Made
    from dqa.evaluation.plan import Setup, Task
    from dqa.models.budget import Budget

_LOOK_SECONDS = 0.5
"""How often a run looks for Ctrl-C, and for room."""
_ROOM_SECONDS = 120.0
"""How long a run without any worker waits for room in the cluster."""
_FAILED_STARTS = 5
"""Workers that may die in a row before one has begun."""
_GROUPS_KNOWN = 8
"""Groups that are remembered to be open at a worker."""
_CLOSING_SECONDS = 3.0


class WorkerDiedError(Exception):
    """A worker died, or its node, or what it made was lost with one."""


class LostClusterError(InfrastructureError):
    """The cluster itself went away: nobody is left who could make what is left."""


class Cluster(Protocol):
    """What a crew asks of a cluster; all but `dismiss` may raise `LostClusterError`."""

    def hire(self, recipe: bytes, shared: tuple[Any, ...]) -> tuple[Any, Any]:
        """Start a worker; return it, and what tells when it is ready."""
        ...

    def begin(self, worker: Any, keys: Sequence[DecisionKey], spent: Usage) -> Any:  # noqa: ANN401
        """Let a worker decide; return what tells when it has."""
        ...

    def wait(self, references: Sequence[Any], seconds: float) -> list[Any]:
        """Return which of these are there, after some seconds at the latest."""
        ...

    def fetch(self, reference: Any) -> Any:  # noqa: ANN401
        """Return what is there; `WorkerDiedError` where nothing will be."""
        ...

    def dismiss(self, workers: Iterable[Any], seconds: float) -> None:
        """End workers, which have some seconds to close what they have open.

        It raises nothing, whatever became of them: it follows what may have ended a run.
        """
        ...


@dataclass(eq=False)
class _Hand:
    """A worker, by what its crew knows of it."""

    recipe: bytes
    threads: int
    worker: Any
    is_ready: bool = False
    is_alone: bool = False
    is_gone: bool = False
    under_way: int = 0
    opened: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class _Batch:
    """What a worker makes at present; without tasks, it prepares itself."""

    hand: _Hand
    tasks: tuple[Task, ...] = ()
    began: float = field(default_factory=time.monotonic)


class Crew:
    """Makes the decisions of a run by workers, who stay until it is closed.

    Parameters
    ----------
    cluster
        Where they work.
    recipes
        What each of them builds its run from: as many workers as there are recipes.
    shared
        What all of them are given beside it.
    threads
        Batches that each of them makes at once.
    """

    def __init__(
        self,
        cluster: Cluster,
        recipes: Sequence[bytes],
        shared: tuple[Any, ...],
        threads: Sequence[int],
    ) -> None:
        self._cluster = cluster
        self._vacant = [*zip(recipes, threads, strict=True)]
        self._shared = shared
        self._slots = sum(threads)
        self._hands: list[_Hand] = []
        self._under_way: dict[Any, _Batch] = {}
        self._failed_starts = 0
        self._is_making = False

    def decide(
        self,
        tasks: Sequence[Task],
        setup: Setup,
        budget: Budget | None,
        on_made: Callable[[Task, Made], None],
    ) -> None:
        """Make all decisions; errors are those of `dqa.evaluation.run.carry_out`.

        Raises
        ------
        InfrastructureError
            The cluster has no room, or no worker begins, or it went away (`LostClusterError`).
        """
        self._backlog = Backlog(tasks, self._slots)
        self._setup, self._budget, self._on_made = setup, budget, on_made
        self._tasks = {task.key: task for task in tasks}
        self._waiting_since = time.monotonic()
        self._is_making = True
        while self._vacant:
            self._hire(*self._vacant.pop(0))
        while self._hand_out():
            for reference in self._cluster.wait([*self._under_way], _LOOK_SECONDS):
                self._take(self._under_way.pop(reference), reference)
            self._check_room()
        self._is_making = False

    def close(self) -> None:
        """End the workers: at once, where they still make what somebody has given up."""
        workers = [hand.worker for hand in self._hands]
        self._cluster.dismiss(workers, 0.0 if self._is_making else _CLOSING_SECONDS)

    def _hire(self, recipe: bytes, threads: int) -> None:
        worker, ready = self._cluster.hire(recipe, self._shared)
        hand = _Hand(recipe, threads, worker)
        self._hands.append(hand)
        self._under_way[ready] = _Batch(hand)

    def _hand_out(self) -> bool:
        """Give everybody who is free something to do; return whether anything is to wait for."""
        self._stop_where_spent()
        for hand in self._hands:
            while hand.is_ready and not hand.is_alone and hand.under_way < hand.threads:
                batch, hand.is_alone = self._backlog.next_for(hand.opened, idle=not hand.under_way)
                if not batch:
                    break
                self._begin(hand, batch)
        return bool(self._backlog) or any(batch.tasks for batch in self._under_way.values())

    def _begin(self, hand: _Hand, tasks: tuple[Task, ...]) -> None:
        spent = Usage() if self._budget is None else self._budget.spent
        group = tasks[0].group
        hand.opened = [*(one for one in hand.opened if one != group), group][-_GROUPS_KNOWN:]
        hand.under_way += 1
        reference = self._cluster.begin(hand.worker, [task.key for task in tasks], spent)
        self._under_way[reference] = _Batch(hand, tasks)

    def _take(self, batch: _Batch, reference: Any) -> None:  # noqa: ANN401
        """Take what a worker has made, or note that it is ready, or that it died."""
        hand = batch.hand
        try:
            found = self._cluster.fetch(reference)
        except WorkerDiedError as error:
            self._bury(batch, str(error))
            return
        if isinstance(found, Problem):
            raise found.error("" if batch.tasks else "where a worker was to begin")
        if not batch.tasks:
            hand.is_ready, self._failed_starts = True, 0
            return
        hand.under_way -= 1
        hand.is_alone = False
        self._backlog.took(len(found), time.monotonic() - batch.began)
        for made in found:
            self._keep(self._tasks[made.result.key], made)

    def _keep(self, task: Task, made: Made) -> None:
        if self._budget is not None:
            self._budget.spend(made.trace.usage + made.lost)
        self._on_made(task, made)
        if made.trace.ending is Ending.BUDGET:
            # What is under way ends the same way by itself; the rest is not asked.
            self._backlog.clear()

    def _stop_where_spent(self) -> None:
        """End the next decision, and with it the run, where the budget leaves no room for it."""
        if self._budget is None or not self._backlog:
            return
        try:
            self._budget.check()
        except BudgetSpentError as error:
            (task, *_), _ = self._backlog.next_for((), idle=True)
            event = EndingEvent.of(Ending.BUDGET, 0, str(error))
            decision = Decision(Ending.BUDGET, error=str(error), trace=(event,))
            self._keep(task, unjudged(task, self._setup, decision))

    def _bury(self, batch: _Batch, problem: str) -> None:
        """Let others do what a worker died over, and put another worker in its place."""
        hand = batch.hand
        if batch.tasks:
            for task in self._backlog.give_back(batch.tasks):
                self._give_up(task, problem)
        else:
            self._failed_starts += 1
            if self._failed_starts >= _FAILED_STARTS:
                raise InfrastructureError(
                    f"{self._failed_starts} workers died one after another before they could "
                    f"begin: {problem} On a cluster, every node needs this package."
                )
        if not hand.is_gone:
            hand.is_gone = True
            self._hands.remove(hand)
            self._cluster.dismiss([hand.worker], 0.0)
            self._waiting_since = time.monotonic()
            self._hire(hand.recipe, hand.threads)

    def _give_up(self, task: Task, problem: str) -> None:
        told = f"{MOST_DEATHS} workers died while they made this decision: {problem}"
        event = EndingEvent(kind="crashed", problem=told)
        decision = Decision(Ending.CRASHED, error=told, trace=(event,))
        self._keep(task, unjudged(task, self._setup, decision))

    def _check_room(self) -> None:
        if any(hand.is_ready for hand in self._hands):
            self._waiting_since = time.monotonic()
        elif time.monotonic() - self._waiting_since > _ROOM_SECONDS:
            raise InfrastructureError(
                f"No worker was ready within {_ROOM_SECONDS:.0f} seconds: each takes a processor, "
                "on a cluster one of a node that has room. Free some, or add a node."
            )
