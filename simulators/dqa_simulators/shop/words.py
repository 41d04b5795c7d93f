"""Words of titles, searches and options."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

# fmt: off
STOP_WORDS: Final = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
))
# fmt: on
"""What Lucene's English analysis leaves out."""

COLOURS: Final = (
    *("amber", "apricot", "aqua", "aquamarine", "azure", "beige", "black", "blonde", "blue"),
    *("blush", "bronze", "brown", "burgundy", "camel", "champagne", "charcoal", "chocolate"),
    *("coffee", "copper", "coral", "cream", "crimson", "cyan", "emerald", "fuchsia", "gold"),
    *("gray", "green", "grey", "indigo", "ivory", "khaki", "lavender", "lilac", "lime", "magenta"),
    *("mahogany", "maroon", "mauve", "mint", "mustard", "navy", "olive", "orange", "peach"),
    *("pink", "plum", "purple", "red", "rose", "rust", "salmon", "sand", "scarlet", "silver"),
    *("tan", "taupe", "teal", "terracotta", "turquoise", "violet", "white", "wine", "yellow"),
)
"""Words for colours, in alphabetical order: of several in a text the first of these counts."""

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['\u2019][^\W_]+)*")
_POSSESSIVES: Final = ("'s", "\u2019s")
_COLOUR: Final = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(COLOURS)})(?![^\W\d_])")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without a possessive ``'s``."""
    return [
        word[:-2] if word.endswith(_POSSESSIVES) else word for word in _WORD.findall(text.lower())
    ]


@lru_cache(maxsize=16_384)
def normalise_colour(value: str) -> str:
    """Return the colour that an option's value names, else the value, in lower case.

    So ``a02-wine red`` and ``red`` are the same. A colour is a whole word: ``standard`` is not tan.
    Of two colours the first of `COLOURS` counts, wherever they stand.
    """
    lowered = value.strip().lower()
    return min(_COLOUR.findall(lowered), default=lowered)
