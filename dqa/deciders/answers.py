"""Which candidate an answer names: it is validated, not interpreted.

An answer names a candidate where it opens with the candidate's name. Case, accents, quotes, markup
and the signs between words do not count, and the scenario's noun may stand around the name ("trade
node Genoa", "building 12"). Where a label such as "Final answer:" begins a line or a sentence, the
answer is what follows the first one. After the name, the answer ends, or a comma, a full stop, a
bracket or the like begins a remark, which may name no other candidate.

Anything else is refused, and the model is told what it said and what it may say. It can give the
bare name, and no rule for whole sentences is right about all of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache

from dqa.core.errors import InvalidAnswerError
from dqa.core.question import Candidate, Question
from dqa.deciders.candidates import nouns_of

__all__ = ["choice_of", "read_answer"]

_LISTED = 20
"""Most candidates that a message lists."""
_NAMED = 5
_SHOWN = 80
"""Most characters of an answer that a message says back."""

_TOKEN = re.compile(
    r"(?P<number>(?:(?<![\w)\]])[-\u2212])?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?)"
    r"|(?P<word>[^\W\d_]+)"
    r"|(?P<sign>\n|[^\w\s]|_)"
)
_LABEL = re.compile(
    r"(?:\A|[\n.!?;,{<])[ \t>*_#\"'`~({<-]{0,20}(?:(?:my|our|the)[ ])?(?:final[ _])?"
    r"(?:answer|decision|choice)(?![^\W_])[ \t*_\"'`)]{0,20}(?:[:=>\n]|is\b)",
    re.IGNORECASE,
)
_BEFORE = frozenset("\n\"'`*_#~|<>()[]{}:=.,-\u2010\u2011\u2013\u2014\u2022")
"""Signs that may stand before a name."""
_AROUND = frozenset("\"'`*_~<>()[]{}\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb\u300c\u300d")
"""Signs of quotation and markup: they may stand on either side of a name."""
_PAUSE = frozenset("\n([{<|!\u2013\u2014\u3002\u3001")
"""Signs that end a name wherever they stand."""
_PAUSE_BEFORE_SPACE = frozenset(".,;")
_IN_NAMES = frozenset("-_.'\u2019/&\n")
"""Signs that names have between their words, and answers in place of them."""
_LEADING = frozenset({"the", "id"})


def choice_of(
    answer: str, question: Question, candidates: Sequence[Candidate] | None
) -> Candidate | None:
    """Return the candidate that an answer names; None where the candidates are not known.

    Parameters
    ----------
    answer
        What a decider, or its model, says.
    question
        What is asked; its scenario's noun may stand around the name.
    candidates
        What can be chosen, which a query may have listed.

    Raises
    ------
    InvalidAnswerError
        It names none of the candidates, or several; the message tells the model what to write.
    """
    return read_answer(answer, candidates, nouns_of(question)) if candidates else None


def read_answer(
    answer: str, candidates: Sequence[Candidate], nouns: Sequence[str] = ("candidate",)
) -> Candidate:
    """Return the candidate that an answer names, by the rule in this module's docstring.

    Parameters
    ----------
    answer
        What a decider, or its model, says.
    candidates
        What can be chosen.
    nouns
        What a candidate may be called, such as "trade node"; messages use the first.

    Raises
    ------
    InvalidAnswerError
        It names none of the candidates, or several; the message tells the model what to write.
    """
    names = _names_of(tuple(candidates))
    said = answer.strip()
    if said in names.verbatim:
        return names.verbatim[said]
    answer_text = _Text.of(_after_label(unicodedata.normalize("NFKC", answer)))
    opened = answer_text.opening(names, frozenset(_words(" ".join(nouns))) | _LEADING)
    mentioned = tuple(answer_text.mentions(names))
    if opened is not None and set(mentioned) == {opened}:
        return opened
    raise _invalid(said, mentioned, candidates, nouns[0])


def _shortened(text: str) -> str:
    """Return what somebody wrote on one line, at a length that a message can hold."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def _closest(text: str, candidates: Sequence[Candidate], most: int) -> list[str]:
    """Return the candidates that are spelled most like a text, best first."""
    by_folded = {str(candidate).casefold(): str(candidate) for candidate in candidates}
    found = get_close_matches(_shortened(text).casefold(), by_folded, n=most)
    return [by_folded[name] for name in found]


def _invalid(
    said: str, named: tuple[Candidate, ...], candidates: Sequence[Candidate], noun: str
) -> InvalidAnswerError:
    quoted, some = _shortened(said), ", ".join(str(one) for one in named[:_NAMED])
    near = _closest(said, candidates, _NAMED)
    if not named:
        hint = f" (did you mean '{near[0]}'?)" if near else ""
        problem = f"'{quoted}' names no {noun} that can be chosen{hint}."
    elif len(named) == 1:
        problem = f"'{quoted}' says more than a name, and may or may not decide for {some}."
    else:
        problem = f"'{quoted}' names more than one {noun}: {some}."
    if len(candidates) <= _LISTED:
        there_are = f"There are: {', '.join(map(str, candidates))}."
    else:
        examples = ", ".join(near or map(str, candidates[:_NAMED]))
        there_are = f"There are {len(candidates)}, such as {examples}."
    advice = f"Give exactly one {noun}, as the database spells it, and nothing else. {there_are}"
    return InvalidAnswerError(problem, advice, named)


