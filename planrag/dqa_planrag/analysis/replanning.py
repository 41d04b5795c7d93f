"""Classify how each new plan differs from the plan before it (PlanRAG, Tables 7 and 12)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from importlib import resources

from dqa.core.events import PlanEvent, ReplyEvent, ToolEvent
from dqa.core.plans import PlanStep, steps_of
from dqa.evaluation.traces import Trace
from dqa_planrag.reply import step_in

_ALIKE = 0.4
"""The minimum similarity of two steps that count as versions of the same step."""
_PART = 0.5
"""The minimum share of a part's words that are from the step that was divided or merged."""
_MOST_STEPS = 200
_WORD = re.compile(r"[\u3040-\u9fff]|[^\W_\u3040-\u9fff]+")
_CLAUSE = re.compile(r"[,;:.]|\b(?:and|then|to)\b")


_TEXT = resources.files("dqa_planrag.analysis").joinpath("words.json").read_text("utf-8")
_WORDS = {name: frozenset(words.split()) for name, words in json.loads(_TEXT).items()}
"""Sets of English words: verbs that look up data, verbs that calculate, verbs that can do either,
words that show that such a verb calculates, and words without content."""


class Kind(StrEnum):
    """The nine sub-categories of the paper, and three for other changes."""

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


def replannings(trace: Trace) -> list[str]:
    """Return every re-planning of a run in order, as ``Group: kind``.

    If the run does not name its current step, each tool call counts as a step.
    """
    found: list[str] = []
    plan, step, used = "", 0, 0
    for event in trace.events:
        if isinstance(event, ReplyEvent):
            step = max(map(int, re.findall(r"\d+", step_in(event.text))), default=step)
        elif isinstance(event, ToolEvent):
            used += 1
        elif isinstance(event, PlanEvent):
            if event.kind == "replan":
                found.append(kind_of(plan, event.text, step or used))
            plan, step, used = event.text, 0, 0
    return found


def kind_of(old: str, new: str, taken: int = 0) -> str:
    """Return how a new plan differs from the old plan, as ``Group: kind``.

    The group is that of the paper, by the number of steps; ``docs/analysis.md`` explains the rules.
    The first `taken` steps of the old plan are finished. If the new plan omits finished steps at
    its start, the comparison ignores them in the old plan, too.
    """
    before, after = steps_of(old), steps_of(new)
    if max(len(before), len(after)) > _MOST_STEPS:
        before = after = ()
    matched = _matches(before, after)
    finished = min(*matched.values(), taken, taken) if matched else 0
    before, matched = before[finished:], {i: j - finished for i, j in matched.items()}
    longer = len(after) - len(before)
    group = "Increase" if longer > 0 else "Decrease" if longer < 0 else "Same"
    if not before or not after:
        return f"{group}: {Kind.UNCHANGED if old.strip() == new.strip() else Kind.OTHER}"
    kept = {i for i, j in matched.items() if _is_kept(after[i], before[j])}
    changed = [(after[i], before[j]) for i, j in matched.items() if i not in kept]
    added = set(range(len(after))) - set(matched)
    if longer > 0:
        divided = set(range(len(before))) - {matched[i] for i in kept}
        parts = _parts(after, before, divided, matched) | _sub_steps(before, after, matched)
        kind = _increase([after[i] for i in added - parts], is_new=not matched)
    elif longer < 0:
        gone = set(range(len(before))) - set(matched.values())
        back = {j: i for i, j in matched.items()}
        is_merged = gone <= _parts(before, after, set(range(len(after))) - kept, back)
        kind = Kind.MERGE if is_merged else Kind.DELETE if matched else Kind.REWRITTEN
    elif not matched:
        kind = Kind.REWRITTEN
    elif added or any(actions_in(one) != actions_in(other) for one, other in changed):
        kind = Kind.REPLACE
    elif changed:
        kind = Kind.CHANGE_TARGET
    else:
        kind = Kind.UNCHANGED if all(i == j for i, j in matched.items()) else Kind.REORDER
    return f"{group}: {kind}"


