"""The readers of the release's tables: crop statistics and daily stock prices.

A row that cannot be read is left out and reported as a `Defect`; a file that is missing, or that
holds nothing usable, is an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dqa.core.errors import DataError, ParseError
from dqa.core.question_set import Defect
from dqa_dellma.release.files import read_object, read_rows
from dqa_dellma.release.quantities import Quantity, Statistic, parse_quantity

_REPORT = Path("data/agriculture/reports/summary/fruit-sept-2021.json")
_STATISTICS = Path("data/agriculture/stats")
_PRICES = Path("data/stocks")
_STATISTICS_FILE = re.compile(r"CA-(?P<year>\d{4})\.csv", re.IGNORECASE)
_LEFT_OUT = "the row is left out"


@dataclass(frozen=True, slots=True)
class CropReport:
    """What the report says about a crop, with the year's statistics for California."""

    crop: str
    summary: str
    crop_yield: Quantity
    price: Quantity


@dataclass(frozen=True, slots=True)
class Agriculture:
    """The tables behind the agriculture questions (section 4.1).

    Attributes
    ----------
    summary
        The report's overview of the market.
    reports
        What it says by crop, in the file's order.
    factors
        What it says the market depends on.
    statistics
        Year to crop to yield and price in California. 2021 is what the farmer knows, 2022 what
        came true.
    defects
        What was wrong in the files.
    """

    summary: str
    reports: Mapping[str, CropReport]
    factors: tuple[str, ...]
    statistics: Mapping[int, Mapping[str, Statistic]]
    defects: tuple[Defect, ...] = ()


@dataclass(frozen=True, slots=True)
class Day:
    """A stock's day: prices in dollars a share, and the shares that were traded."""

    day: date
    opened: float
    high: float
    low: float
    closed: float
    volume: int


@dataclass(frozen=True, slots=True)
class Stocks:
    """The table behind the stocks questions (section 4.2).

    Attributes
    ----------
    days
        Symbol (upper case, sorted) to its days, earliest first.
    defects
        What was wrong in the files.
    """

    days: Mapping[str, tuple[Day, ...]]
    defects: tuple[Defect, ...] = ()

    def gains(self, bought: date, sold: date) -> dict[str, float]:
        """Return what a dollar gains from the opening of one day to the close of another.

        Symbols without a price on one of the days are left out.
        """
        opened = {name: day.opened for name, day in self._on(bought) if day.opened > 0.0}
        return {
            name: day.closed / opened[name] - 1.0 for name, day in self._on(sold) if name in opened
        }

    def opening_price(self, symbol: str, when: date) -> float | None:
        """Return the first price of a stock on a day; None where the data do not have it."""
        found = (day.opened for day in self.days[symbol] if day.day == when and day.opened > 0.0)
        return next(found, None)

    def _on(self, when: date) -> list[tuple[str, Day]]:
        return [(name, day) for name, days in self.days.items() for day in days if day.day == when]


def read_agriculture(folder: Path) -> Agriculture:
    """Read the report and the statistics of a release.

    Parameters
    ----------
    folder
        The release: the folder that holds ``data``.

    Raises
    ------
    ParseError
        A file is missing or cannot be read, or holds nothing usable.
    """
    defects: list[Defect] = []
    file = folder / _REPORT
    report = read_object(file, folder)
    summary, factors = report.get("summary"), report.get("factors", [])
    if not isinstance(summary, str) or not isinstance(factors, list):
        raise ParseError(file, None, "expected a text 'summary' and a list 'factors'")
    crops = {name: entry for name, entry in report.items() if name not in {"summary", "factors"}}
    reports = {name: _crop_report(name, entry, file, defects) for name, entry in crops.items()}
    known = {name: entry for name, entry in reports.items() if entry is not None}
    if not known:
        raise ParseError(file, None, "this report tells of no crop")
    statistics = {
        year: MappingProxyType(_statistics(path, folder, defects))
        for year, path in _statistics_files(folder / _STATISTICS)
    }
    return Agriculture(
        summary=summary,
        reports=MappingProxyType(known),
        factors=tuple(str(factor) for factor in factors),
        statistics=MappingProxyType(statistics),
        defects=tuple(defects),
    )


def read_statistics(folder: Path, year: int) -> tuple[Mapping[str, Statistic], tuple[Defect, ...]]:
    """Read the statistics of one year of a release by crop, and what was wrong in their file.

    Raises
    ------
    ParseError
        There is no such file, or nothing in it can be read.
    """
    statistics = folder / _STATISTICS
    file = dict(_statistics_files(statistics)).get(year)
    if file is None:
        raise ParseError(statistics, None, f"there is no CA-{year}.csv")
    defects: list[Defect] = []
    return MappingProxyType(_statistics(file, folder, defects)), tuple(defects)


