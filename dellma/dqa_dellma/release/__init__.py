"""The reader of the DeLLMa release: its tables, as questions with what came true."""

from dqa_dellma.release.quantities import Quantity, Statistic
from dqa_dellma.release.questions import (
    ASKED_YEAR,
    BOUGHT,
    FRUITS,
    KNOWN_YEAR,
    SOLD,
    SYMBOLS,
    agriculture_questions,
    stocks_questions,
)
from dqa_dellma.release.reader import READER, DellmaReleaseReader
from dqa_dellma.release.tables import (
    Agriculture,
    CropReport,
    Day,
    Stocks,
    read_agriculture,
    read_statistics,
    read_stocks,
)

__all__ = [
    "ASKED_YEAR",
    "BOUGHT",
    "FRUITS",
    "KNOWN_YEAR",
    "READER",
    "SOLD",
    "SYMBOLS",
    "Agriculture",
    "CropReport",
    "Day",
    "DellmaReleaseReader",
    "Quantity",
    "Statistic",
    "Stocks",
    "agriculture_questions",
    "read_agriculture",
    "read_statistics",
    "read_stocks",
    "stocks_questions",
]
