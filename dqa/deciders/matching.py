"""Which candidate an answer names: the rule by which a person would read it.

The rule, in order:

1. An answer that is a candidate, letter for letter, names that candidate.
2. A candidate is *mentioned* where its words stand in the answer one after another, whatever
   their case, accents, quotes and the signs between them (``Gulf of Siam`` is ``gulf_of_siam``).
   Of overlapping names the longest counts, and a name inside a longer word does not.
3. A number is a mention where a noun introduces it ("building 12", "id: 12", "#12"). Where no
   number is introduced, every whole number counts that is not a measure ("by 5", "level 5",
   "5 %"). A name of a single letter must be spelt in its own case and be introduced, quoted or
   the whole clause.
4. A mention does not count where its clause turns it down: "not X", "rather than X", "better than
   X", "X is not ...", each for a whole list of names ("neither X nor Y").
5. One name left: that is the match. Of several, the first after the last label ("Answer: X",
   "my decision is X") is, or else the one that a clause chooses ("place it at X", "X is best").
6. Still several: the answer is ambiguous, as it is where it lists names at the place that decides.

No model is needed, and the cost grows with the words of the answer, not with the candidates.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from dqa.question import Candidate

__all__ = ["Match", "match_candidate"]


@dataclass(frozen=True, slots=True)
class Match:
    """The candidates that an answer names, in the order of the answer.

    Attributes
    ----------
    named
        Empty where the answer names none; several where it leaves open which one is meant.
    """

    named: tuple[Candidate, ...] = ()

    @property
    def choice(self) -> Candidate | None:
        """The one candidate that is named, or None where there is none or more than one."""
        return self.named[0] if len(self.named) == 1 else None


def match_candidate(answer: str, candidates: Sequence[Candidate]) -> Match:
    """Return the candidate(s) that `answer` names, by the rule in this module's docstring."""
    text = unicodedata.normalize("NFC", answer)
    index = _index(tuple(candidates))
    if (exact := index.verbatim.get(text.strip())) is not None:
        return Match((exact,))
    reading = _Reading(text, index)
    groups = [group for group in reading.groups() if group]
    if len(_distinct(groups)) > 1:
        groups = _labelled(reading, groups) or _chosen(reading, groups) or groups
    return Match(_distinct(groups))


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, a number or a single sign; `folded` is what names are compared by."""

    folded: str
    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class _Mention:
    """A candidate's name in an answer, from token `first` to token `last`."""

    first: int
    last: int
    candidates: tuple[Candidate, ...]


_Group: TypeAlias = list[_Mention]

_TOKEN = re.compile(
    r"(?P<number>(?:(?<![\w)\]])[-\u2212])?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?)"
    r"|(?P<word>[^\W\d_]+n['\u2019]t(?![^\W\d_])|[^\W\d_]+)"
    r"|(?P<sign>\n|[^\w\s]|_)"
)
_LABEL = re.compile(
    r"\b(?:answer|decision|choice|recommendation)\b[\"'*_`]*"
    r"(?:[^\n.:=,;]{0,40}?\s(?:is|are|would be)\b|\s*[:=])",
    re.IGNORECASE,
)


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_LONGEST_CLAUSE = 60
"""Words looked at on either side of a name: no person's clause is longer."""

_JOINING = frozenset("-_.'\u2019/")
_QUOTES = frozenset("\"'`*_\u201c\u201d\u2018\u2019\u00ab\u00bb[]")
_AND = frozenset({"and", "or", "nor", "&", "/"})
_NOUNS = _words("building buildings node nodes id ids no nr number candidate option # trade")
_FILLERS = _QUOTES | _NOUNS | {"the", "a", "an", "at", "in", "of", "both", "either", ":", "="}
_BREAKS = frozenset(".;:!?,()\n\u2014\u2013")
_CLAUSES = _BREAKS | _words(
    "but because since which so while whereas although though hence therefore thus"
)
_NEGATORS = _words("not never neither cannot nor unlike avoid avoiding except excluding")
_COMPARERS = _words(
    "than over versus vs against above beats beating outperforms exceeds surpasses compared"
)
_NOTHING = frozenset({"no", "none", "nothing", "nowhere", "nobody"})
_WEAKENED = frozenset({"only", "just", "merely", "worse", "inferior"})
_AUXILIARIES = _words(
    "is was are were does do did would will can could should has have be been being"
)
_TURNED_DOWN = _words(
    "not never cannot worse inferior suboptimal second rejected excluded ruled eliminated discarded"
    " loses lost"
)
_CHOOSING = _words(
    "choose choosing chose pick picking select selecting recommend prefer place placing allocate"
    " send put increase increasing raise raising expand expanding build upgrade upgrading best"
    " optimal optimum winner wins"
)
_MEASURES = _words(
    "by level levels price profit cost value power share rank step year about roughly approximately"
    " than $ \u20ac \u00a3 ~"
)
_UNITS = _words("level levels % percent times units steps points rows st nd rd th")
_LINKS = frozenset({"of", "is", "was", "at", "to", "=", ":", "from"})


