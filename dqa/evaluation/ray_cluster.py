"""Ray clusters: jobs as Ray's tasks, decisions by actors that build the run from its spec.

This process plans and stores. Only this module imports Ray.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeVar

# Read when Ray is imported: no usage statistics, no warnings about old ways.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
# A thread that still waits after the end must not start another cluster.
os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")

import ray as _ray
from ray import cloudpickle
from ray.exceptions import LocalRayletDiedError, RayError, RayTaskError

from dqa.core.decision import Usage
from dqa.core.errors import CrashError, InfrastructureError, UsageError
from dqa.evaluation.connecting import GivenObjects
from dqa.evaluation.executors import CLOSING_SECONDS, Lane, LaneExecutor
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.remote import (
    Batch,
    Parcel,
    Problem,
    RemoteWorker,
    needed_variables,
    own_versions,
    work_out,
)
from dqa.evaluation.runner import WorkerDiedError

if TYPE_CHECKING:
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.options import CallOptions, RunOptions

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

ray: Any = _ray
"""Ray types few of its functions."""
_OWN: Final = "local"
"""The address by which Ray starts a cluster, though others may run here."""
_CONNECT_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 3.0
_LOST_SECONDS: Final = 20.0
"""How long a head may be away, as one that restarts is. After 60 seconds Ray ends this process."""
_ROOM_SECONDS: Final = 120.0
"""How long a worker may wait for a processor."""
_AHEAD: Final = 4
"""Jobs per slot that run or wait."""
_RETRIES: Final = 2
"""How often a job is begun again after its worker died."""


@contextmanager
def connected(address: str | None) -> Iterator[RayCluster]:
    """Connect to a cluster, or start one, until the context ends.

    Parameters
    ----------
    address
        Its head; None for the value of ``RAY_ADDRESS``, or else for a cluster of our own.

    Raises
    ------
    InfrastructureError
        No cluster answers.
    UsageError
        The cluster has another version of Ray or Python.
    """
    if ray.is_initialized():  # by the caller, who ends it
        yield RayCluster()
        return
    # Left alone, Ray joins any cluster that someone started on this machine.
    named = address or os.environ.get("RAY_ADDRESS") or _OWN
    shown = f"{named} (RAY_ADDRESS)" if address is None and named != _OWN else named
    try:
        _require_listener(named)
        ray.init(
            address=named,
            include_dashboard=False if named == _OWN else None,
            log_to_driver=False,
            logging_level=logging.ERROR,
            # Otherwise Ray puts the current directory on the path of the workers.
            job_config=ray.job_config.JobConfig(_client_job=True),
        )
    except OSError as error:
        raise InfrastructureError(
            f"No Ray cluster answers at {shown}: {_first_line(error)}. Name its head as host:6379 "
            "(--ray-address), or leave that out for a cluster on this machine."
        ) from error
    except (RuntimeError, ValueError, ImportError, OverflowError) as error:
        option = "engine='ray' (--engine ray)" if named == _OWN else "ray_address (--ray-address)"
        raise UsageError(f"{option} {shown}: {_first_line(error)}") from error
    try:
        yield RayCluster()
    finally:
        ray.shutdown()


def _require_listener(address: str) -> None:
    """Connect to a head at ``host:port``, because Ray itself waits for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()


