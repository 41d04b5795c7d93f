"""How often runs re-planned, and how each new plan differs (PlanRAG, Tables 7 and 12)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dqa.core.plans import PlanStep, steps_of
from dqa.evaluation.analysis.actions import Action, actions_in, content_of
from dqa.evaluation.traces import Trace

_ALIKE = 0.4
"""The least similarity of two steps that are one step, changed."""
_PART = 0.5
"""The least share of a step's content that is its origin's, where one was divided or merged."""
_MOST_STEPS = 200
"""Steps beyond which a text is no plan that could be compared."""


class ReplanningKind(StrEnum):
    """The paper's nine sub-categories, and three names for what is none of them."""

    REORDER = "re-order"
    REPLACE = "replace"
    CHANGE_TARGET = "change target"
    ADD_LOOK_UP = "add look-up"
    ADD_CALCULATION = "add calculation"
    ADD_BOTH = "add both actions"
    DIVIDE = "divide to sub-steps"
    DELETE = "delete"
    MERGE = "merge"
    UNCHANGED = "unchanged"
    REWRITTEN = "rewritten"
    OTHER = "other"


GROUPS = ("Increase", "Same", "Decrease")
"""The paper's groups, by the number of steps."""


@dataclass(frozen=True, slots=True)
class Replanning:
    """One plan that replaced another: the group by the number of steps, and the kind."""

    group: str
    kind: ReplanningKind


def replannings(trace: Trace) -> tuple[Replanning, ...]:
    """Return every re-planning of a run, in order; a run without a plan has none."""
    return tuple(kind_of(old, new) for old, new in zip(trace.plans, trace.plans[1:], strict=False))


