"""Make decisions on a Ray cluster. Actors of the cluster build the run from its spec.

This process plans the decisions and stores their results. Only this module imports Ray.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

# Ray reads these when it is imported: no usage statistics, no deprecation warnings.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
# A thread that still waits after the run has ended must not start another cluster.
os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")

import ray as _ray
from ray import cloudpickle
from ray.exceptions import GetTimeoutError, LocalRayletDiedError, RayError, RayTaskError

from dqa.core.decision import Usage
from dqa.core.errors import InfrastructureError, UsageError
from dqa.evaluation.connecting import PassedObjects
from dqa.evaluation.executors import (
    CLOSING_SECONDS,
    Batch,
    Executor,
    Lane,
    RemoteWorker,
    needed_variables,
    pack_run,
    share_options,
)
from dqa.evaluation.runner import WorkerDiedError, WorkerNotStartedError

if TYPE_CHECKING:
    from dqa.evaluation.options import CallOptions, RunOptions
    from dqa.evaluation.prepare import PreparedRun, Task

ray: Any = _ray
"""Untyped, because Ray has types for only a few of its functions."""
_NEW_CLUSTER: Final = "local"
"""The address that makes Ray start a new cluster, even if another cluster runs on this machine."""
_CONNECT_SECONDS: Final = 5.0
_START_SECONDS: Final = 120.0
"""Maximum time to wait until a worker has a processor and its process has started."""
_PREPARING_SECONDS: Final = 900.0
"""Maximum time to wait until a worker has imported dqa and read the questions."""


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Connect to a cluster, or start one, until the context ends.

    Parameters
    ----------
    address
        Address of the head. None means the value of ``RAY_ADDRESS``; without this variable, a new
        cluster is started.

    Raises
    ------
    InfrastructureError
        No cluster answers.
    UsageError
        The cluster has another version of Ray or Python.
    """
    if ray.is_initialized():  # the caller started the cluster and ends it
        yield
        return
    # By default, Ray joins any cluster that someone started on this machine.
    named = address or os.environ.get("RAY_ADDRESS") or _NEW_CLUSTER
    try:
        _require_listener(named)
        ray.init(
            address=named,
            include_dashboard=False if named == _NEW_CLUSTER else None,
            log_to_driver=False,
            logging_level=logging.ERROR,
            # Otherwise Ray puts the current directory on the path of the workers.
            job_config=ray.job_config.JobConfig(_client_job=True),
        )
    except OSError as error:
        raise InfrastructureError(
            f"No Ray cluster answers at {named}: {_first_line(error)}. Give the address of its "
            "head as host:6379 (--ray-address or RAY_ADDRESS), or leave out the address to start a "
            "cluster on this machine."
        ) from error
    except (RuntimeError, ValueError, ImportError, OverflowError) as error:
        raise UsageError(
            f"The Ray cluster '{named}' (--engine ray, --ray-address) cannot be used: "
            f"{_first_line(error)}"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _require_listener(address: str) -> None:
    """Raise `OSError` if nothing listens at ``host:port``. Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()


def ray_executor(
    run: PreparedRun, objects: PassedObjects, calls: CallOptions, options: RunOptions
) -> Executor:
    """Return the executor of a run on the connected cluster: one worker per processor.

    Raises
    ------
    UsageError
        A decider or a chat model cannot be sent to a worker.
    """
    slots = max(1, int(ray.cluster_resources().get("CPU", 1)))
    count = min(slots, len(run.tasks), calls.max_concurrency or slots)
    packed = ray.put(pack_run(run, objects, cloudpickle.dumps, needed_variables(run)))
    shares = share_options(calls, options, [options.workers] * count)
    ready: set[RayLane] = set()
    return Executor([RayLane(ready, packed, *share) for share in shares], options.workers)


class RayLane(Lane):
    """A worker that is an actor of a cluster.

    All lanes share the set `ready`, which contains the lanes whose worker has started.
    """

    def __init__(self, ready: set[RayLane], *arguments: object) -> None:
        self._ready, self._arguments = ready, arguments
        self._actor: Any = None
        self._cpus = 1

    def make(self, tasks: Sequence[Task], used: Usage) -> Batch:
        """Make a batch."""
        died: type[WorkerDiedError] = WorkerNotStartedError
        try:
            if self._actor is None:
                options: dict[str, Any] = {"num_cpus": self._cpus, "max_restarts": 0}
                options["scheduling_strategy"] = "SPREAD"
                self._actor = ray.remote(RemoteWorker).options(**options).remote()
                self._cpus = 0  # a replacement must start even without a free processor
                ray.get(self._actor.__ray_ready__.remote(), timeout=_START_SECONDS)
                # Pass secrets to a method, because the head stores the arguments of a constructor.
                ray.get(self._actor.prepare.remote(*self._arguments), timeout=_PREPARING_SECONDS)
                self._ready.add(self)
            died = WorkerDiedError
            keys = [task.key for task in tasks]
            batch: Batch = ray.get(self._actor.decide.remote(keys, used))
        except LocalRayletDiedError as error:
            raise InfrastructureError(
                f"The connection to the Ray cluster was lost: {_first_line(error)}."
            ) from error
        except GetTimeoutError as error:
            if self._ready:  # other workers started: try again without reserving a processor
                ray.kill(self._actor)
                self._actor = None
                raise WorkerNotStartedError("the worker did not start in time") from error
            raise InfrastructureError(
                f"A worker did not start within {_START_SECONDS:.0f} seconds, or did not read the "
                f"questions within {_PREPARING_SECONDS:.0f} seconds: no processor was free, or a "
                "machine is too busy. Free some processors, or add a node."
            ) from error
        except RayTaskError:
            raise
        except RayError as error:
            self._actor = None
            self._ready.discard(self)
            raise died(_first_line(error)) from error
        return batch

    def close(self, *, is_busy: bool, at_once: bool) -> None:
        """End the actor."""
        if self._actor is None:
            return
        with suppress(RayError):
            if not (at_once or is_busy):
                ray.wait([self._actor.close.remote()], timeout=CLOSING_SECONDS)
            ray.kill(self._actor)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
