"""The problems of a scenario's folder: where they are, and the line that would be right."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, TypeAlias

from dqa.core.errors import DqaError, ParseError
from dqa.core.files import read_text
from dqa.core.records import Record
from dqa.core.secrets import redact
from dqa.core.text import visible
from dqa.scenarios.including import MergedDocument
from dqa.scenarios.toml_lines import Place

Level: TypeAlias = Literal["error", "warning", "note"]

_HINT = re.compile(r"[Dd]id you mean '(?P<right>[^']+)'\?")
_UNKNOWN = re.compile(r"there is no [^']*'(?:[^']*' ')?(?P<wrong>[^']+)'")
_LONGEST = 400
"""Most characters of a database's message."""


class Finding(Record):
    """A problem in a scenario's folder.

    Attributes
    ----------
    level
        ``error``: a decision cannot be made, or would be wrong. ``warning``: it works and is
        hardly what its author means. ``note``: worth a look.
    file, line
        The line counts from 1; None for the whole file.
    problem
        The fault, and how to fix it.
    suggestion
        The line as it probably should read; None without a name to suggest.
    """

    level: Level
    file: str
    line: int | None = None
    problem: str
    suggestion: str | None = None

    def to_text(self) -> str:
        """Return the finding on a line, and the suggested line below it."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        text = f"{self.level}: {where}: {self.problem}"
        return text if self.suggestion is None else f"{text}\n    write: {self.suggestion.strip()}"


class Findings:
    """Collects the findings of a folder, each once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int | None, str], Finding] = {}
        self._texts: dict[str, list[str]] = {}
        self.unknown: set[str] = set()
        """Names that were reported as unknown; errors that follow from them are not reported."""
        self.right: set[str] = set()
        """Names of the database that were suggested instead of unknown ones."""

    def all(self) -> tuple[Finding, ...]:
        """Return the findings: files in the order of the first finding, each by its lines."""
        files = list(dict.fromkeys(found.file for found in self._found.values()))
        return tuple(
            sorted(
                self._found.values(),
                key=lambda one: (files.index(one.file), one.line is None, one.line or 0),
            )
        )

    def add(
        self,
        level: Level,
        file: str,
        line: int | None,
        problem: str,
        *,
        swap: tuple[str, str] | None = None,
    ) -> None:
        """Add a finding; `swap` is a word of its line, and the word to write instead."""
        text = visible(redact(" ".join(problem.split())))
        lines = self.lines(file)
        suggestion = None
        if swap is not None and line is not None and line <= len(lines):
            right, count = _whole(swap[0]).subn(lambda _: swap[1], lines[line - 1], count=1)
            suggestion = visible(right) if count else None
        finding = Finding(level=level, file=file, line=line, problem=text, suggestion=suggestion)
        self._found.setdefault((file, line, text), finding)

    def add_field(
        self,
        level: Level,
        merged: MergedDocument,
        place: Place,
        problem: str,
        swap: tuple[str, str] | None = None,
    ) -> None:
        """Add a finding about a field of the document; `swap` is as in `add`."""
        where = merged.wrong(place, problem)
        self.add(level, str(where.file), where.line, where.problem, swap=swap)

    def add_error(self, error: ParseError) -> None:
        """Add an error of the folder's reader."""
        hint, unknown = _HINT.search(error.problem), _UNKNOWN.search(error.problem)
        swap = None
        if unknown is not None:
            if unknown["wrong"] in self.right:
                return  # the name it was compared with is the wrong one
            self.unknown.add(unknown["wrong"])
            swap = (unknown["wrong"], hint["right"]) if hint is not None else None
        self.add("error", str(error.file), error.line, error.problem, swap=swap)

    def lines(self, file: str) -> list[str]:
        """Return the lines of a file; none for an unreadable one, which the reader reports."""
        if file not in self._texts:
            self._texts[file] = []
            with suppress(DqaError):
                self._texts[file] = read_text(Path(file)).split("\n")
        return self._texts[file]

    def line_with(self, file: str, word: str, start: int = 1) -> int | None:
        """Return the first line from `start` that has a word outside of comments."""
        whole = _whole(word)
        for number, text in enumerate(self.lines(file)[start - 1 :], start):
            if whole.search(text) and not text.startswith(("--", "//")):
                return number
        return None


def _whole(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")


def nearest(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the most similar known word; None without one."""
    by_form = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), by_form, n=1, cutoff=likeness)
    return by_form[found[0]] if found else None


def said(error: Exception) -> tuple[str, str | None]:
    """Return a database's message, shortened, and the name that it suggests."""
    text = " ".join(str(error).split())
    hint = _HINT.search(text)
    if hint is not None:
        return text[: hint.end()], hint["right"]
    return (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."), None
