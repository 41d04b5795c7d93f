"""``dqa generate``: write questions and their worlds from a seed."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.output import echo_json
from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.loaders.generator import Size

__all__ = ["generate"]


def generate(  # noqa: PLR0913  (one parameter an option)
    *,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="New folder to write to.")],
    scenarios: options.Scenarios = "locating,building",
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
    locating_size: Annotated[
        str | None,
        typer.Option(metavar="N,E,C,R", help="Nodes, edges, countries, node_country rows."),
    ] = None,
    building_size: Annotated[
        str | None,
        typer.Option(metavar="G,B,D,S", help="Goods, buildings, demand rows, supply rows."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Generate questions and their databases into a new folder, in the release's own layout."""
    from dqa.loaders.generator import Difficulty

    difficulty = Difficulty(
        hops=hops, min_margin=min_margin, max_margin=max_margin, distractors=distractors
    )
    if rivals is not None:
        difficulty = replace(difficulty, rivals=rivals)
    asked = {
        "scenarios": options.names_in("--scenarios", scenarios),
        "count": questions or 10,
        "sizes": _sizes(locating_size, building_size),
        "difficulty": difficulty,
        "per_database": per_database,
    }
    if like_release and (asked["sizes"] or questions or per_database or difficulty != Difficulty()):
        raise UsageError(
            "--like-release fixes counts, sizes and difficulty: leave their options away."
        )
    _write(out, seed, None if like_release else asked, as_json)


def _write(out: Path, seed: int, asked: dict[str, Any] | None, as_json: bool) -> None:
    from dqa.loaders import generator

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is not empty: name a new folder for --out.")
    made = (
        generator.generate_like_release(seed)
        if asked is None
        else generator.generate(seed=seed, **asked)
    )
    generator.write_generated(
        made, out, seed=seed, options={"like_release": True} if asked is None else asked
    )
    manifest = generator.read_manifest(out)
    if as_json:
        echo_json({"out": str(out), **manifest})
        return
    for scenario, counts in manifest["counts"].items():
        typer.echo(
            f"{scenario}: {counts['questions']} questions on {counts['databases']} databases, "
            f"{counts['mean_rows']:.1f} rows on average"
        )
    typer.echo(f"Written to {out}. Decide them with: dqa eval --generated {out}")


def _sizes(locating: str | None, building: str | None) -> tuple[Size, ...]:
    from dqa.loaders.generator import BuildingSize, LocatingSize

    sizes: list[Size] = []
    if locating is not None:
        sizes.append(LocatingSize(*_four("--locating-size", locating)))
    if building is not None:
        sizes.append(BuildingSize(*_four("--building-size", building)))
    return tuple(sizes)


def _four(option: str, listed: str) -> tuple[int, int, int, int]:
    try:
        first, second, third, fourth = (int(part) for part in listed.split(","))
    except ValueError as error:
        raise UsageError(
            f"{option} takes four whole numbers separated by commas, not '{listed}'."
        ) from error
    return first, second, third, fourth
