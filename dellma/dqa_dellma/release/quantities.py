"""Numbers with the units that the agriculture tables give them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dqa.core.errors import DataError

_QUANTITY = re.compile(r"\s*(?P<number>-?[\d,]*\.?\d+)\s+(?P<unit>\S.*?)\s*", re.ASCII)
_SINGULAR: Mapping[str, str] = MappingProxyType({"TONS": "TON", "BOXES": "BOX"})
_POUNDS: Mapping[str, float] = MappingProxyType({"LB": 1.0, "CWT": 100.0, "TON": 2000.0})
"""Pounds in a unit of weight: the US hundredweight and short ton."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its unit as written: 9050.0 and ``LB / ACRE``, 23.3 and ``$ / BOX, ...``."""

    value: float
    unit: str

    @property
    def per(self) -> tuple[str, str]:
        """What is counted and per what, singular and without remarks: ``("TON", "ACRE")``."""
        counted, _, per = self.unit.partition(",")[0].partition("/")
        return _singular(counted), _singular(per)


def _singular(unit: str) -> str:
    name = unit.strip().upper()
    return _SINGULAR.get(name, name)


def parse_quantity(text: str) -> Quantity:
    """Read ``"9,050 LB / ACRE"``.

    Raises
    ------
    DataError
        The text is no number with a unit.
    """
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise DataError(f"'{text}' is no number with a unit, such as '9,050 LB / ACRE'")
    return Quantity(float(found["number"].replace(",", "")), found["unit"])


@dataclass(frozen=True, slots=True)
class Statistic:
    """What an acre of a crop yields and what a unit of it sells for.

    Attributes
    ----------
    crop
        The commodity, in the file's words.
    crop_yield
        Amount per acre.
    price
        Dollars per unit of that amount, or of another unit of weight.
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
            Yield and price are in units that cannot be converted.
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
            f"price in '{self.price.unit}': expected the same unit in both, or two of "
            f"{', '.join(_POUNDS)}."
        )

    @property
    def comparable(self) -> bool:
        """Whether yield and price are in units that `revenue` can multiply."""
        try:
            return math.isfinite(self.revenue)
        except DataError:
            return False
