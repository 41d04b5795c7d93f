"""How each name stands: turned down, named, said to be better, or chosen."""

from __future__ import annotations

from enum import IntEnum

from dqa.deciders.matching import vocabulary as v
from dqa.deciders.matching.clauses import EXCEPT, NAME
from dqa.deciders.matching.names import Group
from dqa.deciders.matching.reading import Reading

__all__ = ["Standing", "weigh"]


_LINKING = v.AUXILIARIES | v.DESCRIBING | v.NO_OBJECTION | {"no", "longer", "out"}
_INDEFINITE = frozenset({"a", "an", "bad", ""})
_ELSEWHERE = v.LESS | {"than", "below", "behind", "not", "no"}


class Standing(IntEnum):
    """What the clause says of a name; the highest is meant."""

    TURNED_DOWN = 0
    NAMED = 1
    BETTER = 2
    CHOSEN = 3


def weigh(reading: Reading) -> list[tuple[Group, Standing]]:
    """Return the groups of names that are not turned down, with their standing."""
    aside = {label.end: label for label in reading.labels if label.aside}
    ends = sorted(aside)
    weighed: list[tuple[Group, Standing]] = []
    passed = 0
    for group in _split(reading):
        first = group[0].first
        # The first names after a label that announces something else are that something.
        is_aside = False
        while passed < len(ends) and ends[passed] <= first:
            is_aside = first < aside[ends[passed]].until
            passed += 1
        kept, standing = _stand(reading, group)
        if not is_aside and standing is not Standing.TURNED_DOWN and kept:
            weighed.append((kept, standing))
    return weighed


def _split(reading: Reading) -> list[Group]:
    """Return the groups, with a last name apart that only a comma joins and a predicate follows."""
    split: list[Group] = []
    for group in reading.groups():
        ends_apart = len(group) > 1 and v.AND.isdisjoint(reading.between(group[-2], group[-1]))
        if ends_apart and _said_after(reading.after(group[-1])) is not None:
            split += [group[:-1], group[-1:]]
        else:
            split.append(group)
    return split


def _stand(reading: Reading, group: Group) -> tuple[Group, Standing]:
    said = _said_after(reading.after(group[-1]))
    asked, refused = reading.asked_about(group[-1])
    if asked:
        return group, Standing.TURNED_DOWN if refused and len(group) == 1 else Standing.NAMED
    if said is Standing.TURNED_DOWN:
        return group, said
    before = _Before(reading.before(group[0]), is_subject=said is not None)
    if before.refuses():
        return group, Standing.TURNED_DOWN
    if before.turns_down():
        rest = _after_the_list(reading, group)
        return rest, Standing.NAMED
    chosen = before.chooses() or reading.concludes(group) or reading.is_marked(group[-1])
    if before.supposes():
        return group, Standing.NAMED
    return group, max(said or Standing.NAMED, Standing.CHOSEN if chosen else Standing.NAMED)


def _after_the_list(reading: Reading, group: Group) -> Group:
    """Return the names after those that are turned down together: Z in "not X or Y, Z"."""
    last = 0
    for number in range(1, len(group)):
        if not v.AND.isdisjoint(reading.between(group[number - 1], group[number])):
            last = number
    return group[last + 1 :]


