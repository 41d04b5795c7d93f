"""What the parts of the example's warehouse have in common: its shape, and kinds of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Rows: TypeAlias = dict[str, pa.Table]
"""A table's rows, by its name."""
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

FULL = 1_000_000
"""Order lines of a warehouse of full size, by which costs are scaled."""
QUARTERS = tuple(date(year, month, 1) for year in (2024, 2025) for month in (1, 4, 7, 10))
REGIONS = ("North", "South", "East")
PRODUCTS = 240
EVERY_DAY = (date(2026, 1, 1) - QUARTERS[0]).days

OWN, COMMON, BIG, DEAR = range(4)
"""Groups of products: made by one plant alone, by several of a region, by its biggest, by its
plant of dear goods."""


@dataclass(frozen=True, slots=True)
class Products:
    """Arrays over products: group, the plant of those that one alone makes, and price in cents."""

    group: Ints
    only: Ints
    cents: Ints
    discontinued: NDArray[np.bool_]


def decimals(values: NDArray[Any], digits: int, places: int) -> pa.Array:
    """Return whole numbers of the last place as exact decimals."""
    whole = pa.array(values.astype(np.int64)).cast(pa.decimal128(19, 0))
    unit = pa.scalar(Decimal(1).scaleb(-places), pa.decimal128(places + 1, places))
    return pc.multiply(whole, unit).cast(pa.decimal128(digits, places))


def money(cents: NDArray[Any], digits: int = 10) -> pa.Array:
    """Return cents as exact amounts."""
    return decimals(cents, digits, 2)


def days_from(rng: np.random.Generator, first: date, span: int, count: int) -> pa.Array:
    """Return days, drawn from a span that begins on the first."""
    return pa.array([first + timedelta(days=int(day)) for day in rng.integers(0, span, count)])


def some(rng: np.random.Generator, values: Sequence[str], share: float) -> pa.Array:
    """Return the values, of which some are missing."""
    there = rng.random(len(values)) < share
    return pa.array([v if t else None for v, t in zip(values, there, strict=True)], pa.string())
