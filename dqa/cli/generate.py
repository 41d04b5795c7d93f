"""``dqa generate``: write questions and their worlds from a seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.completion import by_name
from dqa.cli.fields import GENERATING, with_options
from dqa.cli.help import OUTPUT, QUESTIONS
from dqa.cli.options import option
from dqa.cli.output import echo, echo_json
from dqa.cli.questions import set_in
from dqa.cli.resuming import given_by
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.files import require_new_folder
from dqa.core.text import counted
from dqa.evaluation.options import CallOptions, EngineOptions, RunOptions

if TYPE_CHECKING:
    from dqa.loaders.generator import Mix


@with_options(deciding=GENERATING, calling=CallOptions, working=EngineOptions)
def generate(  # noqa: PLR0913  (one parameter per option)
    *,
    context: typer.Context,
    out: Annotated[Path, option("--out DIR", OUTPUT)],
    scenarios: Annotated[
        str | None,
        option("--scenarios NAMES", QUESTIONS, complete=by_name("generator", listed=True)),
    ] = None,
    questions: Annotated[int | None, option("--questions N", QUESTIONS, least=1)] = None,
    like_release: Annotated[bool, option("--like-release", QUESTIONS)] = False,
    hops: Annotated[int, option("--hops N", QUESTIONS, least=1)] = 1,
    min_margin: Annotated[float, option("--min-margin X", QUESTIONS)] = 0.0,
    max_margin: Annotated[float, option("--max-margin X", QUESTIONS)] = math.inf,
    rivals: Annotated[int | None, option("--rivals N", QUESTIONS, least=1)] = None,
    distractors: Annotated[int, option("--distractors N", QUESTIONS, least=0)] = 0,
    mix: Annotated[str | None, option("--mix direct=X,far=X", QUESTIONS)] = None,
    resist: Annotated[
        str | None, option("--resist NAMES", QUESTIONS, complete=by_name("decider", listed=True))
    ] = None,
    per_database: Annotated[int | None, option("--per-database N", QUESTIONS, least=1)] = None,
    size: Annotated[list[str] | None, option("--size SCENARIO.NAME=N", QUESTIONS)] = None,
    deciding: dict[str, Any],
    calling: CallOptions,
    working: EngineOptions,
    as_json: options.AsJson = False,
) -> None:
    """Generate questions and their databases into a new folder, as in the release.

    Parameters
    ----------
    out
        New folder to write to.
    scenarios
        Scenarios, separated by commas; those with a simulator by default.
    questions
        Questions of each scenario; 10.
    like_release
        Counts and mean sizes of the official release.
    hops
        The answer lies at least this many steps away.
    min_margin
        Least share by which the runner-up is worse.
    max_margin
        Largest share by which the runner-up is worse.
    rivals
        Least candidates that are better than nothing.
    distractors
        Added things without an effect.
    mix
        Proportions by the distance of the answer: 1 step, or 2 (--hops) and more.
    resist
        Keep only what these deciders get wrong, separated by commas; the options of models are
        theirs.
    per_database
        Most questions about one world.
    size
        A size of a scenario's worlds, e.g. their rows; may be given several times.
    """
    from dqa.loaders import generator

    difficulty = generator.Difficulty(
        hops=hops,
        min_margin=min_margin,
        max_margin=max_margin,
        distractors=distractors,
        mix=_mix(mix),
    )
    if rivals is not None:
        difficulty = replace(difficulty, rivals=rivals)
    asked: dict[str, Any] = {
        "scenarios": None if scenarios is None else _known(scenarios),
        "count": questions,
        "sizes": tuple(generator.size_of(*sized) for sized in _sizes(size or ()).items()),
        "difficulty": difficulty,
        "per_database": per_database,
        "like_release": like_release,
        "resist": options.names_in("--resist", resist),
    }
    running = RunOptions(engine=working.engine, ray_address=working.ray_address)
    require_new_folder(out)
    named = set_in(given_by(context).get("settings"))
    if named is not None:
        _refuse_with_set(asked, deciding["seed"])
        from dqa.loaders.sets import write_set

        write_set(named, out)
    else:
        _generate(out, asked, deciding, {"calls": calling, "options": running})
    _report(out, as_json)


def _generate(
    out: Path, asked: Mapping[str, Any], fields: Mapping[str, Any], how: Mapping[str, Any]
) -> None:
    """Generate questions into a folder, whose manifest has the options."""
    from dqa.api.generating import generate as generate_all
    from dqa.evaluation.spec import Deciding
    from dqa.loaders import generator

    deciding = Deciding(**fields)
    made = generate_all(seed=deciding.seed, deciding=deciding, **how, **asked)
    scenarios = tuple(dict.fromkeys(question.scenario for question in made.questions))
    usual = {"scenarios": scenarios, "count": 10}
    written = usual | {name: value for name, value in asked.items() if value or name in _ALWAYS}
    if asked["like_release"]:
        written = {"like_release": True}
    if asked["resist"]:
        written["deciding"] = deciding.to_json()
    generator.write_generated(made, out, seed=deciding.seed, options=written)


_ALWAYS = ("sizes", "per_database")
"""Options that a manifest has even at their defaults."""


def _refuse_with_set(asked: Mapping[str, Any], seed: int) -> None:
    """Refuse options that a set fixes."""
    from dqa.loaders.generator import Difficulty

    if seed or any(value and value != Difficulty() for value in asked.values()):
        raise UsageError("--set NAME fixes what is generated: give --out beside it, and no more.")


def _report(out: Path, as_json: bool) -> None:
    from dqa.loaders.generator import read_manifest
    from dqa.report.hints import command

    manifest = read_manifest(out)
    if as_json:
        echo_json({"out": str(out), **manifest.to_json()})
        return
    for scenario, counts in manifest.counts.items():
        echo(
            f"{scenario}: {counted(counts.questions, 'question')} on "
            f"{counted(counts.databases, 'database')}, "
            f"{counts.mean_rows:.1f} rows on average"
        )
    echo(f"Written to {out}. Decide them with: {command('eval', '--generated', str(out))}")


def _known(listed: str) -> tuple[str, ...]:
    """Return the names of scenarios, of which some may be told by their folders."""
    from dqa.loaders.sources import GeneratedQuestions

    return GeneratedQuestions(scenarios=options.names_in("--scenarios", listed)).names or ()


def _mix(given: str | None) -> Mix | None:
    """Return the proportions that ``--mix`` gives."""
    if given is None:
        return None
    from dqa.loaders.generator import Mix

    shares = options.pairs_in("--mix", given.split(","), "direct=X,far=X")
    known = [item.name for item in fields(Mix)]
    for name in shares:
        if name not in known:
            raise UnknownNameError("proportion of --mix called", name, known)
    try:
        return Mix(**{name: float(share) for name, share in shares.items()})
    except ValueError as error:
        raise UsageError(f"--mix {given}: give numbers, as in direct=0.3,far=0.7.") from error


def _sizes(given: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the numbers of each scenario that one is given of."""
    example = "SCENARIO.NAME=NUMBER"
    numbers: dict[str, dict[str, str]] = {}
    for name, value in options.pairs_in("--size", given, example).items():
        scenario, dot, field = name.partition(".")
        if not dot:
            raise UsageError(f"--size {name}={value}: write {example}.")
        numbers.setdefault(scenario, {})[field] = value
    return numbers
