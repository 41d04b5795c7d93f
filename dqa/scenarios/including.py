"""Files that a ``scenario.toml`` includes: parts that several scenarios share.

An included file contains tables, nodes, edges, parameters and settings, written as in a
``scenario.toml``. Items of lists come before the scenario's own. A parameter or setting of the
scenario replaces an included one of the same name.
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
from dqa.scenarios.toml_lines import Place, line_of

INCLUDE = "include"
_TYPES: Mapping[str, type[Any]] = {
    name: dict if name in ("parameters", "settings") else list for name in SharedParts.model_fields
}
"""The type of each part that an included file can contain."""
_LINE = re.compile(r"at line (\d+)")


@dataclass(frozen=True, slots=True)
class _Written:
    """A file's text, and its values."""

    file: str
    text: str
    values: Mapping[str, Any]

    def wrong(self, place: Place, problem: str) -> ParseError:
        """Return an error with the line of a field."""
        field = ".".join(map(str, place)) or "the file"
        return ParseError(self.file, line_of(place, self.text), f"{field}: {problem}")


@dataclass(frozen=True, slots=True)
class MergedDocument:
    """The values of a ``scenario.toml`` with its included files.

    Attributes
    ----------
    values
        As one document.
    parts
        The included files, then the document itself.
    """

    values: Mapping[str, Any]
    parts: tuple[_Written, ...]

    def wrong(self, place: Place, problem: str) -> ParseError:
        """Return an error with the file and the line of a field."""
        first, second = (*place, None, None)[:2]
        key, own = str(first), self.parts[-1]
        if isinstance(second, int) and _TYPES.get(key) is list:
            for part in self.parts:
                count = len(part.values.get(key, ()))
                if second < count:
                    return part.wrong((key, second, *place[2:]), problem)
                second -= count
        if _TYPES.get(key) is dict:
            own = next((p for p in reversed(self.parts) if second in p.values.get(key, {})), own)
        return own.wrong(place, problem)


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
    own = _written(file, text)
    names = own.values.get(INCLUDE, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        problem = 'it has to be a list of files, such as ["../tables.toml"]'
        raise own.wrong((INCLUDE,), problem)
    parts = [_included(folder, name, own, (INCLUDE, i)) for i, name in enumerate(names)]
    parts.append(own)
    merged = dict(own.values)
    for key, kind in _TYPES.items():
        found = [part.values[key] for part in parts if key in part.values]
        for part in parts:
            if not isinstance(part.values.get(key, kind()), kind):
                raise part.wrong((key,), f"it has to be a {'list' if kind is list else 'table'}")
        if found and kind is list:
            merged[key] = [item for items in found for item in items]
        elif found:
            merged[key] = {name: value for named in found for name, value in named.items()}
    return MergedDocument(merged, tuple(parts))


def _included(folder: Traversable, name: str, own: _Written, place: Place) -> _Written:
    """Read an included file; `ParseError` at its place in the document."""
    path = PurePosixPath(name)
    if path.is_absolute() or path.suffix != ".toml" or not isinstance(folder, Path):
        raise own.wrong(place, f"'{name}' has to be the path of a .toml file from this folder")
    file, home = folder / path, folder.resolve().parent
    if not file.resolve().is_relative_to(home):
        raise own.wrong(place, f"{file} is outside of {home}: move it there")
    try:
        written = _written(str(file), read_text(file.resolve(), home=home))
    except (DataError, UsageError) as error:
        if isinstance(error, ParseError):
            raise
        raise own.wrong(place, str(error)) from error
    for key in written.values:
        if key not in _TYPES:
            raise written.wrong((key,), f"an included file can only contain {', '.join(_TYPES)}")
    return written


def _written(file: str, text: str) -> _Written:
    try:
        return _Written(file, text, parse_toml(text))
    except ValueError as error:
        found = _LINE.search(str(error))
        line = int(found[1]) if found else None
        raise ParseError(file, line, f"it is not TOML: {error}") from error