class RayCluster:
    """A Ray cluster that this process is connected to.

    Ray waits for a head that is gone, and then ends this process without a message. So its port is
    checked, and nothing more is asked of a lost cluster.

    Attributes
    ----------
    is_lost
        Whether the head is gone.
    has_worker
        Whether a worker has begun.
    """

    def __init__(self) -> None:
        self._address: str = ray.get_runtime_context().gcs_address
        self._checked = self._seen = time.monotonic()
        self.is_lost = False
        self.has_worker = False

    @property
    def slots(self) -> int:
        """The processors of the cluster."""
        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def wait(self, reference: Any) -> bool:  # noqa: ANN401
        """Wait some seconds for a result; return whether it is there.

        Raises
        ------
        InfrastructureError
            The head has been away for too long.
        """
        if self.is_lost:
            raise InfrastructureError(f"The Ray cluster at {self._address} is gone.")
        if ray.wait([reference], timeout=_LOOK_SECONDS)[0]:
            return True
        now = time.monotonic()
        if now - self._checked < _LOOK_SECONDS:
            return False
        try:
            _require_listener(self._address)
            self._seen = now
        except OSError as error:
            if now - self._seen > _LOST_SECONDS:
                self.is_lost = True
                raise InfrastructureError(
                    f"The Ray cluster at {self._address} is gone: {_first_line(error)}."
                ) from error
        self._checked = time.monotonic()
        return False

    def map(self, work: Callable[[_Job], _Result], jobs: Iterable[_Job]) -> Iterator[_Result]:
        """Yield the result of each job in order; a job whose worker dies begins again."""
        remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(work_out)
        versions, most = own_versions(), _AHEAD * self.slots
        running: deque[Any] = deque()
        try:
            for job in jobs:
                running.append(remote.remote(versions, _pack((work, job))))
                if len(running) >= most:
                    yield self._result(running.popleft())
            while running:
                yield self._result(running.popleft())
        finally:
            with suppress(RayError):
                for reference in () if self.is_lost else running:
                    ray.cancel(reference)

    def _result(self, reference: Any) -> Any:  # noqa: ANN401
        while not self.wait(reference):
            pass
        try:
            found = ray.get(reference)
        except RayTaskError:
            raise
        except RayError as error:
            raise CrashError(
                f"A job was given up: its worker died {_RETRIES + 1} times. {_first_line(error)}"
            ) from error
        if isinstance(found, Problem):
            raise found.error()
        return found

    def executor(
        self, built: BuiltRun, given: GivenObjects, calls: CallOptions, options: RunOptions
    ) -> LaneExecutor:
        """Return what makes the decisions of a run: one worker per processor.

        Raises
        ------
        UsageError
            A decider or a chat model cannot be sent to a worker.
        """
        count = min(self.slots, built.setup.size, calls.max_concurrency or self.slots)
        threads = [options.workers] * count
        environment = needed_variables(built)
        parcel = Parcel.of(built, given, calls, options, threads, _pack, environment)
        packed = ray.put(parcel.packed)
        lanes = [RayLane(self, parcel.versions, packed, *share) for share in parcel.shares]
        return LaneExecutor(lanes, options.workers)


class RayLane(Lane):
    """An actor of a cluster."""

    def __init__(self, cluster: RayCluster, *given: object) -> None:
        self._cluster = cluster
        self._given = given
        self._actor: Any = None
        self._is_closed = False

    def make(self, keys: Sequence[DecisionKey], used: Usage) -> Batch:
        """Make a batch."""
        try:
            if self._actor is None:
                self._start()
            batch: Batch = self._wait(self._actor.decide.remote(keys, used))
        except LocalRayletDiedError as error:
            self._cluster.is_lost = True
            raise InfrastructureError(f"The Ray cluster is gone: {_first_line(error)}.") from error
        except RayTaskError:
            raise
        except RayError as error:
            self._actor = None
            raise WorkerDiedError(_first_line(error)) from error
        return batch

    def _start(self) -> None:
        # A replacement gets no processor of its own: those of its node may be gone.
        cpus = 0 if self._cluster.has_worker else 1
        options = {"num_cpus": cpus, "max_restarts": 0, "scheduling_strategy": "SPREAD"}
        self._actor = ray.remote(RemoteWorker).options(**options).remote()
        # Secrets go to a method: the head keeps what an actor is made with.
        self._wait(self._actor.prepare.remote(*self._given), time.monotonic() + _ROOM_SECONDS)
        self._cluster.has_worker = True

    def _wait(self, reference: Any, until: float = inf) -> Any:  # noqa: ANN401
        while not self._cluster.wait(reference):
            if self._is_closed:
                raise InfrastructureError("The run has ended.")
            if time.monotonic() > until:
                raise InfrastructureError(
                    f"No worker began within {_ROOM_SECONDS:.0f} seconds: the first ones need a "
                    "processor of a node that has room. Free some, or add a node."
                )
        return ray.get(reference)

    def close(self, *, at_once: bool) -> None:
        """End the actor."""
        self._is_closed = True
        actor = self._actor
        if actor is None or self._cluster.is_lost:
            return
        with suppress(RayError):
            if not at_once:
                ray.wait([actor.close.remote()], timeout=CLOSING_SECONDS)
            ray.kill(actor)


def _pack(value: object) -> bytes:
    packed: bytes = cloudpickle.dumps(value)  # type: ignore[no-untyped-call]
    return packed


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
