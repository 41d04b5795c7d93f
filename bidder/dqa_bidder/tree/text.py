"""An explored tree as lines of text: every state once, with rewards and where actions lead."""

from __future__ import annotations

from collections.abc import Iterator

from dqa_bidder.events import ExploredTreeEvent, TreeNode

_STEP = "  "


def tree_lines(tree: ExploredTreeEvent) -> Iterator[str]:
    """Yield a line for each state and action; a state that comes again is named by its number."""
    shown: set[int] = set()
    yield from _node_lines(tree, 0, "", shown)


def _node_lines(
    tree: ExploredTreeEvent, number: int, indent: str, shown: set[int]
) -> Iterator[str]:
    node = tree.nodes[number]
    if number in shown:
        yield f"{indent}{node_title(node)}, as above"
        return
    shown.add(number)
    yield f"{indent}{node_title(node)}"
    for action in dict.fromkeys([*node.rewards, *node.children]):
        yield f"{indent}{_STEP}{_action(node, action)}"
        if action in node.children:
            yield from _node_lines(tree, node.children[action], indent + 2 * _STEP, shown)


def node_title(node: TreeNode) -> str:
    """Return what a state is called: its number, and who acts there."""
    named = f"state {node.number}: "
    if node.of == "own":
        unknown = "" if node.rewards else ", nothing known"
        return f"{named}{node.mover} decides{unknown}"
    if node.of == "reply":
        return f"{named}{node.mover} replies{'' if node.children else ', nothing known'}"
    if node.of == "chance":
        return f"{named}something new by chance"
    payoff = "hidden things decide" if node.payoff is None else f"payoff {node.payoff:.4g}"
    return f"{named}the end, {payoff}"


def _action(node: TreeNode, action: str) -> str:
    if action not in node.rewards:
        return f"{action}{' (expected)' if node.of == 'reply' else ''}"
    certain = ", by the rules" if action in node.certain else ""
    return f"{action}: {node.rewards[action]:.4g}{certain}"
