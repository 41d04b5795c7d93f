"""Options beside a spec that is given: that of a run that goes on (``--resume``), or a file's.

An option that says something else than the run is refused, by `dqa.evaluate`, which compares. What
may differ is how the run goes about its work, and an address or a place: a password that the folder
does not hold, or a folder of questions that was moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from dqa.cli import options
from dqa.cli.fields import spec_fields
from dqa.cli.questions import AnyQuestionOptions, settings_in
from dqa.core.errors import UsageError
from dqa.core.records import Record

if TYPE_CHECKING:
    from dqa.evaluation.spec import RunSpec
    from dqa.loaders.sources import QuestionSource

_Options = TypeVar("_Options", bound=Record)

_TOGETHER = (("budget_tokens", "budget_cost"), ("record", "replay"))
"""Options of which one takes the place of the other."""


def given_by(context: typer.Context) -> dict[str, Any]:
    """Return the options that stand in the command line, by parameter."""
    return {
        name: value
        for name, value in context.params.items()
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }


def how_to_resume(run: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `dqa.evaluate` that go on with a run.

    Parameters
    ----------
    run
        The run.
    given
        The options that stand in the command line, by parameter.

    Raises
    ------
    UsageError
        There is no run that can go on, or ``--out`` names another one.
    """
    from dqa.evaluation.location import locate_run
    from dqa.evaluation.record import require_questions
    from dqa.evaluation.stored_runs import RunReader
    from dqa.report.hints import resume_command

    place = locate_run(run)
    if "out" in given and locate_run(given["out"]) != place:
        raise UsageError(f"--resume {place} goes on there: leave out --out.")
    record = RunReader(place).record
    why = f"'{resume_command(place, games=True)}' goes on with it."
    spec = require_questions(record.require_resumable(str(place)), str(place), why)
    if spec is None:
        raise AssertionError("a run without a spec cannot go on")
    return {
        "options": _changed(record.options, given),
        "calls": _changed(record.calls, given),
        **spec_fields(given, spec, sets=True),
        "what": _questions(spec, given),
    }


def how_to_follow(file: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `dqa.evaluate` for a spec in a file and the options beside it.

    Parameters
    ----------
    file
        Of the spec, JSON or YAML.
    given
        The options that stand in the command line, by parameter; they go first.

    Raises
    ------
    UsageError
        The file is no spec.
    """
    from dqa.evaluation.options import CallOptions, RunOptions
    from dqa.evaluation.spec import RunSpec

    spec = RunSpec.read(file)
    asked = _questions(spec, given)
    return {
        "options": _changed(RunOptions(), given),
        "calls": _changed(CallOptions(), given),
        **spec_fields(given, spec, sets=True),
        "what": spec if asked is None else spec.changed(questions=asked),
    }


def _changed(recorded: _Options, given: Mapping[str, Any]) -> _Options:
    """Return how the run went about its work, with what is given now."""
    names = {name for name in type(recorded).model_fields if name in given}
    if "engine" in given:  # the address is that of another one
        names.add("ray_address")
    for group in _TOGETHER:
        if names & set(group):
            names |= set(group) & set(type(recorded).model_fields)
    return recorded.changed(**{name: given.get(name) for name in names})


def _questions(spec: RunSpec, given: Mapping[str, Any]) -> QuestionSource | None:
    """Return where the questions come from, where an option says that; else None."""
    from dqa.loaders.locations import located
    from dqa.loaders.sources import OwnQuestions

    kept: dict[str, Any] = {"scenarios": spec.questions.scenarios, "limit": spec.questions.limit}
    if "scenarios" in given:
        kept["scenarios"] = options.scenarios_in(given["scenarios"])
    if "limit" in given:
        kept["limit"] = given["limit"]
    if isinstance(spec.questions, OwnQuestions) and {"own", "database"} & given.keys():
        moved = {"file": given["own"]} if "own" in given else {}
        if "database" in given:
            moved["databases"] = located(given["database"])
        return spec.questions.changed(**moved, **kept)
    sources = {field.name: given.get(field.name) for field in fields(AnyQuestionOptions)}
    pairs = settings_in(sources["settings"])
    if not pairs and any(value is not None for value in sources.values()):
        asked = AnyQuestionOptions(**sources)
        seed = given.get("seed", spec.seed)
        return asked.source(seed, **kept, strict=given.get("strict", False), decides=True)
    return spec.questions.changed(**kept) if {"scenarios", "limit"} & given.keys() else None
