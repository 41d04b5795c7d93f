"""What is found wrong in a scenario's folder: where, why, and the line as it should read."""

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

Level: TypeAlias = Literal["error", "warning", "note"]

_HINT = re.compile(r"[Dd]id you mean '(?P<right>[^']+)'\?")
_UNKNOWN = re.compile(r"there is no [^']*'(?:[^']*' ')?(?P<wrong>[^']+)'")
_LONGEST = 400
"""Characters of what a database says that are told."""


class Finding(Record):
    """Something in a scenario's folder that a reader has to know.

    Attributes
    ----------
    level
        ``error``: a decision cannot be made by it, or would be a wrong one. ``warning``: it works
        and is hardly what is meant. ``note``: worth a look.
    file, line
        Where; the line from 1, None where the whole file is meant.
    problem
        What is wrong, and how to mend it.
    mended
        The line as it should read, where a name that is near says so.
    """

    level: Level
    file: str
    line: int | None = None
    problem: str
    mended: str | None = None

    def to_text(self) -> str:
        """Return the finding in a line, and the mended line beneath it."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        told = f"{self.level}: {where}: {self.problem}"
        return told if self.mended is None else f"{told}\n    write: {self.mended.strip()}"


class Findings:
    """Collects what is found in one folder; the same is told once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int | None, str], Finding] = {}
        self._texts: dict[str, list[str]] = {}
        self.unknown: set[str] = set()
        """Names that are told to be unknown, so that what follows from that is not told again."""
        self.right: set[str] = set()
        """Names that the database has, of which others are told to be wrong."""

    def all(self) -> tuple[Finding, ...]:
        """Return the findings: of a file in the order of its lines, files in that of the finds."""
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
        """Keep a finding; `swap` is what stands on its line, and what should."""
        told = visible(redact(" ".join(problem.split())))
        mended = None
        if swap is not None and line is not None:
            mended = swapped(self.line(file, line), *swap)
        self._found.setdefault(
            (file, line, told),
            Finding(level=level, file=file, line=line, problem=told, mended=mended),
        )

    def add_error(self, error: ParseError) -> None:
        """Keep what a reader of the folder has found wrong."""
        hint, unknown = _HINT.search(error.problem), _UNKNOWN.search(error.problem)
        swap = None
        if unknown is not None and unknown["wrong"] in self.right:
            return  # what is wrong is the name that this one was held against
        if unknown is not None:
            self.unknown.add(unknown["wrong"])
            swap = (unknown["wrong"], hint["right"]) if hint is not None else None
        self.add("error", str(error.file), error.line, error.problem, swap=swap)

    def lines(self, file: str) -> list[str]:
        """Return the lines of a file; none where it cannot be read, which is found elsewhere."""
        if file not in self._texts:
            self._texts[file] = []
            with suppress(DqaError):
                self._texts[file] = read_text(Path(file)).split("\n")
        return self._texts[file]

    def line(self, file: str, number: int) -> str:
        """Return a line of a file, from 1."""
        lines = self.lines(file)
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def line_with(self, file: str, word: str, start: int = 1) -> int | None:
        """Return the first line from `start` on that has a word; remarks have none."""
        whole = _whole(word)
        for number, text in enumerate(self.lines(file)[start - 1 :], start):
            if whole.search(text) and not text.startswith(("--", "//")):
                return number
        return None


def swapped(line: str, wrong: str, right: str) -> str | None:
    """Return a line with a word instead of another; None where that is not in it."""
    found, count = _whole(wrong).subn(lambda _: right, line, count=1)
    return visible(found) if count else None


def swapped_all(statement: str, wrong: str, right: str) -> str:
    """Return a statement with a word instead of another, wherever that stands."""
    return _whole(wrong).sub(lambda _: right, statement)


def _whole(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")


def nearest(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the known word that is most like one; None where none is."""
    by_form = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), by_form, n=1, cutoff=likeness)
    return by_form[found[0]] if found else None


def said(error: Exception) -> tuple[str, str | None]:
    """Return what a database says of a statement, in brief, and the name that it offers."""
    text = " ".join(str(error).split())
    hint = _HINT.search(text)
    if hint is not None:
        return text[: hint.end()], hint["right"]
    return (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."), None
