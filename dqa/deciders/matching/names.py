"""Candidates' names in a text: its tokens, and where names stand among them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from dqa.core.question import Candidate
from dqa.deciders.matching.vocabulary import JOINING, NOUNS

__all__ = ["Group", "Index", "Mention", "Token", "find_names", "index_of", "tokens_of"]


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a single sign; `folded` is what names are compared by."""

    folded: str
    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Mention:
    """A candidate's name in an answer, from token `first` to token `last`."""

    first: int
    last: int
    candidates: tuple[Candidate, ...]


Group: TypeAlias = list[Mention]
"""Names that stand together as a list: "X, Y and Z"."""

_TOKEN = re.compile(
    r"(?P<number>(?:(?<![\w)\]])[-\u2212])?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?)"
    r"|(?P<word>[^\W\d_]+n['\u2019]t(?![^\W\d_])|[^\W\d_]+)"
    r"|(?P<sign>\n|[^\w\s]|_)"
)


def _fold(token: str) -> str:
    decomposed = unicodedata.normalize("NFKD", token.casefold())
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _fold_number(token: str) -> str:
    whole, _, fraction = token.replace(",", "").replace("\u2212", "-").partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    digits = digits.lstrip("0") or "0"
    return f"{sign}{digits}.{fraction}" if fraction.strip("0") else f"{sign}{digits}"


def _raw_tokens(text: str) -> list[Token]:
    tokens = []
    for found in _TOKEN.finditer(text):
        kind = str(found.lastgroup)
        word = found.group()
        folded = _fold_number(word) if kind == "number" else _fold(word)
        tokens.append(Token(folded, found.start(), found.end(), kind))
    return tokens


@dataclass(slots=True)
class _Name:
    """A node of the tree of names: the names that end here, and the words that go on from here."""

    candidates: tuple[Candidate, ...] = ()
    following: dict[str, _Name] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Index:
    """Candidates by the letters and by the words of their names."""

    verbatim: dict[str, Candidate]
    names: _Name


@lru_cache(maxsize=256)
def index_of(candidates: tuple[Candidate, ...]) -> Index:
    """Return the tree of the candidates' names."""
    root = _Name()
    for candidate in candidates:
        name = unicodedata.normalize("NFC", str(candidate))
        words = tuple(token.folded for token in _raw_tokens(name) if token.kind != "sign")
        for spelling in {words, ("".join(words),)} if words else ():
            node = root
            for word in spelling:
                node = node.following.setdefault(word, _Name())
            node.candidates += (candidate,)
    return Index({str(candidate).strip(): candidate for candidate in candidates}, root)


def tokens_of(text: str, index: Index) -> list[Token]:
    """Return the tokens of a text; ``1,485`` is two numbers where no candidate is called 1485."""
    split: list[Token] = []
    for token in _raw_tokens(text):
        written = text[token.start : token.end]
        known = token.folded in index.names.following
        if token.kind == "number" and "," in written and not known:
            split += [
                Token(part.folded, token.start + part.start, token.start + part.end, part.kind)
                for part in _raw_tokens(written.replace(",", ", "))
                if part.kind == "number"
            ]
        else:
            split.append(token)
    return split


def find_names(text: str, tokens: list[Token], index: Index) -> list[Mention]:
    """Return the names in a text from left to right, of overlapping ones the longest."""
    return list(_Scan(text, tokens, index).mentions())


@dataclass(frozen=True, slots=True)
class _Scan:
    text: str
    tokens: list[Token]
    index: Index

    def mentions(self) -> Iterator[Mention]:
        position = 0
        while position < len(self.tokens):
            mention = self._longest_at(position)
            if mention is not None:
                yield mention
            position = position + 1 if mention is None else mention.last + 1

    def _longest_at(self, first: int) -> Mention | None:
        longest = None
        name = self.index.names
        position = last = first
        while (following := name.following.get(self._folded(position))) is not None:
            name, last = following, position
            if name.candidates and not self._is_glued(first, last):
                longest = Mention(first, last, self._as_spelt(name.candidates, first))
            position += 1
            while self._folded(position) in JOINING:
                position += 1
        return longest

    def _is_glued(self, first: int, last: int) -> bool:
        """Whether the name is a piece of a longer word (``12`` in ``B12``, ``a`` in ``a_1``)."""
        start, end = self.tokens[first].start, self.tokens[last].end
        before, after = self.text[max(0, start - 2) : start], self.text[end : end + 2]
        glued_after = after[:1].isalnum() or (after[:1] == "_" and after[1:].isalnum())
        glued_before = before[-1:].isalnum() or (before[-1:] == "_" and before[:-1].isalnum())
        if glued_before:
            previous = first - 2 if before.endswith("_") else first - 1
            glued_before = self._folded(previous) not in NOUNS
        return glued_after or glued_before

    def _as_spelt(self, candidates: tuple[Candidate, ...], first: int) -> tuple[Candidate, ...]:
        """Of names that differ only in case or signs, the one that is spelt as it stands."""
        if len(candidates) == 1:
            return candidates
        start = self.tokens[first].start
        spelt = [c for c in candidates if self.text.startswith(str(c), start)]
        return (max(spelt, key=lambda c: len(str(c))),) if spelt else candidates

    def _folded(self, position: int) -> str:
        return self.tokens[position].folded if 0 <= position < len(self.tokens) else ""
