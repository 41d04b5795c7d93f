"""Questions of the DeLLMa release: 120 about fruit, 120 about stocks (sections 4.1 and 4.2).

The database contains the facts that a decider may know. Later facts are only in `Truth.outcomes`.
For stocks, the opening price on the day of purchase is known, as in the paper's prompts
(appendix D).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from itertools import combinations
from pathlib import Path

from dqa import plugins
from dqa.core.errors import DataError
from dqa.core.situation import Cell, Schema, Situation, Table
from dqa.core.truth import LabelledQuestion
from dqa.scenarios.base import LIST_SEPARATOR
from dqa_dellma.release.tables import (
    Day,
    Statistic,
    gains,
    read_report,
    read_statistics,
    read_stocks,
)

FRUITS = ("apple", "avocado", "grape", "grapefruit", "lemon", "peach", "pear")
"""The fruits of the agriculture questions, as in the report and in the statistics of both years."""
SYMBOLS = ("AMD", "DIS", "GME", "GOOGL", "META", "NVDA", "SPY")
"""The stocks of the stocks questions."""
KNOWN_YEAR, ASKED_YEAR = 2021, 2022
"""The season whose figures a farmer knows, and the season whose revenue is the truth."""
BOUGHT, SOLD = date(2023, 12, 1), date(2023, 12, 29)
"""A stock is bought at the opening of the first day and sold at the close of the second day."""

_REPORT = "Fruit and tree nuts outlook, September 2021"
_SINCE = date(2021, 12, 1)
"""The first day whose prices are known."""
_MARKET = ("United States", "Stocks and funds that are traded at the exchanges in New York.")
_NAMES: Mapping[str, str] = {
    "AMD": "Advanced Micro Devices",
    "BILI": "Bilibili",
    "DIS": "Walt Disney",
    "GE": "General Electric",
    "GME": "GameStop",
    "GOOGL": "Alphabet, class A",
    "META": "Meta Platforms",
    "NVDA": "NVIDIA",
    "SPY": "SPDR S&P 500 ETF Trust, a fund that follows the S&P 500",
}


def make_agriculture_questions(folder: Path) -> tuple[tuple[LabelledQuestion, ...], Situation]:
    """Return the questions about fruit, and the situation of autumn 2021.

    Raises
    ------
    ParseError
        A file is missing or cannot be read.
    DataError
        A fruit is missing in the report or in the statistics, or its yield cannot be converted to
        the unit of its price.
    """
    report, known = read_report(folder), read_statistics(folder, KNOWN_YEAR)
    later = read_statistics(folder, ASKED_YEAR)
    for where, crops in (
        ("report", report.crops),
        (f"{KNOWN_YEAR} statistics", known),
        (f"{ASKED_YEAR} statistics", later),
    ):
        if missing := [fruit for fruit in FRUITS if fruit not in crops]:
            raise DataError(f"The questions need '{missing[0]}', which is not in the {where}.")
    truth = {fruit: later[fruit].revenue for fruit in FRUITS}
    rows: dict[str, list[tuple[Cell, ...]]] = {
        "report": [(_REPORT, report.summary)],
        "crop": [(crop,) for crop in sorted({*known, *report.crops})],
        "season": [(KNOWN_YEAR,)],
        "outlook": [(_REPORT, crop, summary) for crop, summary in report.crops.items()],
        "harvest": [_harvest(statistic) for statistic in known.values()],
    }
    situation = _situation("agriculture", f"autumn-{KNOWN_YEAR}", rows)
    return _questions(situation, "crops", truth, {"year": str(ASKED_YEAR)}), situation


def _harvest(known: Statistic) -> tuple[Cell, ...]:
    amount, price = known.crop_yield, known.price
    return known.crop, KNOWN_YEAR, amount.value, amount.unit, price.value, price.unit


def make_stocks_questions(folder: Path) -> tuple[tuple[LabelledQuestion, ...], Situation]:
    """Return the questions about stocks, and the situation at the opening of 1 December 2023.

    Raises
    ------
    ParseError
        A file is missing or cannot be read.
    DataError
        A stock has no price on the day of purchase or on the day of sale.
    """
    stocks = read_stocks(folder)
    gained = gains(stocks, BOUGHT, SOLD)
    if missing := [symbol for symbol in SYMBOLS if symbol not in gained]:
        raise DataError(f"The stock '{missing[0]}' has no price on {BOUGHT} or on {SOLD}.")
    history = {
        symbol: [day for day in days.values() if _SINCE <= day.day < BOUGHT]
        for symbol, days in stocks.items()
    }
    dates = sorted({day.day for days in history.values() for day in days})
    rows: dict[str, list[tuple[Cell, ...]]] = {
        "market": [_MARKET],
        "stock": [
            (symbol, _NAMES.get(symbol, symbol), stocks[symbol][BOUGHT].opened)
            for symbol, days in history.items()
            if days
        ],
        "trading_day": [(day.isoformat(),) for day in dates],
        "quote": [_quote(symbol, day) for symbol, days in history.items() for day in days],
    }
    situation = _situation("stocks", "november-2023", rows)
    target = {"since": str(_SINCE), "buy": str(BOUGHT), "sell": str(SOLD)}
    truth = {symbol: gained[symbol] for symbol in SYMBOLS}
    return _questions(situation, "symbols", truth, target), situation


def _quote(symbol: str, day: Day) -> tuple[Cell, ...]:
    return symbol, day.day.isoformat(), day.opened, day.high, day.low, day.closed, day.volume


def _situation(scenario: str, name: str, rows: Mapping[str, list[tuple[Cell, ...]]]) -> Situation:
    schema: Schema = plugins.scenario(scenario).schema
    tables = {table.name: Table.from_rows(table, rows[table.name]) for table in schema.tables}
    return Situation(schema, name, tables)


def _questions(
    situation: Situation, key: str, truth: Mapping[str, float], target: Mapping[str, str]
) -> tuple[LabelledQuestion, ...]:
    """Return a question for every set of two or more options.

    The target value `key` of a question lists the options of this question.
    """
    scenario = plugins.scenario(situation.schema.scenario)
    return tuple(
        scenario.recorded(
            situation, "-".join(choice).lower(), {key: LIST_SEPARATOR.join(choice), **target}, truth
        )
        for size in range(2, len(truth) + 1)
        for choice in combinations(truth, size)
    )
