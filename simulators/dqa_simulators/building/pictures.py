"""The picture of a Building question: the chain of goods and buildings behind what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from dqa.core.pictures import Picture, PictureEdge, PictureNode
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa_simulators.distances import place_of

_MAKERS, _INPUTS, _ROUNDS = 6, 5, 2
"""Makers of one kind of goods, inputs of a round, and rounds up the chain that are drawn."""


def picture(
    situation: Situation,
    question: Question,
    outcomes: Outcomes,
    chosen: tuple[Candidate, ...] = (),
) -> Picture | None:
    """Draw the goods, their makers, the makers' inputs and the makers of these.

    The best and the chosen buildings are always there; of the others those that help most.
    """
    chain = _Chain(situation, outcomes, {*outcomes.ties[:3], *chosen})
    goods = situation["goods"]
    asked = int(goods["code"][place_of(question.target["goods"], goods["goods_name"], "goods")])
    layers = chain.layers(asked)
    drawn = {id_: depth for depth, layer in enumerate(layers) for id_ in layer}
    deepest = max(drawn.values())
    nodes = []
    for (kind, key), depth in drawn.items():
        made = chain.goods_node if kind == "goods" else chain.building_node
        nodes.append(made(key, deepest - depth, asked))
    return Picture(
        title=f"What makes {question.target['goods']}",
        caption=(
            "Goods (boxes) and the buildings (circles) that make them from other goods, from left "
            "to right. A larger circle is a building whose expansion lowers the price more."
        ),
        nodes=tuple(nodes),
        edges=tuple(chain.edges(set(drawn))),
        left_out=chain.left_out,
    )


class _Chain:
    """A situation's goods and buildings as a graph, read upwards from what is asked."""

    def __init__(self, situation: Situation, outcomes: Outcomes, told: set[Candidate]) -> None:
        self._situation = situation
        self._value = dict(zip(outcomes.candidates, outcomes.values.tolist(), strict=True))
        self._told = told
        self._away = {one: abs(value - outcomes.best) for one, value in self._value.items()}
        self._supply = _pairs(situation, "supply", "max_supply")
        self._demand = _pairs(situation, "demand", "max_demand")
        self.left_out = 0

    def layers(self, asked: int) -> list[list[tuple[str, int]]]:
        """Return goods and buildings in turn, each layer what feeds the one before."""
        found: list[list[tuple[str, int]]] = [[("goods", asked)]]
        seen = {("goods", asked)}
        for _ in range(_ROUNDS):
            makers = self._makers([key for _, key in found[-1]], seen)
            inputs = self._inputs([key for _, key in makers], seen)
            found += [makers, inputs]
        rest = [("building", int(one)) for one in self._told if ("building", one) not in seen]
        # Told buildings outside of the chain change nothing, and stand at its far end.
        found[-1] += sorted(one for one in rest if one[1] in self._value)
        return [layer for layer in found if layer]

    def _makers(self, goods: Iterable[int], seen: set[tuple[str, int]]) -> list[tuple[str, int]]:
        kept: list[tuple[str, int]] = []
        for code in goods:
            makers = [b for (g, b) in self._supply if g == code and ("building", b) not in seen]
            makers.sort(key=lambda b: (b not in self._told, self._away.get(b, np.inf), b))
            most = max(_MAKERS, sum(b in self._told for b in makers))
            self.left_out += len(makers[most:])
            kept += [("building", b) for b in makers[:most]]
            seen |= set(kept)
        return kept

    def _inputs(self, makers: list[int], seen: set[tuple[str, int]]) -> list[tuple[str, int]]:
        needed: dict[int, float] = {}
        for (code, building), amount in self._demand.items():
            if building in makers and ("goods", code) not in seen:
                needed[code] = needed.get(code, 0.0) + amount
        by_need = sorted(needed, key=lambda code: (-needed[code], code))
        self.left_out += len(by_need[_INPUTS:])
        kept = [("goods", code) for code in by_need[:_INPUTS]]
        seen |= set(kept)
        return kept

    def goods_node(self, code: int, layer: int, asked: int) -> PictureNode:
        goods = self._situation["goods"]
        row = int(np.flatnonzero(goods["code"] == code)[0])
        return PictureNode(
            id=f"goods {code}",
            label=str(goods["goods_name"][row]),
            layer=layer,
            shape="box",
            focus=code == asked,
            notes=tuple(
                (column.replace("_", " "), f"{goods[column][row]:.4g}")
                for column in ("base_price", "current_price", "pop_demand")
            ),
        )

    def building_node(self, number: int, layer: int, _: int) -> PictureNode:
        building = self._situation["building"]
        row = int(np.flatnonzero(building["id"] == number)[0])
        return PictureNode(
            id=f"building {number}",
            label=str(number),
            layer=layer,
            candidate=number,
            value=self._value.get(number),
            notes=(
                ("kind", str(building["name"][row])),
                ("level", str(building["level"][row])),
            ),
        )

    def edges(self, drawn: set[tuple[str, int]]) -> Iterator[PictureEdge]:
        for links, outwards in ((self._supply, True), (self._demand, False)):
            for (code, number), amount in links.items():
                if {("goods", code), ("building", number)} <= drawn:
                    ends = (f"building {number}", f"goods {code}")
                    source, target = ends if outwards else ends[::-1]
                    yield PictureEdge(
                        source=source, target=target, weight=max(0.0, amount), label=f"{amount:.4g}"
                    )


def _pairs(situation: Situation, table: str, amount: str) -> dict[tuple[int, int], float]:
    rows = situation[table]
    return {
        (int(code), int(number)): float(value)
        for code, number, value in zip(
            rows["goods_id"].tolist(),
            rows["building_id"].tolist(),
            rows[amount].tolist(),
            strict=True,
        )
    }
