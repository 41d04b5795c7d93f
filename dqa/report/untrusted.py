"""Text that a model, a provider or a database wrote, made safe to show on a terminal."""

from __future__ import annotations

import unicodedata

__all__ = ["visible"]

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories of what acts on a terminal, or hides in a line: controls, formats (which turn
the direction of text, or have no width), halves of characters, separators of lines."""


def visible(line: str) -> str:
    """Return a line in which every control character is spelt out, so that none of them acts.

    A tab becomes four spaces. Nothing else is changed.
    """
    if line.isascii() and line.isprintable():
        return line
    return "".join(map(_visible, line))


def _visible(character: str) -> str:
    if character == "\t":
        return "    "
    if unicodedata.category(character) in _UNSEEN:
        return character.encode("unicode_escape").decode("ascii")
    return character
