"""Measuring: a run from its traces, and the page of an audit."""

from __future__ import annotations

from pathlib import Path

from dqa.api.evaluating import default_deciders
from dqa.core.errors import DqaError, UsageError
from dqa.core.question_set import QuestionSet
from dqa.evaluation.analysis import Analysis, read_cases
from dqa.evaluation.analysis import analyse as analyse_cases
from dqa.evaluation.audit import ReleaseAudit
from dqa.evaluation.folders import RUN, read_record, register_scenarios


def analyse(
    run: Path | str, reference: str | None = None, *, questions: QuestionSet | None = None
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
        What was asked; by default they are read again from where the run had them. Where that is
        not possible, nobody knows which data a question turns on, and all count
        (`Analysis.without_data`).

    Raises
    ------
    UsageError
        The folder holds no run, or the reference's traces do not tell how often it retrieved.
    UnknownNameError
        The reference decided nothing here.
    """
    cases = read_cases(Path(run))
    register_scenarios(Path(run))
    questions = _questions(Path(run)) if questions is None else questions
    if reference is None:
        took_part = {case.result.decider for case in cases.judged}
        usual = (name for name in default_deciders("reference") if name in took_part)
        reference = next(usual, None)
    return analyse_cases(cases, reference, questions)


def _questions(run: Path) -> QuestionSet | None:
    """Return the questions of a run, where they are still what they were; None elsewhere."""
    record = read_record(run) if (run / RUN).is_file() else None
    if record is None or record.spec is None:
        return None
    try:
        found = record.spec.questions.read()
    except DqaError:
        return None  # the table's notes say so
    return found if found.content_hash == record.content_hash else None


def write_audit_page(audited: ReleaseAudit, file: Path | str) -> None:
    """Write an audit as one self-contained page for a reviewer.

    Raises
    ------
    UsageError
        The file is there already, or cannot be written.
    """
    from dqa.report.audit_page import render_audit
    from dqa.report.pages import write_page

    check_new(file)
    write_page(render_audit(audited), Path(file))


def check_new(file: Path | str) -> None:
    """Raise `UsageError` where a page would overwrite something."""
    if Path(file).exists():
        raise UsageError(f"{file} exists already: name a new file.")
