"""The problems of a scenario's folder, each with its file and, if known, its line."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from dqa.core.errors import DqaError, ParseError
from dqa.core.files import read_text
from dqa.core.records import Record
from dqa.core.secrets import redact
from dqa.core.text import shortened, visible
from dqa.scenarios.including import FieldPath, MergedDocument

Level: TypeAlias = Literal["error", "warning", "note"]

_LONGEST = 600
"""The maximum length of a problem in characters."""


class Finding(Record):
    """A problem in a scenario's folder.

    Attributes
    ----------
    level
        ``error``: a decision is impossible or would be wrong. ``warning``: the author probably
        made a mistake. ``note``: the author should check the file.
    file, line
        The file, and the number of the line, from 1. The line is None for the whole file.
    problem
        The problem, and how to fix it.
    """

    level: Level
    file: str
    line: int | None = None
    problem: str

    def to_text(self) -> str:
        """Return the finding on one line."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{self.level}: {where}: {self.problem}"


class Findings:
    """Collects the findings of a folder without duplicates.

    Parameters
    ----------
    document
        The parsed ``scenario.toml``; None if the file is not valid TOML.
    """

    def __init__(self, document: MergedDocument | None) -> None:
        self._document = document
        self._found: dict[tuple[str, int | None, str], Finding] = {}

    def all(self) -> tuple[Finding, ...]:
        """Return the findings of each file, sorted by line.

        Files are in the order of their first findings.
        """
        files = list(dict.fromkeys(file for file, *_ in self._found))

        def place(one: Finding) -> tuple[int, bool, int]:
            return files.index(one.file), one.line is None, one.line or 0

        return tuple(sorted(self._found.values(), key=place))

    def add(self, level: Level, file: str, line: int | None, problem: str) -> None:
        """Add a finding."""
        text = shortened(visible(redact(" ".join(problem.split()))), _LONGEST)
        finding = Finding(level=level, file=file, line=line, problem=text)
        self._found.setdefault((file, line, text), finding)

    def add_error(self, error: ParseError, level: Level = "error") -> None:
        """Add an error of the folder's reader."""
        self.add(level, str(error.file), error.line, error.problem)

    def add_field(self, path: FieldPath, problem: str, level: Level = "error") -> None:
        """Add a problem that concerns a field of the document."""
        if self._document is not None:
            self.add_error(self._document.wrong(path, problem), level)


def lines_of_file(file: Path) -> list[str]:
    """Return the lines of a file.

    If the file cannot be read, return an empty list. The folder's reader reports such files.
    """
    with suppress(DqaError):
        return read_text(file).split("\n")
    return []
