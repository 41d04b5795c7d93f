"""Parts that several scenarios share: files that a ``scenario.toml`` includes beneath its own.

An included file holds tables, nodes, edges, parameters and settings, written as in a
``scenario.toml``. What lists hold stands before the scenario's own; of parameters and settings the
scenario's own of a name goes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Any

from dqa.core.errors import DataError, ParseError
from dqa.core.files import parse_toml, read_text
from dqa.scenarios.document import SharedParts
from dqa.scenarios.toml_lines import Place, line_of, lines_of

INCLUDE = "include"
NAMED = ("parameters", "settings")
LISTED = tuple(name for name in SharedParts.model_fields if name not in NAMED)


@dataclass(frozen=True, slots=True)
class _Written:
    """A file's text, and its values."""

    file: str
    text: str
    values: Mapping[str, Any]

    def wrong(self, place: Place, problem: str) -> ParseError:
        line = line_of(place, lines_of(self.text))
        field_ = ".".join(map(str, place)) or "the file"
        return ParseError(self.file, line, f"{field_}: {problem}")


@dataclass(frozen=True, slots=True)
class MergedDocument:
    """The values of a ``scenario.toml`` with what it includes, and where each was written.

    Attributes
    ----------
    values
        As one document.
    problems
        What could not be included, so that it is missing from the values.
    """

    values: Mapping[str, Any]
    _own: _Written
    _listed: Mapping[str, tuple[tuple[_Written, int], ...]] = field(default_factory=dict)
    _named: Mapping[tuple[str, str], _Written] = field(default_factory=dict)
    problems: tuple[ParseError, ...] = ()

    def wrong(self, place: Place, problem: str) -> ParseError:
        """Return the error that tells of a field with the file and line in which it stands."""
        key, second = (*place, None, None)[:2]
        if isinstance(second, int) and second < len(self._listed.get(str(key), ())):
            written, index = self._listed[str(key)][second]
            return written.wrong((str(key), index, *place[2:]), problem)
        if isinstance(second, str) and (str(key), second) in self._named:
            return self._named[str(key), second].wrong(place, problem)
        return self._own.wrong(place, problem)


def merge_included(folder: Traversable, file: str, text: str) -> MergedDocument:
    """Read a document and what it includes.

    Parameters
    ----------
    folder
        The scenario's, from which paths are read.
    file, text
        The document.

    Raises
    ------
    ParseError
        The document cannot be read, or what it and its files share is no list or table.
    """
    own = _Written(file, text, _values(file, text))
    problems: list[ParseError] = []
    parts = [*_included(folder, own, problems), own]
    if len(parts) == 1:
        return MergedDocument(own.values, own, problems=tuple(problems))
    merged = dict(own.values)
    listed: dict[str, tuple[tuple[_Written, int], ...]] = {}
    named: dict[tuple[str, str], _Written] = {}
    for key in LISTED:
        found = [
            ((part, index), one)
            for part in parts
            for index, one in enumerate(_of_type(part, key, list))
        ]
        if found:
            listed[key] = tuple(place for place, _ in found)
            merged[key] = [one for _, one in found]
    for key in NAMED:
        whole: dict[str, Any] = {}
        for part in parts:
            values = _of_type(part, key, dict)
            whole |= values
            named |= dict.fromkeys(((key, name) for name in values), part)
        if whole:
            merged[key] = whole
    return MergedDocument(merged, own, listed, named, tuple(problems))


def _of_type(part: _Written, key: str, kind: type[Any]) -> Any:  # noqa: ANN401  (a list or a map)
    value = part.values.get(key, kind())
    if not isinstance(value, kind):
        raise part.wrong((key,), f"it has to be a {'list' if kind is list else 'table'}")
    return value


def _included(folder: Traversable, own: _Written, problems: list[ParseError]) -> Iterator[_Written]:
    """Yield the files that can be included; of the others, add what is wrong with them."""
    names = own.values.get(INCLUDE, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        wrong = own.wrong((INCLUDE,), 'it has to be a list of files, such as ["../tables.toml"]')
        problems.append(wrong)
        return
    for index, name in enumerate(names):
        try:
            yield _read(folder, name, own, index)
        except ParseError as error:
            problems.append(error)


def _read(folder: Traversable, name: str, own: _Written, index: int) -> _Written:
    def wrong(problem: str) -> ParseError:
        return own.wrong((INCLUDE, index), problem)

    file = _file(folder, name, wrong)
    text = _text(file, folder, wrong)
    written = _Written(str(file), text, _values(str(file), text))
    for key in written.values:
        if key not in (*LISTED, *NAMED):
            parts = ", ".join((*LISTED, *NAMED))
            raise written.wrong((key,), f"an included file holds {parts} and nothing else")
    return written


def _file(folder: Traversable, name: str, wrong: Callable[[str], ParseError]) -> Path:
    path = PurePosixPath(name)
    if path.is_absolute() or path.suffix != ".toml":
        raise wrong(f"'{name}' has to be the path of a .toml file, read from this folder")
    if not isinstance(folder, Path):
        raise wrong("a scenario that lies in an archive includes nothing: write its parts here")
    return folder / path


def _text(file: Path, folder: Traversable, wrong: Callable[[str], ParseError]) -> str:
    # Out of the folder beside which the others lie no path may lead.
    home = Path(str(folder)).resolve().parent
    if not file.resolve().is_relative_to(home):
        raise wrong(f"{file} lies outside of {home}: put it there")
    try:
        return read_text(file.resolve(), home=home)
    except DataError as error:
        raise wrong(str(error)) from error


def _values(file: str, text: str) -> dict[str, Any]:
    try:
        return parse_toml(text)
    except ValueError as error:
        told = _LINE.search(str(error))
        raise ParseError(
            file, int(told[1]) if told else None, f"it is not TOML: {error}"
        ) from error


_LINE = re.compile(r"at line (\d+)")
"""Where `tomllib` says that a text is none."""
