"""Evaluating: deciders decide questions on databases, and every decision is judged."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Unpack

from dqa import plugins
from dqa.api.runs import Run
from dqa.api.watching import Watcher
from dqa.core.decider import Decider
from dqa.core.decision import Usage
from dqa.core.errors import (
    CrashError,
    DataError,
    InfrastructureError,
    ModelUnavailableError,
    PluginError,
    UsageError,
)
from dqa.core.events import Event, FaultEvent, WarningEvent
from dqa.core.paths import require_room, told_problem
from dqa.core.question_set import QuestionSet
from dqa.core.recorder import DecisionWatcher
from dqa.deciders.base import DeciderFactory
from dqa.evaluation.folders import RunRecord, now, read_resumable, usage_abandoned, versions
from dqa.evaluation.options import DEFAULT_CALLS, DEFAULT_RUN, CallOptions, RunOptions
from dqa.evaluation.run import evaluate as make_decisions
from dqa.evaluation.shortcuts import choose_by_shortcuts
from dqa.evaluation.spec import DecidingFields, ModelSpec, RunFields, RunSpec
from dqa.evaluation.store import RunStore
from dqa.loaders.sources import GivenQuestions, QuestionSource
from dqa.report.hints import resume_command
from dqa.report.tables import how_to_report

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Named: TypeAlias = str | Decider | DeciderFactory
"""A decider: by its name, or itself."""


class _Told(DecisionWatcher):
    """Hands on, from all threads, which calls of models failed and what decisions leave out."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._lock = threading.Lock()

    def happened(self, event: Event, usage: Usage) -> None:
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
    out: Path | str | None = None,
    resume: bool = False,
    options: RunOptions | None = None,
    calls: CallOptions | None = None,
    watcher: Watcher | None = None,
    **fields: Unpack[RunFields],
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
        A new folder for results, traces and the spec; None keeps results alone, in memory.
    resume
        Whether to go on with the run that `out` holds. All that it began with is known from there;
        what is given besides has to be the same. Passwords and keys are not in the folder: give the
        address with its password, or set the variable that the error names. Deciders and questions
        that a caller made are given again.
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
    if resume and out is None:
        raise UsageError("resume goes on with a run in a folder: name it as out.")
    folder, watching = None if out is None else Path(out), watcher or Watcher()
    earlier = read_resumable(folder)[0] if resume and folder is not None else None
    options = options or (DEFAULT_RUN if earlier is None else earlier.options)
    calls = calls or (DEFAULT_CALLS if earlier is None else earlier.calls)
    named = (deciders,) if isinstance(deciders, str | Decider | DeciderFactory) else deciders
    given = {made.name: made for made in named if not isinstance(made, str)}
    names = tuple(made if isinstance(made, str) else made.name for made in named)
    named_fields, chats = name_models(fields)
    spec = _spec(what, names, named_fields, None if earlier is None else earlier.spec)
    if folder is not None:
        require_room(folder)  # before anything is read or asked
    ready = spec.build(
        calls=calls,
        options=options,
        resumed=folder if resume else None,
        questions=what if isinstance(what, QuestionSet) else None,
        deciders=given,
        chats=chats,
    )
    with ready as built:
        record = RunRecord(
            spec=built.spec,
            content_hash=built.setup.questions.content_hash,
            planned=built.setup.size,
            began=now(),
            options=options,
            calls=calls,
            versions=versions(),
        )
        store = RunStore(folder, record, resume)
        try:
            shortcuts = choose_by_shortcuts(built.setup.questions, built.setup.places)
            store.keep_shortcuts(shortcuts)
            watching.started(built, len(store.results))
            if len(store.results) < built.setup.size:
                built.connected.check_reachable()
            results = make_decisions(
                *(built.setup, built.judge, store, options, watching.decided),
                watcher=_Told(watching),
            )
        except (DataError, ModelUnavailableError, PluginError, UsageError):
            store.discard()
            raise
        except OSError as error:
            if folder is None or (problem := told_problem(error, folder)) is None:
                raise
            kept = f"What was decided is kept; '{resume_command(folder)}' goes on."
            raise InfrastructureError(f"{problem} {kept}") from error
        except CrashError as error:
            raise CrashError(f"{error} {how_to_report(store.crashed[-1], folder)}") from error
        finally:
            store.close()
    return Run(
        results,
        built.spec,
        folder,
        built.setup.size,
        store.crashed,
        built.setup.questions.defects,
        calls.prices,
        shortcuts,
        store.lost
        if folder is None
        else usage_abandoned(folder, recorded=calls.record is not None),
    )


def _spec(
    what: RunSpec | QuestionSet | QuestionSource | None,
    names: tuple[str, ...],
    fields: RunFields,
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
            "Give the questions, or where they come from; or resume a run in a folder."
        )
    if not isinstance(what, RunSpec | None):
        changed["questions"] = what
    if whole is not None:
        return whole.changed(**changed)
    return RunSpec(**({"deciders": default_deciders("evaluate")} | changed))


_Fields = TypeVar("_Fields", bound=DecidingFields)


def name_models(fields: _Fields) -> tuple[_Fields, dict[str, BaseChatModel]]:
    """Return fields with names in place of chat models, and the chat models by these names.

    Raises
    ------
    UsageError
        What is given as a model is none, or two models have the same name.
    """
    named = fields.copy()
    chats: dict[str, BaseChatModel] = {}
    for field in ("model", "planner"):
        value = fields.get(field)
        if value is None or isinstance(value, str | Mapping | ModelSpec):
            continue
        from langchain_core.language_models import BaseChatModel as ChatModel

        if not isinstance(value, ChatModel):
            raise UsageError(
                f"{field} is a {type(value).__name__}: give a name such as openai:gpt-5, or a "
                "chat model of LangChain's."
            )
        name = value.get_name()
        if chats.setdefault(name, value) is not value:
            raise UsageError(
                f"model and planner are two chat models that are both called '{name}': give one "
                "of them another name."
            )
        named[field] = ModelSpec(name=name)
    return named, chats


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
