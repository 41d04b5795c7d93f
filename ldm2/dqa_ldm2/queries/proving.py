"""What a statement is worth by its record: how often it was right of how often it was tried.

A memory that was formed of right decisions alone says nothing of a statement's failures. Refining
does: it remembers what the first statement of every explored path came to. Steps that led to wrong
decisions are counted, and never shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from dqa.evaluation.statistics.clusters import wilson
from dqa_ldm2.events import ExplorationEvent, ExploredNode
from dqa_ldm2.memory.base import Memory, Origin, Placed, Remembered, State, StateAction
from dqa_ldm2.operations.indexing import find_type
from dqa_ldm2.queries.actions import statement_of

_LOOKED_AT: Final = 400
"""Tuples near a state by which records are counted."""
_VALUE: Final = re.compile(r"'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b")
_SPACE: Final = re.compile(r"\s+")


def shape_of(action: str) -> str:
    """Return what a statement has in common with those that differ in their values alone."""
    statement = statement_of(action)
    if statement is None:
        return ""
    return _SPACE.sub(" ", _VALUE.sub("?", statement)).casefold()


def prove(found: Sequence[Remembered], most: int) -> tuple[Remembered, ...]:
    """Return the tuples of the best records that were right, those of equals as they came.

    A record is the lower end of Wilson's interval for the share of right ones, so what was right
    often goes before what was right once.
    """
    tried: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for one in found:
        shape, reward = shape_of(one.placed.content.action), one.placed.content.reward
        tried[shape] += reward is not None
        right[shape] += bool(reward)
    worth = {shape: (wilson(right[shape], count) or (0.0,))[0] for shape, count in tried.items()}
    kept = [one for one in found if one.placed.content.reward != 0.0]
    kept.sort(key=lambda one: -worth[shape_of(one.placed.content.action)])
    return tuple(kept[:most])


def find_proven(
    memory: Memory, batch: int, place: tuple[str, str], state: State, most: int
) -> tuple[Remembered, ...]:
    """Return the best proven tuples of those near a state; see `dqa_ldm2.retrieving.Find`."""
    return prove(memory.find(batch, *place, state, max(most, _LOOKED_AT)), most)


def remember_records(  # noqa: PLR0913, PLR0917  (each is a question of its own to the caller)
    memory: Memory, batch: int, goal: str, beginning: str, explored: ExplorationEvent, model: str
) -> int:
    """Add what the first statement of each explored path came to; return how many tuples.

    Parameters
    ----------
    memory, batch
        Where to.
    goal, beginning
        The question, and what is seen before anything was asked.
    explored
        The paths, with what their ends brought.
    model
        What answered.
    """
    outcomes = dict(_first_statements(explored))
    if not outcomes:
        return 0
    goal_type = find_type("goal", goal, memory.goal_types(batch), None, batch).type
    seen = memory.observation_types(batch, goal_type)
    place = find_type("observation", beginning, seen, None, batch).type
    tuples = [
        Placed(
            StateAction(goal, "", beginning, action, explored.source, 1, reward), goal_type, place
        )
        for action, reward in outcomes.items()
    ]
    origin = Origin("refinement", f"{explored.source}, what its paths came to", model)
    return memory.add(tuples, origin, batch).added


def _first_statements(explored: ExplorationEvent) -> Iterator[tuple[str, float]]:
    """Yield first statements with the most that a path from there brought."""
    nodes = {node.number: node for node in explored.nodes}
    best: dict[int, float] = {}
    for node in explored.nodes:
        if node.reward is not None:
            first = _first(node, nodes)
            best[first] = max(best.get(first, 0.0), node.reward)
    for number, reward in best.items():
        action = str(nodes[number].action)
        if statement_of(action) is not None:
            yield action, reward


def _first(node: ExploredNode, nodes: dict[int, ExploredNode]) -> int:
    while node.depth > 1 and node.parent is not None:
        node = nodes[node.parent]
    return node.number
