"""``dqa generate``: write questions and their worlds from a seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.output import echo_json
from dqa.core.errors import UsageError


def generate(  # noqa: PLR0913  (one parameter an option)
    *,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="New folder to write to.")],
    scenarios: Annotated[
        str | None,
        typer.Option(
            "--scenarios",
            metavar="NAMES",
            help="Scenarios, separated by commas; those with a simulator by default.",
        ),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option("--questions", metavar="N", min=1, help="Questions of each scenario; 10."),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Same seed, same questions.")
    ] = 0,
    like_release: Annotated[
        bool, typer.Option("--like-release", help="Counts and mean sizes of the official release.")
    ] = False,
    hops: Annotated[
        int,
        typer.Option(
            "--hops", metavar="N", min=1, help="The answer lies at least this many steps away."
        ),
    ] = 1,
    min_margin: Annotated[
        float, typer.Option("--min-margin", help="Least share that the runner-up gives away.")
    ] = 0.0,
    max_margin: Annotated[
        float, typer.Option("--max-margin", help="Largest share that the runner-up gives away.")
    ] = math.inf,
    rivals: Annotated[
        int | None,
        typer.Option(
            "--rivals", metavar="N", min=1, help="Least candidates that are better than nothing."
        ),
    ] = None,
    distractors: Annotated[
        int,
        typer.Option("--distractors", metavar="N", min=0, help="Things added that do not matter."),
    ] = 0,
    per_database: Annotated[
        int | None,
        typer.Option("--per-database", metavar="N", min=1, help="Most questions a world is asked."),
    ] = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            "--size",
            metavar="SCENARIO.NAME=N",
            help="A number of a scenario's worlds, e.g. their rows; may be given several times, "
            "and the others are as usual.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Generate questions and their databases into a new folder, in the release's own layout."""
    from dqa.loaders import generator

    difficulty = generator.Difficulty(
        hops=hops, min_margin=min_margin, max_margin=max_margin, distractors=distractors
    )
    if rivals is not None:
        difficulty = replace(difficulty, rivals=rivals)
    asked: dict[str, Any] = {
        "scenarios": options.scenarios_in(scenarios),
        "count": questions,
        "sizes": tuple(generator.size_of(*sized) for sized in _sizes(size or ()).items()),
        "difficulty": difficulty,
        "per_database": per_database,
    }
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is not empty: name a new folder for --out.")
    made = generator.generate(seed=seed, like_release=like_release, **asked)
    usual = {"scenarios": generator.judged_scenarios(), "count": 10}
    told = usual | {name: value for name, value in asked.items() if value or name not in usual}
    generator.write_generated(
        made, out, seed=seed, options={"like_release": True} if like_release else told
    )
    manifest = generator.read_manifest(out)
    if as_json:
        echo_json({"out": str(out), **manifest.to_json()})
        return
    for scenario, counts in manifest.counts.items():
        typer.echo(
            f"{scenario}: {counts.questions} questions on {counts.databases} databases, "
            f"{counts.mean_rows:.1f} rows on average"
        )
    typer.echo(f"Written to {out}. Decide them with: dqa eval --generated {out}")


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
