"""Packing what a page shows: texts that come again are kept once, and blocks are compressed.

A page holds its data in blocks, each compressed by itself, so that a browser unpacks what is
looked at and no more. A text that several blocks hold is in the first of them, which is always
unpacked.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dqa.core.text import spelt_out

_SHORTEST = 24
"""Characters from which on a text is kept once and pointed at."""

_BLOCK = 240_000
"""Characters of a block before it is compressed."""

_ACTS = re.compile("[^\n\t\x20-\x7e]")
REFERENCE = "$"
"""The key of an object that points at a text: from 0 in its block, from -1 down in the first."""


class Packer:
    """Collects what a page shows, and gives it back as blocks.

    Every text in it is spelt out, so that no character in it acts unseen.
    """

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._shown: list[str] = []
        self._blocks: list[list[Any]] = []
        self._used: list[dict[int, None]] = []
        self._size = _BLOCK
        self._short: dict[str, str] = {}

    def add(self, items: Sequence[Any]) -> tuple[int, int]:
        """Add items that are looked at together; return the block of the first and its place."""
        if self._size >= _BLOCK:
            self._blocks.append([])
            self._used.append({})
            self._size = 0
        block = len(self._blocks) - 1
        place = len(self._blocks[block])
        self._blocks[block].extend(self._kept(item) for item in items)
        return block, place

    def blocks(self) -> tuple[list[str], Iterator[str]]:
        """Return the texts that blocks share, and each block as JSON."""
        times = [0] * len(self._shown)
        for used in self._used:
            for text in used:
                times[text] += 1
        shared = [text for text, count in enumerate(times) if count > 1]
        place_of = {text: -1 - place for place, text in enumerate(shared)}
        return [self._shown[text] for text in shared], self._written(place_of)

    def _written(self, shared: Mapping[int, int]) -> Iterator[str]:
        for items, used in zip(self._blocks, self._used, strict=True):
            own = [text for text in used if text not in shared]
            place_of = {**shared, **{text: place for place, text in enumerate(own)}}
            texts = [self._shown[text] for text in own]
            yield to_json({"texts": texts, "items": [_placed(one, place_of) for one in items]})

    def _kept(self, value: Any) -> Any:  # noqa: ANN401  (any JSON value)
        if isinstance(value, str):
            return self._pointed(value) if len(value) >= _SHORTEST else self._spelt(value)
        if isinstance(value, Mapping):
            self._size += 4 * len(value)
            return {str(name): self._kept(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            self._size += 2 * len(value)
            return [self._kept(one) for one in value]
        return value

    def _pointed(self, text: str) -> _Pointer:
        if text not in self._texts:
            self._texts[text] = len(self._shown)
            self._shown.append(spelled(text))
        number = self._texts[text]
        if number not in self._used[-1]:
            self._used[-1][number] = None
            self._size += len(text)
        return _Pointer(number)

    def _spelt(self, text: str) -> str:
        self._size += len(text)
        if text not in self._short:
            self._short[text] = spelled(text)
        return self._short[text]


class _Pointer(int):
    """The number of a text."""


def _placed(value: Any, place_of: Mapping[int, int]) -> Any:  # noqa: ANN401  (any JSON value)
    if type(value) is _Pointer:
        return {REFERENCE: place_of[value]}
    if isinstance(value, dict):
        return {name: _placed(one, place_of) for name, one in value.items()}
    if isinstance(value, list):
        return [_placed(one, place_of) for one in value]
    return value


def spelled(text: str) -> str:
    """Return a text in which no character acts unseen; lines and tabs stay."""
    return text if _ACTS.search(text) is None else spelt_out(text, kept="\n\t")


def spelled_json(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    """Return a value as JSON with every text in it as `spelled` has it."""
    text = to_json(value)
    # Most data is plain, and a look at all of it is quicker than one at every text.
    plain = text.isascii() and "\\u00" not in text
    return text if plain else to_json(_spelled_out(value))


def _spelled_out(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    """Return a value with every text in it as `spelled` has it."""
    if isinstance(value, str):
        return spelled(value)
    if isinstance(value, Mapping):
        return {name: _spelled_out(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_spelled_out(one) for one in value]
    return value


def to_json(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    """Return a value as JSON that every browser reads: a number that is none becomes null."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"))


def _finite(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    if isinstance(value, float) and value - value != 0.0:
        return None
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value


def compressed(text: str) -> str:
    """Return a text as gzip in base64, the same every time."""
    packed = gzip.compress(text.encode(errors="replace"), compresslevel=6, mtime=0)
    return base64.b64encode(packed).decode("ascii")