def _crop_report(
    name: str,
    entry: Any,  # noqa: ANN401  (any JSON value)
    file: Path,
    defects: list[Defect],
) -> CropReport | None:
    texts = [entry.get(key) for key in ("summary", "yield", "price")] if _is_object(entry) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        problem = f"'{name}' has to have the texts 'summary', 'yield' and 'price'"
        defects.append(Defect(file, None, problem, "the crop is left out"))
        return None
    summary, crop_yield, price = texts
    try:
        return CropReport(name, summary, parse_quantity(crop_yield), parse_quantity(price))
    except DataError as error:
        defects.append(Defect(file, None, f"'{name}': {error}", "the crop is left out"))
        return None


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _statistics_files(folder: Path) -> list[tuple[int, Path]]:
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    found = [(match, path) for path in files if (match := _STATISTICS_FILE.fullmatch(path.name))]
    if not found:
        raise ParseError(folder, None, "there is no CA-YEAR.csv with the statistics of a year")
    return [(int(match["year"]), path) for match, path in found]


def _statistics(file: Path, folder: Path, defects: list[Defect]) -> dict[str, Statistic]:
    """Return a year's statistics by crop, in the file's order."""
    statistics: dict[str, Statistic] = {}
    for line, row in read_rows(file, folder, ("Commodity", "Yield", "Price per Unit")):
        try:
            statistic = _statistic(row)
        except DataError as error:
            defects.append(Defect(file, line, str(error), _LEFT_OUT))
            continue
        if statistic.crop in statistics:
            defects.append(Defect(file, line, f"'{statistic.crop}' is there twice", _LEFT_OUT))
            continue
        statistics[statistic.crop] = statistic
        if not statistic.comparable:
            units = f"'{statistic.crop_yield.unit}' and '{statistic.price.unit}'"
            problem = f"yield and price of '{statistic.crop}' do not go together: {units}"
            defects.append(Defect(file, line, problem, "the row is kept, without a revenue"))
    if not statistics:
        raise ParseError(file, None, "no row of this file can be read")
    return statistics


def _statistic(row: list[str] | None) -> Statistic:
    if row is None:
        raise DataError("the row has not as many values as the header")
    crop, crop_yield, price = row
    return Statistic(crop.strip(), parse_quantity(crop_yield), parse_quantity(price))


def read_stocks(folder: Path) -> Stocks:
    """Read the daily prices of a release.

    Parameters
    ----------
    folder
        The release: the folder that holds ``data``.

    Raises
    ------
    ParseError
        There is no file of prices, or one cannot be read, or holds nothing usable.
    """
    prices = folder / _PRICES
    files = prices.iterdir() if prices.is_dir() else ()
    tables = {
        path.stem.upper(): path
        for path in files
        if path.suffix.lower() == ".csv" and not path.name.startswith(".")
    }
    if not tables:
        raise ParseError(prices, None, "there is no SYMBOL.csv with the prices of a stock")
    defects: list[Defect] = []
    days = {symbol: _days(tables[symbol], folder, defects) for symbol in sorted(tables)}
    return Stocks(MappingProxyType(days), tuple(defects))


def _days(file: Path, folder: Path, defects: list[Defect]) -> tuple[Day, ...]:
    columns = ("Date", "Open", "High", "Low", "Close", "Volume")
    days: dict[date, Day] = {}
    for line, row in read_rows(file, folder, columns):
        try:
            day = _day(row)
        except (DataError, ValueError) as error:
            defects.append(Defect(file, line, str(error), _LEFT_OUT))
            continue
        if day.day in days:
            defects.append(Defect(file, line, f"{day.day} is there twice", _LEFT_OUT))
            continue
        days[day.day] = day
    if not days:
        raise ParseError(file, None, "no row of this file can be read")
    return tuple(sorted(days.values(), key=lambda day: day.day))


def _day(row: list[str] | None) -> Day:
    if row is None:
        raise DataError("the row has not as many values as the header")
    day, *prices, volume = row
    opened, high, low, closed = map(float, prices)
    if not all(map(math.isfinite, (opened, high, low, closed))):
        raise DataError(f"a price of {day.strip()} is no number")
    return Day(
        day=date.fromisoformat(day.strip()),
        opened=opened,
        high=high,
        low=low,
        closed=closed,
        volume=int(volume),
    )
