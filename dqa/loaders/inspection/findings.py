"""The problems of a scenario's folder, with their lines."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, TypeAlias

from dqa.core.errors import DqaError, ParseError
from dqa.core.files import read_text
from dqa.core.records import Record
from dqa.core.secrets import redact
from dqa.core.text import shortened, visible
from dqa.scenarios.including import MergedDocument
from dqa.scenarios.toml_lines import FieldPath

Level: TypeAlias = Literal["error", "warning", "note"]

_LONGEST = 600
"""Most characters of a problem."""


class Finding(Record):
    """A problem in a scenario's folder.

    Attributes
    ----------
    level
        ``error``: a decision is impossible or would be wrong. ``warning``: the author probably
        means something else. ``note``: worth a look.
    file, line
        The line counts from 1; None for the whole file.
    problem
        The fault, and how to fix it.
    """

    level: Level
    file: str
    line: int | None = None
    problem: str

    def to_text(self) -> str:
        """Return the finding on a line."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{self.level}: {where}: {self.problem}"


class Findings:
    """Collects the findings of a folder without duplicates."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int | None, str], Finding] = {}

    def all(self) -> tuple[Finding, ...]:
        """Return the findings: files in the order of the first finding, each by its lines."""
        files = list(dict.fromkeys(found.file for found in self._found.values()))
        ranks = {file: rank for rank, file in enumerate(files)}
        by_line = sorted(self._found.values(), key=lambda one: (one.line is None, one.line or 0))
        return tuple(sorted(by_line, key=lambda one: ranks[one.file]))

    def add(self, level: Level, file: str, line: int | None, problem: str) -> None:
        """Add a finding."""
        text = shortened(visible(redact(" ".join(problem.split()))), _LONGEST)
        finding = Finding(level=level, file=file, line=line, problem=text)
        self._found.setdefault((file, line, text), finding)

    def add_field(
        self, level: Level, merged: MergedDocument, path: FieldPath, problem: str
    ) -> None:
        """Add a finding about a field of the document."""
        where = merged.wrong(path, problem)
        self.add(level, str(where.file), where.line, where.problem)

    def add_error(self, error: ParseError) -> None:
        """Add an error of the folder's reader."""
        self.add("error", str(error.file), error.line, error.problem)


def lines_of_file(file: Path) -> list[str]:
    """Return the lines of a file; none for an unreadable one, which the reader reports."""
    with suppress(DqaError):
        return read_text(file).split("\n")
    return []


def hint(word: str, known: Iterable[str]) -> str:
    """Return the end of a message that suggests the most similar name; empty without one."""
    by_form = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), by_form, n=1)
    return f"; did you mean '{by_form[found[0]]}'?" if found else ""
