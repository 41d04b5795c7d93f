"""Where two countries stand while they place merchants in turn (``schemas/placements/rules.md``).

Every profit is the Locating scenario's, by its rule set ``paper``: a placement changes what this
counts from, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from dqa.core.errors import SituationError, UsageError
from dqa.core.question import Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation, Table
from dqa_simulators.locating.outcomes import SIMULATOR as LOCATING

_RULES = "paper"


class Side(NamedTuple):
    """A country that places merchants: its name, its home, and how many it has left."""

    country: str
    home: str
    left: int


@dataclass(frozen=True)
class Standing:
    """Two sides, the first of which placed or places first, and the map with what they placed.

    Attributes
    ----------
    situation
        Of the scenario. Its has_merchant and its placements are true to the standing; its computed
        columns need not be (`calculated`).
    sides
        The two countries.
    turn
        The side whose turn it is, as an index, unless it has no merchant left.
    """

    situation: Situation
    sides: tuple[Side, Side]
    turn: int = 0

    @property
    def mover(self) -> int | None:
        """Who places next: who has none left is passed over; None where nobody has any."""
        for side in (self.turn, 1 - self.turn):
            if self.sides[side].left > 0:
                return side
        return None

    @cached_property
    def nodes(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """By side, where it can place: the nodes where it trades but its home, in table order."""
        rows = self.situation["node_country"]

        def places(side: Side) -> tuple[str, ...]:
            own = rows["trade_node"][rows["country_name"] == side.country]
            return tuple(node for node in own.tolist() if node != side.home)

        return places(self.sides[0]), places(self.sides[1])

    def profits(self, side: int) -> Outcomes:
        """Return a side's profit after each of its placements, without what comes later.

        Raises
        ------
        SituationError
            It cannot place anywhere.
        """
        if side not in self._counted:
            asked = self.sides[side]
            if not self.nodes[side]:
                raise SituationError(f"'{asked.country}' trades nowhere but at its home.")
            target = {"country": asked.country, "home": asked.home}
            question = Question("locating", "", "", "", "", target, self.nodes[side])
            (self._counted[side],) = LOCATING.outcomes(self.situation, [question], _RULES)
        return self._counted[side]

    @cached_property
    def _counted(self) -> dict[int, Outcomes]:
        return {}

    def profit(self, side: int) -> float:
        """Return a side's profit as things are."""
        baseline = self.profits(side).baseline
        if baseline is None:
            raise SituationError("The Locating scenario tells no profit without a placement.")
        return baseline

    def earned(self, side: int) -> float:
        """Return a side's profit as `calculated` has it (rule 5), wherever it trades."""
        asked, nodes = self.sides[side], self.calculated["trade_node"]
        rows = self.calculated["node_country"]
        is_own = (rows["country_name"] == asked.country) & (rows["trade_node"] == asked.home)
        power = float(rows["calculated_trading_power"][is_own].sum())
        home = nodes["trade_node"] == asked.home
        value = float((nodes["local_value"] + nodes["ingoing"])[home].sum())
        total = float(nodes["total_power"][home].sum())
        return value * power / total if total else 0.0

    def placed(self, node: str) -> Self:
        """Return the standing after the mover has placed a merchant.

        Raises
        ------
        UsageError
            Nobody has a merchant left, or it cannot be placed there.
        """
        mover = self.mover
        if mover is None:
            raise UsageError("Both countries have placed all of their merchants.")
        side = self.sides[mover]
        if node not in self.nodes[mover]:
            raise UsageError(
                f"'{side.country}' cannot place a merchant at '{node}': it places where it trades, "
                f"and not at its home: {', '.join(self.nodes[mover])}."
            )
        return replace(self._passed(mover), situation=self._with_merchant(side.country, node))

    def passed(self) -> Self:
        """Return the standing after the mover has given up its next merchant."""
        mover = self.mover
        return self if mover is None else self._passed(mover)

    def greedy(self) -> str:
        """Return where the mover's own profit right after its placement is largest (rule 12)."""
        return min(map(str, self.profits(self.mover or 0).ties))

    def best(self, side: int) -> float:
        """Return a side's profit in the end: it places as well as can be, the other by rule 12.

        With n nodes and m merchants left it looks at up to n ** (m - 1) standings.
        """
        standing = self
        while standing.mover is not None and standing.mover != side:
            standing = standing.placed(standing.greedy())
        if standing.mover is None:
            return standing.profit(side)
        if sum(one.left for one in standing.sides) == 1:
            return standing.profits(side).best
        return max(standing.placed(node).best(side) for node in standing.nodes[side])

    @cached_property
    def calculated(self) -> Situation:
        """The situation with its computed columns as the rules give them (rule 10)."""
        nothing = Question("locating", "", "", "")
        return LOCATING.simulate(self.situation, nothing, None, _RULES)

    def _passed(self, mover: int) -> Self:
        side = self.sides[mover]
        sides = list(self.sides)
        sides[mover] = side._replace(left=side.left - 1)
        return replace(self, sides=(sides[0], sides[1]), turn=1 - mover)

    def _with_merchant(self, country: str, node: str) -> Situation:
        rows, placements = self.situation["node_country"], self.situation["placement"]
        merchant = np.array(rows["has_merchant"])
        merchant[(rows["country_name"] == country) & (rows["trade_node"] == node)] = True
        written = [
            *placements.rows(),
            (int(placements["number"].max(initial=0)) + 1, country, node),
        ]
        return self.situation.replace(
            node_country=rows.replace(has_merchant=merchant),
            placement=Table.from_rows(placements.schema, written),
        )
