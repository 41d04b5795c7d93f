"""Text that a model, a provider or a database wrote, made safe to show."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_HALF = re.compile("[\ud800-\udfff]")
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories of what acts on a terminal, or hides in a line: controls, formats (which turn
the direction of text, or have no width), halves of characters, separators of lines."""


def visible(line: str) -> str:
    """Return a line in which every control character is spelt out, so that none of them acts.

    A tab becomes four spaces. Nothing else is changed.
    """
    return spelt_out(line.replace("\t", "    "))


def visible_lines(text: str) -> str:
    """Return a text in whose lines nothing acts, as `visible` makes each of them."""
    return "\n".join(map(visible, text.split("\n")))


def counted(count: int, one: str, several: str | None = None) -> str:
    """Return how many there are of something: ``1 reply``, ``2 replies``.

    Parameters
    ----------
    count
        How many.
    one
        What one is called.
    several
        What several are called, where that is not `one` with an s.
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def shortened(text: str, most: int) -> str:
    """Return a text on one line, cut behind `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}..."


def well_formed(text: str) -> str:
    """Return a text in which halves of characters, for which UTF-8 has no form, are replaced."""
    return text if text.isascii() else _HALF.sub("\N{REPLACEMENT CHARACTER}", text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def spelt_out(text: str, kept: str = "", spell: Callable[[str], str] = _escaped) -> str:
    r"""Return a text in which each character that acts without being seen is spelt out.

    Parameters
    ----------
    text
        Anybody's.
    kept
        Such characters that may stay, e.g. line breaks.
    spell
        How one of them is written; by default as in Python, e.g. ``\u202e``.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        spell(character)
        if unicodedata.category(character) in _UNSEEN and character not in kept
        else character
        for character in text
    )


_BYTES_PER_TOKEN = 3
"""Fewer than any usual tokenizer takes of a schema on average, names in capitals included (GPT-4's,
GPT-5's, Llama 3's and Qwen 3's take 3.1 to 3.7), of prose, and of languages without an alphabet."""


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text is, rather too many than too few.

    No tokenizer is asked: which one counts depends on a model that may not be known.
    """
    return -(-len(text.encode(errors="replace")) // _BYTES_PER_TOKEN)
