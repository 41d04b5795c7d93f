"""``dqa memory show|search|undo|export``: read a memory, and undo additions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dqa.cli import options
from dqa.cli.help import LIMITS, OUTPUT
from dqa.cli.options import argument, option
from dqa.cli.output import show
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.text import counted, shortened, visible
from dqa.report.table import Table

if TYPE_CHECKING:
    from dqa_ldm2.memory import Memory
    from dqa_ldm2.records import MemoryType, Remembered

_CELL = 60
_SHOWN = 10

Location = Annotated[str, argument("MEMORY", "The memory: a file, or the URL of a database.")]
Most = Annotated[int, option("--most N", LIMITS, "Maximum number of tuples to show.", least=1)]


def show_memory(
    *,
    memory: Location,
    batch: Annotated[int | None, option("--batch N", OUTPUT)] = None,
    goal_type: Annotated[str | None, option("--goal-type NAME", OUTPUT)] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show the versions and batches of a memory, or the types of a batch.

    Parameters
    ----------
    batch
        Show the goal types of this batch.
    goal_type
        Show the observation types of this goal type. Requires --batch.
    """
    if goal_type is not None and batch is None:
        raise UsageError("--goal-type needs --batch: add the number of a batch.")
    with _open(memory) as opened:
        if batch is None:
            value, parts = _whole(opened)
            show(value, parts, as_json=as_json)
            return
        what, types = "goal type", opened.goal_types(batch)
        where = f"{opened.location}, batch {batch}"
        if goal_type is not None:
            known = [one.name for one in types]
            what, types = "observation type", opened.observation_types(batch, goal_type)
            where += f", goal type '{visible(goal_type)}'"
            if not types:
                raise UnknownNameError("goal type", goal_type, known)
    show([asdict(one) for one in types], _types(what, types, where), as_json=as_json)


def search(
    *,
    memory: Location,
    words: Annotated[str, argument("WORDS", "The words to search for.")],
    most: Most = _SHOWN,
    as_json: options.AsJson = False,
) -> None:
    """Show the tuples of all batches that are most similar to some words."""
    with _open(memory) as opened:
        found = opened.search(words, most)
    lines = [_tuples(found)] if found else ["No tuple contains any of these words."]
    value = [{"id": one.id, **one.to_json(), "likeness": one.likeness} for one in found]
    show(value, lines, as_json=as_json)


def undo(
    *,
    memory: Location,
    version: Annotated[int, argument("VERSION", "The number of the addition.")],
    as_json: options.AsJson = False,
) -> None:
    """Undo an addition: its tuples are no longer found."""
    with _open(memory) as opened:
        undone = opened.undo(version)
    tuples = counted(undone.added, "tuple")
    line = (
        f"Version {version} ({undone.origin.making} from {undone.origin.source}, {tuples}) is "
        "undone. Tuples that are also in another version are still found."
    )
    show(undone.to_json(), [line], as_json=as_json)


def export(
    *,
    memory: Location,
    file: Annotated[Path, argument("FILE", "A new file of JSON lines.")],
    version: Annotated[
        int | None,
        option("--version N", OUTPUT, "Write the memory as it was after this version."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Write a memory's tuples as JSON lines."""
    from dqa_ldm2.files import export_memory

    with _open(memory) as opened:
        count = export_memory(opened, file, version=version)
    value = {"file": str(file), "tuples": count}
    show(value, [f"{counted(count, 'tuple')} in {file}."], as_json=as_json)


def _open(location: str) -> Memory:
    from dqa_ldm2.memory import open_memory

    return open_memory(location)


def _whole(memory: Memory) -> tuple[dict[str, Any], list[str | Table]]:
    """Return versions and batches as data, and as lines and tables."""
    versions = memory.versions()
    batches = {batch: memory.goal_types(batch) for batch in memory.batches()}
    sizes = {batch: sum(one.size for one in types) for batch, types in batches.items()}
    value = {
        "memory": memory.location,
        "versions": [one.to_json() for one in versions],
        "batches": [
            {"batch": batch, "tuples": sizes[batch], "goal_types": len(types)}
            for batch, types in batches.items()
        ],
    }
    there = counted(sum(sizes.values()), "tuple")
    there += f" in {counted(len(batches), 'batch', 'batches')}"
    parts: list[str | Table] = [f"{memory.location}: {there}, {counted(len(versions), 'version')}."]
    if versions:
        names = ("Version", "Making", "Source", "Model", "Tuples", "Batches", "Undone")
        rows = (
            (
                one.number,
                *(one.origin.making, one.origin.source, one.origin.model or "-"),
                one.added,
                ", ".join(map(str, one.batches)) or "-",
                "yes" if one.is_undone else "",
            )
            for one in versions
        )
        parts.append(_table(names, rows))
    if batches:
        rows_of = (
            (batch, sizes[batch], ", ".join(f"{one.name} ({one.size})" for one in types))
            for batch, types in batches.items()
        )
        parts.append(_table(("Batch", "Tuples", "Goal types"), rows_of))
    return value, parts


def _types(what: str, types: Sequence[MemoryType], where: str) -> list[str | Table]:
    tuples = counted(sum(one.size for one in types), "tuple")
    rows = (
        (one.name, one.size, "; ".join(shortened(text, _CELL) for text in one.examples))
        for one in types
    )
    table = _table((what.capitalize(), "Tuples", "Examples"), rows)
    return [f"{where}: {tuples} in {counted(len(types), what)}.", table]


def _tuples(tuples: Iterable[Remembered]) -> Table:
    names = ["Likeness", "Id", "Batch", "Version", "Goal type", "Observation type", "Goal"]
    names += ["Observation", "Action", "Source", "Step"]
    rows = (
        (
            f"{one.likeness:.2f}",
            *(one.id, one.batch, one.version, one.goal_type, one.observation_type),
            *(shortened(text, _CELL) for text in (one.goal, one.observation, one.action)),
            *(one.source, one.number),
        )
        for one in tuples
    )
    return _table(names, rows)


def _table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    return Table("", names, [], [[str(cell) for cell in row] for row in rows], wraps=True)
