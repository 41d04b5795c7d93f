"""The products of a shop, and the goals of its customers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NO_BOUND: Final = 1_000_000.0
"""The price bound of a goal that names none."""
BETWEEN_CATEGORIES: Final = "\u203a"
"""The separator of categories in a path of WebShop's files: an angle quote."""


@dataclass(frozen=True, slots=True)
class Option:
    """One value that a customer can choose.

    Attributes
    ----------
    name
        Its name: ``color``.
    value
        As the shop spells it, in lower case: ``a02-wine red``.
    price
        The price of the product with it, in dollars; None if unknown. It is not a part of the
        reward, as in WebShop.
    """

    name: str
    value: str
    price: float | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """A product of a shop.

    Attributes
    ----------
    asin
        Its id, of up to ten characters.
    title, description, bullets
        As the shop shows them.
    attributes
        Its properties, in a few words each. No page lists them.
    options
        All values of one name stand together.
    low, high
        The price that is shown, in dollars: one, or a range.
    price
        The price within the range that is compared with a goal's bound.
    query
        The maker's search words for it, in lower case.
    category
        The part of the shop.
    path
        Its categories, the widest first.
    """

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    attributes: tuple[str, ...]
    options: tuple[Option, ...]
    low: float
    high: float
    price: float
    query: str
    category: str
    path: tuple[str, ...]

    @property
    def tag(self) -> str:
        """The price as the shop shows it."""
        return price_tag(self.low, self.high)

    @property
    def choices(self) -> dict[str, tuple[str, ...]]:
        """The values that can be chosen, by the option's name, in the shop's order."""
        found: dict[str, list[str]] = {}
        for option in self.options:
            found.setdefault(option.name, []).append(option.value)
        return {name: tuple(dict.fromkeys(values)) for name, values in found.items()}


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of a customer.

    Attributes
    ----------
    number
        Its place among the catalogue's goals, from 0.
    asin
        The product that it was written for.
    instruction
        The customer's words, with the price bound.
    attributes
        The wanted properties of the product.
    options
        The values to choose, by the option's name; of goals that name no option, by its place.
    bound
        The most that the product may cost, in dollars; `NO_BOUND` for anything.
    """

    number: int
    asin: str
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    bound: float = NO_BOUND

    @property
    def values(self) -> tuple[str, ...]:
        """The values to choose."""
        return tuple(value for _, value in self.options)


def price_tag(low: float, high: float) -> str:
    """Return a price, or a range of prices, in dollars as the shop shows it."""
    return f"${low}" if low == high else f"${low} to ${high}"


def spell_option(value: str) -> str:
    """Return an option's value as pages show it: lower case, and a slash between bars' spaces."""
    return value.strip().replace("/", " | ").lower()


def bound_price(price: float, first: float, second: float) -> float:
    """Return a price bound for a goal: a round sum above the product's price.

    Of the next four multiples of ten dollars, up to 990, two are drawn, and the higher one counts.

    Parameters
    ----------
    price
        The price of the product, in dollars.
    first, second
        Random numbers from 0 to below 1.
    """
    above = [10.0 * tens for tens in range(1, 100) if 10.0 * tens > price][:4]
    if len(above) < 2:
        return NO_BOUND
    one = int(first * len(above))
    other = int(second * (len(above) - 1))
    return above[max(one, other + (other >= one))]


def state_bound(bound: float) -> str:
    """Return the words of a bound, at the end of an instruction."""
    return "" if bound >= NO_BOUND else f", and price lower than {bound:.2f} dollars"