def _fold(token: str) -> str:
    decomposed = unicodedata.normalize("NFKD", token.casefold())
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _fold_number(token: str) -> str:
    whole, _, fraction = token.replace(",", "").replace("\u2212", "-").partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    digits = digits.lstrip("0") or "0"
    return f"{sign}{digits}.{fraction}" if fraction.strip("0") else f"{sign}{digits}"


def _tokens(text: str) -> list[_Token]:
    tokens = []
    for found in _TOKEN.finditer(text):
        kind = str(found.lastgroup)
        word = found.group()
        folded = _fold_number(word) if kind == "number" else _fold(word)
        tokens.append(_Token(folded, found.start(), found.end(), kind))
    return tokens


@dataclass(slots=True)
class _Name:
    """A node of the tree of names: the names that end here, and the words that go on from here."""

    candidates: tuple[Candidate, ...] = ()
    following: dict[str, _Name] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Index:
    verbatim: dict[str, Candidate]
    names: _Name


@lru_cache(maxsize=256)
def _index(candidates: tuple[Candidate, ...]) -> _Index:
    root = _Name()
    for candidate in candidates:
        name = unicodedata.normalize("NFC", str(candidate))
        words = tuple(token.folded for token in _tokens(name) if token.kind != "sign")
        for spelling in {words, ("".join(words),)} if words else ():
            node = root
            for word in spelling:
                node = node.following.setdefault(word, _Name())
            node.candidates += (candidate,)
    return _Index({str(candidate).strip(): candidate for candidate in candidates}, root)


