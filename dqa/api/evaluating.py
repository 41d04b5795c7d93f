"""Evaluating: deciders decide questions on databases, and every decision is judged."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from dqa import plugins
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
from dqa.core.events import Event, FaultEvent, WarningEvent
from dqa.core.files import describe_file_error
from dqa.core.question_set import QuestionSet
from dqa.core.recorder import DecisionWatcher
from dqa.deciders.base import DeciderFactory
from dqa.evaluation.build import BuiltRun, build
from dqa.evaluation.connecting import GivenObjects
from dqa.evaluation.decision_spans import run_span
from dqa.evaluation.executors import check_engine, open_executor
from dqa.evaluation.location import RunLocation, locate_run
from dqa.evaluation.options import DEFAULT_CALLS, DEFAULT_RUN, CallOptions, RunOptions
from dqa.evaluation.plan import plan
from dqa.evaluation.prompts import prompts_of
from dqa.evaluation.record import RunRecord, now, require_questions, versions
from dqa.evaluation.results import Result
from dqa.evaluation.run_files import has_recorded, refuse_asked, require_writable
from dqa.evaluation.runner import Executor, run_tasks
from dqa.evaluation.shortcuts import ShortcutChoices, choose_by_shortcuts
from dqa.evaluation.spec import ModelSpec, RunSpec
from dqa.evaluation.store import RunStore, name_run
from dqa.evaluation.stored_runs import RunReader
from dqa.loaders.sources import GivenQuestions, QuestionSource
from dqa.report.hints import resume_command
from dqa.report.tables import how_to_report

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Named: TypeAlias = str | Decider | DeciderFactory
"""A decider: by its name, or itself."""


class Told(DecisionWatcher):
    """Hands on, from all threads, which calls of models failed and what decisions leave out."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._lock = threading.Lock()

    def happened(self, event: Event, usage: Usage) -> None:
        """Hand it on."""
        del usage
        if isinstance(event, FaultEvent):
            with self._lock:
                self._watcher.faulted(event)
        elif isinstance(event, WarningEvent):
            with self._lock:
                self._watcher.warned(event)


def evaluate(  # noqa: PLR0913  (each is a question of its own to the caller)
    what: RunSpec | QuestionSet | QuestionSource | None = None,
    deciders: Named | Sequence[Named] = (),
    *,
    out: RunLocation | Path | str | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    options: RunOptions | None = None,
    calls: CallOptions | None = None,
    watcher: Watcher | None = None,
    **fields: Any,  # noqa: ANN401  (fields of the spec)
) -> Run:
    """Let deciders decide questions on databases, and judge every decision.

    Parameters
    ----------
    what
        Questions, where they come from, or a whole spec, of which `deciders` and `fields` change
        what they name. A run that goes on knows them, unless a caller made them.
    deciders
        One or several: by name, or as they are.
    out
        Where results, traces and the spec are kept: a new folder; or a store, a SQLite file
        (``runs.db``) or the URL of a database, with the run's name behind ``#`` or named by what is
        evaluated, so that the same call goes on with its own run, and several processes may make
        one run together. None keeps results alone, in memory.
    resume
        Whether to go on with the run that `out` holds. All that it began with is known from there;
        what is given besides has to be the same. Passwords and keys are not kept: give the
        address with its password, or set the variable that the error names. Deciders and questions
        that a caller made are given again. What could not be judged is asked again.
    retry_failed
        Whether a run that goes on asks again what a failing server or a bug ended.
    options, calls
        How the run goes about its work, and how models are called: no result depends on these. By
        default as usual, or as in the run that goes on.
    watcher
        Is told how far the run is.
    **fields
        The other fields of a `RunSpec`: databases, model, rule_set, seed, max_steps, ... A model
        may be LangChain's chat model itself; its `name` is what results call it.

    Returns
    -------
    Run
        Every result, with summaries and a table.

    Raises
    ------
    UsageError
        Something cannot be as it is asked for.
    DataError
        The questions cannot be read.
    CrashError
        Too many decisions crashed.
    """
    if (resume or retry_failed) and out is None:
        raise UsageError(
            "resume (--resume) and retry_failed (--retry-failed) continue a stored run: name it as "
            "out (--out)."
        )
    location = None if out is None else locate_run(out)
    earlier = resumed = None
    if resume and location is not None:
        stored = RunReader(location)
        location, earlier = stored.location, stored.record
        why = f"'{resume_command(location, games=True)}' resumes it."
        resumed = require_questions(earlier.spec, str(location), why)
    options = options or (DEFAULT_RUN if earlier is None else earlier.options)
    calls = calls or (DEFAULT_CALLS if earlier is None else earlier.calls)
    named = (deciders,) if isinstance(deciders, str | Decider | DeciderFactory) else deciders
    names = tuple(made if isinstance(made, str) else made.name for made in named)
    named_fields, chats = name_models(fields)
    given = GivenObjects({made.name: made for made in named if not isinstance(made, str)}, chats)
    spec = _spec(what, names, named_fields, resumed)
    require_writable(location)  # before anything is read or asked
    check_engine(options, calls)
    spending = Spending(location)
    with ExitStack() as opened:
        built = opened.enter_context(
            closing(
                build(
                    spec,
                    calls=calls,
                    options=options,
                    resumed=spending if spending.is_resumed(calls, resume=resume) else None,
                    questions=what if isinstance(what, QuestionSet) else None,
                    given=given,
                )
            )
        )
        refuse_asked(location, built.setup.locations)
        opened.enter_context(run_span(built.setup))
        record = _record_of(built, options, calls)
        spending.require_own_recording(record)
        executor = opened.enter_context(open_executor(built, given, calls, options))
        is_folder = location is not None and location.folder is not None
        retry_failed = retry_failed or resume or is_folder
        store = RunStore(location, record, retry_failed=retry_failed)
        spending.follow(store)
        results, shortcuts = _make(built, executor, store, options, watcher or Watcher())
    return Run(
        results,
        built.spec,
        store.location,
        built.setup.size,
        tuple(store.crashed),
        built.setup.questions.defects,
        calls.prices,
        shortcuts,
        lost_usage(store, calls),
        made=store.added,
    )


