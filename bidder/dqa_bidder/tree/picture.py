"""The picture of a BIDDER decision: its actions with their returns, and the states behind them."""

from __future__ import annotations

from dqa.core.pictures import Picture, PictureEdge, PictureNode
from dqa.deciders.method import find_step
from dqa.evaluation.traces import Trace
from dqa_bidder.exploration import ExploredTree, TreeNode
from dqa_bidder.returns import ActionReturn, Returns

_MOST = 60
"""States that are drawn."""
_DIGITS = 4
_EARLIER = {"explored_tree": "exploration", "returns": "returns"}
"""By kind of an event that earlier versions wrote, the step that has its fields now."""
_CAPTION = (
    "Actions with their return (a larger circle is a larger one), then the states that they may "
    "lead to. Edges name actions, with their reward from 0 to 1; those of other players are the "
    "expected ones."
)


def picture(trace: Trace) -> Picture | None:
    """Return the explored tree of a trace with its returns; None for a trace without them."""
    tree = find_step(trace.events, ExploredTree, "exploration", _EARLIER)
    returns = find_step(trace.events, Returns, "returns", _EARLIER)
    if tree is None or returns is None:
        return None
    root = tree.nodes[0]
    nodes = [PictureNode(id="0", label=root.mover or "decision", layer=0, shape="box", focus=True)]
    edges = []
    layers: dict[int, int] = {}
    for number, one in enumerate(returns.returns):
        name, reward = f"action {number}", root.rewards.get(str(one.action))
        nodes.append(_action(name, one, reward))
        edges.append(PictureEdge(source="0", target=name, weight=reward))
        child = root.children.get(str(one.action))
        if child:
            layers.setdefault(child, 2)
            edges.append(PictureEdge(source=name, target=f"state {child}"))
    edges += _edges(tree, layers)
    nodes += [_state(tree.nodes[number], layer) for number, layer in layers.items()]
    return Picture(
        title="What was looked ahead at",
        caption=_CAPTION,
        nodes=tuple(nodes),
        edges=tuple(edges),
        left_out=len(tree.nodes) - 1 - len(layers),
    )


def _action(name: str, one: ActionReturn, reward: float | None) -> PictureNode:
    notes = [("return", "not known" if one.value is None else f"{one.value:.{_DIGITS}g}")]
    if reward is not None:
        notes.append(("reward", f"{reward:.{_DIGITS}g}"))
    if one.path:
        notes.append(("best course", ", ".join(one.path)))
    return PictureNode(
        id=name,
        label=str(one.action),
        layer=1,
        candidate=one.action,
        value=one.value,
        notes=tuple(notes),
    )


def _edges(tree: ExploredTree, layers: dict[int, int]) -> list[PictureEdge]:
    """Return the edges between states, and add the states that they lead to to `layers`."""
    edges = []
    numbers = list(layers)
    for number in numbers:  # grows in the loop
        node = tree.nodes[number]
        for action, child in node.children.items():
            if child and child not in layers and len(layers) < _MOST:
                layers[child] = layers[number] + 1
                numbers.append(child)
            if layers.get(child, 0) > layers[number]:
                reward = node.rewards.get(action)
                edges.append(
                    PictureEdge(
                        source=f"state {number}",
                        target=f"state {child}",
                        weight=reward,
                        label=action if reward is None else f"{action} {reward:.2g}",
                    )
                )
    return edges


def _state(node: TreeNode, layer: int) -> PictureNode:
    labels = {"chance": "chance", "terminal": "end", "reply": node.mover, "own": node.mover}
    notes = [("state", str(node.number)), ("known", node.state)]
    notes += [(action, f"{value:.{_DIGITS}g}") for action, value in node.rewards.items()]
    return PictureNode(
        id=f"state {node.number}",
        label=labels[node.of],
        layer=layer,
        shape="dot",
        value=max(node.rewards.values(), default=node.payoff),
        notes=tuple((name, value) for name, value in notes if value),
    )
