"""The Ray engine: jobs as Ray's tasks, decisions by actors that build the run from its spec.

This process plans and writes the store. Nothing but this module imports Ray, and it is imported
when a cluster is asked for.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

# Read when Ray is imported: nothing is sent to its makers, and no old way is warned of.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray as _ray
from ray import cloudpickle
from ray.exceptions import LocalRayletDiedError, RayError, RaySystemError, RayTaskError

from dqa.core.errors import CrashError, InfrastructureError, UsageError
from dqa.evaluation.engines.crew import Cluster, Crew, LostClusterError, WorkerDiedError
from dqa.evaluation.engines.remote import Problem, Worker, own_versions, work_out
from dqa.evaluation.engines.sending import needed_variables, pack_given, pack_recipes

if TYPE_CHECKING:
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.engines.base import Decide, GivenObjects
    from dqa.evaluation.making import Made
    from dqa.evaluation.options import CallOptions, RunOptions
    from dqa.evaluation.plan import Task

_Job = TypeVar("_Job")
_Worked = TypeVar("_Worked")

ray: Any = _ray
"""Ray types few of its functions."""
_OWN = "local"
"""The address by which Ray starts a cluster, though others may run here."""
_LISTENER_SECONDS = 5.0
_LOOK_SECONDS = 3.0
"""How often it is looked whether a cluster's head is there."""
_LOST_SECONDS = 20.0
"""How long a head may be away, as one that restarts is. After 60 seconds Ray ends this process."""
_AHEAD = 4
"""Jobs a slot that are under way or wait for one."""
_RETRIES = 2
"""How often a job is begun again whose worker died."""


@contextmanager
def connected(address: str | None) -> Iterator[RayEngine]:
    """Connect to the cluster that is named, or start an own one, until the context ends.

    Parameters
    ----------
    address
        Where its head is; None for what ``RAY_ADDRESS`` names, and without that an own cluster,
        whatever else runs on this machine.

    Raises
    ------
    InfrastructureError
        Nobody is there.
    UsageError
        The cluster's Ray or Python is another version.
    """
    if ray.is_initialized():  # by the caller, who ends it
        yield RayEngine()
        return
    quietly: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    # Else Ray puts the current directory on the workers' path. A job of Ray's client has none here.
    quietly["job_config"] = ray.job_config.JobConfig(_client_job=True)
    # Left alone, Ray would join whatever cluster somebody started on this machine.
    named = address or os.environ.get("RAY_ADDRESS") or _OWN
    try:
        _require_listener(named)
        ray.init(address=named, include_dashboard=False if named == _OWN else None, **quietly)
    except OSError as error:
        raise InfrastructureError(
            f"No Ray cluster answers at {_told(named)}: {_first_line(error)}. Name "
            "its head as host:6379 (--ray-address), or leave that out for a cluster started here."
        ) from error
    except (RuntimeError, ValueError, ImportError, OverflowError) as error:
        raise UsageError(
            f"engine='ray' (--engine ray): {_first_line(error)}"
            if named == _OWN
            else f"ray_address (--ray-address) {_told(named)}: {_first_line(error)}"
        ) from error
    try:
        yield RayEngine()
    finally:
        ray.shutdown()


def _told(named: str) -> str:
    """Return an address as it is told: with where it is from, where no option named it."""
    if named == _OWN:
        return "this machine"
    return f"{named} (RAY_ADDRESS)" if named == os.environ.get("RAY_ADDRESS") else named


