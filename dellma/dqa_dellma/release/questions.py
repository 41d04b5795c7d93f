"""Questions of the DeLLMa release: 120 about fruit, 120 about stocks (sections 4.1 and 4.2).

What a decider may know becomes the database; what happened afterwards is in no table and only in
`Truth.outcomes`. Of the day on which stocks are bought that is the opening price, as the paper's
prompts show it (appendix D).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import combinations

from dqa import plugins
from dqa.core.errors import DataError
from dqa.core.situation import Cell, Schema, Situation, Table
from dqa.core.truth import LabelledQuestion
from dqa.scenarios.base import LIST_SEPARATOR
from dqa_dellma.release.quantities import Statistic
from dqa_dellma.release.tables import Agriculture, Day, Stocks

FRUITS = ("apple", "avocado", "grape", "grapefruit", "lemon", "peach", "pear")
"""What the instances of agriculture choose from: told of in the report and by both years."""
SYMBOLS = ("AMD", "DIS", "GME", "GOOGL", "META", "NVDA", "SPY")
"""What the instances of stocks choose from."""
KNOWN_YEAR, ASKED_YEAR = 2021, 2022
"""The season whose figures a farmer knows, and the one whose revenue is the truth."""
BOUGHT, SOLD = date(2023, 12, 1), date(2023, 12, 29)
"""A stock is bought at the opening of the one day and sold at the close of the other."""

_REPORT = "Fruit and tree nuts outlook, September 2021"
_SINCE = date(2021, 12, 1)
"""The first of the months whose prices are known."""
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


def list_choices(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield every choice of two or more of `names`: of seven names 120, small ones first."""
    for size in range(2, len(names) + 1):
        yield from combinations(names, size)


# --- agriculture ----------------------------------------------------------------------------


def make_agriculture_questions(data: Agriculture) -> tuple[tuple[LabelledQuestion, ...], Situation]:
    """Return the questions about fruit and the situation of autumn 2021 they are asked about.

    Raises
    ------
    DataError
        A fruit is not in the report, or a year's statistics lack it or cannot be multiplied.
    """
    for fruit in FRUITS:
        if fruit not in data.reports:
            raise DataError(f"The report tells nothing of '{fruit}', which is asked about.")
        _statistic(data, fruit, KNOWN_YEAR)
    truth = {fruit: _statistic(data, fruit, ASKED_YEAR).revenue for fruit in FRUITS}
    situation = _autumn(data)
    target = {"year": str(ASKED_YEAR)}
    return _questions(situation, "crops", truth, target), situation


def _statistic(data: Agriculture, fruit: str, year: int) -> Statistic:
    try:
        return data.statistics[year][fruit]
    except KeyError:
        raise DataError(
            f"The statistics of {year} (CA-{year}.csv) lack '{fruit}', which is asked about."
        ) from None


def _autumn(data: Agriculture) -> Situation:
    known = data.statistics[KNOWN_YEAR]
    rows: dict[str, list[tuple[Cell, ...]]] = {
        "report": [(_REPORT, data.summary)],
        "crop": [(crop,) for crop in sorted({*known, *data.reports})],
        "season": [(KNOWN_YEAR,)],
        "outlook": [(_REPORT, crop, told.summary) for crop, told in data.reports.items()],
        "harvest": [_harvest(statistic) for statistic in known.values()],
    }
    return _situation("agriculture", f"autumn-{KNOWN_YEAR}", rows)


def _harvest(known: Statistic) -> tuple[Cell, ...]:
    amount, price = known.crop_yield, known.price
    return known.crop, KNOWN_YEAR, amount.value, amount.unit, price.value, price.unit


# --- stocks ---------------------------------------------------------------------------------


def make_stocks_questions(data: Stocks) -> tuple[tuple[LabelledQuestion, ...], Situation]:
    """Return the questions about stocks and the situation at the opening of 1 December 2023.

    Raises
    ------
    DataError
        A stock has no prices of the day of the purchase, of the day of the sale, or of one of the
        24 months before.
    """
    gains = data.gains(BOUGHT, SOLD)
    for symbol in SYMBOLS:
        if symbol not in gains:
            raise _untold(data, symbol)
    truth = {symbol: gains[symbol] for symbol in SYMBOLS}
    history = {
        symbol: [day for day in days if _SINCE <= day.day < BOUGHT]
        for symbol, days in data.days.items()
    }
    for symbol in SYMBOLS:
        _refuse_gaps(symbol, history[symbol])
    rows: dict[str, list[tuple[Cell, ...]]] = {
        "market": [_MARKET],
        "stock": [
            (symbol, _NAMES.get(symbol, symbol), data.opening_price(symbol, BOUGHT))
            for symbol, days in history.items()
            if days
        ],
        "trading_day": [
            (day.isoformat(),) for day in sorted({d.day for days in history.values() for d in days})
        ],
        "quote": [_quote(symbol, day) for symbol, days in history.items() for day in days],
    }
    situation = _situation("stocks", "november-2023", rows)
    target = {"since": str(_SINCE), "buy": str(BOUGHT), "sell": str(SOLD)}
    return _questions(situation, "symbols", truth, target), situation


def _untold(data: Stocks, symbol: str) -> DataError:
    """Return what to say of a stock whose gain is not known."""
    priced = {day.day for day in data.days.get(symbol, ()) if day.opened > 0.0}
    missing = [str(day) for day in (BOUGHT, SOLD) if day not in priced]
    return DataError(
        f"There are no prices of '{symbol}' on {' and '.join(missing)}, which its questions are "
        "about."
    )


def _refuse_gaps(symbol: str, history: Sequence[Day]) -> None:
    there = {(day.day.year, day.day.month) for day in history}
    year, month = _SINCE.year, _SINCE.month
    while (year, month) < (BOUGHT.year, BOUGHT.month):
        if (year, month) not in there:
            raise DataError(f"There are no prices of '{symbol}' in {year}-{month:02}.")
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)


def _quote(symbol: str, day: Day) -> tuple[Cell, ...]:
    return symbol, day.day.isoformat(), day.opened, day.high, day.low, day.closed, day.volume


# --- both -----------------------------------------------------------------------------------


def _situation(scenario: str, name: str, rows: Mapping[str, list[tuple[Cell, ...]]]) -> Situation:
    schema: Schema = plugins.scenario(scenario).schema
    tables = {table.name: Table.from_rows(table, rows[table.name]) for table in schema.tables}
    return Situation(schema, name, tables)


def _questions(
    situation: Situation, key: str, truth: Mapping[str, float], target: Mapping[str, str]
) -> tuple[LabelledQuestion, ...]:
    """Ask about every choice; the text lists it under the target's `key`."""
    scenario = plugins.scenario(situation.schema.scenario)
    return tuple(
        scenario.recorded(
            situation,
            "-".join(choice).lower(),
            {key: LIST_SEPARATOR.join(choice), **target},
            truth,
        )
        for choice in list_choices(tuple(truth))
    )
