"""``dqa generate``: write questions and their worlds from a seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.bundles import with_options
from dqa.cli.completion import by_name
from dqa.cli.help import OUTPUT, QUESTIONS
from dqa.cli.output import echo, echo_json
from dqa.cli.shared_bundles import DecidingOptions
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.files import require_new_folder
from dqa.core.text import counted
from dqa.evaluation.options import CallOptions, EngineOptions, RunOptions

if TYPE_CHECKING:
    from dqa.loaders.generator import Mix


@with_options(asking=DecidingOptions, calling=CallOptions, working=EngineOptions)
def generate(  # noqa: PLR0913  (one parameter an option)
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="New folder to write to.", rich_help_panel=OUTPUT
        ),
    ],
    scenarios: Annotated[
        str | None,
        typer.Option(
            "--scenarios",
            metavar="NAMES",
            help="Scenarios, separated by commas; those with a simulator by default.",
            autocompletion=by_name("generator", listed=True),
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(
            "--questions",
            metavar="N",
            min=1,
            help="Questions of each scenario; 10.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    like_release: Annotated[
        bool,
        typer.Option(
            "--like-release",
            help="Counts and mean sizes of the official release.",
            rich_help_panel=QUESTIONS,
        ),
    ] = False,
    hops: Annotated[
        int,
        typer.Option(
            "--hops",
            metavar="N",
            min=1,
            help="The answer lies at least this many steps away.",
            rich_help_panel=QUESTIONS,
        ),
    ] = 1,
    min_margin: Annotated[
        float,
        typer.Option(
            "--min-margin",
            metavar="X",
            help="Least share that the runner-up gives away.",
            rich_help_panel=QUESTIONS,
        ),
    ] = 0.0,
    max_margin: Annotated[
        float,
        typer.Option(
            "--max-margin",
            metavar="X",
            help="Largest share that the runner-up gives away.",
            rich_help_panel=QUESTIONS,
        ),
    ] = math.inf,
    rivals: Annotated[
        int | None,
        typer.Option(
            "--rivals",
            metavar="N",
            min=1,
            help="Least candidates that are better than nothing.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    distractors: Annotated[
        int,
        typer.Option(
            "--distractors",
            metavar="N",
            min=0,
            help="Things added that do not matter.",
            rich_help_panel=QUESTIONS,
        ),
    ] = 0,
    mix: Annotated[
        str | None,
        typer.Option(
            "--mix",
            metavar="direct=X,far=X",
            help="Proportions by how far the answer lies: 1 step away, or 2 (--hops) and more.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    resist: Annotated[
        str | None,
        typer.Option(
            "--resist",
            metavar="NAMES",
            help="Keep only what these deciders get wrong, separated by commas; 'dqa list' names "
            "them, and the options of models are theirs.",
            autocompletion=by_name("decider", listed=True),
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    per_database: Annotated[
        int | None,
        typer.Option(
            "--per-database",
            metavar="N",
            min=1,
            help="Most questions a world is asked.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            "--size",
            metavar="SCENARIO.NAME=N",
            help="A number of a scenario's worlds, e.g. their rows; may be given several times, "
            "and the others are as usual.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    asking: DecidingOptions,
    calling: CallOptions,
    working: EngineOptions,
    as_json: options.AsJson = False,
) -> None:
    """Generate questions and their databases into a new folder, in the release's own layout."""
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
        "resist": () if resist is None else options.names_in("--resist", resist),
    }
    running = RunOptions(engine=working.engine, ray_address=working.ray_address)
    require_new_folder(out)
    named = options.set_in(asking.settings)
    if named is not None:
        _refuse_beside_set(asked, asking.seed)
        from dqa.loaders.sets import write_set

        write_set(named, out)
    else:
        _generate(out, asked, asking, {"calls": calling, "options": running})
    _report(out, as_json)


def _generate(
    out: Path, asked: Mapping[str, Any], asking: DecidingOptions, how: Mapping[str, Any]
) -> None:
    """Generate what is asked for into a folder, whose manifest says what that was."""
    from dqa.api.generating import generate as generate_all
    from dqa.evaluation.spec import Deciding
    from dqa.loaders import generator

    deciding = Deciding(**asking.fields(None, reads=True))
    made = generate_all(seed=asking.seed, deciding=deciding, **how, **asked)
    scenarios = tuple(dict.fromkeys(question.scenario for question in made.questions))
    usual = {"scenarios": scenarios, "count": 10}
    told = usual | {name: value for name, value in asked.items() if value or name in _TOLD}
    if asked["like_release"]:
        told = {"like_release": True}
    if asked["resist"]:
        told["deciding"] = deciding.to_json()
    generator.write_generated(made, out, seed=asking.seed, options=told)


_TOLD = ("sizes", "per_database")
"""What a manifest says even where it is as usual."""


def _refuse_beside_set(asked: Mapping[str, Any], seed: int) -> None:
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
