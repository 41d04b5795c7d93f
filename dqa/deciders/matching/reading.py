"""An answer as it is read: its words, its clauses, its labels and the names that count."""

from __future__ import annotations

from dqa.deciders.matching import vocabulary as v
from dqa.deciders.matching.clauses import ABBREVIATIONS, EXCEPT, REACH, Clauses, is_number, is_weak
from dqa.deciders.matching.labels import Label, find_labels
from dqa.deciders.matching.names import Group, Index, Mention, find_names, tokens_of

__all__ = ["Reading"]

_CLOSING = v.BREAKS | {"", "}"}
_ENDING = v.BREAKS | {""}
_FILLERS_OR_COMMAS = v.FILLERS | v.COMMAS
_JOINERS = v.AND | v.COMMAS
_JOINERS_OR_FILLERS = _JOINERS | v.FILLERS
_INTRODUCING = v.QUOTES | {":", "=", "is", "of", "with", "the"}
_ANNOUNCING = v.DECIDING | v.DECIDING_GERUND | v.SUPERLATIVE
_QUOTES_OR_ARTICLES = v.QUOTES | v.ARTICLES
_QUOTES_OR_DASH = v.QUOTES | {"-"}
_VALUE_START = v.QUOTES | {"\n", ":", "=", "|", "{"}
_REMARKS = v.SUPERLATIVE | v.DECIDED
_LINE_ENDS = frozenset({"\n", ""})
_LONGEST_MARKER = 4


