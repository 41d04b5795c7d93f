"""Read the tables of the DeLLMa release: crop statistics and daily stock prices.

A missing file or an unreadable row is an error.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from dqa.core.errors import DataError, ParseError
from dqa.core.files import DATA_BYTES, read_json, read_text

_HINT = "The DeLLMa release contains this file."
_REPORT = Path("data/agriculture/reports/summary/fruit-sept-2021.json")
_STATISTICS = Path("data/agriculture/stats")
_PRICES = Path("data/stocks")
_QUANTITY = re.compile(r"\s*(?P<number>-?[\d,]*\.?\d+)\s+(?P<unit>\S.*?)\s*", re.ASCII)
_SINGULAR: Mapping[str, str] = {"TONS": "TON", "BOXES": "BOX"}
_POUNDS: Mapping[str, float] = {"LB": 1.0, "CWT": 100.0, "TON": 2000.0}
"""Pounds per unit of weight; CWT is the US hundredweight, and TON is the short ton."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its unit as written, such as 9050.0 and ``LB / ACRE``."""

    value: float
    unit: str

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """Parse a text such as ``"9,050 LB / ACRE"``. Raise `DataError` for any other form."""
        found = _QUANTITY.fullmatch(text)
        if found is None:
            raise DataError(f"'{text}' is not a number with a unit, such as '9,050 LB / ACRE'")
        return cls(float(found["number"].replace(",", "")), found["unit"])

    @property
    def per(self) -> tuple[str, str]:
        """The two parts of the unit, singular and without remarks, such as ``("TON", "ACRE")``."""
        parts = self.unit.partition(",")[0].partition("/")
        counted, per = (part.strip().upper() for part in (parts[0], parts[2]))
        return _SINGULAR.get(counted, counted), _SINGULAR.get(per, per)


@dataclass(frozen=True, slots=True)
class Statistic:
    """The yield of a crop per acre, and its price per unit.

    Attributes
    ----------
    crop
        The commodity, in the file's words.
    crop_yield
        Amount per acre.
    price
        Dollars per unit of the yield, or per another unit of weight.
    """

    crop: str
    crop_yield: Quantity
    price: Quantity

    @property
    def revenue(self) -> float:
        """Dollars per acre: yield times price, the ground truth of section 4.1.

        Raises
        ------
        DataError
            The yield cannot be converted to the unit of the price.
        """
        amount, area = self.crop_yield.per
        money, unit = self.price.per
        if area == "ACRE" and money == "$":
            if amount == unit:
                return self.crop_yield.value * self.price.value
            if amount in _POUNDS and unit in _POUNDS:
                factor = _POUNDS[amount] / _POUNDS[unit]
                return self.crop_yield.value * self.price.value * factor
        raise DataError(
            f"The yield of {self.crop} in '{self.crop_yield.unit}' cannot be multiplied by its "
            f"price in '{self.price.unit}'. Expected the same unit in both, or two units from "
            f"{', '.join(_POUNDS)}."
        )


@dataclass(frozen=True, slots=True)
class Report:
    """The market report: its summary, and the summary of each crop, in the order of the file."""

    summary: str
    crops: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Day:
    """A trading day of a stock: prices in dollars per share, and the number of traded shares."""

    day: date
    opened: float
    high: float
    low: float
    closed: float
    volume: int


Stocks = Mapping[str, Mapping[date, Day]]
"""By symbol and date, the trading days. Symbols are in upper case. Symbols and dates are sorted."""


def read_report(folder: Path) -> Report:
    """Read the market report in the folder of a release. Raise `ParseError` if that fails."""
    file = folder / _REPORT
    report = read_object(file, folder)
    crops = {name: entry for name, entry in report.items() if name not in {"summary", "factors"}}
    try:
        return Report(str(report["summary"]), {name: crops[name]["summary"] for name in crops})
    except (KeyError, TypeError) as error:
        problem = f"expected a 'summary' of the report and of each crop; {error} is missing"
        raise ParseError(file, None, problem) from error


def read_statistics(folder: Path, year: int) -> Mapping[str, Statistic]:
    """Return the statistics of each crop in California for one year, in the order of the file.

    Raises
    ------
    ParseError
        The file is missing, or a row cannot be read.
    """
    found: dict[str, Statistic] = {}
    file = folder / _STATISTICS / f"CA-{year}.csv"
    for line, row in read_rows(file, folder, ("Commodity", "Yield", "Price per Unit")):
        crop, crop_yield, price = row
        try:
            found[crop] = Statistic(crop, Quantity.parse(crop_yield), Quantity.parse(price))
        except DataError as error:
            raise ParseError(file, line, str(error)) from error
    return found


def read_stocks(folder: Path) -> Stocks:
    """Read the daily prices of a release.

    Raises
    ------
    ParseError
        There is no file with prices, or a row cannot be read.
    """
    files = {path.stem.upper(): path for path in sorted((folder / _PRICES).glob("*.csv"))}
    if not files:
        raise ParseError(
            folder / _PRICES, None, "expected files SYMBOL.csv with stock prices; found none"
        )
    return {symbol: _days(files[symbol], folder) for symbol in sorted(files)}


def gains(stocks: Stocks, bought: date, sold: date) -> dict[str, float]:
    """Return, by symbol, the gain per dollar from the opening of `bought` to the close of `sold`.

    A symbol without a price on one of the days is left out.
    """
    return {
        symbol: days[sold].closed / days[bought].opened - 1.0
        for symbol, days in stocks.items()
        if bought in days and sold in days and days[bought].opened > 0.0
    }


def read_object(file: Path, folder: Path) -> dict[str, Any]:
    """Return the JSON object in a file of the release. Raise `ParseError` for any other value."""
    value = read_json(file, home=folder, most=DATA_BYTES, hint=_HINT)
    if not isinstance(value, dict):
        raise ParseError(file, 1, "expected a JSON object")
    return value


def read_rows(
    file: Path, folder: Path, columns: Sequence[str]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the line number and the values in `columns` of each row of a CSV file.

    Raises
    ------
    ParseError
        The file cannot be read, its header lacks one of `columns`, or a row does not have as many
        values as the header.
    """
    text = read_text(file, home=folder, most=DATA_BYTES, hint=_HINT)
    reader = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
    header = [name.strip() for name in reader.fieldnames or ()]
    if missing := [name for name in columns if name not in header]:
        raise ParseError(file, 1, f"the header {header} lacks {', '.join(missing)}")
    reader.fieldnames = header
    for row in reader:
        if None in row or None in row.values():
            raise ParseError(file, reader.line_num, f"expected {len(header)} values")
        yield reader.line_num, tuple(row[name].strip() for name in columns)


def _days(file: Path, folder: Path) -> Mapping[date, Day]:
    found: dict[date, Day] = {}
    columns = ("Date", "Open", "High", "Low", "Close", "Volume")
    for line, (day, *prices, volume) in read_rows(file, folder, columns):
        try:
            when, (opened, high, low, closed) = date.fromisoformat(day), map(float, prices)
            found[when] = Day(when, opened, high, low, closed, int(volume))
        except ValueError as error:
            raise ParseError(file, line, str(error)) from error
        if not all(map(math.isfinite, (opened, high, low, closed))):
            raise ParseError(file, line, f"a price of {day} is not a finite number")
    return dict(sorted(found.items()))
