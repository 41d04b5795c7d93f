"""A script of the Placements world: what a merchant could send home from where it stands.

It looks at one placement, as `PlacementsPosition.describe` tells of its node: the value that is
there, and the share of it that the country's power with a merchant would move. It follows no
route, so it errs as a hurried analyst would.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dqa.core.question import Candidate
from dqa.worlds.scripted import Shown
from dqa_simulators.locating.world import ADDED, INLAND, MERCHANT

_NODE = re.compile(
    r"^(?P<name>.+): local_value (?P<local>\S+), ingoing (?P<ingoing>\S+), "
    r"total_power (?P<total>\S+), (?P<lies>inland|coastal); "
    r"you (?P<own>\S+)(?P<own_merchant> with a merchant)?, "
    r"the other (?P<other>\S+)(?P<other_merchant> with a merchant)?$",
    re.MULTILINE,
)


class PlacementsScript:
    """Plays the Placements world for scripted models; see `dqa.worlds.scripted.WorldScript`."""

    def infer(self, shown: Shown, player: str, name: str, states: tuple[str, ...]) -> str:
        """Return the first: who places merchants wants profit."""
        del shown, player, name
        return states[0]

    def expect(self, shown: Shown) -> Candidate:
        """Return where the other country's merchant moves most, of equals the first by name."""
        moved = _moved(shown, "other")
        return min(shown.actions, key=lambda node: (-moved.get(node, 0.0), node))

    def estimate(self, shown: Shown) -> Mapping[str, float]:
        """Return what a merchant of the viewer moves from each node, as a share of the most."""
        moved = _moved(shown, "own")
        most = shown.scale[1] if shown.scale else max(moved.values(), default=1.0)
        return {
            node: min(max(moved.get(node, 0.0) / (most or 1.0), 0.0), 1.0) for node in shown.actions
        }


SCRIPT = PlacementsScript()
"""The script, for the entry point."""


def _moved(shown: Shown, side: str) -> dict[str, float]:
    """Return by node the value that a side's merchant moves there; 0 where it has one already."""
    found = {}
    for node in _NODE.finditer(shown.state):
        if node[side] == "-" or node[f"{side}_merchant"]:
            found[node["name"]] = 0.0
            continue
        base, total = float(node[side]), float(node["total"])
        power = MERCHANT * (base + ADDED + (INLAND if node["lies"] == "inland" else 0.0))
        value = float(node["local"]) + float(node["ingoing"])
        found[node["name"]] = value * power / (total - base + power)
    return found
