"""Memories as files of JSON lines: written by `export_memory`, read by `import_memory`.

The first line says what the file is, which version of the format it has and how many tuples follow;
each other line is a tuple with its batch and its place.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from hashlib import sha256
from io import BufferedReader
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dqa.core.errors import DqaError, ParseError, UsageError
from dqa.core.files import (
    LINE_BYTES,
    open_regular,
    parse_json,
    problem_of_path,
    require_new_file,
    write_private,
)
from dqa_ldm2.memory.base import Memory, Origin, Placed, Remembered, StateAction, Version

FORMAT: Final = "dqa-memory"
FORMAT_VERSION: Final = 1


class _Head(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: str
    version: int
    tuples: int
    location: str = ""


_Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
"""What any database counts up to."""


class _Line(BaseModel):
    """A tuple of a file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    batch: _Number
    goal_type: str
    observation_type: str
    goal: str
    history: str
    observation: str
    action: str
    source: str = Field(min_length=1)
    step: _Number
    reward: float | None = Field(default=None, allow_inf_nan=False)
    version: int | None = None

    def placed(self) -> Placed:
        """Return the tuple with its place."""
        content = StateAction(
            self.goal,
            self.history,
            self.observation,
            self.action,
            self.source,
            self.step,
            self.reward,
        )
        return Placed(content, self.goal_type, self.observation_type)


def export_memory(
    memory: Memory,
    file: Path | str,
    *,
    version: int | None = None,
    sources: Collection[str] | None = None,
) -> int:
    """Write a memory's tuples as JSON lines; return how many there are.

    Parameters
    ----------
    memory
        Which.
    file
        A new file, which its owner alone may read.
    version, sources
        Which tuples; see `Memory.tuples`.

    Raises
    ------
    UsageError
        There is no such version, the file is there already, or it cannot be written.
    """
    path = Path(file)
    require_new_file(path)
    lines = [
        json.dumps(line_of(each), ensure_ascii=False)
        for each in memory.tuples(version=version, sources=sources)
    ]
    head = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "tuples": len(lines),
        "location": memory.location,
    }
    text = "\n".join([json.dumps(head, ensure_ascii=False), *lines, ""])
    try:
        write_private(path, text, new=True)
    except OSError as error:
        raise UsageError(f"{problem_of_path(path, error, writing=True)}.") from error
    return len(lines)


def line_of(each: Remembered) -> dict[str, Any]:
    """Return a tuple as a line of a file has it, and as ``--json`` prints it."""
    said = each.placed.content
    return {
        "batch": each.batch,
        "goal_type": each.placed.goal_type,
        "observation_type": each.placed.observation_type,
        "goal": said.goal,
        "history": said.history,
        "observation": said.observation,
        "action": said.action,
        "source": said.source,
        "step": said.number,
        "reward": said.reward,
        "version": each.version,
    }


@dataclass(frozen=True, slots=True)
class Exported:
    """What a file of `export_memory` holds: tuples by batch, and by what it is known again."""

    source: str
    batches: tuple[tuple[Placed, ...], ...]


def read_export(file: Path | str) -> Exported:
    """Read a file of `export_memory`.

    Raises
    ------
    ParseError
        A line is no tuple, or not as many follow as the first line says.
    UsageError
        The file cannot be read, or holds no tuples.
    """
    path = Path(file)
    said = sha256()
    batches: dict[int, list[Placed]] = {}
    for line in _lines(path, said):
        batches.setdefault(line.batch, []).append(line.placed())
    if not batches:
        raise UsageError(f"{path} holds no tuples: name a file of 'dqa memory export'.")
    source = f"{path.name} ({said.hexdigest()[:16]})"
    return Exported(source, tuple(tuple(batches[number]) for number in sorted(batches)))


def import_memory(memory: Memory, file: Path | str | Exported) -> Version:
    """Add the tuples of a file: each of its batches as a new one, all as one version.

    Parameters
    ----------
    memory
        Where to.
    file
        What `export_memory` wrote, or what `read_export` read of it.

    Raises
    ------
    ParseError, UsageError
        As `read_export`; or its content was imported before and not undone. Nothing was added.
    """
    read = file if isinstance(file, Exported) else read_export(file)
    return memory.add_batches(read.batches, Origin("import", read.source))


def _lines(path: Path, said: Any) -> Iterator[_Line]:  # noqa: ANN401  (a hash, which has no type)
    expected: int | None = None
    count = 0
    try:
        with BufferedReader(open_regular(path, most=None)) as file:
            for number, text in enumerate(iter(lambda: file.readline(LINE_BYTES), b""), 1):
                if not text.strip():
                    continue
                if expected is None:
                    expected = _read_head(path, number, text)
                    continue
                said.update(text.strip() + b"\n")
                count += 1
                yield _read(path, number, text, _Line)
    except OSError as error:
        if isinstance(error, DqaError):
            raise
        raise UsageError(f"{problem_of_path(path, error)}.") from error
    if expected is not None and count != expected:
        raise ParseError(
            path,
            None,
            f"it holds {count:,} tuples where its first line says {expected:,}: was it written to "
            "its end? Nothing was imported.",
        )


def _read_head(path: Path, number: int, text: bytes) -> int:
    """Return how many tuples a file says that it holds."""
    head = _read(path, number, text, _Head)
    if head.format != FORMAT:
        raise ParseError(path, number, f"its format is '{head.format}' and not '{FORMAT}'")
    if head.version != FORMAT_VERSION:
        raise UsageError(
            f"{path} is of version {head.version} of its format, and this dqa reads "
            f"{FORMAT_VERSION}: export it anew, with a dqa that writes this one."
        )
    return head.tuples


_Read = TypeVar("_Read", bound=BaseModel)


def _read(path: Path, number: int, text: bytes, kind: type[_Read]) -> _Read:
    try:
        return kind.model_validate(parse_json(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the line"
        raise ParseError(
            path, number, f"{where}: {first['msg']}. A line is one of 'dqa memory export'."
        ) from error
    except ValueError as error:
        raise ParseError(path, number, f"this is no JSON ({error})") from error
