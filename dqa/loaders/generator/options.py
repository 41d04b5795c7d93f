"""What may be asked of the generator: sizes of worlds, difficulty of questions."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dqa.core.errors import UsageError

__all__ = ["BuildingSize", "Difficulty", "LocatingSize", "Size"]


def _demand(holds: bool, problem: str) -> None:
    if not holds:
        raise UsageError(problem)


@dataclass(frozen=True, slots=True)
class LocatingSize:
    """Rows of a Locating world; by default the means of PlanRAG, Table 3 (2,039 rows).

    Attributes
    ----------
    nodes, edges, countries, node_countries
        Rows of `trade_node`, `flow`, `country` and `node_country`.

    Raises
    ------
    UsageError
        No world has these numbers; the message says which bound is broken.
    """

    nodes: int = 80
    edges: int = 159
    countries: int = 527
    node_countries: int = 1273

    scenario = "locating"

    def __post_init__(self) -> None:
        _demand(self.nodes >= 3, f"A Locating world needs at least 3 nodes, not {self.nodes}.")
        inner = self.nodes - self.end_nodes
        most = inner * (inner - 1) // 2 + inner * self.end_nodes
        _demand(
            inner <= self.edges <= most,
            f"A trade graph of {self.nodes} nodes, {self.end_nodes} of them end nodes, has "
            f"between {inner} and {most} edges, not {self.edges}.",
        )
        _demand(
            self.countries >= 1,
            f"A Locating world needs at least 1 country, not {self.countries}.",
        )
        most = self.countries * self.nodes
        _demand(
            self.countries <= self.node_countries <= most,
            f"{self.countries} countries at {self.nodes} nodes have between {self.countries} (each "
            f"at its home) and {most} node_countries, not {self.node_countries}.",
        )

    @property
    def end_nodes(self) -> int:
        """Nodes that no route leaves."""
        return max(1, self.nodes // 26)

    def scaled(self, factor: float) -> LocatingSize:
        """Return the size with the countries scaled; the map stays as it is."""
        countries = max(1, round(self.countries * factor))
        rows = round(self.node_countries * factor)
        rows = min(max(rows, countries), countries * self.nodes)
        return LocatingSize(self.nodes, self.edges, countries, rows)


@dataclass(frozen=True, slots=True)
class BuildingSize:
    """Rows of a Building world; by default the means of PlanRAG, Table 3 (579 rows).

    Attributes
    ----------
    goods, buildings, demands, supplies
        Rows of the four tables.

    Raises
    ------
    UsageError
        No world has these numbers; the message says which bound is broken.
    """

    goods: int = 52
    buildings: int = 152
    demands: int = 121
    supplies: int = 254

    scenario = "building"

    def __post_init__(self) -> None:
        _demand(self.goods >= 2, f"A Building world needs at least 2 goods, not {self.goods}.")
        _demand(
            self.buildings >= 2,
            f"A Building world needs at least 2 buildings, not {self.buildings}.",
        )
        _demand(
            self.demands >= 1 and self.supplies >= 1,
            "A Building world needs at least 1 demand and 1 supply, "
            f"not {self.demands} and {self.supplies}.",
        )
        most = self.goods * self.buildings
        rows = self.demands + self.supplies
        _demand(
            rows <= most,
            f"{self.buildings} buildings and {self.goods} goods have at most {most} demands and "
            f"supplies together (no building needs what it makes), not {rows}.",
        )

    def scaled(self, factor: float) -> BuildingSize:
        """Return the size with the buildings scaled; the goods stay as they are."""
        buildings = max(4, round(self.buildings * factor))
        demands = max(2, round(self.demands * factor))
        supplies = max(4, round(self.supplies * factor))
        return BuildingSize(self.goods, buildings, demands, supplies)


Size = LocatingSize | BuildingSize


@dataclass(frozen=True, slots=True)
class Difficulty:
    """What makes questions harder, whatever the scenario.

    Attributes
    ----------
    hops
        The answer lies at least this many steps away: routes from the chosen node down to the
        home; from the chosen building to the goods, where a building that makes them is 1 step
        away, one that makes what such a building needs is 2, and so on.
    min_margin, max_margin
        Bounds of what the runner-up gives away, as a share of what the answer gains over doing
        nothing (`Outcomes.relative_regret`). A small margin takes an exact calculation.
    rivals
        At least as many candidates, the answer among them, are better than doing nothing.
    distractors
        Nodes with countries, or goods with buildings, that are added to every world and are
        connected with nothing that matters.

    Raises
    ------
    UsageError
        A bound is out of range.
    """

    hops: int = 1
    min_margin: float = 0.0
    max_margin: float = math.inf
    rivals: int = 2
    distractors: int = 0

    def __post_init__(self) -> None:
        _demand(1 <= self.hops <= 20, f"hops must be from 1 to 20, not {self.hops}.")
        _demand(
            0.0 <= self.min_margin < self.max_margin,
            f"Margins must satisfy 0 <= min_margin < max_margin, not {self.min_margin} and "
            f"{self.max_margin}.",
        )
        _demand(self.rivals >= 1, f"rivals must be at least 1, not {self.rivals}.")
        _demand(
            self.distractors >= 0, f"distractors must not be negative, but is {self.distractors}."
        )
