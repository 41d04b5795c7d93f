"""Records of a shop: products, and the goals of customers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NO_BOUND: Final = 1_000_000.0
"""The price bound of a goal without a bound."""
BETWEEN_CATEGORIES: Final = "\u203a"
"""The separator of categories in WebShop's files: an angle quote."""


@dataclass(frozen=True, slots=True)
class Product:
    """A product of a shop.

    Attributes
    ----------
    asin
        The id, at most ten characters.
    title, description, bullets
        The texts on the product's pages.
    attributes
        Short properties. Pages do not show these properties.
    options
        Pairs of an option's name and a value that a customer can choose, in the shop's order. Name
        and value are in lower case, for example ``("color", "a02-wine red")``.
    low, high
        The displayed price range in dollars. Both are equal for a single price.
    price
        A price within the range. This price is compared with the bound of a goal.
    query
        Search words for the product, in lower case.
    category
        The department of the shop.
    path
        The categories, from the widest to the narrowest.
    """

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    attributes: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    low: float
    high: float
    price: float
    query: str
    category: str
    path: tuple[str, ...]

    @property
    def tag(self) -> str:
        """The price as displayed in the shop."""
        return f"${self.low}" if self.low == self.high else f"${self.low} to ${self.high}"

    @property
    def choices(self) -> dict[str, tuple[str, ...]]:
        """The values of each option, in the shop's order."""
        found: dict[str, list[str]] = {}
        for name, value in self.options:
            found.setdefault(name, []).append(value)
        return {name: tuple(dict.fromkeys(values)) for name, values in found.items()}


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of a customer.

    Attributes
    ----------
    number
        The index of the goal in the catalogue, from 0.
    asin
        The id of the product that the goal describes.
    instruction
        The words of the customer, including the price bound.
    attributes
        The wanted properties of the product.
    options
        Pairs of an option's name and the wanted value. A number replaces an unknown name.
    bound
        The maximum price in dollars; `NO_BOUND` for no bound.
    """

    number: int
    asin: str
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    bound: float = NO_BOUND

    @property
    def values(self) -> tuple[str, ...]:
        """The wanted values of options."""
        return tuple(value for _, value in self.options)


def spell_option(value: str) -> str:
    """Return the displayed text of an option's value: lower case, with `` | `` for a slash."""
    return value.strip().replace("/", " | ").lower()


def bound_price(price: float, first: float, second: float) -> float:
    """Return a price bound for a goal: a multiple of ten dollars above the product's price.

    Two of the next four multiples are drawn, and the higher one is the bound. Multiples above 990
    dollars are left out. If fewer than two multiples remain, the bound is `NO_BOUND`.

    Parameters
    ----------
    price
        The price of the product, in dollars.
    first, second
        Random numbers in [0, 1).
    """
    above = [10.0 * tens for tens in range(1, 100) if 10.0 * tens > price][:4]
    if len(above) < 2:
        return NO_BOUND
    one = int(first * len(above))
    other = int(second * (len(above) - 1))
    return above[max(one, other + (other >= one))]


def state_bound(bound: float) -> str:
    """Return the text about the bound at the end of an instruction."""
    return "" if bound >= NO_BOUND else f", and price lower than {bound:.2f} dollars"
