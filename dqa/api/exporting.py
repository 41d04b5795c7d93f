"""Export a run as rows for other programs, and as logs of Inspect AI."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from dqa.api.runs import Run
from dqa.api.stored import read_run
from dqa.core.errors import DqaError, UsageError
from dqa.core.files import (
    make_private_folder,
    problem_of_path,
    require_new_file,
    require_new_folder,
    write_private,
)
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.evaluation.location import RunLocation
from dqa.evaluation.spec import RunSpec
from dqa.report.export_rows import ExportedDecision, encode_rows

ExportFormat: TypeAlias = Literal["jsonl", "csv", "parquet", "inspect"]
"""The formats of an export."""

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def export_rows(run: Run | RunLocation | Path | str) -> tuple[ExportedDecision, ...]:
    """Return the decisions of a run as rows, from which its figures can be calculated.

    For a run in memory the seconds of decisions are not known.

    Raises
    ------
    UsageError
        There is no run, or it holds no finished decision.
    """
    found = _read(run)
    seconds = {} if found.location is None else found.seconds
    chosen = {line.question: line for line in found.shortcut_choices}
    return tuple(
        ExportedDecision.of_result(
            result, seconds.get(result.key), found.prices, chosen.get(result.question)
        )
        for result in found.results
    )


def export_run(
    run: Run | RunLocation | Path | str,
    out: Path | str,
    as_format: ExportFormat | None = None,
    *,
    for_spreadsheets: bool = False,
    questions: QuestionSet | None = None,
) -> Path:
    """Write a run for other programs: rows, one per decision, or logs of Inspect AI.

    The output is complete or missing, and replaces nothing.

    Parameters
    ----------
    run
        The run, or its location: a folder, or a run in a store.
    out
        A new file; of ``inspect`` a new folder, in which each decider has a log on every scenario
        and database (``inspect view --log-dir``).
    as_format
        By default the suffix of the file: ``.jsonl``, ``.csv`` or ``.parquet``.
    for_spreadsheets
        Whether texts of a CSV that a spreadsheet would run as a formula begin with an apostrophe.
    questions
        The questions, for the texts and choices of a log; by default they are read or generated
        again. If that is not possible, a log has the prompts of the model.

    Returns
    -------
    pathlib.Path
        The file or folder.

    Raises
    ------
    UsageError
        There is no such format, no such run, or nothing can be written there.
    """
    file = Path(out)
    wanted = require_format(file.suffix.removeprefix(".") if as_format is None else as_format)
    if for_spreadsheets and wanted != "csv":
        raise UsageError(f"Only a CSV is read by spreadsheets as formulas; {wanted} stays exact.")
    (require_new_folder if wanted == "inspect" else require_new_file)(file)
    found = _read(run)
    try:
        if wanted == "inspect":
            _write_logs(found, file, questions)
        else:
            rows = encode_rows(export_rows(found), wanted, for_spreadsheets=for_spreadsheets)
            write_private(file, rows, new=True)
    except FileExistsError as error:
        raise UsageError(f"{file} exists by now: name a new one.") from error
    except OSError as error:
        problem = problem_of_path(file, error, writing=True)  # the error names a part of it
        raise UsageError(f"{problem}. The run is as it was.") from error
    return file


def require_format(name: str) -> ExportFormat:
    """Return the format of a name; `UsageError` for another name."""
    known = get_args(ExportFormat)
    if name not in known:
        told = f"'{name}' is no format of an export" if name else "The file's name tells no format"
        raise UsageError(f"{told}: name one of {', '.join(known)} (--format).")
    return cast("ExportFormat", name)


def _read(run: Run | RunLocation | Path | str) -> Run:
    found = run if isinstance(run, Run) else read_run(run)
    if not found.results:
        named = "The run" if isinstance(run, Run) else str(run)
        raise UsageError(f"{named} holds no finished decision that was judged: nothing to export.")
    return found


def _write_logs(run: Run, folder: Path, questions: QuestionSet | None) -> None:
    from dqa.report.inspect_log import InspectRun, write_logs

    record = run.record
    found = InspectRun(
        rows=export_rows(run),
        traces={trace.key: trace for trace in run.each_trace()},
        name=run.name or str(run.location),
        spec=run.spec,
        began=(None if record is None else record.began) or _LONG_AGO,
        questions=_questions(run, questions),
        complete=run.counts.complete is not False,
        versions={} if record is None else record.versions,
    )
    make_private_folder(folder)
    for name, content in write_logs(found):
        write_private(folder / name, content)


def _questions(run: Run, given: QuestionSet | None) -> Mapping[str, Question]:
    """Return the questions that are given, or can be read again and have not changed.

    A user's own database is not asked again: traces have what a model was shown.
    """
    found = given
    asked = run.spec.questions if isinstance(run.spec, RunSpec) else None
    if found is None and asked is not None and not asked.asks_in_place:
        with suppress(DqaError):  # the folder has moved
            found = asked.read()
    if found is None or run.record is None or found.content_hash != run.record.content_hash:
        return {}
    return {question.key: question for question in found.questions}
