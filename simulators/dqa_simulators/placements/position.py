"""Where a country stands in the Placements world, for who looks ahead."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa.core.situation import Situation
from dqa.worlds.world import GameEvent, HiddenVariable, Node, Position
from dqa_simulators.distances import place_of, places_of
from dqa_simulators.games.betting import PLAYERS
from dqa_simulators.locating.world import ARRIVAL
from dqa_simulators.placements.standing import Standing

_AIMS = ("its own profit at once", "its own profit in the end", "our loss", "nothing in particular")


@dataclass(frozen=True)
class PlacementsPosition(Position):
    """A standing as one of its two countries knows it, which is all of it but the other's aim.

    Attributes
    ----------
    standing
        The first of its sides is ``"player"``, the second ``"opponent"``.
    is_aim_known
        Whether the rules tell what the other country goes by, so that nothing is hidden.
    """

    viewer: str
    standing: Standing
    is_aim_known: bool = False

    @property
    def node(self) -> Node:  # type: ignore[override]
        """Nothing is left to chance."""
        return "terminal" if self.standing.mover is None else "decision"

    @property
    def mover(self) -> str | None:  # type: ignore[override]
        """Who places next."""
        side = self.standing.mover
        return None if side is None else PLAYERS[side]

    @property
    def actions(self) -> tuple[Candidate, ...]:  # type: ignore[override]
        """The nodes where the mover trades, but its home."""
        side = self.standing.mover
        return () if side is None else self.standing.nodes[side]

    @cached_property
    def events(self) -> tuple[GameEvent, ...]:  # type: ignore[override]
        """The placements of both countries."""
        return events_of(self.standing)

    @property
    def hidden(self) -> tuple[HiddenVariable, ...]:  # type: ignore[override]
        """What the other country goes by."""
        if self.is_aim_known:
            return ()
        other = PLAYERS[1 - self._side]
        asked = "what the other country looks at when it places a merchant"
        return (HiddenVariable(other, "aim", asked, _AIMS),)

    @cached_property
    def key(self) -> Hashable:
        """Where merchants stand, how many are left, and whose turn it is."""
        rows = self.standing.situation["node_country"]
        return rows["has_merchant"].tobytes(), self.standing.sides, self.standing.mover

    def after(self, action: Candidate) -> PlacementsPosition:
        """Place the mover's next merchant."""
        if action not in self.actions:
            raise UsageError(f"'{action}' is no node where {self.mover} can place a merchant.")
        return replace(self, standing=self.standing.placed(str(action)))

    def describe(self) -> str:
        """Tell both countries, and what there is at each node where they trade."""
        own, other = self._side, 1 - self._side
        return "\n".join(
            [
                f"Your country: {self._country(own)}",
                f"The other country: {self._country(other)}",
                "Each node where you or the other trade, with base trading powers (- for none):",
                *self._node_lines(),
                "Routes from these nodes, with what flows along each:",
                *self._route_lines(),
            ]
        )

    def _country(self, index: int) -> str:
        side = self.standing.sides[index]
        return (
            f"{side.country}, home {side.home}, merchants left: {side.left}; its profit as things "
            f"stand: {self.standing.earned(index):.4g}."
        )

    def payoff(self) -> float | None:
        """Return the viewer's profit once all merchants are placed."""
        return None if self.standing.mover is not None else self.standing.profit(self._side)

    @cached_property
    def payoff_range(self) -> tuple[float, float]:
        """Nothing, and all that could ever reach the viewer's home."""
        return 0.0, _most(self.standing.situation, self.standing.sides[self._side].home)

    @property
    def fallback(self) -> Candidate:
        """The node that comes first in alphabetical order."""
        return min(map(str, self.actions))

    @property
    def _side(self) -> int:
        return PLAYERS.index(self.viewer)

    def _node_lines(self) -> list[str]:
        situation, sides = self.standing.calculated, self.standing.sides
        own, other = sides[self._side], sides[1 - self._side]
        rows, nodes = situation["node_country"], situation["trade_node"]
        columns = ("trade_node", "country_name", "base_trading_power", "has_merchant")
        powers = {
            (node, country): f"{base:g}{' with a merchant' if merchant else ''}"
            for node, country, base, merchant in zip(
                *(rows[column].tolist() for column in columns), strict=True
            )
        }
        told = ("trade_node", "local_value", "ingoing", "total_power", "is_inland")
        return [
            f"{name}: local_value {local:.4g}, ingoing {ingoing:.4g}, total_power {total:.4g}, "
            f"{'inland' if inland else 'coastal'}; you {powers.get((name, own.country), '-')}"
            f", the other {powers.get((name, other.country), '-')}"
            for name, local, ingoing, total, inland in zip(
                *(nodes[column].tolist() for column in told), strict=True
            )
            if (name, own.country) in powers or (name, other.country) in powers
        ]

    def _route_lines(self) -> list[str]:
        rows = self.standing.situation["node_country"]
        countries = {side.country for side in self.standing.sides}
        traded = zip(rows["trade_node"].tolist(), rows["country_name"].tolist(), strict=True)
        nodes = {node for node, country in traded if country in countries}
        flows = self.standing.calculated["flow"]
        routes = zip(
            *(flows[column].tolist() for column in ("source", "dest", "flow")), strict=True
        )
        return [
            f"{source} -> {dest}: {flow:.4g}" for source, dest, flow in routes if source in nodes
        ]


def events_of(standing: Standing) -> tuple[GameEvent, ...]:
    """Return the placements of both countries, in order."""
    by_country = {
        side.country: player for side, player in zip(standing.sides, PLAYERS, strict=True)
    }
    rows = standing.situation["placement"]
    placed = zip(rows["country_name"].tolist(), rows["trade_node"].tolist(), strict=True)
    own = [(country, node) for country, node in placed if country in by_country]
    return tuple(
        GameEvent(number, f"placement {number}", by_country[country], node, country)
        for number, (country, node) in enumerate(own, 1)
    )


def _most(situation: Situation, home: str) -> float:
    """Return the value at a home if all that arises upstream went there by the longest way."""
    nodes = situation["trade_node"]["trade_node"]
    source, dest = (places_of(situation["flow"][end], nodes) for end in ("source", "dest"))
    reaching = np.zeros(len(nodes))
    reaching[place_of(home, nodes, "trade node")] = 1.0
    for _ in range(len(nodes)):  # no way is longer
        grown = reaching.copy()
        np.maximum.at(grown, source, ARRIVAL * reaching[dest])
        if np.array_equal(grown, reaching):
            break
        reaching = grown
    return float(situation["trade_node"]["local_value"] @ reaching)
