"""Classify how each new plan differs from the plan before it (PlanRAG, Tables 7 and 12)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TypeAlias

from dqa.core.events import PlanEvent, ReplyEvent, ToolEvent
from dqa.core.plans import PlanStep, steps_of
from dqa.evaluation.traces import Trace
from dqa_planrag.reply import step_in

_Steps: TypeAlias = Sequence[PlanStep]

_ALIKE = 0.4
"""Two steps with at least this similarity are versions of the same step."""
_PART = 0.5
"""A step is a part of another step if at least this share of its words is in the other step."""
_MOST_STEPS = 200
"""The maximum number of steps of a plan that are compared."""
_WORD = re.compile(r"[\u3040-\u9fff]|[^\W_\u3040-\u9fff]+")
_CLAUSE = re.compile(r"[,;:.]|\b(?:and|then|to)\b")
_TEXT = resources.files("dqa_planrag.analysis").joinpath("words.json").read_text("utf-8")
_WORDS = {name: frozenset(words.split()) for name, words in json.loads(_TEXT).items()}
"""Sets of English words: ``look_up``, ``calculate`` and ``either`` contain verbs. A verb in
``either`` means a calculation if the step has a word in ``ways``. ``empty`` contains words without
content."""


def replannings(trace: Trace) -> list[str]:
    """Return every re-planning in a trace, in order, as ``Group: kind``.

    The agent usually names its current step. If it does not, each tool call counts as one finished
    step.
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

    The group says how the number of steps changes, in the words of the paper: Increase, Same or
    Decrease. ``docs/analysis.md`` lists the kinds and explains the rules. The first `taken` steps
    of the old plan are finished. Finished steps that the new plan omits are removed from the old
    plan before the comparison.
    """
    before, after = steps_of(old)[:_MOST_STEPS], steps_of(new)[:_MOST_STEPS]
    matched = _matches(before, after)
    finished = min(*matched.values(), taken, taken) if matched else 0
    before, matched = before[finished:], {i: j - finished for i, j in matched.items()}
    longer = len(after) - len(before)
    group = "Increase" if longer > 0 else "Decrease" if longer < 0 else "Same"
    if not before or not after:
        return f"{group}: {'unchanged' if old.strip() == new.strip() else 'other'}"
    changed = {i: j for i, j in matched.items() if not _has_same_content(after[i], before[j])}
    added = set(range(len(after))) - set(matched)
    removed = set(range(len(before))) - set(matched.values())
    divided = _parts(after, before, removed | set(changed.values()), matched)
    divided |= _sub_steps(before, after, matched)
    merged = _parts(before, after, added | set(changed), {j: i for i, j in matched.items()})
    if longer > 0 and added <= divided:
        kind = "divide to sub-steps"
    elif longer < 0 and removed <= merged:
        kind = "merge"
    elif not matched:
        kind = "rewritten"
    elif longer > 0:
        actions = {action for i in added - divided for action in actions_in(after[i])}
        single = f"add {''.join(actions)}" if len(actions) == 1 else "add both actions"
        kind = single if actions else "other"
    elif longer < 0:
        kind = "delete"
    elif added or any(actions_in(after[i]) != actions_in(before[j]) for i, j in changed.items()):
        kind = "replace"
    elif changed:
        kind = "change target"
    else:
        kind = "unchanged" if all(i == j for i, j in matched.items()) else "re-order"
    return f"{group}: {kind}"


def _matches(old: _Steps, new: _Steps) -> dict[int, int]:
    """Map the index of a new step to the index of its old step.

    Equal steps are matched first, then the most similar steps. Of several equally similar steps,
    the step with the nearest position is matched.
    """
    found: dict[int, int] = {}
    pairs = sorted(
        (one.bare != other.bare, -_likeness(one, other), abs(i - j), i, j)
        for i, one in enumerate(new)
        for j, other in enumerate(old)
    )
    for differs, likeness, _, i, j in pairs:
        if i not in found and j not in found.values() and (not differs or -likeness >= _ALIKE):
            found[i] = j
    return found


def _likeness(one: PlanStep, other: PlanStep) -> float:
    """Return the Dice coefficient of the words of two steps."""
    here, others = content_of(one), content_of(other)
    return 2 * len(here & others) / max(len(here) + len(others), 1)


def _has_same_content(one: PlanStep, other: PlanStep) -> bool:
    same = content_of(one) == content_of(other) and actions_in(one) == actions_in(other)
    return same or one.bare == other.bare


def _parts(
    parts: _Steps, wholes: _Steps, allowed: set[int], matched: Mapping[int, int]
) -> set[int]:
    """Return the indices of the steps in `parts` that are a part of a step in `wholes`.

    Only a step of `wholes` with an index in `allowed` can have parts. If it has only one part, this
    part does not count.
    """
    found = set[int]()
    for j in allowed:
        whole = content_of(wholes[j])
        members = {
            i
            for i, words in enumerate(map(content_of, parts))
            if matched.get(i, j) == j and len(words & whole) >= _PART * len(words) > 0
        }
        found |= members if len(members) > 1 else set()
    return found


def _sub_steps(old: _Steps, new: _Steps, matched: Mapping[int, int]) -> set[int]:
    """Return the indices of sub-steps whose parent has no sub-steps in the old plan."""
    origins = {i: matched.get(step.parent) for i, step in enumerate(new) if step.parent is not None}
    parents = {step.parent for step in old}
    return {i for i, origin in origins.items() if origin is not None and origin not in parents}


def content_of(step: PlanStep) -> frozenset[str]:
    """Return the content words of a step, without plural endings."""
    words = _WORD.findall(re.sub(r"['\u2019]s\b", "", step.text.casefold()))
    singular = (re.sub(r"(?<=...)ies$", "y", word) for word in words)
    found = frozenset(re.sub(r"(?<=..[^s])s$", "", word) for word in singular)
    return found - _WORDS["empty"] - _WORDS["look_up"] - _WORDS["calculate"] or found


def actions_in(step: PlanStep) -> frozenset[str]:
    """Return the actions of a step: "look-up", "calculation" or both.

    The first known verb of each clause determines the action of the clause.
    """
    text = step.text.casefold()
    verbs = dict.fromkeys(_WORDS["look_up"], "look-up")
    verbs |= dict.fromkeys(_WORDS["calculate"], "calculation")
    if not _WORDS["ways"].isdisjoint(_WORD.findall(text)):
        verbs |= dict.fromkeys(_WORDS["either"], "calculation")
    clauses = [[w for w in _WORD.findall(clause) if w in verbs] for clause in _CLAUSE.split(text)]
    return frozenset(verbs[clause[0]] for clause in clauses if clause)
