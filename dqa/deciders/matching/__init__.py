"""Which candidate an answer names: the rule by which a person would read it.

The rule, in order:

1. An answer that is a candidate, letter for letter, names that candidate.
2. A candidate is *mentioned* where its words stand in the answer one after another, whatever
   their case, accents, quotes and the signs between them (``Gulf of Siam`` is ``gulf_of_siam``).
   Of overlapping names the longest counts, and a name inside a longer word does not. A name that
   is a single letter (in its own case), or a word that this rule reads (``best``, ``not``; no
   verbs), must be introduced, quoted or the whole clause.
3. A number is *introduced* by a noun ("building 12", "id: 12", "#12", and what is listed after
   it), by a label or by a choosing verb ("answer: 12", "choose 12"). Where an id is introduced by
   a noun, other numbers count if they are introduced or repeat an id that is; else every whole
   number does. Measures ("by 5", "level 5", "5 %", "5 nodes") and the markers of a list never do.
4. Each mention, or list of mentions ("X, Y and Z"), has a *standing*, which the words of its
   clause give it. A clause ends at punctuation, at a conjunction, and where a verb of choice starts
   anew ("and choose", "I pick").

   - *turned down*: "not X", "reject X", "anything but X", "better than X", "wrong to choose X",
     "no one should go to X", "X is not ...", "X is a bad ...", "alternative: X", "second best: X".
     Comparing and negating cancel out ("no node is better than X", "X cannot be beaten").
   - *chosen*: the first names after a verb of choice ("place it at X"), and those of which it is
     said ("X is best", "X wins", "X (recommended)", "therefore X"). What is only supposed
     is not chosen ("if we choose X", "placing it at X gives 3").
   - *better*: "X is better".
   - *named*: all others, and all in a question, but for the X of "X? No.", which is turned down.

5. After a label ("answer: X", "my decision is X", "best node: X") the first names are meant, or
   those of the highest standing where the first are only told about ("answer: X gives 3, Y is
   best"). Of several labels the last one that is followed by names counts; where the last of all
   says "none", the answer names no candidate.
6. Without a label the names of the highest standing are meant, never those turned down. Several
   names make an answer ambiguous.

No model is needed. Words more than 60 away from a name are not looked at, so that the cost grows
with the length of the answer and with nothing else.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dqa.core.question import Candidate
from dqa.deciders.matching.names import Group, index_of
from dqa.deciders.matching.reading import Reading
from dqa.deciders.matching.standing import Standing, weigh

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
    index = index_of(tuple(candidates))
    if (exact := index.verbatim.get(text.strip())) is not None:
        return Match((exact,))
    reading = Reading(text, index)
    weighed = weigh(reading)
    return Match(_distinct(_labelled(reading, weighed) or _highest(weighed)))


def _labelled(reading: Reading, weighed: list[tuple[Group, Standing]]) -> list[Group]:
    """Return the names after the last label that has any; an empty group where it says "none"."""
    labels = [label for label in reading.labels if not label.aside]
    if labels and reading.says_none(labels[-1]):
        return [[]]
    # Walking both lists from their ends keeps the cost linear in labels and names together.
    left = len(weighed)
    for label in reversed(labels):
        right = left
        while left and weighed[left - 1][0][0].first >= label.end:
            left -= 1
        inside = [pair for pair in weighed[left:right] if pair[0][0].first < label.until]
        if inside and reading.announces(label, inside[0][0]):
            return [inside[0][0]]
        if inside and not label.is_heading:
            return _highest(inside)
    return []


def _highest(weighed: list[tuple[Group, Standing]]) -> list[Group]:
    highest = max((standing for _, standing in weighed), default=None)
    return [group for group, standing in weighed if standing is highest]


def _distinct(groups: Iterable[Group]) -> tuple[Candidate, ...]:
    named = (candidate for group in groups for m in group for candidate in m.candidates)
    return tuple(dict.fromkeys(named))
