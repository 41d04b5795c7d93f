"""Escape, shorten and count text of models, providers and databases."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

_HALF = re.compile("[\ud800-\udfff]")
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories of characters that control a terminal or are invisible: controls, formats
(which change the direction of text or have no width), surrogates and line separators."""


def visible(line: str) -> str:
    """Return a line with its control characters escaped; a tab becomes four spaces."""
    return escape_invisible(line.replace("\t", "    "))


def visible_lines(text: str) -> str:
    """Return a text with `visible` applied to each line."""
    return "\n".join(map(visible, text.split("\n")))


def counted(count: int, one: str, several: str | None = None) -> str:
    """Return a number with its noun: ``1 reply``, ``2 replies``.

    Parameters
    ----------
    count
        The number.
    one
        The singular.
    several
        The plural; by default `one` with an s.
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def in_quotes(values: Sequence[object], most: int = 3) -> str:
    """Return a text with the first `most` values in quotes, and the number of further values."""
    named = ", ".join(f"'{value}'" for value in values[:most])
    more = len(values) - most
    return named if more <= 0 else f"{named} and {more:,} more"


def shortened(text: str, most: int) -> str:
    """Return a text on one line, cut after `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}..."


def well_formed(text: str) -> str:
    """Replace the surrogates in a text, which UTF-8 cannot encode."""
    return text if text.isascii() else _HALF.sub("\N{REPLACEMENT CHARACTER}", text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def escape_invisible(text: str, unescaped: str = "", spell: Callable[[str], str] = _escaped) -> str:
    r"""Return a text with its invisible characters escaped.

    Parameters
    ----------
    text
        The text.
    unescaped
        Invisible characters that do not change, e.g. line breaks.
    spell
        Escapes a character; by default as in Python, e.g. ``\u202e``.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        spell(character)
        if unicodedata.category(character) in _UNSEEN and character not in unescaped
        else character
        for character in text
    )


_BYTES_PER_TOKEN = 3
"""The assumed bytes per token. Common tokenizers (GPT-4, GPT-5, Llama 3, Qwen 3) average 3.1 to 3.7
bytes for schemas, prose and languages without an alphabet."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text. The estimate is usually too high.

    No tokenizer is used, because the model may be unknown.
    """
    return -(-len(text.encode(errors="replace")) // _BYTES_PER_TOKEN)
