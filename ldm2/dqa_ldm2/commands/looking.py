"""``dqa memory show|search|diff|undo|export|import``: a memory looked at, and put right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.help import LIMITS, OUTPUT
from dqa.cli.output import echo, echo_json, echo_table
from dqa.core.text import counted, shortened, visible
from dqa.report.table import Table

if TYPE_CHECKING:
    from dqa_ldm2.memory.base import Memory, MemoryType, Remembered, Version

_CELL = 60
_SHOWN = 10

Location = Annotated[
    str,
    typer.Argument(metavar="MEMORY", help="A file, or the URL of a database, with a memory."),
]
Most = Annotated[
    int,
    typer.Option(
        "--most", metavar="N", min=1, help="Most tuples that are shown.", rich_help_panel=LIMITS
    ),
]


def show(
    *,
    memory: Location,
    batch: Annotated[
        int | None,
        typer.Option(
            "--batch", metavar="N", help="The types of one batch.", rich_help_panel=OUTPUT
        ),
    ] = None,
    goal_type: Annotated[
        str | None,
        typer.Option(
            "--goal-type",
            metavar="NAME",
            help="The observation types of one goal type of the batch.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show a memory: its versions and batches, the types of a batch, or those of a goal type."""
    from dqa.core.errors import UnknownNameError, UsageError
    from dqa_ldm2.memory.opening import open_memory

    if goal_type is not None and batch is None:
        raise UsageError("--goal-type is a type of a batch: name the batch, too (--batch).")
    with open_memory(memory) as opened:
        if batch is None:
            _show_all(opened, as_json=as_json)
        elif goal_type is None:
            where = f"{opened.location}, batch {batch}"
            _show_types("goal type", opened.goal_types(batch), where, as_json=as_json)
        else:
            types = opened.observation_types(batch, goal_type)
            if not types:
                known = [each.name for each in opened.goal_types(batch)]
                raise UnknownNameError("goal type", goal_type, known)
            where = f"{opened.location}, batch {batch}, goal type '{visible(goal_type)}'"
            _show_types("observation type", types, where, as_json=as_json)


def search(
    *,
    memory: Location,
    words: Annotated[str, typer.Argument(metavar="WORDS", help="What tuples are to be like.")],
    most: Most = _SHOWN,
    as_json: options.AsJson = False,
) -> None:
    """Show the tuples of all batches that are most like some words."""
    from dqa_ldm2.memory.opening import open_memory

    with open_memory(memory) as opened:
        found = opened.search(words, most)
    if as_json:
        echo_json([_json(each) | {"likeness": each.likeness} for each in found])
    elif found:
        echo_table(_table(found, likeness=True))
    else:
        echo("Nothing in it has one of these words.")


def diff(
    *,
    memory: Location,
    before: Annotated[
        int, typer.Argument(metavar="BEFORE", help="A version; 0 is the empty memory.")
    ],
    after: Annotated[
        int | None, typer.Argument(metavar="AFTER", help="Another; the newest by default.")
    ] = None,
    most: Most = _SHOWN,
    as_json: options.AsJson = False,
) -> None:
    """Show what a memory had after one version and not after another."""
    from dqa_ldm2.memory.opening import open_memory

    with open_memory(memory) as opened:
        newest = len(opened.versions()) if after is None else after
        found = opened.diff(before, newest)
    if as_json:
        parts = {"added": found.added, "removed": found.removed}
        echo_json(
            {"before": before, "after": newest}
            | {name: [_json(each) for each in tuples] for name, tuples in parts.items()}
        )
        return
    for what, tuples in (("added", found.added), ("removed", found.removed)):
        echo(f"{counted(len(tuples), 'tuple')} {what} from version {before} to version {newest}.")
        if tuples:
            echo_table(_table(tuples[:most]))
            _say_rest(len(tuples), most)


def undo(
    *,
    memory: Location,
    version: Annotated[int, typer.Argument(metavar="VERSION", help="Which addition.")],
    as_json: options.AsJson = False,
) -> None:
    """Take an addition back: its tuples are found no more."""
    from dqa_ldm2.memory.opening import open_memory

    with open_memory(memory) as opened:
        undone = opened.undo(version)
    if as_json:
        echo_json(_version_json(undone))
        return
    tuples = counted(undone.added, "tuple")
    echo(
        f"Version {version} ({undone.origin.making} from {undone.origin.source}, {tuples}) is "
        "undone; what a later version brought as well is there as that one's."
    )


