"""Evaluate deciders: they decide questions on databases, and every decision is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from dqa import plugins
from dqa.api.running import Named, StoredWork, name_deciders, name_models
from dqa.api.runs import Run
from dqa.api.watching import Watcher
from dqa.core.errors import UsageError
from dqa.core.question_set import QuestionSet
from dqa.evaluation.build import build
from dqa.evaluation.connecting import GivenObjects
from dqa.evaluation.decision_spans import run_span
from dqa.evaluation.executors import check_engine, open_executor
from dqa.evaluation.location import RunLocation
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.plan import plan
from dqa.evaluation.record import require_questions
from dqa.evaluation.run_files import refuse_asked
from dqa.evaluation.shortcuts import choose_by_shortcuts
from dqa.evaluation.spec import RunSpec
from dqa.loaders.sources import PassedQuestions, QuestionSource
from dqa.report.hints import resume_command


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
        Questions, their source, or a whole spec, of which `deciders` and `fields` change what they
        name. A run that resumes knows them, unless a caller made them.
    deciders
        One or several, as names or objects.
    out
        Where results, traces and the spec are stored: a new folder; or a store, a SQLite file
        (``runs.db``) or the URL of a database, with the name of the run after ``#``. A run without
        a name gets one from what is evaluated, so that the same call resumes it. Several processes
        may make one run together. None keeps results in memory.
    resume
        Whether to resume the run at `out`, which has recorded all that it began with; what is
        given in addition must be the same. Passwords and keys are not stored: give the URL with
        its password, or set the variable that the error names. Give deciders and questions again
        that a caller made. Decisions that could not be judged are made again.
    retry_failed
        Whether a run that resumes makes decisions again that a failing server or a bug ended.
    options, calls
        How the run works, and how models are called; no result depends on these. By default as
        usual, or as in the run that resumes.
    watcher
        Receives the progress.
    **fields
        The other fields of a `RunSpec`: databases, model, rule_set, seed, max_steps, ... A model
        may be LangChain's chat model itself; its `name` is its name in results.

    Returns
    -------
    Run
        Every result, with summaries and a table.

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
    names, objects = name_deciders(deciders)
    named_fields, chats = name_models(fields)
    given = GivenObjects(objects, chats)
    spec = _spec(what, names, named_fields, work)
    check_engine(work.options, work.calls)
    with ExitStack() as opened:
        built = opened.enter_context(
            closing(
                build(
                    spec,
                    calls=work.calls,
                    options=work.options,
                    resumed=work.used_elsewhere if work.may_continue_recording else None,
                    questions=what if isinstance(what, QuestionSet) else None,
                    given=given,
                )
            )
        )
        setup = built.setup
        refuse_asked(work.location, setup.locations)
        opened.enter_context(run_span(setup))
        executor = opened.enter_context(open_executor(built, given, work.calls, work.options))
        content = setup.questions.content_hash
        with work.storing(built.spec, content, setup.size) as store:
            shortcuts = choose_by_shortcuts(setup.questions, setup.places)
            work.watcher.started(built, store.done)
            results = work.decide(store, plan(setup), executor, built.connected, shortcuts)
        return work.finish(
            store, results, defects=setup.questions.defects, shortcut_choices=shortcuts
        )


def _spec(
    what: RunSpec | QuestionSet | QuestionSource | None,
    names: tuple[str, ...],
    fields: Mapping[str, Any],
    work: StoredWork,
) -> RunSpec:
    """Return what is evaluated: what is given, with the rest from the run that resumes."""
    whole = what if isinstance(what, RunSpec) else None
    if whole is None and work.earlier is not None:
        why = f"'{resume_command(str(work.location), games=True)}' resumes it."
        whole = require_questions(work.earlier.spec, str(work.location), why)
    if whole is None and what is None:
        raise UsageError("Give the questions, or their source; or resume a stored run.")
    changed: dict[str, Any] = {**fields, **({"deciders": names} if names else {})}
    if isinstance(what, QuestionSet):
        changed["questions"] = PassedQuestions(
            name=what.name,
            content_hash=what.content_hash,
            in_place=all(map(what.is_in_place, what.questions)),
        )
    elif what is not None and what is not whole:
        changed["questions"] = what
    if whole is not None:
        return whole.changed(**changed)
    return RunSpec(**({"deciders": default_deciders("evaluate")} | changed))


def default_deciders(use: str) -> tuple[str, ...]:
    """Return the deciders that a caller means who names none.

    Parameters
    ----------
    use
        ``evaluate``, ``ask``, or ``reference``, whose retrievals tell questions apart.

    Raises
    ------
    UsageError
        None is installed: one has to be named.
    """
    meant = tuple(made.name for made in plugins.deciders() if use in made.default_for)
    if not meant and use != "reference":
        raise UsageError("No installed package sets a default decider; name one.")
    return meant
