"""Files that a ``scenario.toml`` includes: parts that several scenarios share.

An included file contains tables, nodes, edges, parameters and settings, written as in a
``scenario.toml``. Items of lists come before the scenario's own. A parameter or setting of the
scenario replaces an included one with the same name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Any

from dqa.core.errors import DataError, ParseError, UsageError
from dqa.core.files import parse_toml, read_text
from dqa.scenarios.document import SharedParts
from dqa.scenarios.toml_lines import FieldPath, lines_of

INCLUDE = "include"
_TYPES: Mapping[str, type[Any]] = {
    name: dict if name in ("parameters", "settings") else list for name in SharedParts.model_fields
}
"""The type of each part that an included file can contain."""
_LINE = re.compile(r"at line (\d+)")


@dataclass(frozen=True, slots=True)
class MergedDocument:
    """The values of a ``scenario.toml`` with its included files.

    Attributes
    ----------
    file
        The ``scenario.toml``.
    values
        The values, as one document.
    lines
        Maps the path of a field to its file and its line.
    """

    file: str
    values: Mapping[str, Any]
    lines: Mapping[FieldPath, tuple[str, int]]

    def wrong(self, path: FieldPath, problem: str) -> ParseError:
        """Return an error with the file and the line of a field, or of the part around it."""
        around = (path[:length] for length in range(len(path), 0, -1))
        file, line = next(
            (self.lines[one] for one in around if one in self.lines), (self.file, None)
        )
        field = ".".join(map(str, path)) or "the file"
        return ParseError(file, line, f"{field}: {problem}")


def merge_included(folder: Traversable, file: str, text: str) -> MergedDocument:
    """Read a document and the files that it includes.

    Parameters
    ----------
    folder
        The scenario's folder; paths are relative to it.
    file, text
        The document.

    Raises
    ------
    ParseError
        A file is missing or is not TOML, or a shared part is not a list or table.
    """
    own = _read(file, text)
    names = own.values.get(INCLUDE, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        problem = 'it must be a list of files, such as ["../tables.toml"]'
        raise own.wrong((INCLUDE,), problem)
    parts = [*(_included(folder, name, own, (INCLUDE, i)) for i, name in enumerate(names)), own]
    values = dict(own.values)
    lines = {path: line for path, line in own.lines.items() if path[0] not in _TYPES}
    for key, kind in _TYPES.items():
        merged = kind()
        for part in parts:
            added = part.values.get(key, kind())
            if not isinstance(added, kind):
                raise part.wrong((key,), f"it must be a {'list' if kind is list else 'table'}")
            if isinstance(added, dict):
                replaced = {(key, name) for name in added}
                lines = {path: line for path, line in lines.items() if path[:2] not in replaced}
            for path, line in part.lines.items():
                if path[0] == key and len(path) > 1:
                    first = path[1] + len(merged) if isinstance(path[1], int) else path[1]
                    lines[key, first, *path[2:]] = line
            merged = merged + added if kind is list else merged | added
        if merged or key in values:
            values[key] = merged
    return MergedDocument(file, values, lines)


def _included(folder: Traversable, name: str, own: MergedDocument, at: FieldPath) -> MergedDocument:
    """Read an included file.

    If it cannot be included, raise an error at the field that names it.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or path.suffix != ".toml" or not isinstance(folder, Path):
        raise own.wrong(at, f"'{name}' must be the path of a .toml file, relative to this folder")
    file, home = folder / path, folder.resolve().parent
    if not file.resolve().is_relative_to(home):
        raise own.wrong(at, f"{file} is outside of {home}: move it there")
    try:
        included = _read(str(file), read_text(file.resolve(), home=home))
    except ParseError:
        raise
    except (DataError, UsageError) as error:
        raise own.wrong(at, str(error)) from error
    for key in included.values:
        if key not in _TYPES:
            raise included.wrong((key,), f"an included file can only contain {', '.join(_TYPES)}")
    return included


def _read(file: str, text: str) -> MergedDocument:
    try:
        values = parse_toml(text)
    except ValueError as error:
        found = _LINE.search(str(error))
        line = int(found[1]) if found else None
        raise ParseError(file, line, f"it is not TOML: {error}") from error
    lines = {path: (file, line) for path, line in lines_of(text).items()}
    return MergedDocument(file, values, lines)
