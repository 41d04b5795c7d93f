"""Measure a run from its traces, and write the page of an audit."""

from __future__ import annotations

from pathlib import Path

from dqa import plugins
from dqa.api.evaluating import default_deciders
from dqa.api.stored import read_run
from dqa.core.errors import DqaError, UsageError
from dqa.core.files import require_new_file
from dqa.core.question_set import QuestionSet
from dqa.core.text import counted
from dqa.evaluation.audit import ReleaseAudit
from dqa.evaluation.findings import Analysis, read_cases
from dqa.evaluation.location import RunLocation, locate_run
from dqa.evaluation.papers import PaperView, view_questions
from dqa.evaluation.record import register_scenarios, require_questions
from dqa.evaluation.stored_runs import RunReader
from dqa.loaders.sources import GeneratedFolder, InPlaceFolder, OwnQuestions, ReleaseFolder

_NO_ANALYSIS = (
    "an analysis tells right decisions from wrong ones, and games have none; 'dqa results' prints "
    "what they came to."
)


def analyse(
    run: RunLocation | Path | str,
    reference: str | None = None,
    *,
    questions: QuestionSet | Path | str | None = None,
) -> Analysis:
    """Measure a run's traces: retrievals, re-plannings, missed data and classes of failures.

    Parameters
    ----------
    run
        The folder that an evaluation wrote, or a run of a store.
    reference
        The decider whose number of retrievals tells single-retrieval questions from others; by
        default the usual one, if it took part.
    questions
        The questions, or their folder if it has moved. By default they are read or generated
        again, which takes as long as when the run began. If that is not possible, the data that a
        question needs is not known, and all data counts (`Analysis.without_data`).

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
    reader = RunReader(locate_run(run))
    spec = reader.record.spec
    require_questions(spec, str(reader.location), _NO_ANALYSIS)
    cases = read_cases(reader)
    register_scenarios(spec)
    given, lacking = questions, None
    if any(case.told for case in cases.judged):
        given, lacking = find_questions(reader, questions)
    if reference is None:
        took_part = {case.result.decider for case in cases.judged}
        usual = (name for name in default_deciders("reference") if name in took_part)
        reference = next(usual, None)
    found = plugins.analyse()(cases, reference, given if isinstance(given, QuestionSet) else None)
    notes = [*found.notes, *cases.notes()]
    if found.without_data:
        notes.append(
            f"{counted(found.without_data, 'run')} whose questions are not available, so that the "
            f"values of any node count. {lacking or ''} Name their folder (--questions)."
        )
    models = dict.fromkeys(case.result.model for case in cases.judged)
    return found.changed(lacking=lacking, models=tuple(models), notes=tuple(notes))


def view_paper(
    run: RunLocation | Path | str,
    paper: str,
    reference: str | None = None,
    *,
    questions: QuestionSet | Path | str | None = None,
) -> PaperView:
    """Compare a run's figures with those that a paper printed, table by table.

    Parameters
    ----------
    run, reference, questions
        As in `analyse`.
    paper
        The name of a paper, whose tables a method's package has.

    Raises
    ------
    UnknownNameError
        No package has such a paper.
    UsageError, DataError
        As in `analyse`.
    """
    publication, found = plugins.publication(paper), read_run(run)
    analysed = analyse(run, reference, questions=questions)
    strict = found.strict_official
    return view_questions(publication, found.summaries, analysed, strict_official=strict)


def find_questions(
    run: RunReader, given: QuestionSet | Path | str | None = None
) -> tuple[QuestionSet | None, str | None]:
    """Return the questions of a run, or the reason why they are not available.

    Parameters
    ----------
    run
        The run.
    given
        The questions, or their folder: a problem with that is an error. None to read or generate
        them again.
    """
    if isinstance(given, QuestionSet):
        return given, None
    try:
        return _read_again(run, given), None
    except DqaError as error:
        if given is not None:
            raise
        return None, str(error)


def _read_again(run: RunReader, folder: Path | str | None) -> QuestionSet:
    spec = require_questions(run.record.spec, str(run.location), "it has no questions.")
    if spec is None:
        raise UsageError(f"{run.location} does not record where its questions are.")
    source = spec.questions
    if folder is not None:
        if isinstance(source, OwnQuestions):
            source = source.changed(file=Path(folder))
        elif isinstance(source, ReleaseFolder | InPlaceFolder | GeneratedFolder):
            source = source.changed(folder=Path(folder))
        else:
            raise UsageError(
                f"The questions of {run.location} are in no folder (source: {source.source})."
            )
    found = source.read()
    if found.content_hash != run.record.content_hash:
        raise UsageError(
            f"The questions of {found.name} are others than when {run.location} asked them."
        )
    return found


def write_audit_page(audited: ReleaseAudit, file: Path | str) -> None:
    """Write an audit as one self-contained page for a reviewer.

    Raises
    ------
    UsageError
        The file exists already, or cannot be written.
    """
    from dqa.report.audit_page import render_audit
    from dqa.report.pages import write_page

    require_new_file(Path(file))
    write_page(render_audit(audited), Path(file))