class _Before:
    """What the words of a clause before a name say of it."""

    def __init__(self, words: list[str], *, is_subject: bool) -> None:
        self.words = [w for w in words if w in {"no", "of"} or w not in v.FILLERS]
        names = [place for place, word in enumerate(self.words) if word == NAME]
        self.near = self.words[names[-1] + 1 :] if names else self.words
        self.is_subject = is_subject
        said = set(self.near)
        better_if = v.LESS if said & v.COSTLY else v.MORE
        self._is_worse = bool(said & (v.WORSE | (v.LESS | v.MORE) - better_if)) and "than" in said

    def refuses(self) -> bool:
        """Whether a verb of refusal governs the name ("avoid X", "rule out X")."""
        for place, word in enumerate(self.near):
            previous = self.near[place - 1] if place else ""
            following = self.near[place + 1] if place + 1 < len(self.near) else ""
            if word in v.REFUSING or (word in {"rule", "ruling"} and following == "out"):
                return True
            if word in v.REFUSED and previous in v.SUBJECTS | {"have", "having", ""}:
                return not (place == 0 and len(self.words) > len(self.near))
            if word == "away" and following == "from":
                return True
            if word == "against" and previous in {"advise", "decide", "decided", "recommend"}:
                return True
        return False

    def turns_down(self) -> bool:
        """Whether the name is compared with or negated, but not both."""
        compared = self._is_compared()
        return (compared != self._is_negated(compared)) != self._is_ill()

    def chooses(self) -> bool:
        """Whether a verb of choice governs the name."""
        if v.OFFERING & set(self.near[-1:]):
            return False
        for place in range(len(self.near) - 1, -1, -1):
            word, previous = self.near[place], self.near[place - 1] if place else ""
            if word in v.SUPERLATIVE:
                rest = self.near[place + 1 :]
                direct = not rest or rest[0] in {"is", "to", "be"}
                return direct and previous not in v.ASIDE_OF_LABEL
            if word in v.DECIDED and previous in v.BEING:
                return True
            if word in v.DECIDING:
                return previous not in v.ARTICLES | v.ASIDE_OF_LABEL
            if word in v.DECIDING_GERUND and previous in {"am", "m", "are", "re"}:
                return True
        return False

    def supposes(self) -> bool:
        """Whether the choice is only thought of ("if we choose X", "could place it at X")."""
        for place, word in enumerate(self.near):
            if word == "to":
                intended = {"decided", "decide", "best", "recommend", "advise", "want", "is"}
                if place and self.near[place - 1] not in intended:
                    continue
                if place == 0 and self.near[1:2] and self.near[1] in v.DECIDING:
                    return True
            elif word in v.SUPPOSING:
                return True
        return False

    def _is_compared(self) -> bool:
        near = self.near
        compared = any(
            (word in v.EXCEPTING and near[place + 1 : place + 2] not in (["doubt"], ["question"]))
            or word == EXCEPT
            for place, word in enumerate(near)
        )
        for place, word in enumerate(near):
            earlier, is_last = near[:place], place == len(near) - 1
            if word == "than":
                compared |= not self._is_worse
            elif word in v.BEATING:
                compared = True
            elif word in {"over", "against"}:
                compared |= is_last or not v.COMPARATIVE.isdisjoint(earlier)
            elif is_last and word in {"to", "with"}:
                compared |= bool(earlier) and earlier[-1] in v.RELATING
            elif is_last and word in {"from", "for"}:
                compared |= bool(earlier) and earlier[-1] in {"apart", "aside", "except"}
            elif word == "instead":
                compared |= near[place + 1 : place + 2] == ["of"]
        return compared

    def _is_equalled(self) -> bool:
        as_much = self.near[-1:] == ["as"] and "as" in self.near[:-1]
        return as_much or not v.EQUALLING.isdisjoint(self.near)

    def _is_negated(self, compared: bool) -> bool:
        equalled = self._is_equalled()
        negated = False
        for place, word in enumerate(self.words):
            following = self.words[place + 1] if place + 1 < len(self.words) else ""
            if word in v.NOTHING:
                negated |= self._denies(place, following, compared or equalled or self._is_worse)
            elif word in v.NEGATORS and following not in v.WEAKENED | v.NO_OBJECTION:
                is_direct = place >= len(self.words) - 1
                if compared or equalled or not self.is_subject:
                    negated = True
                else:
                    negated |= is_direct or bool(set(self.words[place + 1 :]) & v.THINKING)
        return negated and not (equalled and not compared)

    def _denies(self, place: int, following: str, likened: bool) -> bool:
        """Whether a word for nothing turns round what follows it."""
        if following in v.NO_OBJECTION:
            return False
        rest = self.words[place + 1 :]
        if likened:
            return True
        if self.words[place] == "no":
            return (following in v.NO_CAUSE and len(rest) > 1) or not v.MODALS.isdisjoint(rest)
        return rest in ([], ["of"]) or not v.MODALS.isdisjoint(rest)

    def _is_ill(self) -> bool:
        """Whether doing so is called wrong ("a mistake to choose X")."""
        return any(
            word in v.ILL and "to" in self.words[place + 1 : place + 3]
            for place, word in enumerate(self.words)
        )


def _said_after(after: list[str]) -> Standing | None:
    """Return what the words after a name say of it, or None where they say nothing."""
    words = [word for word in after if word not in v.QUOTES]
    if words[:2] == ["it", "is"]:
        return Standing.CHOSEN
    negated = supposed = False
    for place, word in enumerate(words):
        if place == 0 and word in {"not", "neither", "nor"}:
            break  # said of what comes next: "X not Y"
        judged = _judged(words, place)
        if judged is not None:
            return _turned_round(word, judged) if negated else _unless(supposed, judged)
        if word not in _LINKING and not word.endswith("ly") and not _negates(words, place):
            return Standing.TURNED_DOWN if negated else _said_later(words[place:])
        negated |= _negates(words, place)
        supposed |= word in {"could", "might", "may", "can"}
    return Standing.TURNED_DOWN if negated else None


def _negates(words: list[str], place: int) -> bool:
    following = words[place + 1] if place + 1 < len(words) else ""
    if words[place] == "no":
        return following not in v.NO_OBJECTION and place > 0 and words[place - 1] in v.BEING
    return words[place] in v.NEGATORS and following not in v.WEAKENED


def _judged(words: list[str], place: int) -> Standing | None:
    """Return what one word after a name says of it."""
    word, previous = words[place], words[place - 1] if place else ""
    if word == "second":
        to_none = words[place + 1 : place + 3] == ["to", "none"]
        return Standing.CHOSEN if to_none else Standing.TURNED_DOWN
    if word in v.BAD | v.ASIDE and (word != "out" or previous != "turns"):
        return Standing.TURNED_DOWN
    if word in v.LEADING:
        return Standing.BETTER
    is_verdict = word in v.VERDICT and previous not in _INDEFINITE and not v.BEING.isdisjoint(words)
    if is_verdict or word in v.SUPERLATIVE or (word in v.DECIDED and previous in v.BEING):
        return Standing.CHOSEN
    return None


def _turned_round(word: str, judged: Standing) -> Standing:
    """Return what a negated judgement means: the unbeaten is chosen, the not so bad only named."""
    if judged is not Standing.TURNED_DOWN:
        return Standing.TURNED_DOWN
    return Standing.CHOSEN if word in v.BEATEN else Standing.NAMED


def _unless(supposed: bool, judged: Standing) -> Standing:
    return min(judged, Standing.NAMED) if supposed else judged


def _said_later(words: list[str]) -> Standing | None:
    """Return whether praise follows after other words: "yields the best value"."""
    for place, word in enumerate(words):
        previous = words[place - 1] if place else ""
        if word in _ELSEWHERE:
            break
        if word in v.SUPERLATIVE:
            return Standing.TURNED_DOWN if previous in v.ASIDE_OF_LABEL else Standing.CHOSEN
        if word in v.DECIDING:
            return None if v.SUBJECTS.isdisjoint(words) else Standing.CHOSEN
    return None
