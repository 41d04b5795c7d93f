"""What the LDM2 paper printed: its Tables 1 and 2.

Wang et al., 2023, section 5. Figures stand as printed, in percent there and as shares here; methods
have the names of the deciders that stand for them here, where one does.
"""

from __future__ import annotations

from dqa.evaluation.papers import Place, Publication, PublishedRow, PublishedTable

STANDARD, REACT, REFLEXION = "standard", "react", "reflexion-trials"
INITIAL, REFINED = "ldm2", "ldm2-refined"

_TASKS = ("pick", "clean", "heat", "cool", "look", "pick2")
"""Kinds of household tasks in the order of Table 2, as the world calls them."""


_SHOP: tuple[Place, ...] = (("", "score"), ("", "success"))
_HOUSEHOLD: tuple[Place, ...] = tuple((task, "success") for task in (*_TASKS, ""))


def _row(places: tuple[Place, ...], name: str, player: str, *percents: float) -> PublishedRow:
    return PublishedRow.of(name, player, places, [round(p / 100.0, 6) for p in percents])


_TABLE_1 = PublishedTable(
    name="Table 1",
    title="WebShop: average score, and share of instructions fulfilled in every part",
    world="shop",
    measure="episodes",
    note="500 test instructions; Reflexion has 4 trials. The figures of WebShop, a fine-tuned "
    "model, are another paper's. A catalogue other than WebShop's has other instructions.",
    rows=(
        _row(_SHOP, "Standard", STANDARD, 62.7, 29.6),
        _row(_SHOP, "WebShop (imitation)", "", 62.4, 28.7),
        _row(_SHOP, "ReAct", REACT, 67.1, 39.6),
        _row(_SHOP, "Reflexion", REFLEXION, 68.4, 40.2),
        _row(_SHOP, "LDM2, initial memory", INITIAL, 71.8, 40.8),
        _row(_SHOP, "LDM2, refined memory", REFINED, 72.4, 41.6),
        _row(_SHOP, "Human expert", "", 82.1, 59.6),
    ),
)
_TABLE_2 = PublishedTable(
    name="Table 2",
    title="ALFWorld: success by kind of task, and of all",
    world="household",
    measure="episodes",
    note="134 test games; Reflexion has 5 trials. BUTLER's figures are another paper's, and its "
    "last column is not the mean of the others. Generated games are other ones than ALFWorld's.",
    rows=(
        _row(_HOUSEHOLD, "Standard", STANDARD, 88, 55, 70, 67, 72, 41, 66),
        _row(_HOUSEHOLD, "BUTLER (g)", "", 33, 26, 70, 76, 17, 12, 22),
        _row(_HOUSEHOLD, "BUTLER", "", 46, 39, 74, 100, 22, 24, 37),
        _row(_HOUSEHOLD, "ReAct", REACT, 63, 48, 74, 71, 67, 35, 60),
        _row(_HOUSEHOLD, "ReAct (best of 6)", "", 92, 65, 96, 86, 78, 47, 78),
        _row(_HOUSEHOLD, "Reflexion", REFLEXION, 88, 81, 83, 90, 83, 88, 85),
        _row(_HOUSEHOLD, "LDM2, initial memory", INITIAL, 88, 81, 87, 90, 83, 71, 84),
        _row(_HOUSEHOLD, "LDM2, refined memory", REFINED, 96, 87, 91, 90, 89, 76, 89),
    ),
)

PAPER = Publication(
    name="ldm2",
    citation="Wang et al., 2023, on a large decision model with dynamic memory (LDM2).",
    setting="gpt-3.5-turbo of 2023; memories of 500 human shopping trajectories, and of 200 expert "
    "trajectories for each kind of household task.",
    tables=(_TABLE_1, _TABLE_2),
)
"""What the paper printed."""
