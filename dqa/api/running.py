"""Begin, resume and store a run; `evaluate` and `play` differ only in their tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from dqa.api.runs import Run
from dqa.api.watching import Watcher
from dqa.core.decider import Decider
from dqa.core.decision import Usage
from dqa.core.errors import (
    CrashError,
    DatabaseUnavailableError,
    DataError,
    DqaError,
    InfrastructureError,
    ModelUnavailableError,
    PluginError,
    UsageError,
)
from dqa.core.files import describe_file_error
from dqa.deciders.base import DeciderFactory
from dqa.evaluation.connecting import Connected
from dqa.evaluation.executors import Executor
from dqa.evaluation.location import RunLocation, locate_run
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.plan import Task
from dqa.evaluation.record import AnySpec, GamesRecord, RunRecord, now, versions
from dqa.evaluation.results import Result
from dqa.evaluation.run_files import has_recorded, require_writable
from dqa.evaluation.runner import run_tasks
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.spec import ModelSpec
from dqa.evaluation.store import RunStore, name_run
from dqa.evaluation.stored_runs import RunReader
from dqa.report.hints import resume_command
from dqa.report.tables import how_to_report

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Named: TypeAlias = str | Decider | DeciderFactory
"""A decider: its name, or the object."""


class StoredWork:
    """A run under way: where it is stored, its options, and who watches it.

    Parameters
    ----------
    out, options, calls, watcher, resume, retry_failed
        As `evaluate` takes them.

    Attributes
    ----------
    location
        Where the run is stored; None for memory.
    earlier
        The record of the run that resumes; None for a new one.
    options, calls
        The given ones, or those of the run that resumes.
    """

    def __init__(  # noqa: PLR0913  (as `evaluate`)
        self,
        out: RunLocation | Path | str | None,
        options: RunOptions | None,
        calls: CallOptions | None,
        watcher: Watcher | None,
        *,
        resume: bool,
        retry_failed: bool,
    ) -> None:
        if (resume or retry_failed) and out is None:
            raise UsageError(
                "resume (--resume) and retry_failed (--retry-failed) continue a stored run: name "
                "it as out (--out)."
            )
        self.location = None if out is None else locate_run(out)
        self.earlier: RunRecord | None = None
        if resume and self.location is not None:
            stored = RunReader(self.location)
            self.location, self.earlier = stored.location, stored.record
        require_writable(self.location)  # before anything is read or asked
        recorded = self.earlier or RunRecord(spec=None)
        self.options = options or recorded.options
        self.calls = calls or recorded.calls
        self.watcher = watcher or Watcher()
        is_folder = self.location is not None and self.location.folder is not None
        self._retry_failed = retry_failed or resume or is_folder
        self._store: RunStore | None = None
        # A new run may continue the recording that this run began earlier, and no other.
        recording = None if resume or self.location is None else self.calls.record
        self._begun = recording if recording is not None and recording.exists() else None

    def used_elsewhere(self) -> Usage:
        """Return what the run has used outside of this process, as far as it knows."""
        return Usage() if self._store is None else self._store.used_elsewhere

    @property
    def may_continue_recording(self) -> bool:
        """Whether the run may continue its recording: it is new, or a run here began it."""
        if self.earlier is not None or self.location is None:
            return self.earlier is not None
        return self._begun is None or has_recorded(self.location, self._begun)

    @contextmanager
    def storing(
        self, spec: AnySpec, content_hash: str, planned: int, games: GamesRecord | None = None
    ) -> Iterator[RunStore]:
        """Open the store of the run, and close it; errors say what is stored, and how to resume."""
        record = RunRecord(
            spec=spec,
            content_hash=content_hash,
            planned=planned,
            began=now(),
            options=self.options,
            calls=self.calls,
            versions=versions(),
            games=games,
        )
        if self.location is not None and self._begun is not None:
            own = self.location.named(self.location.name or name_run(record))
            if not has_recorded(own, self._begun):
                raise UsageError(
                    f"--record {self._begun} has the replies of another run in "
                    f"{self.location.store}: name a new file."
                )
        store = RunStore(self.location, record, retry_failed=self._retry_failed)
        store.on_elsewhere = self.watcher.decided_elsewhere
        self._store = store
        with _handling_errors(store):
            yield store

    def decide(
        self,
        store: RunStore,
        tasks: Sequence[Task],
        executor: Executor,
        connected: Connected | None,
        shortcuts: Sequence[ShortcutChoices] = (),
    ) -> tuple[Result, ...]:
        """Make every decision that the store lacks; return the results of all."""
        store.add_shortcuts(shortcuts)
        if connected is not None and store.done < len(tasks):
            connected.check_reachable()
        return run_tasks(
            *(tasks, executor, store, self.watcher.decided),
            watcher=self.watcher,
            fail_fast=self.options.fail_fast,
        )

    def finish(self, store: RunStore, results: Sequence[Result], **found: Any) -> Run:  # noqa: ANN401  (fields of the run)
        """Return the run."""
        lost = store.lost
        if store.location is not None:
            lost = RunReader(store.location).lost(recorded=self.calls.record is not None)
        return Run(
            tuple(results),
            store.record.spec,
            store.location,
            store.record.planned,
            tuple(store.crashed),
            prices=self.calls.prices,
            abandoned=lost,
            made=store.added,
            **found,
        )


@contextmanager
def _handling_errors(store: RunStore) -> Iterator[None]:
    location = store.location
    stored = "" if location is None else f" Resume it with '{resume_command(location)}'."
    try:
        yield
        store.close()
        store.write_lines()
    except (DataError, ModelUnavailableError, PluginError, UsageError):
        store.discard()
        raise
    except DatabaseUnavailableError:
        raise
    except InfrastructureError as error:
        raise InfrastructureError(f"{error}{stored}") from error
    except OSError as error:
        problem = describe_file_error(error, None if location is None else location.file)
        if problem is None:
            raise
        raise InfrastructureError(f"{problem}{stored}") from error
    except CrashError as error:
        spec = store.record.spec
        repeated = spec is not None and spec.epochs > 1
        how = how_to_report(store.crashed[-1], location, repeated=repeated)
        raise CrashError(f"{error} {how}") from error
    finally:
        if not store.is_closed:
            store.close()
            with suppress(OSError, DqaError):  # the first error counts
                store.write_lines()


def name_deciders(
    named: Named | Sequence[Named],
) -> tuple[tuple[str, ...], dict[str, Decider | DeciderFactory]]:
    """Return the names of deciders, and the objects among them by name."""
    several = (named,) if isinstance(named, str | Decider | DeciderFactory) else tuple(named)
    names = tuple(one if isinstance(one, str) else one.name for one in several)
    return names, {one.name: one for one in several if not isinstance(one, str)}


def name_models(fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, BaseChatModel]]:
    """Return fields with names in place of chat models, and the chat models by these names.

    Raises
    ------
    UsageError
        A model is neither a name nor a chat model, or two models have the same name.
    """
    named: dict[str, Any] = dict(fields)
    chats: dict[str, BaseChatModel] = {}
    for field in {"model", "planner", "models"} & fields.keys():
        value = fields[field]
        if isinstance(value, list | tuple):
            named[field] = tuple(_name_model(field, one, chats) for one in value)
        else:
            named[field] = _name_model(field, value, chats)
    return named, chats


def _name_model(field: str, value: object, chats: dict[str, BaseChatModel]) -> object:
    """Return a model by its name, and add the chat model itself under it."""
    if value is None or isinstance(value, str | Mapping | ModelSpec):
        return value
    from langchain_core.language_models import BaseChatModel as ChatModel

    if not isinstance(value, ChatModel):
        raise UsageError(
            f"{field} is a {type(value).__name__}: give a name such as openai:gpt-5, or a "
            "chat model of LangChain's."
        )
    name = value.get_name()
    if chats.setdefault(name, value) is not value:
        raise UsageError(
            f"Two chat models are both called '{name}', one of them as {field}: give one of them "
            "another name."
        )
    return ModelSpec(name=name)
