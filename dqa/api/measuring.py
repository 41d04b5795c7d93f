"""Analyse and export runs, and compare them with papers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from dqa import plugins
from dqa.api.running import default_deciders
from dqa.api.runs import Run
from dqa.api.stored import AnyRun, find_questions, open_run
from dqa.core import files
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.text import counted
from dqa.evaluation.findings import Analysis, read_cases
from dqa.evaluation.papers import PaperView, view_questions
from dqa.evaluation.spec import RunSpec
from dqa.report.export_rows import ExportedDecision, encode_rows

_NO_ANALYSIS = (
    "an analysis needs right and wrong decisions, which games do not have. 'dqa show' prints the "
    "figures of games."
)


def analyse(
    run: AnyRun,
    reference: str | None = None,
    *,
    questions: QuestionSet | Path | str | None = None,
    paper: str | None = None,
) -> Analysis:
    """Measure a run's traces: retrievals, re-plannings, missed data and classes of failures.

    Parameters
    ----------
    run
        The run, or its location: a folder, or a run in a store.
    reference
        The decider whose number of retrievals identifies single-retrieval questions. By default,
        the reference decider of the installed packages, if the run has it.
    questions
        The questions, or their folder if it has moved. By default they are read or generated
        again, which can take time. If that fails, the data that each question needs is unknown,
        and all retrieved data is treated as needed (`Analysis.without_data`).
    paper
        The paper whose package analyses the run; by default the first paper.

    Raises
    ------
    UsageError
        The location has no run, or the folder has other questions than the run.
    DataError
        The folder of questions cannot be read.
    UnknownNameError
        The run has no trace with steps of the reference.
    """
    found = open_run(run)
    found.require_questions(_NO_ANALYSIS)
    cases = read_cases(found.reader)
    asked, lacking = (questions if isinstance(questions, QuestionSet) else None), None
    if any(case.has_steps for case in cases.judged):
        asked, lacking = find_questions(found, questions)
    if reference is None:
        took_part = {case.result.decider for case in cases.judged}
        usual = (name for name in default_deciders("reference") if name in took_part)
        reference = next(usual, None)
    analysis = plugins.analyse(paper)(cases, reference, asked)
    notes = [*analysis.notes, *cases.notes()]
    if analysis.without_data:
        notes.append(
            f"The questions of {counted(analysis.without_data, 'run')} are not available, so all "
            f"retrieved values are treated as needed. {lacking or ''} Give the folder of the "
            "questions (--questions)."
        )
    models = dict.fromkeys(case.result.model for case in cases.judged)
    return analysis.changed(lacking=lacking, models=tuple(models), notes=tuple(notes))


def view_paper(
    run: AnyRun,
    paper: str,
    reference: str | None = None,
    *,
    questions: QuestionSet | Path | str | None = None,
) -> PaperView:
    """Compare the results of a run with the tables of a paper.

    Parameters
    ----------
    run, reference, questions
        As in `analyse`.
    paper
        The name of a paper. An installed package contains its tables.

    Raises
    ------
    UnknownNameError
        No package has a paper with this name.
    UsageError, DataError
        As in `analyse`.
    """
    publication, found = plugins.publication(paper), open_run(run)
    analysed = analyse(found, reference, questions=questions, paper=paper)
    strict = found.strict_official
    return view_questions(publication, found.summaries, analysed, strict_official=strict)


ExportFormat: TypeAlias = Literal["jsonl", "csv", "parquet", "inspect"]
"""The export formats."""


def export_rows(run: AnyRun) -> tuple[ExportedDecision, ...]:
    """Return one row per decision of a run, enough to calculate its summary statistics.

    The durations are unknown for a run in memory.

    Raises
    ------
    UsageError
        The run does not exist, or it has no finished decision.
    """
    found = open_run(run)
    found.require_results("nothing to export")
    seconds = {} if found.location is None else found.seconds
    chosen = {line.question: line for line in found.shortcut_choices}
    return tuple(
        ExportedDecision.of_result(
            result, seconds.get(result.key), found.prices, chosen.get(result.question)
        )
        for result in found.results
    )


def export_run(
    run: AnyRun,
    out: Path | str,
    as_format: str | None = None,
    *,
    for_spreadsheets: bool = False,
    questions: QuestionSet | None = None,
) -> Path:
    """Export a run as a table with one row per decision, or as logs of Inspect AI.

    If the export fails, no output remains. Existing files are not overwritten.

    Parameters
    ----------
    run
        The run, or its location: a folder, or a run in a store.
    out
        A new file. For ``inspect``, a new folder with one log for each decider, scenario and
        database (``inspect view --log-dir``).
    as_format
        The format. By default, the suffix of the file selects it: ``.jsonl``, ``.csv`` or
        ``.parquet``.
    for_spreadsheets
        Whether to put an apostrophe before texts of a CSV that a spreadsheet would run as formulas.
    questions
        The questions, whose texts and candidates a log contains. By default they are read or
        generated again. If that fails, a log contains the prompts of the model.

    Returns
    -------
    pathlib.Path
        The new file or folder.

    Raises
    ------
    UsageError
        The format is unknown, the run does not exist, or the output cannot be written.
    """
    file = Path(out)
    named = file.suffix.removeprefix(".") if as_format is None else as_format
    wanted = require_format(named, for_spreadsheets=for_spreadsheets)
    (files.require_new_folder if wanted == "inspect" else files.require_new_file)(file)
    found = open_run(run)
    found.require_results("nothing to export")
    try:
        if wanted == "inspect":
            from dqa.report.inspect_log import write_logs

            logs = write_logs(found, export_rows(found), _questions(found, questions))
            files.make_private_folder(file)
            for name, content in logs:
                files.write_private(file / name, content)
        else:
            rows = encode_rows(export_rows(found), wanted, for_spreadsheets=for_spreadsheets)
            files.write_private(file, rows, new=True)
    except OSError as error:
        problem = files.problem_of_path(file, error, writing=True)
        raise UsageError(f"{problem}. The run is unchanged.") from error
    return file


def require_format(name: str, *, for_spreadsheets: bool = False) -> ExportFormat:
    """Return the format with a name. Raise `UsageError` if it is unknown or has no formulas."""
    known = get_args(ExportFormat)
    if name not in known:
        raise UsageError(
            f"'{name}' is not an export format: choose one of {', '.join(known)} (--format)."
        )
    if for_spreadsheets and name != "csv":
        raise UsageError(
            f"for_spreadsheets (--for-spreadsheets) is only for CSV: leave it out for {name}."
        )
    return cast("ExportFormat", name)


def _questions(run: Run, given: QuestionSet | None) -> Mapping[str, Question]:
    """Return the questions from the caller, or read the questions again if they have not changed.

    Questions about a user's own database are not read again, because traces have the prompts.
    """
    asks_in_place = isinstance(run.spec, RunSpec) and run.spec.questions.asks_in_place
    found = given if asks_in_place else find_questions(run, given)[0]
    if found is None or run.record is None or found.content_hash != run.record.content_hash:
        return {}
    return {question.key: question for question in found.questions}
