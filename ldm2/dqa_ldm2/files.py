"""Export a memory to JSON lines, and import it again.

The first line has the format, its version and the number of tuples; every other line is a tuple.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dqa.core.errors import ParseError, UsageError
from dqa.core.files import problem_of_path, read_text, require_new_file, write_private
from dqa_ldm2.memory import Memory
from dqa_ldm2.records import Origin, Remembered, StateAction, Version

_Kind = TypeVar("_Kind", bound=BaseModel)

_VERSION: Final = 1
_MOST: Final = 1 << 34


class _Head(BaseModel):
    model_config = ConfigDict(strict=True)

    format: Literal["dqa-memory"]
    version: int
    tuples: int


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    batch: Annotated[int, Field(ge=1, le=2**31 - 1)]
    goal_type: str
    observation_type: str
    goal: str
    history: str
    subgoals: str = ""
    observation: str
    action: str
    source: Annotated[str, Field(min_length=1)]
    step: Annotated[int, Field(ge=1, le=2**31 - 1)]
    reward: Annotated[float | None, Field(allow_inf_nan=False)] = None
    version: int | None = None

    def to_tuple(self) -> StateAction:
        values = self.model_dump(exclude={"batch", "version", "step"})
        return StateAction(number=self.step, **values)


@dataclass(frozen=True, slots=True)
class Exported:
    """The content of an export: its tuples by batch, and a name with a hash of it."""

    source: str
    batches: tuple[tuple[StateAction, ...], ...]


def line_of(one: Remembered) -> dict[str, Any]:
    """Return a tuple as an export and ``--json`` write it."""
    values = asdict(one)
    del values["id"], values["likeness"]
    return {"batch": values.pop("batch"), "step": values.pop("number"), **values}


def export_memory(
    memory: Memory,
    file: Path | str,
    *,
    version: int | None = None,
    sources: Collection[str] | None = None,
) -> int:
    """Write tuples as JSON lines to a new file that only its owner may read; return their number.

    Parameters
    ----------
    memory
        The memory.
    file
        The file.
    version, sources
        Which tuples; see `Memory.tuples`.

    Raises
    ------
    UsageError
        There is no such version, or the file exists or cannot be written.
    """
    path = Path(file)
    require_new_file(path)
    found = memory.tuples(version=version, sources=sources, once=False)
    tuples = [line_of(one) for one in found]
    head = {"format": "dqa-memory", "version": _VERSION, "tuples": len(tuples)}
    lines = [json.dumps(one, ensure_ascii=False) for one in (head, *tuples)]
    try:
        write_private(path, "\n".join([*lines, ""]), new=True)
    except OSError as error:
        raise UsageError(f"{problem_of_path(path, error, writing=True)}.") from error
    return len(tuples)


def read_export(file: Path | str) -> Exported:
    """Read a file of `export_memory`.

    Raises
    ------
    ParseError
        A line is not a tuple, or the file is not complete.
    UsageError
        The file cannot be read, or has no tuples.
    """
    path = Path(file)
    text = read_text(path, most=_MOST)
    lines = [line for line in text.split("\n") if line.strip()]
    batches: dict[int, list[StateAction]] = {}
    for line in _read_lines(path, lines):
        batches.setdefault(line.batch, []).append(line.to_tuple())
    if not batches:
        raise UsageError(f"{path} holds no tuples: name a file of 'dqa memory export'.")
    mark = sha256("\n".join(lines[1:]).encode()).hexdigest()[:16]
    return Exported(f"{path.name} ({mark})", tuple(tuple(batches[n]) for n in sorted(batches)))


def import_memory(memory: Memory, file: Path | str | Exported) -> Version:
    """Add the tuples of an export: each batch as a new one, all as one version.

    Raises
    ------
    ParseError, UsageError
        As `read_export`; or the memory has the same content already.
    """
    read = file if isinstance(file, Exported) else read_export(file)
    mark = read.source.rpartition(" ")[2]
    for version in memory.versions():
        is_same = version.origin.making == "import" and version.origin.source.endswith(mark)
        if is_same and not version.is_undone:
            raise UsageError(
                f"The same was imported into {memory.location} already, as version "
                f"{version.number}: 'dqa memory undo' takes that back first."
            )
    return memory.add_batches(read.batches, Origin("import", read.source))


def _read_lines(path: Path, lines: list[str]) -> Iterator[_Line]:
    if not lines:
        return
    head = _read(path, 1, lines[0], _Head)
    if head.version != _VERSION:
        raise UsageError(
            f"{path} has version {head.version} of the format, and this dqa reads {_VERSION}: "
            "export it with a dqa that writes this one."
        )
    if len(lines) - 1 != head.tuples:
        raise ParseError(
            path,
            None,
            f"it holds {len(lines) - 1:,} tuples where its first line says {head.tuples:,}: was it "
            "written to its end? Nothing was imported.",
        )
    for number, line in enumerate(lines[1:], 2):
        yield _read(path, number, line, _Line)


def _read(path: Path, number: int, line: str, kind: type[_Kind]) -> _Kind:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the line"
        problem = f"{where}: {first['msg']}. A line is one of 'dqa memory export'"
        raise ParseError(path, number, problem) from error
