"""Evaluate deciders: start, store and resume runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from dqa import plugins
from dqa.api.runs import Run
from dqa.api.watching import Watcher
from dqa.core import errors
from dqa.core.decider import Decider
from dqa.core.decision import Usage
from dqa.core.files import describe_file_error
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import DeciderFactory
from dqa.evaluation.connecting import PassedObjects, same_name
from dqa.evaluation.decide import run_span
from dqa.evaluation.executors import Executor, check_engine, open_executor
from dqa.evaluation.games import GameSetup
from dqa.evaluation.location import RunLocation, locate_run
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.play_spec import PlaySpec
from dqa.evaluation.prepare import PreparedRun, prepare
from dqa.evaluation.record import AnySpec, RunRecord, name_run, now, require_questions, versions
from dqa.evaluation.results import Result
from dqa.evaluation.runner import run_tasks
from dqa.evaluation.shortcuts import choose_by_shortcuts
from dqa.evaluation.spec import ModelSpec, RunSpec
from dqa.evaluation.store import RunStore
from dqa.evaluation.stored_runs import RunReader
from dqa.evaluation.writable import has_recorded, require_writable
from dqa.loaders.sources import PassedQuestions, QuestionSource
from dqa.report.hints import resume_command
from dqa.report.tables import how_to_report

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Named: TypeAlias = str | Decider | DeciderFactory
"""A decider or its name."""


class StoredWork:
    """A run in progress: its location, its options and its watcher.

    Parameters
    ----------
    out, options, calls, watcher, resume, retry_failed
        See `evaluate`.

    Attributes
    ----------
    location
        Where the run is stored; None for a run in memory.
    earlier
        The record of the run to resume; None for a new run.
    options, calls
        The caller's options. If the caller passed none, the recorded options of the run to resume.
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
            raise errors.UsageError(
                "resume (--resume) and retry_failed (--retry-failed) need a stored run: give its "
                "location as out (--out)."
            )
        self.location = None if out is None else locate_run(out)
        self.earlier: RunRecord | None = None
        if resume and self.location is not None:
            stored = RunReader(self.location)
            self.location, self.earlier = stored.location, stored.record
        require_writable(self.location)  # fail before questions are read and models are called
        recorded = self.earlier or RunRecord(spec=None)
        self.options, self.calls = options or recorded.options, calls or recorded.calls
        self.watcher = watcher or Watcher()
        is_folder = self.location is not None and self.location.folder is not None
        self._retry_failed = retry_failed or resume or is_folder
        self._may_change = resume
        self._store: RunStore | None = None
        # Only the run that started a recording may continue it.
        recording = None if resume or self.location is None else self.calls.record
        self._begun = recording if recording is not None and recording.exists() else None

    @property
    def resumed(self) -> Callable[[], Usage] | None:
        """A function that returns the run's usage in earlier and in other processes.

        None if the run cannot be resumed, for example because it is not stored.
        """
        if self.location is None or not self._may_continue(self.location):
            return None
        return lambda: Usage() if self._store is None else self._store.used_elsewhere

    def _may_continue(self, location: RunLocation) -> bool:
        return self._begun is None or has_recorded(location, self._begun)

    @contextmanager
    def storing(
        self,
        spec: AnySpec,
        content_hash: str,
        planned: int,
        objects: PassedObjects,
        history: str = "",
    ) -> Iterator[RunStore]:
        """Open the store of the run until the block ends. Errors say how to resume the run."""
        record = RunRecord(
            spec=spec,
            content_hash=content_hash,
            planned=planned,
            began=now(),
            options=self.options,
            calls=self.calls,
            versions=versions(),
            sources=objects.sources,
            history=history,
        )
        if self.location is not None:
            own = self.location.named(self.location.name or name_run(record))
            if not self._may_continue(own):
                raise errors.UsageError(
                    f"The file {self._begun} (--record) already contains the replies of another "
                    "run: choose a new file."
                )
        how = {"retry_failed": self._retry_failed, "may_change": self._may_change}
        self._store = store = RunStore(self.location, record, **how)
        store.on_elsewhere = self.watcher.decided_elsewhere
        with _handling_errors(store):
            yield store

    def decide(
        self, store: RunStore, setup: PreparedRun | GameSetup, executor: Executor | None
    ) -> tuple[Result, ...]:
        """Make every decision that the store does not contain yet, and return all results.

        `executor` may be None if the store contains all decisions.
        """
        self.watcher.started(setup, store.done)
        if executor is None:
            return store.results()
        if store.done < len(setup.tasks):
            setup.connected.check_reachable()
        return run_tasks(
            *(setup.tasks, executor, store, self.watcher.decided),
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
    location, record = store.location, store.record
    games, own = isinstance(record.spec, PlaySpec), bool(record.sources)
    how = resume_command(location or "", games=games, own=own)
    try:
        yield
        store.close()
        store.write_lines()
    except (errors.DataError, errors.ModelUnavailableError, errors.PluginError, errors.UsageError):
        store.close(discard=True)
        raise
    except errors.DatabaseUnavailableError:
        raise
    except (errors.InfrastructureError, OSError) as error:
        file = None if location is None else location.file
        problem = describe_file_error(error, file) if isinstance(error, OSError) else str(error)
        if problem is None:
            raise
        advice = "" if location is None else f" Resume it with '{how}'."
        raise errors.InfrastructureError(f"{problem}{advice}") from error
    except errors.CrashError as error:
        repeated = record.spec is not None and record.spec.epochs > 1
        report = how_to_report(store.crashed, location, how, repeated=repeated)
        raise errors.CrashError(f"{error} {report}") from error
    finally:
        if not store.is_closed:
            store.close()
            with suppress(OSError, errors.DqaError):  # the error of the block is raised
                store.write_lines()


def name_objects(
    fields: Mapping[str, Any], *groups: Named | Sequence[Named]
) -> tuple[list[tuple[str, ...]], dict[str, Any], PassedObjects]:
    """Replace deciders and chat models by their names.

    Parameters
    ----------
    fields
        The fields of a spec. The field ``model`` may contain a chat model.
    *groups
        Groups of deciders. A group is one decider or a sequence of deciders. Each decider is an
        object or a name.

    Returns
    -------
    tuple
        The names of the deciders in each group; the fields, with names instead of chat models; and
        the passed objects by name.

    Raises
    ------
    UsageError
        An object is not a name, a decider or a chat model, or two objects have the same name.
    """
    deciders: dict[str, Decider | DeciderFactory] = {}
    names = []
    for group in groups:
        is_one = isinstance(group, str | Decider | DeciderFactory)
        several: list[Any] = [group] if is_one or not isinstance(group, Iterable) else list(group)
        for one in several:
            is_decider = isinstance(one, Decider | DeciderFactory) and getattr(one, "name", None)
            if not (is_decider or isinstance(one, str)):
                raise errors.UsageError(
                    f"{one!r} is not a decider: give a name, or an object of a class that inherits "
                    'from dqa.Decider and has a name (name = "...").'
                )
            if is_decider and deciders.setdefault(one.name, one) is not one:
                raise same_name(one.name)
        names.append(tuple(one if isinstance(one, str) else one.name for one in several))
    named = dict(fields)
    chats: dict[str, BaseChatModel] = {}
    model = named.get("model")
    if not (model is None or isinstance(model, str | Mapping | ModelSpec)):
        if not hasattr(model, "get_name"):
            raise errors.UsageError(
                f"model is a {type(model).__name__}: give a name such as openai:gpt-5, or a "
                "LangChain chat model."
            )
        named["model"] = ModelSpec(name=model.get_name())
        chats[named["model"].name] = model
    return names, named, PassedObjects(deciders, chats)


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
    """Run deciders on questions about databases, and score every decision.

    Parameters
    ----------
    what
        Questions, their source, or a spec. `deciders` and `fields` replace fields of a spec. To
        resume a run, leave this argument out. If the questions of the run were passed as objects,
        pass them again.
    deciders
        One or more deciders or their names.
    out
        The location of results, traces and the spec: a new folder, or ``STORE#NAME``. A store is a
        SQLite file (``runs.db``) or the URL of a database. Without ``#NAME``, the name of the run
        is derived from the spec, so the same call resumes the run. Several processes may work on
        one run. With None, the results are only in memory.
    resume
        Whether to resume the run at `out` with its recorded settings. If you pass further
        arguments, they must equal the recorded arguments. Passwords and keys are not stored: pass
        the URL with its password, or set the environment variable that the error message names.
        Pass decider and question objects again; the code of own deciders may have changed.
        Decisions that could not be judged are repeated.
    retry_failed
        Whether a resumed run repeats decisions that ended because of a server failure or a bug.
    options, calls
        Options of the run, and options of model calls. Results do not depend on these options. By
        default, a resumed run uses its recorded options.
    watcher
        Receives the progress.
    **fields
        Further fields of a `RunSpec`: databases, model, rule_set, seed, max_steps, ... A model may
        be a LangChain chat model object; its `name` appears in results.

    Returns
    -------
    Run
        The results, with summary statistics.

    Raises
    ------
    UsageError
        An argument is wrong.
    DataError
        The questions cannot be read.
    CrashError
        Too many decisions crashed.
    """
    work = StoredWork(out, options, calls, watcher, resume=resume, retry_failed=retry_failed)
    (names,), named, objects = name_objects(fields, deciders)
    spec = _spec(what, named | ({"deciders": names} if names else {}), work)
    check_engine(work.options, work.calls)
    own = work.earlier.sources if work.earlier is not None else {}
    for name in own.keys() & set(spec.deciders) - objects.deciders.keys():
        raise errors.UsageError(
            f"The decider '{name}' of this run is your own: resume the run in Python, with "
            f"{resume_command(str(work.location), own=True)}."
        )
    setup = prepare(
        spec,
        calls=work.calls,
        options=work.options,
        resumed=work.resumed,
        questions=what if isinstance(what, QuestionSet) else None,
        given=objects,
    )
    content = setup.questions.content_hash
    with (
        run_span(setup),
        open_executor(setup, objects, work.calls, work.options) as executor,
        work.storing(setup.spec, content, len(setup.tasks), objects) as store,
    ):
        shortcuts = choose_by_shortcuts(setup.questions, setup.locations)
        store.add_shortcuts(shortcuts)
        results = work.decide(store, setup, executor)
    return work.finish(store, results, defects=setup.questions.defects, shortcut_choices=shortcuts)


def _spec(
    what: RunSpec | QuestionSet | QuestionSource | None, fields: dict[str, Any], work: StoredWork
) -> RunSpec:
    """Return the spec. Missing arguments come from the run to resume."""
    whole = what if isinstance(what, RunSpec) else None
    if whole is None and work.earlier is not None:
        why = f"'{resume_command(str(work.location), games=True)}' resumes it."
        whole = require_questions(work.earlier.spec, str(work.location), why)
    if whole is None and what is None:
        raise errors.UsageError(
            "There are no questions: give questions or their source, or resume a stored run."
        )
    if isinstance(what, QuestionSet):
        is_own = all(map(what.has_location, what.questions))
        what = PassedQuestions(name=what.name, content_hash=what.content_hash, in_place=is_own)
    if what is not None and what is not whole:
        fields = {**fields, "questions": what}
    if whole is not None:
        return whole.changed(**fields)
    return RunSpec(**({"deciders": default_deciders("evaluate")} | fields))


def default_deciders(use: str) -> tuple[str, ...]:
    """Return the names of the default deciders for a use.

    Parameters
    ----------
    use
        ``evaluate``, ``ask`` or ``reference`` (the decider whose traces classify questions as
        single-retrieval or multiple-retrieval).

    Raises
    ------
    UsageError
        No installed package defines a default for this use.
    """
    meant = tuple(factory.name for factory in plugins.deciders() if use in factory.default_for)
    if not meant and use != "reference":
        raise errors.UsageError(
            "No installed package defines a default decider: give the name of a decider."
        )
    return meant
