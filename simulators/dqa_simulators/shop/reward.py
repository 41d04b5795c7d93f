"""Compute the reward of a purchase with WebShop's formula (Yao et al., 2022).

::

    reward = r_type * (attribute hits + option hits + [price <= bound])
             / (number of attributes + number of options + 1)

Similarity ratios come from rapidfuzz. They are rounded to whole numbers from 0 to 100, as in the
library that WebShop uses. A ratio of at least 86 is sufficient.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from dqa_simulators.packages import load_package
from dqa_simulators.shop.records import Goal, Product
from dqa_simulators.shop.words import COLOURS, STOP_WORDS, normalise_colour, words_of

OptionRatio: TypeAlias = Literal["ratio", "token_set_ratio"]
"""The measure of similarity between a chosen option and a wanted option."""

_ABOVE: Final = 85
_SHARED_CATEGORIES: Final = 2
_ENOUGH_OF_TITLE, _LITTLE_OF_TITLE = 0.2, 0.1
_NO_WORDS: Final = 0.2
"""The overlap if the wanted title has no words."""


@dataclass(frozen=True, slots=True)
class Reward:
    """The parts of the reward of a purchase.

    Attributes
    ----------
    attribute_hits, attributes
        How many wanted attributes the product has, and how many attributes are wanted.
    option_hits, options
        How many wanted options were chosen, and how many options are wanted.
    is_within_bound
        Whether the product's price is within the bound.
    same_query, same_category
        Whether the catalogue lists both products under the same query, and whether they share at
        least two categories.
    title_overlap
        Of the words in the wanted product's title, the share that is also in the bought product's
        title.
    """

    attribute_hits: int
    attributes: int
    option_hits: int
    options: int
    is_within_bound: bool
    same_query: bool
    same_category: bool
    title_overlap: float

    @property
    def r_type(self) -> float:
        """The similarity of the product's type to the wanted type: 1, 0.5, 0.1 or 0."""
        if self.title_overlap == 0.0:
            return 0.0
        if self.title_overlap < _LITTLE_OF_TITLE:
            return 0.1
        is_alike = self.same_query or self.same_category or self.title_overlap > _ENOUGH_OF_TITLE
        return 1.0 if is_alike else 0.5

    @property
    def hits(self) -> int:
        """The number of attribute hits and option hits, plus 1 if the price is within the bound."""
        return self.attribute_hits + self.option_hits + self.is_within_bound

    @property
    def total(self) -> int:
        """The largest possible value of `hits`."""
        return self.attributes + self.options + 1

    @property
    def value(self) -> float:
        """The reward, from 0 to 1."""
        return self.r_type * self.hits / self.total


def count_reward(
    product: Product,
    goal: Goal,
    wanted: Product,
    chosen: Mapping[str, str],
    ratio: OptionRatio = "ratio",
) -> Reward:
    """Return the reward of a purchase.

    Parameters
    ----------
    product
        The bought product.
    goal
        The goal of the customer.
    wanted
        The product that the goal describes. Its query, categories and title define the type.
    chosen
        The chosen values, by the option's name.
    ratio
        The measure that compares options.

    Raises
    ------
    MissingKeyError
        rapidfuzz is not installed.
    """
    return Reward(
        attribute_hits=sum(_has_attribute(product, one) for one in goal.attributes),
        attributes=len(goal.attributes),
        option_hits=sum(is_chosen(one, chosen, ratio) for one in goal.values),
        options=len(goal.values),
        is_within_bound=product.price <= goal.bound,
        same_query=product.query == wanted.query,
        same_category=len({*product.path} & {*wanted.path}) >= _SHARED_CATEGORIES,
        title_overlap=overlap_titles(product.title, wanted.title),
    )


def overlap_titles(title: str, wanted: str) -> float:
    """Return the share of a wanted title's words that the other title contains too.

    WebShop compares nouns found by a tagger. This function compares words of at least two letters
    that are neither stop words nor colours.
    """
    words = _title_words(wanted)
    return len(words & _title_words(title)) / len(words) if words else _NO_WORDS


def is_chosen(value: str, chosen: Mapping[str, str], ratio: OptionRatio = "ratio") -> bool:
    """Return whether a chosen value is similar to the wanted value, after colour normalisation."""
    measure = _measures()[ratio]
    own = normalise_colour(value)
    return any(round(measure(normalise_colour(one), own)) > _ABOVE for one in chosen.values())


def _has_attribute(product: Product, attribute: str) -> bool:
    fuzz = _measures()["token_set_ratio"]
    if any(round(fuzz(one, attribute)) > _ABOVE for one in product.attributes):
        return True
    sought = attribute.lower()
    texts = (product.title, " ".join(product.bullets), product.description)
    return any(sought in text.lower() for text in texts)


def _plain(text: str) -> str:
    """Return a text in lower case with only letters, digits and spaces."""
    return re.sub(r"[\W_]", " ", text.lower()).strip()


@lru_cache(maxsize=4096)
def _title_words(title: str) -> frozenset[str]:
    found = (word for word in words_of(title) if len(word) > 1 and word.isalpha())
    return frozenset(found) - STOP_WORDS - {*COLOURS}


@lru_cache
def _measures() -> Mapping[OptionRatio, Callable[[str, str], float]]:
    """Import rapidfuzz on first use, and return its measures."""
    fuzz = load_package("rapidfuzz.fuzz", "The reward of a purchase", "shop")

    def by_sets(one: str, other: str) -> float:
        return float(fuzz.token_set_ratio(_plain(one), _plain(other)))

    return {"ratio": fuzz.ratio, "token_set_ratio": by_sets}
