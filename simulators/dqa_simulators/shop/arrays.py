"""JSON arrays that may be larger than memory, read value by value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from dqa.core.errors import ParseError
from dqa.core.files import open_regular

_PIECE: Final = 1 << 20
_LONGEST: Final = 16_000_000
"""Most characters of one value."""


def iterate_array(file: Path) -> Iterator[Any]:
    """Yield the values of a JSON array in a file, one at a time.

    Raises
    ------
    ParseError
        It is no array, or broken; the message says in which line.
    """
    with open_regular(file, most=None) as opened:
        reader = _ArrayReader(file, partial(opened.read, _PIECE))
        yield from reader.values()


class _ArrayReader:
    """Reads an array piece by piece.

    Parameters
    ----------
    file
        Its name.
    read
        Returns the next piece; nothing at the end.
    """

    def __init__(self, file: Path, read: Callable[[], bytes | None]) -> None:
        self._file = file
        self._read = read
        self._decoder = json.JSONDecoder()
        self._rest = b""
        self._text = ""
        self._place = 0
        self._line = 1
        self._has_ended = False

    def values(self) -> Iterator[Any]:
        """Yield each value."""
        if self._next_sign() != "[":
            raise self._fail("expected '[', the beginning of the list of products")
        self._place += 1
        if self._next_sign() == "]":
            return
        while True:
            self._next_sign()
            yield self._value()
            sign = self._next_sign()
            self._place += 1
            if sign == "]":
                return
            if sign != ",":
                raise self._fail("expected ',' or ']' after a product")

    def _next_sign(self) -> str:
        """Skip white space; return what is there, or nothing at the end of the file."""
        while True:
            while self._place < len(self._text) and self._text[self._place].isspace():
                self._place += 1
            if self._place < len(self._text) or not self._more():
                return self._text[self._place : self._place + 1]

    def _value(self) -> Any:  # noqa: ANN401  (any JSON value)
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._place)
            except (ValueError, RecursionError) as error:
                if len(self._text) - self._place > _LONGEST or not self._more():
                    problem = getattr(error, "msg", str(error))
                    raise self._fail(problem, getattr(error, "pos", self._place)) from error
                continue
            self._place = end
            return value

    def _more(self) -> bool:
        """Read another piece, and drop what was read; whether there was one."""
        if self._has_ended:
            return False
        piece = self._rest + (self._read() or b"")
        self._has_ended = len(piece) == len(self._rest)
        cut = len(piece) if self._has_ended else _whole_characters(piece)
        try:
            text = piece[:cut].decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._fail(f"it is not UTF-8 ({error.reason})", len(self._text)) from error
        self._rest = piece[cut:]
        self._line += self._text.count("\n", 0, self._place)
        self._text = self._text[self._place :] + text
        self._place = 0
        return bool(text) or not self._has_ended

    def _fail(self, problem: str, place: int | None = None) -> ParseError:
        line = self._line + self._text.count("\n", 0, self._place if place is None else place)
        return ParseError(
            self._file, line, f"{problem}. Get the file again from WebShop's data, or mend the line"
        )


def _whole_characters(piece: bytes) -> int:
    """Return up to where a piece of UTF-8 has whole characters."""
    for back in range(1, min(4, len(piece)) + 1):
        byte = piece[-back]
        if byte & 0xC0 != 0x80:
            length = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(piece) - back if length > back else len(piece)
    return len(piece)
