"""Extract words, colours, searches and price bounds from the texts of a shop."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from dqa.core.files import parse_toml

_LISTS: Final = parse_toml(Path(__file__).with_name("words.toml").read_text("utf-8"))
STOP_WORDS: Final = frozenset(_LISTS["stop_words"])
"""The stop words of Lucene's English analysis."""
COLOURS: Final[tuple[str, ...]] = tuple(_LISTS["colours"])
_NOT_SEARCHED: Final = STOP_WORDS.union(_LISTS["fillers"], _LISTS["option_names"])

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['\u2019][^\W_]+)*")
_BOUND: Final = re.compile(
    r",? (?:and |with )?(?:a )?price (?:lower|less) than "
    r"\$?(?P<dollars>\d+(?:\.\d+)?)(?: dollars)?",
    re.IGNORECASE,
)
_HEAD_ENDS: Final = re.compile(
    r"[,.;:](?=\s|$)|\b(?:that|which|with|in|and|made|so)\b", re.IGNORECASE
)
_POSSESSIVES: Final = ("'s", "\u2019s")
_COLOUR: Final = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(COLOURS)})(?![^\W\d_])")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without a possessive ``'s``."""
    return [
        word[:-2] if word.endswith(_POSSESSIVES) else word for word in _WORD.findall(text.lower())
    ]


@lru_cache(maxsize=16_384)
def normalise_colour(value: str) -> str:
    """Return the colour that an option's value contains, or the value if there is no colour.

    The result is in lower case. So ``a02-red`` and ``red`` give the same result. A colour must be a
    whole word: ``standard`` is not tan. If the value contains several colours, the result is the
    alphabetically first one.
    """
    lowered = value.strip().lower()
    return min(_COLOUR.findall(lowered), default=lowered)


def without_bound(instruction: str) -> str:
    """Return an instruction without the words of the price bound."""
    return _BOUND.sub("", instruction).strip()


def find_bound(instruction: str) -> float | None:
    """Return the price bound of an instruction, in dollars; None without a bound."""
    found = _BOUND.search(instruction)
    return None if found is None else float(found["dollars"])


def key_words(text: str) -> tuple[str, ...]:
    """Return the distinct words of a wish that describe the product."""
    return tuple(dict.fromkeys(word for word in words_of(text) if word not in _NOT_SEARCHED))


@lru_cache(maxsize=1024)
def propose_searches(instruction: str) -> tuple[str, ...]:
    """Return one to three searches for an instruction.

    The first search contains all words that describe the product. The second search contains the
    words of the instruction's first part, which names the product. The third search also contains
    the words of the last part.
    """
    wish = without_bound(instruction)
    parts = [part for part in _HEAD_ENDS.split(wish) if key_words(part)] or [""]
    proposed = [_search_words(wish), _search_words(parts[0])]
    proposed.append(proposed[1] + _search_words(parts[-1]))
    found = dict.fromkeys(" ".join(dict.fromkeys(words))[:200].strip() for words in proposed)
    return tuple(filter(None, found)) or ("products",)


def _search_words(text: str) -> list[str]:
    """Return the words of a wish that describe the product, and the word "of" between them."""
    words = words_of(text)
    around = zip(["", *words], words, [*words[1:], ""], strict=False)
    return [
        word
        for before, word, after in around
        if word not in _NOT_SEARCHED
        or (word == "of" and not {before, after} & {"", *_NOT_SEARCHED})
    ]
