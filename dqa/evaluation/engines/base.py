"""Engines: who works jobs out and makes the decisions of a run, and how one is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError, UsageError
from dqa.core.jobs import IN_ORDER, Mapper
from dqa.evaluation.options import DEFAULT_ENGINE, EngineOptions

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa.core.decider import Decider
    from dqa.deciders.base import DeciderFactory
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.making import Made
    from dqa.evaluation.options import CallOptions, RunOptions
    from dqa.evaluation.plan import Task


Decide: TypeAlias = "Callable[[Sequence[Task], Callable[[Task, Made], None]], None]"
"""Makes and judges decisions, and hands each on as soon as it is there, one at a time."""


@dataclass(frozen=True, slots=True)
class GivenObjects:
    """What a Python caller passed that no name stands for; see `RunSpec.build`."""

    deciders: Mapping[str, Decider | DeciderFactory] = field(default_factory=dict)
    chats: Mapping[str, BaseChatModel] = field(default_factory=dict)


class Engine(Mapper, Protocol):
    """Works jobs out, and makes the decisions of a run."""

    def deciding(
        self, built: BuiltRun, given: GivenObjects, calls: CallOptions, options: RunOptions
    ) -> Decide | None:
        """Return what makes the decisions of a run; None for the threads of this process.

        Raises
        ------
        UsageError
            It cannot make them as they are asked for.
        """
        ...


class LocalEngine:
    """Work in this process: jobs in order, decisions by its threads."""

    slots = IN_ORDER.slots
    map = IN_ORDER.map

    def deciding(
        self, built: BuiltRun, given: GivenObjects, calls: CallOptions, options: RunOptions
    ) -> None:
        """Leave them to `dqa.evaluation.run`."""


def open_engine(
    options: EngineOptions = DEFAULT_ENGINE, calls: CallOptions | None = None
) -> AbstractContextManager[Engine]:
    """Open an engine; it ends with the context.

    Parameters
    ----------
    options
        Which one.
    calls
        How models are called, where decisions are to be made.

    Raises
    ------
    MissingKeyError
        Its package is not installed.
    UsageError
        It cannot do what is asked for.
    InfrastructureError
        A cluster cannot be reached.
    """
    if options.engine == "local":
        if getattr(options, "processes", 1) == 1:
            return nullcontext(LocalEngine())
        from dqa.evaluation.engines.process_engine import ProcessEngine

        _refuse_recording(calls, "processes (--processes)", "processes=1 (--processes 1)")
        return ProcessEngine()
    _refuse_what_needs_one_process(options, calls)
    try:
        from dqa.evaluation.engines.ray_engine import connected
    except ImportError as error:
        raise MissingKeyError(
            f"engine='ray' (--engine ray) needs the package {error.name}: {install_command('ray')}."
        ) from error
    return connected(options.ray_address)


def _refuse_what_needs_one_process(options: EngineOptions, calls: CallOptions | None) -> None:
    """Refuse what several processes cannot do together."""
    _refuse_recording(calls, "engine='ray' (--engine ray)", "the local engine")
    if getattr(options, "audit", None) is not None:
        raise UsageError(
            "audit (--audit) appends to one file, and engine='ray' (--engine ray) runs statements "
            "on machines that may not share it: audit with the local engine, or leave it out."
        )


def _refuse_recording(calls: CallOptions | None, several: str, one: str) -> None:
    if calls is not None and calls.record is not None:
        raise UsageError(
            f"record (--record) writes one file from one process, and {several} asks models from "
            f"several: record with {one}. What it records several can replay."
        )
