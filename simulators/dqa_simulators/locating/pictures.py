"""The picture of a Locating question: the flows around the home, each node by what it leads to."""

from __future__ import annotations

import numpy as np

from dqa.core.pictures import Picture, PictureEdge, PictureNode
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa_simulators.distances import place_of
from dqa_simulators.locating.questions import steps_to_home

_DEEPEST = 4
"""Routes from the home beyond which nodes are drawn only where somebody chose them."""

_MOST = 26
"""Nodes that a reader can still tell apart."""


def picture(
    situation: Situation,
    question: Question,
    outcomes: Outcomes,
    chosen: tuple[Candidate, ...] = (),
) -> Picture | None:
    """Draw the nodes from which value reaches the home, in columns by their distance.

    The best and the chosen nodes are always there; of the others those that lead to most.
    """
    nodes = situation["trade_node"]
    names = nodes["trade_node"].tolist()
    home = place_of(question.target["home"], nodes["trade_node"], "trade node")
    steps = np.insert(steps_to_home(situation, question), home, 0.0)
    value = dict(zip(outcomes.candidates, outcomes.values.tolist(), strict=True))
    told = {*outcomes.ties[:3], *chosen}
    near = [
        place
        for place, name in enumerate(names)
        if place != home
        and np.isfinite(steps[place])
        and (steps[place] <= _DEEPEST or name in told)
    ]
    near.sort(key=lambda p: (names[p] not in told, -value.get(names[p], -np.inf), steps[p]))
    shown = [home, *near[: _MOST - 1]]
    shown += [p for p, name in enumerate(names) if name in told and p not in shown and p != home]
    farthest = max((int(steps[p]) for p in shown if np.isfinite(steps[p])), default=0)
    # What no route leads from stands at the far left, as nothing of it arrives.
    layer = {p: farthest - int(steps[p]) if np.isfinite(steps[p]) else 0 for p in shown}
    return Picture(
        title=f"Where value flows to {names[home]}",
        caption=(
            "Value flows from left to right, and wider routes carry more of it; a larger circle is "
            f"a node where a merchant brings {question.target.get('country', 'the country')} more."
        ),
        nodes=tuple(
            PictureNode(
                id=names[place],
                label=names[place],
                layer=layer[place],
                shape="box" if place == home else "circle",
                focus=place == home,
                candidate=None if place == home else names[place],
                value=value.get(names[place]),
                notes=(
                    ("local value", f"{nodes['local_value'][place]:.4g}"),
                    ("ingoing", f"{nodes['ingoing'][place]:.4g}"),
                    ("total power", f"{nodes['total_power'][place]:.4g}"),
                    ("inland", "yes" if nodes["is_inland"][place] else "no"),
                ),
            )
            for place in shown
        ),
        edges=tuple(_flows(situation, {names[place] for place in shown})),
        left_out=len(near) + 1 - sum(place in {home, *near} for place in shown),
    )


def _flows(situation: Situation, shown: set[str]) -> list[PictureEdge]:
    flow = situation["flow"]
    ends = zip(flow["source"].tolist(), flow["dest"].tolist(), flow["flow"].tolist(), strict=True)
    return [
        PictureEdge(source=source, target=dest, weight=max(0.0, amount), label=f"{amount:.4g}")
        for source, dest, amount in ends
        if source in shown and dest in shown
    ]
