"""The problems of a scenario's folder: their lines, and the lines to write instead."""

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
    """Collects the findings of a folder, each once.

    Attributes
    ----------
    unknown
        Names that were reported as unknown; errors that follow from them are not reported.
    right
        Names of the database that were suggested instead of unknown ones.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, int | None, str], Finding] = {}
        self._texts: dict[str, list[str]] = {}
        self.unknown: set[str] = set()
        self.right: set[str] = set()

    def all(self) -> tuple[Finding, ...]:
        """Return the findings: files in the order of the first finding, each by its lines."""
        files = list(dict.fromkeys(found.file for found in self._found.values()))
        ranks = {file: rank for rank, file in enumerate(files)}
        by_line = sorted(self._found.values(), key=lambda one: (one.line is None, one.line or 0))
        return tuple(sorted(by_line, key=lambda one: ranks[one.file]))

    def add(
        self,
        level: Level,
        file: str,
        line: int | None,
        problem: str,
        swap: tuple[str, str] | None = None,
    ) -> None:
        """Add a finding; `swap` is a word of its line, and the word to write instead."""
        text = visible(redact(" ".join(problem.split())))
        suggestion = None
        if swap is not None and line is not None and line <= len(self.lines(file)):
            before = self.lines(file)[line - 1]
            after = _whole(swap[0]).sub(lambda _: swap[1], before, count=1)
            suggestion = visible(after) if after != before else None
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
        self.add(level, str(where.file), where.line, where.problem, swap)

    def add_error(self, error: ParseError) -> None:
        """Add an error of the folder's reader, unless it follows from an unknown name."""
        hint, unknown = _HINT.search(error.problem), _UNKNOWN.search(error.problem)
        swap = None
        if unknown is not None:
            if unknown["wrong"] in self.right:
                return
            self.unknown.add(unknown["wrong"])
            swap = (unknown["wrong"], hint["right"]) if hint is not None else None
        self.add("error", str(error.file), error.line, error.problem, swap)

    def lines(self, file: str) -> list[str]:
        """Return the lines of a file; none for an unreadable one, which the reader reports."""
        if file not in self._texts:
            self._texts[file] = []
            with suppress(DqaError):
                self._texts[file] = read_text(Path(file)).split("\n")
        return self._texts[file]

    def line_with(self, file: str, word: str, start: int) -> int:
        """Return the first line from `start` with a word outside of comments, or else `start`."""
        whole = _whole(word)
        for number, text in enumerate(self.lines(file)[start - 1 :], start):
            if whole.search(text) and not text.startswith(("--", "//")):
                return number
        return start


def _whole(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")


def nearest(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the most similar known word; None without one."""
    by_form = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), by_form, n=1, cutoff=likeness)
    return by_form[found[0]] if found else None


def hint_of(near: str | None) -> str:
    """Return the end of a message that suggests a name; empty without one."""
    return "" if near is None else f"; did you mean '{near}'?"


def shorten_error(error: Exception) -> tuple[str, str | None]:
    """Return a database's message, shortened, and the name that it suggests."""
    text = " ".join(str(error).split())
    hint = _HINT.search(text)
    if hint is not None:
        return text[: hint.end()], hint["right"]
    return (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."), None
