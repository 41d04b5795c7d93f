"""Find, read and copy stored runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from itertools import chain
from math import inf
from pathlib import Path
from typing import TypeAlias

from pydantic import Field, ValidationError

from dqa.api.runs import Run
from dqa.core.errors import DqaError, ParseError, UsageError
from dqa.core.files import DATA_BYTES, read_json, require_folder
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record, problem_of
from dqa.evaluation.copying import copy, read_content, read_old
from dqa.evaluation.location import DATABASE, RunLocation, locate_run
from dqa.evaluation.play_spec import PlaySpec
from dqa.evaluation.record import register_scenarios, require_questions
from dqa.evaluation.results import NO_MODEL, Outcome
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.stored_runs import RESULTS_FILE, TRACES_FILE, RunReader, is_store, run_names
from dqa.evaluation.traces import Trace
from dqa.evaluation.writable import require_writable
from dqa.loaders.sources import OwnQuestions
from dqa.report.counts import RunCounts, count_decisions


class StoredRun(Record):
    """A stored run in the list of ``dqa runs``.

    Attributes
    ----------
    folder
        The folder of the run, or ``STORE#NAME``.
    began
        The start time; None if it is unknown.
    questions
        A short description of the source of the questions.
    deciders, databases
        The names of the deciders and databases, in the order of the run.
    model
        The chat models that answered; None if no model has answered.
    epochs
        The number of times that each question is asked.
    games
        Whether the run is a run of games. If so, `deciders` contains the players.
    own
        Whether the run has deciders of the caller, so that only Python can resume it.
    counts
        The progress: how many decisions were made, judged and right.
    running
        Whether a process makes decisions of the run at present.
    problem
        The reason why the run cannot be read, e.g. because a newer version wrote it; None if it can
        be read.
    """

    folder: str
    began: datetime | None = None
    questions: str = ""
    deciders: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()
    model: str | None = None
    epochs: int = Field(default=1, ge=1)
    games: bool = False
    own: bool = False
    counts: RunCounts = count_decisions(Counter(), None)
    running: bool = False
    problem: str | None = None


def find_runs(*folders: Path | str) -> tuple[StoredRun, ...]:
    """Find the runs in stores, in folders and in the direct subfolders of these folders.

    Hidden folders are skipped. A run that cannot be read is listed with the reason.

    Parameters
    ----------
    *folders
        Folders or stores; by default ``runs`` and the current folder.

    Returns
    -------
    tuple of StoredRun
        The runs. The run that started last is the first.

    Raises
    ------
    UsageError
        A named folder does not exist.
    """
    found: dict[str, RunLocation] = {}
    for named in folders or ("runs", "."):
        location = locate_run(named)
        if location.folder is None:
            names = [location.name] if location.name else run_names(location)
            runs = [location.named(name) for name in names]
        else:
            if folders:
                require_folder(location.folder, "Name folders with runs, or stores.")
            runs = list(_runs_in(location.folder))
        for run in runs:
            where = run.store if run.file is None else run.file.resolve()
            found.setdefault(f"{where}#{run.name}", run)
    described = sorted(map(_describe, found.values()), key=lambda run: run.folder)
    return tuple(sorted(described, key=lambda run: -run.began.timestamp() if run.began else inf))


def read_run(run: RunLocation | Path | str) -> Run:
    """Read a stored run.

    Parameters
    ----------
    run
        The folder of a run, a run in a store (``runs.db#NAME`` or ``URL#NAME``; the name is
        optional if the store has one run), or the file of one decision (``dqa ask --trace``).

    Raises
    ------
    UsageError
        The run does not exist, a newer version wrote it, or a store has several runs and no name
        is passed.
    ParseError
        A line is neither a valid result nor a valid trace.
    """
    location = locate_run(run)
    file = location.folder
    if file is not None and file.is_file():
        if file.name in {RESULTS_FILE, TRACES_FILE} and (file.parent / DATABASE).is_file():
            raise UsageError(
                f"The file {file} is part of a run: give the folder of the run, {file.parent}."
            )
        return Run((), planned=1, _asked=(_read_asked(file),))
    reader = RunReader(location)
    record = reader.record
    register_scenarios(record.spec)
    return Run(
        tuple(reader.results()),
        record.spec,
        reader.location,
        planned=record.planned,
        prices=record.calls.prices,
        shortcut_choices=reader.shortcuts(),
        abandoned=reader.lost(recorded=record.calls.record is not None),
    )


AnyRun: TypeAlias = Run | RunLocation | Path | str
"""A run, or its location."""


def open_run(run: AnyRun) -> Run:
    """Return the given run, or read the run at the given location.

    Errors are those of `read_run`.
    """
    return run if isinstance(run, Run) else read_run(run)


def find_questions(
    run: Run, questions: QuestionSet | Path | str | None = None
) -> tuple[QuestionSet | None, str | None]:
    """Return the questions of a run, or the reason why they are not available.

    Parameters
    ----------
    run
        The run.
    questions
        The questions, or their folder. If the folder cannot be used, an error is raised. By
        default, the questions are read or generated again. If that fails, the reason is returned.
    """
    if isinstance(questions, QuestionSet):
        return questions, None
    try:
        return _read_questions(run, questions), None
    except DqaError as error:
        if questions is not None:
            raise
        return None, str(error)


def _read_questions(run: Run, folder: Path | str | None) -> QuestionSet:
    spec = require_questions(run.spec, run.where, "it has no questions.")
    if spec is None or run.record is None:
        raise UsageError(f"{run.where} has no record of the source of its questions.")
    source = spec.questions
    if folder is not None:
        field = "file" if isinstance(source, OwnQuestions) else "folder"
        if field not in type(source).model_fields:
            raise UsageError(
                f"The questions of {run.where} come from {source.source}, not from a folder. Leave "
                "out the folder of questions (--questions)."
            )
        source = source.changed(**{field: Path(folder)})
    found = source.read()
    if found.content_hash != run.record.content_hash:
        raise UsageError(
            f"The questions of {found.name} have changed since the run in {run.where} used them."
        )
    return found


def _read_asked(file: Path) -> Trace:
    """Read a file of ``dqa ask --trace``."""
    try:
        written = read_json(file, most=DATA_BYTES)
        # Records of the first version lack two fields.
        return Trace.from_json({"question": "custom/1", "kind": "relational"} | written)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        why = problem_of(error) if isinstance(error, ValidationError) else repr(error)
        problem = f"not written by 'dqa ask --trace' of this version: {why}"
        raise ParseError(file, None, problem) from error


def copy_run(run: RunLocation | Path | str, out: RunLocation | Path | str) -> RunLocation:
    """Copy a run to another location, or import a run of an older version.

    The copy has the same results, traces, settings and usage, and it can be resumed.

    Parameters
    ----------
    run
        The run.
    out
        A new folder, or a store. If the location of a store has no ``#NAME``, the copy gets the
        name of the run or of its folder.

    Returns
    -------
    RunLocation
        The location of the copy.

    Raises
    ------
    UsageError
        The run does not exist, or a run at `out` exists already.
    """
    source, target = locate_run(run), locate_run(out)
    require_writable(target)
    old = read_old(source)
    if source.folder is None and source.name is None and old is None:
        source = RunReader(source).location
    name = source.folder.resolve().name if source.folder else source.name
    target = target.named(target.name or name or "copy")
    return copy(old or read_content(source), target)


def _runs_in(top: Path) -> Iterator[RunLocation]:
    """Yield the runs in a folder and in its direct subfolders."""
    for file in chain(top.glob(DATABASE), top.glob(f"[!.]*/{DATABASE}")):
        location = RunLocation.of_folder(file.parent)
        with suppress(DqaError):  # the file is not a database
            if is_store(location):
                yield location


def _describe(location: RunLocation) -> StoredRun:
    try:
        reader = RunReader(location)
        record, counted, running = reader.record, reader.counts(), reader.is_running()
    except DqaError as error:
        return StoredRun(folder=str(location), problem=str(error))
    spec = record.spec
    deciders, databases = [row.decider for row in counted], [row.database for row in counted]
    questions = ", ".join(dict.fromkeys(row.scenario for row in counted))
    if isinstance(spec, PlaySpec):
        deciders, questions = list(spec.contestants), spec.description
    elif isinstance(spec, RunSpec):
        # The spec of questions about the user's own databases lists no databases.
        deciders, databases = list(spec.deciders), list(spec.databases) or databases
        questions = ": ".join(filter(None, [spec.questions.description, questions]))
    models = dict.fromkeys(row.model for row in counted if row.model != NO_MODEL)
    outcomes = Counter[Outcome]()
    for row in counted:
        outcomes[Outcome(row.outcome)] += row.decisions
    return StoredRun(
        folder=str(location),
        began=record.began,
        questions=questions,
        deciders=tuple(dict.fromkeys(deciders)),
        databases=tuple(dict.fromkeys(databases)),
        model=", ".join(models) or None,
        epochs=1 if spec is None else spec.epochs,
        games=isinstance(spec, PlaySpec),
        own=bool(record.sources),
        counts=count_decisions(outcomes, record.planned),
        running=running,
    )
