"""What an instruction asks for, read from its words alone: searches, and the price bound."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from dqa_simulators.shop.words import STOP_WORDS, words_of

_BOUND: Final = re.compile(
    r",? (?:and |with )?(?:a )?price (?:lower|less) than "
    r"\$?(?P<dollars>\d+(?:\.\d+)?)(?: dollars)?",
    re.IGNORECASE,
)
_HEAD_ENDS: Final = re.compile(
    r"[,.;:](?=\s|$)|\b(?:that|which|with|in|and|made|so)\b", re.IGNORECASE
)
# fmt: off
_FILLERS: Final = frozenset((
    "i", "i'm", "am", "im", "me", "my", "need", "want", "looking", "look", "find", "get", "buy",
    "order", "choose", "help", "please", "can", "could", "would", "you", "should", "like", "some",
    "also", "who", "which", "one", "ones", "pair", "friend", "asked", "purchase", "us", "have",
    "has", "something", "really", "very", "comes", "come",
))
# fmt: on
_NAMES: Final = frozenset(
    ("color", "colour", "size", "flavor", "flavour", "scent", "light", "style")
)
"""What options are called, which no product's text has."""


def without_bound(instruction: str) -> str:
    """Return an instruction without the words that tell the price bound."""
    return _BOUND.sub("", instruction).strip()


def find_bound(instruction: str) -> float | None:
    """Return the price bound that an instruction tells, in dollars; None where it tells none."""
    found = _BOUND.search(instruction)
    return None if found is None else float(found["dollars"])


def key_words(text: str) -> tuple[str, ...]:
    """Return the words of a wish that say what is wanted, each once."""
    left = STOP_WORDS | _FILLERS | _NAMES
    return tuple(dict.fromkeys(word for word in words_of(text) if word not in left))


@lru_cache(maxsize=1024)
def propose_searches(instruction: str) -> tuple[str, ...]:
    """Return searches that follow from an instruction by rule: at most three, at least one.

    All words that say what is wanted; those of its first part, which names the product; and these
    with what is wanted in the end.
    """
    wish = without_bound(instruction)
    parts = [part for part in _HEAD_ENDS.split(wish) if key_words(part)]
    every = key_words(wish)
    head = key_words(parts[0]) if parts else ()
    last = key_words(parts[-1]) if parts else ()
    proposed = [every, head, tuple(dict.fromkeys((*head, *last)))]
    found = dict.fromkeys(" ".join(words)[:200].strip() for words in proposed if words)
    return tuple(found) or ("products",)
