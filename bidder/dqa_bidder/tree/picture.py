"""The picture of a BIDDER decision: its actions with their returns, and the states behind them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dqa.core.events import Event
from dqa.core.pictures import Picture, PictureEdge, PictureNode
from dqa.evaluation.traces import Trace
from dqa_bidder.events import ActionReturn, ExploredTreeEvent, ReturnsEvent, TreeNode
from dqa_bidder.tree.text import node_title

_MOST = 60
"""States that are drawn."""
_DIGITS = 4


def picture(trace: Trace) -> Picture | None:
    """Return the explored tree of a trace with its returns; None where it tells of none."""
    return draw_tree(trace.events)


def draw_tree(events: Iterable[Event]) -> Picture | None:
    """Return the explored tree that events tell of, with its returns; None without one."""
    told = list(events)
    trees = [event for event in told if isinstance(event, ExploredTreeEvent)]
    found = [event for event in told if isinstance(event, ReturnsEvent)]
    if not trees or not found:
        return None
    drawing = _Drawing(trees[-1])
    for number, one in enumerate(found[-1].returns):
        drawing.add_action(number, one)
    drawing.add_states()
    return Picture(
        title="What was looked ahead at",
        caption=(
            "Actions with their return (a larger circle is a larger one), then the states that "
            "they may lead to. Edges name actions, with their reward from 0 to 1; those of other "
            "players are the expected ones."
        ),
        nodes=tuple(drawing.nodes),
        edges=tuple(drawing.edges),
        left_out=drawing.left_out,
    )


@dataclass(slots=True)
class _Drawing:
    """Nodes and edges so far."""

    tree: ExploredTreeEvent
    nodes: list[PictureNode] = field(default_factory=list)
    edges: list[PictureEdge] = field(default_factory=list)
    layers: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        label = self.tree.nodes[0].mover or "decision"
        self.nodes.append(PictureNode(id="0", label=label, layer=0, shape="box", focus=True))

    @property
    def left_out(self) -> int:
        """How many states are not drawn."""
        return len(self.tree.nodes) - 1 - len(self.layers)

    def add_action(self, number: int, one: ActionReturn) -> None:
        """Draw an action of the root, and note the state that it leads to."""
        root, at = self.tree.nodes[0], f"action {number}"
        reward = root.rewards.get(str(one.action))
        notes = [("return", "not known" if one.value is None else f"{one.value:.{_DIGITS}g}")]
        if reward is not None:
            notes.append(("reward", f"{reward:.{_DIGITS}g}"))
        if one.path:
            notes.append(("best course", ", ".join(one.path)))
        self.nodes.append(
            PictureNode(
                id=at,
                label=str(one.action),
                layer=1,
                candidate=one.action,
                value=one.value,
                notes=tuple(notes),
            )
        )
        self.edges.append(PictureEdge(source="0", target=at, weight=reward))
        child = root.children.get(str(one.action))
        if child:
            self._meet(child, 2)
            self.edges.append(PictureEdge(source=at, target=f"state {child}"))

    def add_states(self) -> None:
        """Draw the states, layer by layer, and the edges between them."""
        numbers = list(self.layers)
        for number in numbers:  # grows while it is gone through
            node = self.tree.nodes[number]
            for action, child in node.children.items():
                if child and child not in self.layers and len(self.layers) < _MOST:
                    self._meet(child, self.layers[number] + 1)
                    numbers.append(child)
                if child in self.layers and self.layers[child] > self.layers[number]:
                    reward = node.rewards.get(action)
                    told = action if reward is None else f"{action} {reward:.2g}"
                    edge = PictureEdge(
                        source=f"state {number}",
                        target=f"state {child}",
                        weight=reward,
                        label=told,
                    )
                    self.edges.append(edge)
        self.nodes += [self._state(self.tree.nodes[number]) for number in self.layers]

    def _meet(self, number: int, layer: int) -> None:
        self.layers.setdefault(number, layer)

    def _state(self, node: TreeNode) -> PictureNode:
        best = max(node.rewards.values(), default=node.payoff)
        notes = [("state", node_title(node)), ("known", node.state)]
        notes += [(action, f"{value:.{_DIGITS}g}") for action, value in node.rewards.items()]
        labels = {"chance": "chance", "terminal": "end", "reply": node.mover, "own": node.mover}
        return PictureNode(
            id=f"state {node.number}",
            label=labels[node.of],
            layer=self.layers[node.number],
            shape="dot",
            value=best,
            notes=tuple((name, value) for name, value in notes if value),
        )