def _require_listener(address: str) -> None:
    """Connect to a head at ``host:port`` and leave it: Ray itself waits for minutes for nobody."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), _LISTENER_SECONDS).close()


class _Head:
    """The head of the cluster that this process is connected to.

    Ray itself waits for a head that is gone, and then ends the process without a word of ours. So
    its port is looked at, and nothing more is asked of a cluster that is lost.
    """

    def __init__(self) -> None:
        self._address: str = ray.get_runtime_context().gcs_address
        self._looked = self._seen = time.monotonic()
        self.is_lost = False

    def look(self) -> None:
        """Raise `LostClusterError` where the head has been away for too long."""
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        try:
            _require_listener(self._address)
        except OSError as error:
            if now - self._seen > _LOST_SECONDS:
                raise self.lost(error) from error
        else:
            self._seen = now
        self._looked = time.monotonic()

    def lost(self, error: Exception) -> LostClusterError:
        """Take note that the cluster is lost, and return the error that says so."""
        self.is_lost = True
        return LostClusterError(
            f"The Ray cluster at {self._address} went away: {_first_line(error)}."
        )


class RayEngine:
    """A Ray cluster that this process is connected to."""

    def __init__(self) -> None:
        self._head = _Head()

    @property
    def slots(self) -> int:
        """The processors of the cluster."""
        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def cluster(self, threads: int) -> Cluster:
        """Return what a crew asks of the cluster, whose workers have so many threads each."""
        return _Cluster(threads, self._head)

    def map(self, work: Callable[[_Job], _Worked], jobs: Iterable[_Job]) -> Iterator[_Worked]:
        """Yield what `work` makes of each job, in order; jobs of workers that die begin again."""
        remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(work_out)
        versions, most = own_versions(), _AHEAD * self.slots
        under_way: deque[Any] = deque()
        try:
            for job in jobs:
                under_way.append(remote.remote(versions, _packed((work, job))))
                if len(under_way) >= most:
                    yield self._worked(under_way.popleft())
            while under_way:
                yield self._worked(under_way.popleft())
        finally:
            with suppress(RayError):
                for reference in () if self._head.is_lost else under_way:
                    ray.cancel(reference)

    def _worked(self, reference: Any) -> Any:  # noqa: ANN401
        while not ray.wait([reference], timeout=_LOOK_SECONDS)[0]:
            self._head.look()
        return _worked(reference)

    def deciding(
        self, built: BuiltRun, given: GivenObjects, calls: CallOptions, options: RunOptions
    ) -> Decide:
        """Return what makes a run's decisions by workers, a processor each.

        Raises
        ------
        UsageError
            What a Python caller passed cannot be sent to them.
        """
        packed = pack_given(given, _packed)
        environment = needed_variables(built)
        budget = built.connected.settings.calls.budget

        def decide(tasks: Sequence[Task], on_made: Callable[[Task, Made], None]) -> None:
            if not tasks:
                return
            most = min(self.slots, len(tasks), calls.max_concurrency or len(tasks))
            threads = [options.workers] * most
            recipes = pack_recipes(built, calls, options, threads, environment, _packed)
            shared = ray.put(_packed(built.setup.questions)), ray.put(packed)
            with closing(Crew(self.cluster(options.workers), recipes, shared, threads)) as crew:
                crew.decide(tasks, built.setup, budget, on_made)

        return decide


class _Cluster:
    """What a crew asks of Ray.

    Parameters
    ----------
    threads
        Of each worker.
    head
        The cluster's head.
    """

    def __init__(self, threads: int, head: _Head) -> None:
        self._head = head
        self._remote = ray.remote(Worker).options(
            num_cpus=1, max_concurrency=threads, max_restarts=0, max_task_retries=0
        )

    def hire(self, recipe: bytes, shared: tuple[Any, ...]) -> tuple[Any, Any]:
        """Start a worker; return it, and what tells when it is ready."""
        # Secrets go to a method: what an actor is made with is kept by the cluster's head.
        with self._there():
            worker = self._remote.remote()
            return worker, worker.prepare.remote(own_versions(), recipe, *shared)

    def begin(self, worker: Any, keys: Sequence[Any], spent: Any) -> Any:  # noqa: ANN401
        """Let a worker decide; return what tells when it has."""
        with self._there():
            return worker.decide.remote(keys, spent)

    def wait(self, references: Sequence[Any], seconds: float) -> list[Any]:
        """Return which of these are there, after some seconds at the latest."""
        done: list[Any]
        self._head.look()
        with self._there():
            done, _ = ray.wait(list(references), num_returns=1, timeout=seconds)
            if done:  # what has come meanwhile, too
                done, _ = ray.wait(list(references), num_returns=len(references), timeout=0)
        return done

    def fetch(self, reference: Any) -> Any:  # noqa: ANN401
        """Return what is there; `WorkerDiedError` where the worker or what it made is gone."""
        try:
            return ray.get(reference)
        except RayTaskError:
            raise
        except LocalRayletDiedError as error:
            raise self._head.lost(error) from error
        except RayError as error:
            raise WorkerDiedError(_first_line(error)) from error

    def dismiss(self, workers: Iterable[Any], seconds: float) -> None:
        """End workers; those that make nothing close what they have open first."""
        workers = [] if self._head.is_lost else list(workers)
        with suppress(RayError):
            ends = [worker.close.remote() for worker in workers] if seconds else []
            if ends:
                ray.wait(ends, num_returns=len(ends), timeout=seconds)
        for worker in workers:
            with suppress(RayError):  # it is gone, or the cluster is
                ray.kill(worker)

    @contextmanager
    def _there(self) -> Iterator[None]:
        """Tell what Ray says of a cluster that is not there any more."""
        try:
            yield
        except (LocalRayletDiedError, RaySystemError) as error:
            raise self._head.lost(error) from error


def _worked(reference: Any) -> Any:  # noqa: ANN401
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


def _packed(value: object) -> bytes:
    dumps: Any = cloudpickle.dumps
    packed: bytes = dumps(value)
    return packed


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
