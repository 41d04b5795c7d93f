"""Going on with a run: what its folder says, changed by the options that stand beside ``--resume``.

An option that says something else than the run is refused, by `dqa.evaluate`, which compares. What
may differ is how the run goes about its work, and an address or a place: a password that the folder
does not hold, or a folder of questions that was moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from dqa.cli import options
from dqa.cli.shared_bundles import AnyQuestionOptions, DecidingOptions
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


def how_to_resume(folder: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `dqa.evaluate` that go on with a run.

    Parameters
    ----------
    folder
        Of the run.
    given
        The options that stand in the command line, by parameter.

    Raises
    ------
    UsageError
        The folder holds no run that can go on, or ``--out`` names another one.
    """
    from dqa.evaluation.folders import read_resumable

    if "out" in given and Path(given["out"]).resolve() != folder.resolve():
        raise UsageError(f"--resume {folder} goes on in that folder: leave out --out.")
    record, spec = read_resumable(folder)
    how: dict[str, Any] = {
        "options": _changed(record.options, given),
        "calls": _changed(record.calls, given),
        **_deciding(spec, given),
    }
    for name in ("deciders", "databases"):
        if name in given:
            how[name] = options.names_in(f"--{name}", given[name])
    for name in ("strict_official", "policy"):
        if name in given:
            how[name] = given[name]
    return how | {"what": _questions(spec, given)}


def _changed(recorded: _Options, given: Mapping[str, Any]) -> _Options:
    """Return how the run went about its work, with what is given now."""
    names = {name for name in type(recorded).model_fields if name in given}
    for group in _TOGETHER:
        if names & set(group):
            names |= set(group) & set(type(recorded).model_fields)
    return recorded.changed(**{name: given.get(name) for name in names})


def _deciding(spec: RunSpec, given: Mapping[str, Any]) -> Mapping[str, Any]:
    recorded: dict[str, Any] = {
        "model": spec.model.name,
        "base_url": spec.model.base_url,
        "planner": None if spec.planner is None else spec.planner.name,
        "planner_base_url": None if spec.planner is None else spec.planner.base_url,
        "protocol": spec.protocol,
        "seed": spec.seed,
        "max_steps": spec.max_steps,
        "row_limit": spec.limits.rows,
        "digits": spec.display.digits,
        "samples": spec.display.samples,
        "schema_tokens": spec.display.schema_tokens,
    }
    merged = {name: given.get(name, value) for name, value in recorded.items()}
    settings = options.settings_in(given.get("settings")) or spec.settings
    listed = [f"{name}={value}" for name, value in settings.items()]
    asking = DecidingOptions(**merged, settings=listed)
    return asking.fields(given.get("rule_set", spec.rule_set)) | {
        "limits": replace(spec.limits, rows=asking.row_limit),
        "display": replace(
            spec.display,
            digits=asking.digits,
            samples=asking.samples,
            schema_tokens=asking.schema_tokens,
        ),
    }


def _questions(spec: RunSpec, given: Mapping[str, Any]) -> QuestionSource | None:
    """Return where the questions come from, where an option says that; else None."""
    from dqa.loaders.sources import OwnQuestions, located

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
    pairs = options.settings_in(sources["settings"])
    if not pairs and any(value is not None for value in sources.values()):
        asked = AnyQuestionOptions(**sources)
        seed = given.get("seed", spec.seed)
        return asked.source(seed, **kept, strict=given.get("strict", False), decides=True)
    return spec.questions.changed(**kept) if {"scenarios", "limit"} & given.keys() else None