def _increase(added: Sequence[PlanStep], *, is_new: bool) -> Kind:
    actions = {action for step in added for action in actions_in(step)}
    if not added or is_new:
        return Kind.REWRITTEN if added else Kind.DIVIDE
    return Kind.ADD_BOTH if len(actions) > 1 else next(iter(actions), Kind.OTHER)


def _matches(old: Sequence[PlanStep], new: Sequence[PlanStep]) -> dict[int, int]:
    """Match new steps with old steps: equal steps first, then the most similar, then nearest."""
    found: dict[int, int] = {}
    pairs = sorted(
        (one.bare != other.bare, -_likeness(one, other), abs(i - j), i, j)
        for i, one in enumerate(new)
        for j, other in enumerate(old)
    )
    for differs, likeness, _, i, j in pairs:
        is_alike = not differs or -likeness >= _ALIKE
        if is_alike and i not in found and j not in found.values():
            found[i] = j
    return found


def _likeness(one: PlanStep, other: PlanStep) -> float:
    """Return the Dice coefficient of the words of two steps."""
    here, there = content_of(one), content_of(other)
    return 2 * len(here & there) / max(len(here) + len(there), 1)


def _is_kept(one: PlanStep, other: PlanStep) -> bool:
    """Return whether two steps have the same content."""
    same = content_of(one) == content_of(other) and actions_in(one) == actions_in(other)
    return same or one.bare == other.bare


def _parts(
    parts: Sequence[PlanStep],
    wholes: Sequence[PlanStep],
    allowed: Iterable[int],
    matched: Mapping[int, int],
) -> set[int]:
    """Return the parts that share most of their words with an allowed whole.

    A whole must have at least two such parts.
    """
    found: dict[int, list[int]] = {}
    for i, part in enumerate(map(content_of, parts)):
        shares = [(len(part & content_of(wholes[j])) / max(len(part), 1), -j) for j in allowed]
        share, whole = max(shares, default=(0.0, 0))
        if share >= _PART and matched.get(i, -whole) == -whole:
            found.setdefault(-whole, []).append(i)
    return {i for several in found.values() if len(several) > 1 for i in several}


def _sub_steps(
    old: Sequence[PlanStep], new: Sequence[PlanStep], matched: Mapping[int, int]
) -> set[int]:
    """Return the new sub-steps of steps that had no sub-steps in the old plan."""
    origins = {i: matched.get(step.parent) for i, step in enumerate(new) if step.parent is not None}
    parents = {step.parent for step in old}
    return {i for i, origin in origins.items() if origin is not None and origin not in parents}


def content_of(step: PlanStep) -> frozenset[str]:
    """Return the content words of a step, without plural endings."""
    words = _WORD.findall(re.sub(r"['\u2019]s\b", "", step.text.casefold()))
    singular = (re.sub(r"(?<=...)ies$", "y", word) for word in words)
    found = frozenset(re.sub(r"(?<=..[^s])s$", "", word) for word in singular)
    return found - _WORDS["empty"] - _WORDS["look_up"] - _WORDS["calculate"] or found


def actions_in(step: PlanStep) -> frozenset[Kind]:
    """Return whether a step looks up data, calculates or both, from its clauses' first verbs."""
    text = step.text.casefold()
    verbs = dict.fromkeys(_WORDS["look_up"], Kind.ADD_LOOK_UP)
    verbs |= dict.fromkeys(_WORDS["calculate"], Kind.ADD_CALCULATION)
    if not _WORDS["ways"].isdisjoint(_WORD.findall(text)):
        verbs |= dict.fromkeys(_WORDS["either"], Kind.ADD_CALCULATION)
    clauses = [[w for w in _WORD.findall(clause) if w in verbs] for clause in _CLAUSE.split(text)]
    return frozenset(verbs[clause[0]] for clause in clauses if clause)