def lost_usage(store: RunStore, calls: CallOptions) -> Usage:
    """Return the usage of a run that led to no decision."""
    if store.location is None:
        return store.lost
    return RunReader(store.location).lost(recorded=calls.record is not None)


class Spending:
    """What a run has used outside of this process; a budget calls it.

    A budget exists before its run is opened.

    Parameters
    ----------
    location
        Where the run is stored.
    """

    def __init__(self, location: RunLocation | None) -> None:
        self._location = location
        self._store: RunStore | None = None
        self._cassette: Path | None = None

    def __call__(self) -> Usage:
        """Return it, as far as this process knows."""
        return Usage() if self._store is None else self._store.used_elsewhere

    def is_resumed(self, calls: CallOptions, *, resume: bool) -> bool:
        """Whether the run may continue a recording: it is new, or a run here recorded it."""
        cassette = calls.record
        if resume or self._location is None:
            return resume
        if cassette is None or not cassette.exists():
            return True
        self._cassette = cassette
        return has_recorded(self._location, cassette)

    def require_own_recording(self, record: RunRecord) -> None:
        """Raise `UsageError` if another run of the store recorded the cassette of this one."""
        location = self._location
        if self._cassette is None or location is None:
            return
        if not has_recorded(location.named(location.name or name_run(record)), self._cassette):
            raise UsageError(
                f"--record {self._cassette} has the replies of another run in {location.store}: "
                "name a new file."
            )

    def follow(self, store: RunStore) -> None:
        """Ask a store from now on."""
        self._store = store


def _record_of(built: BuiltRun, options: RunOptions, calls: CallOptions) -> RunRecord:
    return RunRecord(
        spec=built.spec,
        content_hash=built.setup.questions.content_hash,
        planned=built.setup.size,
        began=now(),
        options=options,
        calls=calls,
        versions=versions(),
    )


def _make(
    built: BuiltRun,
    executor: Executor,
    store: RunStore,
    options: RunOptions,
    watching: Watcher,
) -> tuple[tuple[Result, ...], tuple[ShortcutChoices, ...]]:
    """Make every decision that the store lacks; return all, and the choices of the heuristics."""
    with handling_errors(store, repeated=built.spec.epochs > 1):
        shortcuts = choose_by_shortcuts(built.setup.questions, built.setup.places)
        store.add_context(prompts_of(built.connected.makers), shortcuts)
        watching.started(built, store.done)
        store.on_elsewhere = watching.decided_elsewhere
        if store.done < built.setup.size:
            built.connected.check_reachable()
        results = run_tasks(
            *(plan(built.setup), executor, store, watching.decided),
            watcher=Told(watching),
            fail_fast=options.fail_fast,
        )
    return results, shortcuts


@contextmanager
def handling_errors(store: RunStore, *, repeated: bool = False) -> Iterator[None]:
    """Close a store in the end; say in errors what is stored, and how to resume."""
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
        how = how_to_report(store.crashed[-1], location, repeated=repeated)
        raise CrashError(f"{error} {how}") from error
    finally:
        if not store.is_closed:
            store.close()
            with suppress(OSError, DqaError):  # the first error counts
                store.write_lines()


def _spec(
    what: RunSpec | QuestionSet | QuestionSource | None,
    names: tuple[str, ...],
    fields: Mapping[str, Any],
    earlier: RunSpec | None,
) -> RunSpec:
    """Return what is evaluated: what is given, and of a run that goes on what it has besides."""
    changed: dict[str, Any] = {**fields, **({"deciders": names} if names else {})}
    if isinstance(what, QuestionSet):
        what = GivenQuestions(
            name=what.name,
            content_hash=what.content_hash,
            in_place=all(map(what.is_in_place, what.questions)),
        )
    whole = what if isinstance(what, RunSpec) else earlier
    if whole is None and what is None:
        raise UsageError(
            "Give the questions, or where they come from; or resume a run that was kept."
        )
    if not isinstance(what, RunSpec | None):
        changed["questions"] = what
    if whole is not None:
        return whole.changed(**changed)
    return RunSpec(**({"deciders": default_deciders("evaluate")} | changed))


def name_models(fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, BaseChatModel]]:
    """Return fields with names in place of chat models, and the chat models by these names.

    Raises
    ------
    UsageError
        What is given as a model is none, or two models have the same name.
    """
    named: dict[str, Any] = dict(fields)
    chats: dict[str, BaseChatModel] = {}
    for field in ("model", "planner"):
        named |= {field: _named_model(field, named[field], chats)} if field in named else {}
    if "models" in named and not isinstance(named["models"], str):
        named["models"] = tuple(_named_model("models", one, chats) for one in named["models"])
    return named, chats


def _named_model(field: str, value: object, chats: dict[str, BaseChatModel]) -> object:
    """Return a model by its name, and keep the chat model itself by it."""
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


def default_deciders(use: str) -> tuple[str, ...]:
    """Return the deciders that are meant where none is named.

    Parameters
    ----------
    use
        What for: ``evaluate``, ``ask``, or ``reference``, whose retrievals tell questions apart.

    Raises
    ------
    UsageError
        None is installed: one has to be named.
    """
    meant = tuple(made.name for made in plugins.deciders() if use in made.default_for)
    if not meant and use != "reference":
        raise UsageError("No installed package sets a default decider; name one.")
    return meant
