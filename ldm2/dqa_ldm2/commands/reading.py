"""``dqa memory show|search|undo|export``: read a memory, and undo its versions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dqa.cli import options
from dqa.cli.help import LIMITS
from dqa.cli.options import argument, option
from dqa.cli.output import show
from dqa.core.text import counted, shortened

if TYPE_CHECKING:
    from dqa_ldm2.memory import Memory
    from dqa_ldm2.records import Remembered

_CELL = 60
_SHOWN = 10

Location = Annotated[str, argument("MEMORY", "The memory: a file, or the URL of a database.")]
Most = Annotated[int, option("--most N", LIMITS, "Maximum number of tuples to show.", least=1)]


def show_memory(*, memory: Location, as_json: options.AsJson = False) -> None:
    """Show the versions and batches of a memory."""
    with _open(memory) as opened:
        show(*_overview(opened), as_json=as_json)


def search(
    *,
    memory: Location,
    words: Annotated[str, argument("WORDS", "The words to search for.")],
    most: Most = _SHOWN,
    as_json: options.AsJson = False,
) -> None:
    """Search all batches, and show the tuples that contain the largest share of some words."""
    with _open(memory) as opened:
        found = opened.search(words, most)
    lines = [_line(one) for one in found] or ["No tuple contains any of these words."]
    value = [{"id": one.id, **one.to_json(), "likeness": one.likeness} for one in found]
    show(value, lines, as_json=as_json)


def undo(
    *,
    memory: Location,
    version: Annotated[int, argument("VERSION", "The number of the version.")],
    as_json: options.AsJson = False,
) -> None:
    """Undo a version: the tuples that it added are no longer found."""
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
    as_json: options.AsJson = False,
) -> None:
    """Write a memory's tuples as JSON lines."""
    from dqa_ldm2.files import export_memory

    with _open(memory) as opened:
        count = export_memory(opened, file)
    value = {"file": str(file), "tuples": count}
    show(value, [f"{counted(count, 'tuple')} in {file}."], as_json=as_json)


def _open(location: str) -> Memory:
    from dqa_ldm2.memory import open_memory

    return open_memory(location)


def _overview(memory: Memory) -> tuple[dict[str, Any], list[str]]:
    """Return the versions and batches of a memory as JSON values, and as lines of text."""
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
    size = counted(sum(sizes.values()), "tuple")
    size += f" in {counted(len(batches), 'batch', 'batches')}"
    lines = [f"{memory.location}: {size}, {counted(len(versions), 'version')}."]
    for one in versions:
        origin, undone = one.origin, ", undone" if one.is_undone else ""
        by = f" by {origin.model}" if origin.model else ""
        added = (
            f"{counted(one.added, 'tuple')} in batches {', '.join(map(str, one.batches)) or '-'}"
        )
        lines.append(
            f"Version {one.number}: {origin.making} from {origin.source}{by}, {added}{undone}"
        )
    for batch, types in batches.items():
        names = ", ".join(f"{one.name} ({one.size})" for one in types)
        lines.append(f"Batch {batch}: {counted(sizes[batch], 'tuple')}. Goal types: {names}")
    return value, lines


def _line(one: Remembered) -> str:
    goal, seen, action = (shortened(x, _CELL) for x in (one.goal, one.observation, one.action))
    where = f"batch {one.batch}, version {one.version}, {one.source}, step {one.number}"
    types = f"{one.goal_type} / {one.observation_type}"
    return f"{one.likeness:.2f} [{one.id}] {action} ({types}; {goal}; {seen}; {where})"
