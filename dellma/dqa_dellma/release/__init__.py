"""The reader of the DeLLMa release: its tables, beliefs, prompts and recorded answers."""

from dqa_dellma.release.beliefs import read_beliefs
from dqa_dellma.release.quantities import Quantity, Statistic
from dqa_dellma.release.recordings import (
    Instance,
    Recording,
    Run,
    ShownPair,
    find_runs,
    read_pairs,
)
from dqa_dellma.release.tables import (
    Agriculture,
    CropReport,
    Day,
    Stocks,
    read_agriculture,
    read_stocks,
)
from dqa_dellma.release.truth import (
    ASKED_YEAR,
    BOUGHT,
    FRUITS,
    KNOWN_YEAR,
    SOLD,
    SYMBOLS,
    read_utilities,
)

__all__ = [
    "ASKED_YEAR",
    "BOUGHT",
    "FRUITS",
    "KNOWN_YEAR",
    "SOLD",
    "SYMBOLS",
    "Agriculture",
    "CropReport",
    "Day",
    "Instance",
    "Quantity",
    "Recording",
    "Run",
    "ShownPair",
    "Statistic",
    "Stocks",
    "find_runs",
    "read_agriculture",
    "read_beliefs",
    "read_pairs",
    "read_stocks",
    "read_utilities",
]