def kind_of(old: str, new: str) -> Replanning:
    """Return how a plan differs from the one that it replaces.

    Steps are aligned by their content words, each with at most one; what is then kept, changed,
    added and gone decides, together with the number of steps. ``docs/analysis.md`` has the rule.

    Parameters
    ----------
    old, new
        The plans as the model wrote them.
    """
    before, after = steps_of(old), steps_of(new)
    group = GROUPS[0 if len(after) > len(before) else 1 if len(after) == len(before) else 2]
    if not before or not after or max(len(before), len(after)) > _MOST_STEPS:
        same = not before and not after
        return Replanning(group, ReplanningKind.UNCHANGED if same else ReplanningKind.OTHER)
    compared = _Compared.of(before, after)
    if len(after) > len(before):
        return Replanning(group, compared.increased())
    return Replanning(
        group, compared.same_length() if len(after) == len(before) else compared.decreased()
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    """Two plans and the alignment of their steps.

    Attributes
    ----------
    old, new
        The steps.
    matched
        The old step of each new one that is an old one, kept or changed, by index.
    kept
        The new steps that are an old one, in the same words or in others that say the same.
    """

    old: Sequence[PlanStep]
    new: Sequence[PlanStep]
    matched: dict[int, int]
    kept: frozenset[int]

    @classmethod
    def of(cls, old: Sequence[PlanStep], new: Sequence[PlanStep]) -> _Compared:
        matched = _equal(old, new)
        matched |= _similar(old, new, matched)
        kept = (i for i, j in matched.items() if _says_the_same(new[i], old[j]))
        return cls(old, new, matched, frozenset(kept))

    @property
    def added(self) -> list[int]:
        return [i for i in range(len(self.new)) if i not in self.matched]

    @property
    def gone(self) -> list[int]:
        still = set(self.matched.values())
        return [i for i in range(len(self.old)) if i not in still]

    def increased(self) -> ReplanningKind:
        added = [self.new[i] for i in self.added if i not in self._parts()]
        if not added:
            return ReplanningKind.DIVIDE
        if not self.matched:
            return ReplanningKind.REWRITTEN
        actions = frozenset[Action]().union(*map(actions_in, added))
        if actions == {Action.LOOK_UP, Action.CALCULATE}:
            return ReplanningKind.ADD_BOTH
        if Action.LOOK_UP in actions:
            return ReplanningKind.ADD_LOOK_UP
        return ReplanningKind.ADD_CALCULATION if actions else ReplanningKind.OTHER

    def same_length(self) -> ReplanningKind:
        if not self.matched:
            return ReplanningKind.REWRITTEN
        if self.added:
            return ReplanningKind.REPLACE
        changed = [i for i in self.matched if i not in self.kept]
        if any(actions_in(self.new[i]) != actions_in(self.old[self.matched[i]]) for i in changed):
            return ReplanningKind.REPLACE
        if changed:
            return ReplanningKind.CHANGE_TARGET
        order = [self.matched[i] for i in range(len(self.new))]
        return ReplanningKind.UNCHANGED if order == sorted(order) else ReplanningKind.REORDER

    def decreased(self) -> ReplanningKind:
        if set(self.gone) <= self._merged():
            return ReplanningKind.MERGE
        return ReplanningKind.DELETE if self.matched else ReplanningKind.REWRITTEN

    def _parts(self) -> set[int]:
        """Return the new steps that are parts of an old one that is now several."""
        had_parts = {step.parent for step in self.old}
        found = {
            i
            for i, step in enumerate(self.new)
            if i not in self.matched
            and step.parent in self.matched
            and self.matched[step.parent] not in had_parts
        }
        divided = set(range(len(self.old))) - {self.matched[i] for i in self.kept}
        for origin, parts in _origins(self.new, self.old, divided).items():
            others = [i for i in parts if self.matched.get(i, origin) == origin]
            if len(others) > 1:
                found.update(others)
        return found

    def _merged(self) -> set[int]:
        """Return the old steps that are parts of a new one that was several."""
        found: set[int] = set()
        back = {there: here for here, there in self.matched.items()}
        whole = set(range(len(self.new))) - self.kept
        for target, parts in _origins(self.old, self.new, whole).items():
            others = [i for i in parts if back.get(i, target) == target]
            if len(others) > 1:
                found.update(others)
        return found


def _equal(old: Sequence[PlanStep], new: Sequence[PlanStep]) -> dict[int, int]:
    """Match the steps with the same words in the same order, first with first."""
    waiting: dict[str, list[int]] = {}
    for i, step in enumerate(old):
        waiting.setdefault(step.bare, []).append(i)
    places = {i: waiting.get(step.bare, []) for i, step in enumerate(new)}
    return {i: there.pop(0) for i, there in places.items() if there}


def _says_the_same(one: PlanStep, other: PlanStep) -> bool:
    """Whether two steps have the same words, or the same content and actions."""
    if one.bare == other.bare:
        return True
    same = content_of(one) == content_of(other)
    return same and actions_in(one) == actions_in(other)


def _similar(
    old: Sequence[PlanStep], new: Sequence[PlanStep], matched: dict[int, int]
) -> dict[int, int]:
    """Match the other steps, the most similar first, then the nearest in place."""
    taken = set(matched.values())
    befores = {i: content_of(step) for i, step in enumerate(old) if i not in taken}
    afters = {i: content_of(step) for i, step in enumerate(new) if i not in matched}
    pairs = sorted(
        (-_likeness(words, other), abs(i - j), i, j)
        for i, words in afters.items()
        for j, other in befores.items()
    )
    found: dict[int, int] = {}
    for likeness, _, i, j in pairs:
        if -likeness >= _ALIKE and i not in found and j not in found.values():
            found[i] = j
    return found


def _origins(
    parts: Sequence[PlanStep], wholes: Sequence[PlanStep], allowed: Iterable[int]
) -> dict[int, list[int]]:
    """Return, by whole, the parts whose content is mostly that of the whole, in the best one."""
    found: dict[int, list[int]] = {}
    contents = {j: content_of(wholes[j]) for j in sorted(allowed)}
    for i, part in enumerate(map(content_of, parts)):
        shares = [(len(part & whole) / len(part), -j) for j, whole in contents.items() if part]
        share, place = max(shares, default=(0.0, 0))
        if share >= _PART:
            found.setdefault(-place, []).append(i)
    return found


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Dice coefficient of two sets of words."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0
