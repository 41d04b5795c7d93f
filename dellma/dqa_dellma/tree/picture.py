"""The picture of a DeLLMa decision: the question, the actions and the states they were tried in."""

from __future__ import annotations

from dqa.core.errors import UsageError
from dqa.core.pictures import Picture, PictureEdge, PictureNode
from dqa.evaluation.traces import Trace
from dqa_dellma.tree.decision_tree import ComparedAction, DecisionTree, TriedState
from dqa_dellma.tree.reading import has_tree, read_tree

_ACTIONS, _LEAVES = 10, 28
"""Actions that are drawn, and states of all of them together."""


def picture(trace: Trace) -> Picture | None:
    """Return the decision tree of a trace; None where it tells of none."""
    if not has_tree(trace):
        return None
    try:
        tree = read_tree(trace)
    except UsageError:  # of another version: its passages say what there is to say
        return None
    actions = tree.actions[:_ACTIONS]
    if not actions:
        return None
    nodes = [PictureNode(id="decision", label="decision", layer=0, shape="box", focus=True)]
    edges = []
    each = max(2, _LEAVES // len(actions))
    likeliest = max((state.probability for state in tree.states), default=0.0) or 1.0
    for number, action in enumerate(actions):
        at = f"action {number}"
        nodes.append(_action(at, action))
        edges.append(PictureEdge(source="decision", target=at, weight=action.chance_best))
        for sample in action.extremes(each)[0]:
            leaf = f"{at} state {sample.state}"
            nodes.append(_leaf(leaf, sample, tree))
            weight = tree.states[sample.state].probability / likeliest
            edges.append(PictureEdge(source=at, target=leaf, weight=weight))
    drawn = len(nodes) - 1 - len(actions)
    every = sum(len(action.samples) for action in tree.actions)
    return Picture(
        title="The decision tree",
        caption=(
            "Actions with their value (a larger circle is a better one), and the states in which "
            "each did best and worst. A wider line leads to an action that is more probably the "
            "best, and to a likelier state."
        ),
        nodes=tuple(nodes),
        edges=tuple(edges),
        left_out=every - drawn + len(tree.actions) - len(actions),
    )


def _action(at: str, action: ComparedAction) -> PictureNode:
    told = [("value", action.value), ("expected utility", action.expected_utility)]
    notes = [(name, f"{value:.3g}") for name, value in told if value is not None]
    if action.interval is not None:
        low, high = action.interval
        notes.append(("interval", f"{low:.3g} to {high:.3g}"))
    if action.chance_best is not None:
        notes.append(("best with probability", f"{action.chance_best:.2g}"))
    return PictureNode(
        id=at,
        label=str(action.action),
        layer=1,
        candidate=action.action,
        value=action.value,
        notes=tuple(notes),
    )


def _leaf(leaf: str, sample: TriedState, tree: DecisionTree) -> PictureNode:
    state = tree.states[sample.state]
    values = tuple((f.name, value) for f, value in zip(tree.factors, state.values, strict=True))
    utility = "in no ranking" if sample.utility is None else f"{sample.utility:.3g}"
    return PictureNode(
        id=leaf,
        label=f"state {sample.state + 1}: {utility}",
        layer=2,
        shape="dot",
        value=sample.utility,
        notes=(("utility", utility), *values),
    )