def export(
    *,
    memory: Location,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file of JSON lines.")],
    version: Annotated[
        int | None,
        typer.Option(
            "--version",
            metavar="N",
            help="As it was after a version; as it is now by default.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Write a memory's tuples as JSON lines, which 'dqa memory import' reads."""
    from dqa_ldm2.memory.files import export_memory
    from dqa_ldm2.memory.opening import open_memory

    with open_memory(memory) as opened:
        count = export_memory(opened, file, version=version)
    if as_json:
        echo_json({"file": str(file), "tuples": count})
    else:
        echo(f"{counted(count, 'tuple')} in {file}.")


def import_(
    *,
    memory: Annotated[
        str,
        typer.Argument(
            metavar="MEMORY", help="A file, or the URL of a database; made where there is none."
        ),
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Of 'dqa memory export'.")],
    as_json: options.AsJson = False,
) -> None:
    """Add the tuples of a file: each of its batches as a new one, all as one version."""
    from dqa_ldm2.memory.files import import_memory, read_export
    from dqa_ldm2.memory.opening import open_memory

    read = read_export(file)  # before a memory is made for it
    with open_memory(memory, create=True) as opened:
        version = import_memory(opened, read)
    if as_json:
        echo_json(_version_json(version))
        return
    batches = counted(len(version.batches), "new batch", "new batches")
    echo(f"{counted(version.added, 'tuple')} in {batches}, as version {version.number}.")


def _show_all(memory: Memory, *, as_json: bool) -> None:
    versions, batches = memory.versions(), memory.batches()
    sizes = {batch: memory.goal_types(batch) for batch in batches}
    if as_json:
        parts = [
            {"batch": batch, "tuples": sum(each.size for each in types), "goal_types": len(types)}
            for batch, types in sizes.items()
        ]
        told = [_version_json(each) for each in versions]
        echo_json({"memory": memory.location, "versions": told, "batches": parts})
        return
    total = sum(each.size for types in sizes.values() for each in types)
    there = f"{counted(total, 'tuple')} in {counted(len(batches), 'batch', 'batches')}"
    echo(f"{memory.location}: {there}, {counted(len(versions), 'version')}.")
    rows: list[tuple[object, ...]] = []
    for each in versions:
        named = (each.origin.making, each.origin.source, each.origin.model or "-")
        batches_of = ", ".join(map(str, each.batches)) or "-"
        undone = "yes" if each.is_undone else ""
        rows.append((each.number, *named, each.added, batches_of, undone))
    if rows:
        names = ("Version", "Making", "Source", "Model", "Tuples", "Batches", "Undone")
        echo_table(_rows(names, rows))
    if batches:
        parts_of = [
            (
                batch,
                sum(each.size for each in types),
                ", ".join(f"{each.name} ({each.size})" for each in types),
            )
            for batch, types in sizes.items()
        ]
        echo_table(_rows(("Batch", "Tuples", "Goal types"), parts_of))


def _show_types(what: str, types: Sequence[MemoryType], where: str, *, as_json: bool) -> None:
    """Show types, behind a line that says whose they are, as of a whole memory."""
    if as_json:
        echo_json([{"name": t.name, "size": t.size, "examples": list(t.examples)} for t in types])
        return
    tuples = counted(sum(each.size for each in types), "tuple")
    echo(f"{where}: {tuples} in {counted(len(types), what)}.")
    rows = [
        (each.name, each.size, "; ".join(shortened(text, _CELL) for text in each.examples))
        for each in types
    ]
    echo_table(_rows((what.capitalize(), "Tuples", "Examples"), rows))


def _table(tuples: Iterable[Remembered], *, likeness: bool = False) -> Table:
    names = ["Id", "Batch", "Version", "Goal type", "Observation type", "Goal", "Observation"]
    names = [*(["Likeness"] if likeness else []), *names, "Action", "Source", "Step"]
    rows: list[tuple[object, ...]] = []
    for each in tuples:
        said = each.placed.content
        before = [f"{each.likeness:.2f}"] if likeness else []
        place = (each.placed.goal_type, each.placed.observation_type)
        texts = (shortened(text, _CELL) for text in (said.goal, said.observation, said.action))
        who = (each.id, each.batch, each.version)
        rows.append((*before, *who, *place, *texts, said.source, said.number))
    return _rows(names, rows)


def _rows(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    return Table("", names, [], [[str(cell) for cell in row] for row in rows], wraps=True)


def _say_rest(count: int, most: int) -> None:
    if count > most:
        echo(f"and {count - most:,} more: --most shows them.")


def _json(each: Remembered) -> dict[str, Any]:
    from dqa_ldm2.memory.files import line_of

    return {"id": each.id} | line_of(each)


def _version_json(version: Version) -> dict[str, Any]:
    return {
        "number": version.number,
        "making": version.origin.making,
        "source": version.origin.source,
        "model": version.origin.model,
        "added": version.added,
        "batches": list(version.batches),
        "is_undone": version.is_undone,
    }
