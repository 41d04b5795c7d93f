"""At which line of a TOML file each of its fields stands.

`tomllib` reads values and forgets where they were. This walks a text that it has read, so the text
is known to be TOML, and only keys, brackets and the ends of values have to be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

Place: TypeAlias = tuple[str | int, ...]
"""The way to a field: keys of tables, and indices of arrays."""

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}|' + r"'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]+")


def lines_of(text: str) -> dict[Place, int]:
    """Return the line, from 1, of every field of a TOML text that `tomllib` has read."""
    lines: dict[Place, int] = {}
    for place, offset in _Walk(text).fields():
        lines.setdefault(place, text.count("\n", 0, offset) + 1)
    return lines


def line_of(place: Place, lines: dict[Place, int]) -> int | None:
    """Return the line of a field, or of the innermost part around it that is in the file."""
    for length in range(len(place), 0, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


class _Walk:
    """One walk through a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def fields(self) -> Iterator[tuple[Place, int]]:
        """Yield every field with its offset, in the order of the file."""
        around: Place = ()
        counts: dict[Place, int] = {}
        while self._skip(_BLANK) and self._at < len(self._text):
            start = self._at
            if self._text[start] != "[":
                yield from self._pair(around)
                continue
            many = self._text.startswith("[[", start)
            self._at += 2 if many else 1
            around = self._current(self._keys(), counts)
            self._at += 2 if many else 1
            if many:
                counts[around] = counts.get(around, -1) + 1
                around = (*around, counts[around])
            for length in range(1, len(around) + 1):
                yield around[:length], start

    @staticmethod
    def _current(keys: Place, counts: dict[Place, int]) -> Place:
        """Return the way that a header's keys go: through the latest item of each array."""
        place: Place = ()
        for key in keys[:-1]:
            place = (*place, key)
            if place in counts:
                place = (*place, counts[place])
        return (*place, *keys[-1:])

    def _pair(self, around: Place) -> Iterator[tuple[Place, int]]:
        start = self._at
        place = (*around, *self._keys())
        for length in range(len(around) + 1, len(place) + 1):
            yield place[:length], start
        self._at += 1  # the equals sign
        self._skip(_SPACE)
        yield from self._value(place)

    def _keys(self) -> Place:
        keys: list[str] = []
        while True:
            self._skip(_SPACE)
            keys.append(self._token(_KEY).strip("\"'"))
            self._skip(_SPACE)
            if self._text[self._at] != ".":
                return tuple(keys)
            self._at += 1

    def _value(self, place: Place) -> Iterator[tuple[Place, int]]:
        sign = self._text[self._at]
        if sign == "[":
            yield from self._array(place)
        elif sign == "{":
            yield from self._inline(place)
        else:
            self._token(_STRING if sign in "\"'" else _SCALAR)

    def _array(self, place: Place) -> Iterator[tuple[Place, int]]:
        self._at += 1
        index = 0
        while self._skip(_BLANK) and self._text[self._at] != "]":
            yield (*place, index), self._at
            yield from self._value((*place, index))
            index += 1
            self._skip(_BLANK)
            if self._text[self._at] == ",":
                self._at += 1
        self._at += 1

    def _inline(self, place: Place) -> Iterator[tuple[Place, int]]:
        self._at += 1
        while self._skip(_BLANK) and self._text[self._at] != "}":
            yield from self._pair(place)
            self._skip(_BLANK)
            if self._text[self._at] == ",":
                self._at += 1
        self._at += 1

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return True

    def _token(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise AssertionError(f"tomllib read what this walk does not: offset {self._at}")
        self._at = found.end()
        return found.group()