class _Reading:
    """An answer cut into tokens, with the mentions that stand in it."""

    def __init__(self, text: str, index: _Index) -> None:
        self.text = text
        self.index = index
        self.tokens = self._split_lists(_tokens(text))
        found = list(self._scan())
        self.introduced = self._introduced()
        ids_are_introduced = any(self._is_number(m) and m.first in self.introduced for m in found)
        self.mentions = [m for m in found if self._counts(m, ids_are_introduced)]

    def _split_lists(self, tokens: list[_Token]) -> list[_Token]:
        """Read ``1,485`` as two numbers where no candidate is called 1485."""
        split: list[_Token] = []
        for token in tokens:
            written = self.text[token.start : token.end]
            known = token.folded in self.index.names.following
            if token.kind == "number" and "," in written and not known:
                split += [
                    _Token(part.folded, token.start + part.start, token.start + part.end, part.kind)
                    for part in _tokens(written.replace(",", ", "))
                    if part.kind == "number"
                ]
            else:
                split.append(token)
        return split

    def _scan(self) -> Iterator[_Mention]:
        position = 0
        while position < len(self.tokens):
            mention = self._longest_at(position)
            if mention is not None:
                yield mention
            position = position + 1 if mention is None else mention.last + 1

    def _longest_at(self, first: int) -> _Mention | None:
        longest = None
        name = self.index.names
        position = last = first
        while (following := name.following.get(self._folded(position))) is not None:
            name, last = following, position
            if name.candidates and not self._is_glued(first, last):
                longest = _Mention(first, last, self._as_spelt(name.candidates, first))
            position += 1
            while self._folded(position) in _JOINING:
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
            glued_before = self._folded(previous) not in _NOUNS
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

    def _back(self, position: int, skip: frozenset[str]) -> int:
        while self._folded(position) in skip:
            position -= 1
        return position

    def _is_number(self, mention: _Mention) -> bool:
        return mention.first == mention.last and self.tokens[mention.first].kind == "number"

    def _introduced(self) -> set[int]:
        """Return the tokens that a noun introduces, and the numbers listed after such a number."""
        introduced: set[int] = set()
        for position, token in enumerate(self.tokens):
            if token.kind == "sign":
                continue
            before = self._back(position - 1, _QUOTES | {":", "=", "is", "of", "with", "the"})
            listed_after = self._back(before, _AND | {","})
            if self._folded(before) in _NOUNS or (
                token.kind == "number"
                and listed_after < before
                and listed_after in introduced
                and self.tokens[listed_after].kind == "number"
            ):
                introduced.add(position)
        return introduced

    def _counts(self, mention: _Mention, ids_are_introduced: bool) -> bool:
        if self._is_number(mention):
            if ids_are_introduced:
                return mention.first in self.introduced
            return not self._is_measure(mention)
        token = self.tokens[mention.first]
        if mention.first == mention.last and token.end - token.start == 1:
            exact = any(str(c) == self.text[token.start : token.end] for c in mention.candidates)
            return exact and (mention.first in self.introduced or self._stands_alone(mention))
        return True

    def _is_measure(self, mention: _Mention) -> bool:
        before, after = mention.first - 1, self._folded(mention.last + 1)
        if self._folded(before) in _MEASURES or after in _UNITS:
            return True
        return self._folded(self._back(before, _LINKS)) in _MEASURES

    def _stands_alone(self, mention: _Mention) -> bool:
        before, after = self._folded(mention.first - 1), self._folded(mention.last + 1)
        if before in _QUOTES and before and after in _QUOTES and after:
            return True
        return before in _BREAKS | {""} and after in _BREAKS | {""}

    def groups(self) -> list[_Group]:
        """Return lists of names that stand together, without those that their clause rejects."""
        listed: list[_Group] = []
        for mention in self.mentions:
            if listed and self._joined(listed[-1][-1], mention):
                listed[-1].append(mention)
            else:
                listed.append([mention])
        return [self._kept(group) for group in listed]

    def _joined(self, left: _Mention, right: _Mention) -> bool:
        between = self.tokens[left.last + 1 : right.first]
        return all(t.folded in _FILLERS or t.folded in _AND or t.folded == "," for t in between)

    def _kept(self, group: _Group) -> _Group:
        if self._is_turned_down_after(group[-1]):
            return []
        if not self._is_turned_down_before(group[0]):
            return group
        last = 0
        for number in range(1, len(group)):
            between = self.tokens[group[number - 1].last + 1 : group[number].first]
            if any(token.folded in _AND for token in between):
                last = number
        return group[last + 1 :]

    def clause_before(self, mention: _Mention) -> list[str]:
        """Return the words of the mention's clause before it, nearest first."""
        words = []
        position = mention.first - 1
        while position >= max(0, mention.first - _LONGEST_CLAUSE):
            if self._folded(position) in _CLAUSES:
                break
            words.append(self._folded(position))
            position -= 1
        return words

    def clause_after(self, mention: _Mention) -> list[str]:
        """Return the words of the mention's clause after it."""
        words = []
        position = mention.last + 1
        while position < min(len(self.tokens), mention.last + _LONGEST_CLAUSE):
            if self._folded(position) in _CLAUSES:
                break
            words.append(self._folded(position))
            position += 1
        return words

    def _is_turned_down_before(self, mention: _Mention) -> bool:
        words = [
            word for word in self.clause_before(mention) if word not in _FILLERS - {"of", "no"}
        ]
        compared = negated = False
        following = ""
        for place, word in enumerate(words):
            worse = word == "than" and words[place + 1 : place + 2] == ["worse"]
            compared |= word in _COMPARERS and not worse
            compared |= word == "as" and (place == 0 or "as" in words[place + 1 :])
            negates = word in _NEGATORS or word.endswith(("n't", "n\u2019t"))
            negates |= (word == "instead" and following == "of") or (compared and word in _NOTHING)
            negated |= negates and following not in _WEAKENED
            following = word
        return compared != negated

    def _is_turned_down_after(self, mention: _Mention) -> bool:
        words = [word for word in self.clause_after(mention) if word not in _QUOTES]
        for place, word in enumerate(words):
            following = words[place + 1] if place + 1 < len(words) else ""
            if word in _TURNED_DOWN or word.endswith(("n't", "n\u2019t")):
                said_of_the_next = word == "not" and place == 0
                return following not in _WEAKENED and not said_of_the_next
            if word not in _AUXILIARIES:
                return False
        return False


def _distinct(groups: list[_Group]) -> tuple[Candidate, ...]:
    named = (candidate for group in groups for m in group for candidate in m.candidates)
    return tuple(dict.fromkeys(named))


def _labelled(reading: _Reading, groups: list[_Group]) -> list[_Group]:
    """Return the first names after the last label, on the label's line."""
    for label in reversed(list(_LABEL.finditer(reading.text))):
        end = reading.text.find("\n", label.end())
        end = len(reading.text) if end < 0 else end
        for group in groups:
            if label.end() <= reading.tokens[group[0].first].start < end:
                return [group]
    return []


def _chosen(reading: _Reading, groups: list[_Group]) -> list[_Group]:
    """Return the names in clauses that announce a choice."""
    kept = []
    for group in groups:
        words = reading.clause_before(group[0]) + reading.clause_after(group[-1])
        if not _CHOOSING.isdisjoint(words):
            kept.append(group)
    return kept
