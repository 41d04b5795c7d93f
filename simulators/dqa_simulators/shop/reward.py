"""The reward of a purchase: WebShop's (Yao et al., 2022), counted over rapidfuzz.

::

    reward = r_type * (attribute hits + option hits + [price <= bound])
             / (number of attributes + number of options + 1)

Ratios are whole numbers of 100, rounded as in the library that WebShop takes them from, so a ratio
above 85 is at least 86.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError
from dqa_simulators.shop.records import Goal, Product
from dqa_simulators.shop.words import COLOURS, STOP_WORDS, normalise_colour, words_of

OptionRatio: TypeAlias = Literal["ratio", "token_set_ratio"]
"""The ratio of a chosen option and a wanted one."""

_ABOVE: Final = 85
_SHARED_CATEGORIES: Final = 2
_ENOUGH_OF_TITLE, _LITTLE_OF_TITLE = 0.2, 0.1
_NO_WORDS: Final = 0.2
"""The overlap with a wanted title that has no words."""


@dataclass(frozen=True, slots=True)
class Reward:
    """A purchase, counted.

    Attributes
    ----------
    attribute_hits, attributes
        How many of the wanted attributes the product has, and how many were wanted.
    option_hits, options
        The same of options.
    is_within_bound
        Whether the product's price is within the bound.
    same_query, same_category
        Whether the product has the query of the wanted one, and two of its categories.
    title_overlap
        The share of the wanted title's words that the product's title has.
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
        """How much the product is of the wanted type: 1, 0.5, 0.1 or 0."""
        if self.title_overlap == 0.0:
            return 0.0
        if self.title_overlap < _LITTLE_OF_TITLE:
            return 0.1
        is_alike = self.same_query or self.same_category or self.title_overlap > _ENOUGH_OF_TITLE
        return 1.0 if is_alike else 0.5

    @property
    def hits(self) -> int:
        """Attributes, options and the price, as far as they are as wanted."""
        return self.attribute_hits + self.option_hits + self.is_within_bound

    @property
    def total(self) -> int:
        """The most that `hits` could be."""
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
    """Count the reward of a purchase.

    Parameters
    ----------
    product
        The bought product.
    goal
        The goal.
    wanted
        The product that the goal was written for: its query, categories and title say the type.
    chosen
        The chosen values, by the option's name.
    ratio
        How options are compared.

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
    """Return which share of a wanted title's words another title has.

    WebShop takes the nouns that a tagger finds. Here every word counts that is spelt with letters,
    has at least two of them, and is neither a stop word nor a colour.
    """
    words = _title_words(wanted)
    return len(words & _title_words(title)) / len(words) if words else _NO_WORDS


def is_chosen(value: str, chosen: Mapping[str, str], ratio: OptionRatio = "ratio") -> bool:
    """Whether a wanted value is like one of the chosen, once colours are one word."""
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
    """Return a text in lower case, of letters, digits and spaces alone."""
    return re.sub(r"[\W_]", " ", text.lower()).strip()


@lru_cache(maxsize=4096)
def _title_words(title: str) -> frozenset[str]:
    found = (word for word in words_of(title) if len(word) > 1 and word.isalpha())
    return frozenset(found) - STOP_WORDS - {*COLOURS}


@lru_cache
def _measures() -> Mapping[OptionRatio, Callable[[str, str], float]]:
    """Return rapidfuzz's ratios, which are loaded when something is bought."""
    try:
        from rapidfuzz import fuzz
    except ImportError as error:
        raise MissingKeyError(
            "The reward of a purchase is counted with rapidfuzz, which is not installed: "
            f"{install_command('shop')}."
        ) from error

    def by_sets(one: str, other: str) -> float:
        return float(fuzz.token_set_ratio(_plain(one), _plain(other)))

    return {"ratio": fuzz.ratio, "token_set_ratio": by_sets}
