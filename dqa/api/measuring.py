"""Measuring: a run from its traces, and the page of an audit."""

from __future__ import annotations

from pathlib import Path

from dqa.api.evaluating import default_deciders
from dqa.core.errors import DqaError, UsageError
from dqa.core.paths import require_new_file
from dqa.core.question_set import QuestionSet
from dqa.evaluation.analysis import Analysis, read_cases
from dqa.evaluation.analysis import analyse as analyse_cases
from dqa.evaluation.audit import ReleaseAudit
from dqa.evaluation.folders import RUN, read_record, register_scenarios
from dqa.loaders.sources import GeneratedFolder, InPlaceFolder, OwnQuestions, ReleaseFolder


def analyse(
    run: Path | str,
    reference: str | None = None,
    *,
    questions: QuestionSet | Path | str | None = None,
) -> Analysis:
    """Measure a run's traces: retrievals, re-plannings, missed data and classes of failures.

    Parameters
    ----------
    run
        The folder that an evaluation wrote.
    reference
        The decider whose number of retrievals tells single-retrieval questions from others; by
        default the usual one, where it took part.
    questions
        What was asked, or the folder where it lies by now. By default it is read or generated
        again, which takes as long as when the run began. Where that is not possible, nobody knows
        which data a question turns on, and all count (`Analysis.without_data`).

    Raises
    ------
    UsageError
        The folder holds no run, the reference's traces do not tell how often it retrieved, or the
        folder of questions does not hold the run's.
    DataError
        The folder of questions cannot be read.
    UnknownNameError
        The reference decided nothing here.
    """
    cases = read_cases(Path(run))
    register_scenarios(Path(run))
    lacking = None
    if not isinstance(questions, QuestionSet) and any(case.told for case in cases.judged):
        questions, lacking = _questions(Path(run), questions)
    if reference is None:
        took_part = {case.result.decider for case in cases.judged}
        usual = (name for name in default_deciders("reference") if name in took_part)
        reference = next(usual, None)
    given = questions if isinstance(questions, QuestionSet) else None
    return analyse_cases(cases, reference, given, lacking)


def _questions(run: Path, folder: Path | str | None) -> tuple[QuestionSet | None, str | None]:
    """Return the questions of a run, or why nobody has them by now.

    What is wrong with a folder that the caller named is an error.
    """
    try:
        return _read_again(run, folder), None
    except DqaError as error:
        if folder is not None:
            raise
        return None, str(error)


def _read_again(run: Path, folder: Path | str | None) -> QuestionSet:
    record = read_record(run) if (run / RUN).is_file() else None
    if record is None or record.spec is None:
        raise UsageError(f"{run} does not say where its questions are: there is no {RUN} of today.")
    source = record.spec.questions
    if folder is not None:
        if isinstance(source, OwnQuestions):
            source = source.changed(file=Path(folder))
        elif isinstance(source, ReleaseFolder | InPlaceFolder | GeneratedFolder):
            source = source.changed(folder=Path(folder))
        else:
            raise UsageError(f"The questions of {run} are in no folder (source: {source.source}).")
    found = source.read()
    if found.content_hash != record.content_hash:
        raise UsageError(f"The questions of {found.name} are others than when {run} asked them.")
    return found


def write_audit_page(audited: ReleaseAudit, file: Path | str) -> None:
    """Write an audit as one self-contained page for a reviewer.

    Raises
    ------
    UsageError
        The file is there already, or cannot be written.
    """
    from dqa.report.audit_page import render_audit
    from dqa.report.pages import write_page

    require_new_file(Path(file))
    write_page(render_audit(audited), Path(file))
