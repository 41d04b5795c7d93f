"""Files that a ``scenario.toml`` includes: parts that several scenarios share.

An included file contains tables, nodes, edges, parameters and settings, written as in a
``scenario.toml``. Items of included lists come before the scenario's own items. A parameter or
setting of the scenario replaces an included parameter or setting with the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from dqa.core.errors import DataError, ParseError, UsageError
from dqa.core.files import parse_toml, read_text
from dqa.scenarios.document import SharedParts

FieldPath: TypeAlias = tuple[str | int, ...]
"""The path of a field: keys of tables, and indices of arrays."""

INCLUDE = "include"
_TYPES: Mapping[str, type[Any]] = {
    name: dict if name in ("parameters", "settings") else list for name in SharedParts.model_fields
}
"""The type of each part that an included file can contain."""


@dataclass(frozen=True, slots=True)
class MergedDocument:
    """The values of a ``scenario.toml`` with its included files.

    Attributes
    ----------
    file
        The ``scenario.toml``.
    values
        The values, as one document.
    origins
        Maps the path of each included item, such as ``("tables", 2)``, to the item's file.
    """

    file: str
    values: Mapping[str, Any]
    origins: Mapping[FieldPath, str] = field(default_factory=dict)

    def wrong(self, path: FieldPath, problem: str) -> ParseError:
        """Return an error that names the file and the path of a field.

        In the path, a list item is called by its name or label, or by its number (from 1) if it has
        neither.
        """
        names: list[str] = []
        part: Any = self.values
        for step in path:
            is_item = isinstance(step, int) and isinstance(part, list) and step < len(part)
            part = part[step] if is_item else part.get(step) if isinstance(part, dict) else None
            about = part if is_item and isinstance(part, dict) else {}
            number = step + 1 if isinstance(step, int) else step
            names.append(str(about.get("name") or about.get("label") or number))
        file = self.origins.get(path[:2], self.file)
        return ParseError(file, None, f"{'.'.join(names) or 'the file'}: {problem}")


def merge_included(folder: Traversable, file: str, text: str) -> MergedDocument:
    """Read a document and the files that it includes.

    Parameters
    ----------
    folder
        The scenario's folder. The paths of included files are relative to this folder.
    file, text
        The path of the document in messages, and its text.

    Raises
    ------
    ParseError
        A file is missing or is not TOML, or a part of a file has the wrong type.
    """
    own = _read(file, text)
    names = own.values.get(INCLUDE, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        problem = 'it must be a list of files, such as ["../tables.toml"]'
        raise own.wrong((INCLUDE,), problem)
    values, origins = dict(own.values), dict[FieldPath, str]()
    parts = [*(_included(folder, name, own, (INCLUDE, i)) for i, name in enumerate(names)), own]
    for key, kind in _TYPES.items():
        merged = kind()
        for part in parts:
            added = part.values.get(key, kind())
            if not isinstance(added, kind):
                raise part.wrong((key,), f"it must be a {'list' if kind is list else 'table'}")
            items = added if kind is dict else range(len(merged), len(merged) + len(added))
            origins |= {(key, item): part.file for item in items}
            merged = merged + added if kind is list else merged | added
        if merged or key in values:
            values[key] = merged
    return MergedDocument(file, values, origins)


def _included(folder: Traversable, name: str, own: MergedDocument, at: FieldPath) -> MergedDocument:
    """Read an included file. Errors refer to `at`: the scenario's field with the file's name."""
    path = PurePosixPath(name)
    if path.is_absolute() or path.suffix != ".toml" or not isinstance(folder, Path):
        raise own.wrong(at, f"'{name}' must be the path of a .toml file, relative to this folder")
    file, home = folder / path, folder.resolve().parent
    if not file.resolve().is_relative_to(home):
        raise own.wrong(
            at, f"{file} is outside of the folder {home}: move the file into this folder"
        )
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
        return MergedDocument(file, parse_toml(text))
    except ValueError as error:
        raise ParseError(file, None, f"it is not TOML: {error}") from error