def _after_label(text: str) -> str:
    label = _LABEL.search(text)
    return text if label is None else text[label.end() :]


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, a number or a single sign; `folded` is what names are compared by."""

    folded: str
    kind: str
    start: int
    end: int


def _tokens(text: str) -> list[_Token]:
    found = []
    for match in _TOKEN.finditer(text):
        kind, word = str(match.lastgroup), match.group()
        folded = _folded_number(word) if kind == "number" else _folded(word)
        found.append(_Token(folded, kind, match.start(), match.end()))
    return found


def _words(text: str) -> tuple[str, ...]:
    normal = unicodedata.normalize("NFKC", text)
    return tuple(token.folded for token in _tokens(normal) if token.kind != "sign")


def _folded(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _folded_number(number: str) -> str:
    plain = _folded(number).replace(",", "").replace("\u2212", "-")
    whole, _, fraction = plain.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    digits = digits.lstrip("0") or "0"
    return f"{sign}{digits}.{fraction}" if fraction.strip("0") else f"{sign}{digits}"


@dataclass(slots=True)
class _Names:
    """A node of the tree of names: the candidates that end here, and the words that go on."""

    candidates: tuple[Candidate, ...] = ()
    following: dict[str, _Names] = field(default_factory=dict)
    verbatim: dict[str, Candidate] = field(default_factory=dict)


@lru_cache(maxsize=256)
def _names_of(candidates: tuple[Candidate, ...]) -> _Names:
    """Return the tree of the candidates' names: word by word, and as one word."""
    root = _Names(verbatim={str(candidate).strip(): candidate for candidate in candidates})
    for candidate in candidates:
        words = _words(str(candidate))
        for spelling in {words, ("".join(words),)} if words else ():
            node = root
            for word in spelling:
                node = node.following.setdefault(word, _Names())
            node.candidates += (candidate,)
    return root


@dataclass(frozen=True, slots=True)
class _Text:
    """An answer, cut into tokens."""

    text: str
    tokens: list[_Token]

    @classmethod
    def of(cls, text: str) -> _Text:
        return cls(text, _tokens(text))

    def opening(self, names: _Names, leading: frozenset[str]) -> Candidate | None:
        """Return the candidate that the text opens with, if it then ends or pauses."""
        passed = leading | _BEFORE | _AROUND
        for first, token in enumerate(self.tokens):
            found, after = self._name_at(first, names)
            if len(found) == 1 and self._pauses(after, leading):
                return found[0]
            if token.folded not in passed:
                break
        return None

    def mentions(self, names: _Names) -> Iterator[Candidate]:
        """Yield every candidate that the text names anywhere, each once."""
        seen: set[Candidate] = set()
        place = 0
        while place < len(self.tokens):
            found, after = self._name_at(place, names)
            for candidate in found:
                if candidate not in seen:
                    seen.add(candidate)
                    yield candidate
            place = after if found else place + 1

    def _name_at(self, first: int, names: _Names) -> tuple[tuple[Candidate, ...], int]:
        """Return the candidates of the longest name at a place, and the place after it."""
        longest: tuple[tuple[Candidate, ...], int] = ((), first)
        node, place = names, first
        while place < len(self.tokens):
            following = node.following.get(self.tokens[place].folded)
            if following is None:
                break
            node, place = following, place + 1
            if node.candidates and not self._is_part(first, place):
                longest = (self._as_spelled(node.candidates, first), place)
            while place < len(self.tokens) and self.tokens[place].folded in _IN_NAMES:
                place += 1
        return longest

    def _is_part(self, first: int, after: int) -> bool:
        """Whether the name is a piece of a longer word (``12`` in ``B12``)."""
        before, behind = self.tokens[first].start, self.tokens[after - 1].end
        return self.text[max(0, before - 1) : before].isalnum() or (
            self.text[behind : behind + 1].isalnum()
        )

    def _as_spelled(self, found: tuple[Candidate, ...], first: int) -> tuple[Candidate, ...]:
        """Of names that differ only in case or signs, return the one that is spelled as here."""
        start = self.tokens[first].start
        spelled = [one for one in found if self.text.startswith(str(one), start)]
        if len(found) == 1 or not spelled:
            return found
        return (max(spelled, key=lambda one: len(str(one))),)

    def _pauses(self, place: int, nouns: frozenset[str]) -> bool:
        """Whether the text ends at a place, or begins a remark there."""
        while place < len(self.tokens) and self.tokens[place].folded in nouns | _AROUND - _PAUSE:
            place += 1
        if place == len(self.tokens):
            return True
        token = self.tokens[place]
        if token.folded in _PAUSE:
            return True
        if token.folded in _PAUSE_BEFORE_SPACE:
            return not self.text[token.end : token.end + 1].isalnum()
        return token.folded == "-" and self.text[token.start - 1].isspace()
