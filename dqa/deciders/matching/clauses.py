"""An answer's words, and where its clauses end."""

from __future__ import annotations

from dqa.deciders.matching import vocabulary as v
from dqa.deciders.matching.names import Mention, Token

__all__ = ["ABBREVIATIONS", "EXCEPT", "NAME", "REACH", "Clauses", "is_number", "is_weak"]

REACH = 60
"""Words looked at on either side of a name: no person's clause is longer."""

NAME = "\0"
"""Stands for every word of a name, which must not be read as a word of the rule."""

EXCEPT = "\0but"
"""The ``but`` of "anything but"."""

_ADVERBS = (
    v.MODALS | v.CONCLUDING | {"then", "finally", "instead", "also", "hereby", "do", "d", "ll"}
)
_UNSAID = v.SUBJECTS | _ADVERBS | {"'", "\u2019", "not", "cannot", "never", "have"}
_VERBS = v.DECIDING | v.REFUSING | v.REFUSED | {"rule"}
_LEADS_IN = v.NOUNS | v.SUPPOSING | {"one", "that", "which", "what", "place", "where"}
ABBREVIATIONS = frozenset({"no", "nr"})
_ALL = v.EVERY | {"none", "nothing", "nowhere", "nobody"}


def is_number(mention: Mention, tokens: list[Token]) -> bool:
    """Whether the name is a number."""
    return mention.first == mention.last and tokens[mention.first].kind == "number"


def is_weak(mention: Mention, tokens: list[Token]) -> bool:
    """Whether the name could as well be a common word."""
    token = tokens[mention.first]
    is_common = token.end - token.start == 1 or token.folded in v.RULE_WORDS
    return mention.first == mention.last and is_common


class Clauses:
    """The words of an answer, names made opaque, and the places where clauses break."""

    def __init__(self, tokens: list[Token], names: list[Mention]) -> None:
        self.tokens = tokens
        self.words = self._words_but(names)
        self.breaks = [self._is_break(position) for position in range(len(self.words))]

    def word(self, position: int) -> str:
        """Return the word at a place, or nothing beyond the ends."""
        return self.words[position] if 0 <= position < len(self.words) else ""

    def past(self, position: int, skip: frozenset[str]) -> int:
        """Return the first place from here on whose word is not skipped."""
        stop = position + REACH
        while position < stop and self.word(position) in skip:
            position += 1
        return position

    def back(self, position: int, skip: frozenset[str]) -> int:
        """Return the first place from here backwards whose word is not skipped."""
        stop = position - REACH
        while position > stop and self.word(position) in skip:
            position -= 1
        return position

    def next_of(self, signs: frozenset[str]) -> list[int]:
        """Return for every place the next one that holds one of the signs."""
        following = [len(self.words)] * len(self.words)
        upcoming = len(self.words)
        for position in range(len(self.words) - 1, -1, -1):
            if self.words[position] in signs and self.breaks[position]:
                upcoming = position
            following[position] = upcoming
        return following

    def _words_but(self, found: list[Mention]) -> list[str]:
        words = ["cannot" if _is_cannot(t.folded) else t.folded for t in self.tokens]
        for mention in found:
            if not (is_number(mention, self.tokens) or is_weak(mention, self.tokens)):
                words[mention.first : mention.last + 1] = [NAME] * (
                    mention.last + 1 - mention.first
                )
        for position, word in enumerate(words):
            if word == "but" and (
                words[position - 1] in _ALL or (position > 1 and words[position - 2] in _ALL)
            ):
                words[position] = EXCEPT
        return words

    def _is_break(self, position: int) -> bool:
        word = self.words[position]
        if word == ".":
            return not (
                self.word(position - 1) in ABBREVIATIONS and self._kind(position + 1) == "number"
            )
        if word in v.CLAUSES:
            return True
        if word in {"and", "then"}:
            return self._starts_anew(position + 1)
        return (
            word in v.SUBJECTS
            and self.word(position - 1) not in _LEADS_IN
            and self._starts_anew(position + 1)
        )

    def _starts_anew(self, position: int) -> bool:
        """Whether a verb of choice or refusal comes next, perhaps with its subject."""
        stop = position + 6
        while position < stop and self.word(position) in _UNSAID:
            position += 1
        return self.word(position) in _VERBS

    def _kind(self, position: int) -> str:
        return self.tokens[position].kind if 0 <= position < len(self.tokens) else ""


def _is_cannot(word: str) -> bool:
    return word.endswith(("n't", "n\u2019t"))
