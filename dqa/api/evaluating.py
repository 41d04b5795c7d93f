"""Evaluating: deciders decide questions on databases, and every decision is judged."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from dqa import plugins
from dqa.api.runs import Run
from dqa.api.watching import Watcher
from dqa.core.decider import Decider
from dqa.core.decision import Usage
from dqa.core.errors import CrashError, DataError, PluginError, UsageError
from dqa.core.events import Event, FaultEvent
from dqa.core.question_set import QuestionSet
from dqa.core.recorder import DecisionWatcher
from dqa.deciders.base import DeciderFactory
from dqa.evaluation.folders import RunRecord, versions
from dqa.evaluation.options import DEFAULT_CALLS, DEFAULT_RUN, CallOptions, RunOptions
from dqa.evaluation.run import evaluate as make_decisions
from dqa.evaluation.shortcuts import choose_by_shortcuts
from dqa.evaluation.spec import RunFields, RunSpec
from dqa.evaluation.store import RunStore
from dqa.loaders.sources import GivenQuestions, QuestionSource
from dqa.report.tables import how_to_report

Named: TypeAlias = str | Decider | DeciderFactory
"""A decider: by its name, or itself."""


class _Faults(DecisionWatcher):
    """Hands on what failed of the calls of models, and nothing else, from all threads."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._lock = threading.Lock()

    def happened(self, event: Event, usage: Usage) -> None:
        del usage
        if isinstance(event, FaultEvent):
            with self._lock:
                self._watcher.faulted(event)


def evaluate(  # noqa: PLR0913  (each is a question of its own to the caller)
    what: RunSpec | QuestionSet | QuestionSource,
    deciders: Named | Sequence[Named] = (),
    *,
    out: Path | str | None = None,
    resume: bool = False,
    options: RunOptions = DEFAULT_RUN,
    calls: CallOptions = DEFAULT_CALLS,
    watcher: Watcher | None = None,
    **fields: Unpack[RunFields],
) -> Run:
    """Let deciders decide questions on databases, and judge every decision.

    Parameters
    ----------
    what
        Questions, where they come from, or a whole spec, of which `deciders` and `fields` change
        what they name.
    deciders
        One or several: by name, or as they are.
    out
        A new folder for results, traces and the spec; None keeps results alone, in memory.
    resume
        Whether to go on with the run that `out` holds.
    options, calls
        How the run goes about its work, and how models are called: no result depends on these.
    watcher
        Is told how far the run is.
    **fields
        The other fields of a `RunSpec`: databases, model, rule_set, seed, max_steps, ...

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
        raise UsageError("resume goes on with a run in a folder: name it as out (--out).")
    named = (deciders,) if isinstance(deciders, str | Decider | DeciderFactory) else deciders
    given = {made.name: made for made in named if not isinstance(made, str)}
    names = tuple(made if isinstance(made, str) else made.name for made in named)
    spec = _spec(what, names, fields)
    folder, watching = None if out is None else Path(out), watcher or Watcher()
    ready = spec.build(
        calls=calls,
        options=options,
        resumed=folder if resume else None,
        questions=what if isinstance(what, QuestionSet) else None,
        deciders=given,
    )
    with ready as built:
        record = RunRecord(
            spec=built.spec,
            content_hash=built.setup.questions.content_hash,
            workers=options.workers,
            versions=versions(),
        )
        store = RunStore(folder, record, resume)
        try:
            shortcuts = choose_by_shortcuts(built.setup.questions)
            store.keep_shortcuts(shortcuts)
            watching.started(built, len(store.results))
            results = make_decisions(
                *(built.setup, built.judge, store, options, watching.decided),
                watcher=_Faults(watching),
            )
        except (DataError, PluginError, UsageError):
            store.discard()
            raise
        except CrashError as error:
            raise CrashError(f"{error} {how_to_report(store.crashed[-1], folder)}") from error
    return Run(
        results,
        built.spec,
        folder,
        built.setup.size,
        store.crashed,
        built.setup.questions.defects,
        calls.prices,
        shortcuts,
    )


def _spec(
    what: RunSpec | QuestionSet | QuestionSource, names: tuple[str, ...], fields: RunFields
) -> RunSpec:
    changed: dict[str, Any] = {**fields}
    if isinstance(what, RunSpec):
        return what.changed(**changed, **({"deciders": names} if names else {}))
    questions = what
    if isinstance(questions, QuestionSet):
        questions = GivenQuestions(
            name=questions.name,
            content_hash=questions.content_hash,
            in_place=all(map(questions.is_in_place, questions.questions)),
        )
    return RunSpec(questions=questions, deciders=names or default_deciders("evaluate"), **changed)


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
