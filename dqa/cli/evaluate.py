"""``dqa eval``: let deciders decide questions on databases, and score every decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.fields import EVALUATING, spec_fields, with_options
from dqa.cli.help import QUESTIONS
from dqa.cli.options import option
from dqa.cli.questions import AnyQuestionOptions, settings_in
from dqa.cli.running import changed_options, finish, given_by, progress_of, recorded
from dqa.core.errors import UsageError
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.spec import RunSpec

if TYPE_CHECKING:
    from dqa.loaders.sources import QuestionSource


@with_options(
    deciding=EVALUATING, calling=CallOptions, questions=AnyQuestionOptions, running=RunOptions
)
def evaluate(  # noqa: PLR0913  (one parameter per option)
    *,
    context: typer.Context,
    scenarios: options.Scenarios = None,
    questions: AnyQuestionOptions,
    limit: Annotated[int | None, option("--limit N", QUESTIONS, least=1)] = None,
    spec: Annotated[Path | None, option("--spec FILE", QUESTIONS)] = None,
    deciding: dict[str, Any],
    calling: CallOptions,
    running: RunOptions,
    strict: options.Strict = False,
    out: options.Out = None,
    resume: options.Resume = None,
    retry_failed: options.RetryFailed = False,
    verbose: options.Verbose = False,
    as_json: options.AsJson = False,
) -> None:
    """Let deciders decide questions on databases, and print how often each was right.

    Exit code 1 if a decision could not be judged; the last lines say how to resume the run.

    Parameters
    ----------
    limit
        Most questions of each scenario.
    spec
        What to evaluate, as YAML or JSON ('dqa formats spec' has its fields); options on the
        command line take precedence.
    """
    from dqa.api.evaluating import evaluate as evaluate_all

    given = given_by(context)
    if {"model", "models"} <= given.keys():
        raise UsageError("Give --model or --models, not both.")
    if resume is not None:
        how = _resumed(resume, given)
    elif spec is not None:
        read = RunSpec.read(spec)
        asked = _questions(read, given)
        how = {
            **changed_options(RunOptions(), CallOptions(), given),
            **spec_fields(given, read, sets=True),
            "what": read if asked is None else read.changed(questions=asked),
        }
    else:
        named = options.scenarios_in(scenarios)
        source = questions.source(deciding["seed"], named, limit, strict=strict, decides=True)
        how = {"what": source, "options": running, "calls": calling, **deciding}
    stored = out if resume is None else resume
    with progress_of(stored, verbose=verbose) as progress:
        run = evaluate_all(
            **how,
            out=stored,
            resume=resume is not None,
            retry_failed=retry_failed,
            watcher=progress,
        )
    finish(run, as_json=as_json)


def _resumed(run: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `dqa.evaluate` that resume a run.

    `dqa.evaluate` refuses options that change the spec. Options of its work may differ, and so may
    an address or a folder: a password that was not stored, or questions that were moved.

    Raises
    ------
    UsageError
        There is no run that can be resumed, or ``--out`` names another one.
    """
    from dqa.evaluation.location import locate_run
    from dqa.evaluation.record import require_questions
    from dqa.report.hints import resume_command

    place = locate_run(run)
    if "out" in given and locate_run(given["out"]) != place:
        raise UsageError(f"--resume {place} goes on there: leave out --out.")
    record = recorded(run)
    why = f"'{resume_command(place, games=True)}' goes on with it."
    spec = require_questions(record.require_resumable(str(place)), str(place), why)
    if spec is None:
        raise AssertionError("a run without a spec cannot go on")
    return {
        **changed_options(record.options, record.calls, given),
        **spec_fields(given, spec, sets=True),
        "what": _questions(spec, given),
    }


def _questions(spec: RunSpec, given: Mapping[str, Any]) -> QuestionSource | None:
    """Return the source of the questions if an option changes that of the spec; else None."""
    from dqa.loaders.locations import located
    from dqa.loaders.sources import OwnQuestions

    limits: dict[str, Any] = {"scenarios": spec.questions.scenarios, "limit": spec.questions.limit}
    if "scenarios" in given:
        limits["scenarios"] = options.scenarios_in(given["scenarios"])
    if "limit" in given:
        limits["limit"] = given["limit"]
    if isinstance(spec.questions, OwnQuestions) and {"own", "database"} & given.keys():
        moved = {"file": given["own"]} if "own" in given else {}
        if "database" in given:
            moved["databases"] = located(given["database"])
        return spec.questions.changed(**moved, **limits)
    sources = {field.name: given.get(field.name) for field in fields(AnyQuestionOptions)}
    if any(value is not None for value in sources.values()) and not settings_in(
        sources["settings"]
    ):
        asked = AnyQuestionOptions(**sources)
        seed = given.get("seed", spec.seed)
        return asked.source(seed, **limits, strict=given.get("strict", False), decides=True)
    return spec.questions.changed(**limits) if {"scenarios", "limit"} & given.keys() else None