class Reading(Clauses):
    """An answer cut into tokens, with its labels and the mentions that count."""

    def __init__(self, text: str, index: Index) -> None:
        tokens = tokens_of(text, index)
        found = find_names(text, tokens, index)
        super().__init__(tokens, found)
        self.text = text
        self._sentence_ends = self.next_of(v.SENTENCE_ENDS)
        self.labels = find_labels(self, self._sentence_ends)
        self._markers = self._list_markers()
        by_noun = self._introduced_by_nouns()
        ids = {self.tokens[p].folded for p in by_noun if self.tokens[p].kind == "number"}
        has_ids = any(is_number(m, tokens) and m.first in by_noun for m in found)
        self._introduced = by_noun
        self._repeated = ids if has_ids else None
        self._announced = {self.past(label.end, v.FILLERS) for label in self.labels}
        self.mentions = [m for m in found if self._counts(m)]
        self.named = {p for m in self.mentions for p in range(m.first, m.last + 1)}

    def before(self, mention: Mention) -> list[str]:
        """Return the words of the mention's clause before it."""
        stop = max(-1, mention.first - 1 - REACH)
        position = mention.first - 1
        while position > stop and not self.breaks[position]:
            position -= 1
        return self.words[position + 1 : mention.first]

    def after(self, mention: Mention) -> list[str]:
        """Return the words of the mention's clause after it, up to the next name."""
        stop = min(len(self.words), mention.last + 1 + REACH)
        position = mention.last + 1
        while position < stop and not self.breaks[position] and position not in self.named:
            position += 1
        return self.words[mention.last + 1 : position]

    def asked_about(self, mention: Mention) -> tuple[bool, bool]:
        """Whether the mention's sentence is a question, and whether that is answered by "no"."""
        end = self._sentence_ends[mention.last]
        asked = self.word(end) == "?"
        refused = self.word(end + 1) == "no" and self.word(end + 2) in _ENDING
        return asked, asked and refused

    def announces(self, label: Label, group: Group) -> bool:
        """Whether a label announces just these names, not a sentence about them."""
        after = self.word(self.past(group[-1].last + 1, v.QUOTES))
        if label.is_heading:
            return after in _CLOSING
        return after not in v.TELLING

    def concludes(self, group: Group) -> bool:
        """Whether the names are all that a sentence concludes with ("therefore X.")."""
        before = self.word(self.back(group[0].first - 1, _FILLERS_OR_COMMAS))
        after = self.word(self.past(group[-1].last + 1, v.QUOTES))
        return before in v.CONCLUDING and after in _CLOSING

    def is_marked(self, mention: Mention) -> bool:
        """Whether a remark in brackets chooses the name ("X (best)")."""
        position = self.past(mention.last + 1, v.QUOTES)
        remark = self.word(position + 1)
        closes = self.word(position + 2) in {")", "]", ",", "!"}
        return self.word(position) == "(" and closes and remark in _REMARKS

    def says_none(self, label: Label) -> bool:
        """Whether a label is followed by a word for no candidate at all."""
        position = self.past(label.end, _VALUE_START)
        exempts = self.word(position + 1) in {"other", "but", EXCEPT, "except"}
        return self.word(position) in v.UNDECIDED and position not in self.named and not exempts

    def groups(self) -> list[Group]:
        """Return the mentions, those together that stand in one list."""
        listed: list[Group] = []
        for mention in self.mentions:
            if listed and self._joined(listed[-1][-1], mention):
                listed[-1].append(mention)
            else:
                listed.append([mention])
        return listed

    def between(self, left: Mention, right: Mention) -> list[str]:
        """Return the words between two mentions."""
        return self.words[left.last + 1 : right.first]

    def _list_markers(self) -> set[int]:
        """Return the tokens that number the lines of a list ("1. X", "2. Y")."""
        markers: dict[int, int] = {}
        for position, token in enumerate(self.tokens):
            if (
                token.kind == "number"
                and len(token.folded) <= _LONGEST_MARKER
                and token.folded.isdigit()
                and self.word(position + 1) in {".", ")"}
                and self.word(position + 2) not in _LINE_ENDS
                and self.word(self.back(position - 1, _QUOTES_OR_DASH)) in _LINE_ENDS
            ):
                markers[position] = int(token.folded)
        numbers = set(markers.values())
        return {place for place, n in markers.items() if {n - 1, n + 1} & numbers}

    def _introduced_by_nouns(self) -> set[int]:
        """Return the tokens that a noun introduces, and the numbers listed after such a number."""
        introduced: set[int] = set()
        for position, token in enumerate(self.tokens):
            if token.kind == "sign":
                continue
            before = self.back(position - 1, _INTRODUCING)
            if self.word(before) == "." and self.word(before - 1) in ABBREVIATIONS:
                before -= 1
            listed_after = self.back(before, _JOINERS)
            if self.word(before) in v.NOUNS or (
                token.kind == "number"
                and listed_after < before
                and listed_after in introduced
                and self.tokens[listed_after].kind == "number"
            ):
                introduced.add(position)
        return introduced

    def _counts(self, mention: Mention) -> bool:
        first = mention.first
        if is_number(mention, self.tokens):
            if first in self._introduced:
                return True
            if first in self._markers or self._is_measure(mention):
                return False
            return (
                self._repeated is None
                or self.tokens[first].folded in self._repeated
                or first in self._announced
                or self._is_asked_for(first)
            )
        if not is_weak(mention, self.tokens):
            return True
        token = self.tokens[first]
        if token.end - token.start == 1:
            written = self.text[token.start : token.end]
            if all(str(candidate) != written for candidate in mention.candidates):
                return False
        announced = first in self._announced or self._is_asked_for(first)
        closes = self.word(self.past(mention.last + 1, v.QUOTES)) in _CLOSING
        return first in self._introduced or self._stands_alone(mention) or (announced and closes)

    def _is_asked_for(self, position: int) -> bool:
        return self.word(self.back(position - 1, _QUOTES_OR_ARTICLES)) in _ANNOUNCING

    def _is_measure(self, mention: Mention) -> bool:
        before, after = mention.first - 1, self.word(mention.last + 1)
        if self.word(before) in v.MEASURES or after in v.UNITS:
            return True
        return self.word(self.back(before, v.LINKS)) in v.MEASURES

    def _stands_alone(self, mention: Mention) -> bool:
        before, after = self.word(mention.first - 1), self.word(mention.last + 1)
        if before in v.QUOTES and before and after in v.QUOTES and after:
            return True
        return before in _ENDING and after in _ENDING

    def _joined(self, left: Mention, right: Mention) -> bool:
        between = self.between(left, right)
        return not _JOINERS.isdisjoint(between) and _JOINERS_OR_FILLERS.issuperset(between)
