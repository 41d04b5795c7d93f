"""Reading what a page shows, and an instruction, as anybody can who sees nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from dqa_simulators.shop.pages import (
    BACK,
    BUY,
    DESCRIPTION,
    FEATURES,
    NEXT,
    PREVIOUS,
    REVIEWS,
    SEPARATOR,
    clicked,
    searched,
)
from dqa_simulators.shop.searches import find_bound, key_words, without_bound

_PRICE: Final = re.compile(r"\$(\d+(?:\.\d+)?)(?: to \$(\d+(?:\.\d+)?))?")
_LABELS: Final = frozenset({BACK, NEXT, PREVIOUS, DESCRIPTION, FEATURES, REVIEWS, BUY})
_CHOSEN: Final = "You have clicked "
_TOLD_PRICE: Final = "Price: "


@dataclass(frozen=True, slots=True)
class Wish:
    """What an instruction asks for, by its words alone.

    Attributes
    ----------
    text
        The instruction in lower case, without its price bound.
    words
        Those that say what is wanted.
    bound
        The price bound in dollars; None where there is none.
    """

    text: str
    words: frozenset[str]
    bound: float | None

    def share_in(self, text: str) -> float:
        """Return which share of the wanted words a text has."""
        return len(self.words & {*key_words(text)}) / max(len(self.words), 1)

    def affords(self, price: float | None) -> bool:
        """Whether a price is within the bound, as far as it is known."""
        return price is None or self.bound is None or price <= self.bound

    def asks_for(self, values: Sequence[str]) -> str | None:
        """Return the one of an option's values that is asked for, the longest of several."""
        named = [value for value in values if _is_in(value.lower(), self.text)]
        return max(named, key=len, default=None)


@dataclass(frozen=True, slots=True)
class Listed:
    """A product in a list of results."""

    asin: str
    title: str
    price: float | None


@dataclass(frozen=True, slots=True)
class Results:
    """A page of results."""

    listed: tuple[Listed, ...]
    has_next: bool


@dataclass(frozen=True, slots=True)
class Offer:
    """A product's page.

    Attributes
    ----------
    title
        Its title.
    price
        The lowest that is shown, in dollars.
    options
        By name, the values that can be clicked.
    chosen
        What was clicked.
    """

    title: str
    price: float | None
    options: tuple[tuple[str, tuple[str, ...]], ...]
    chosen: frozenset[str]


@dataclass(frozen=True, slots=True)
class Other:
    """A page that shows more of a product; or the end."""

    text: str


@lru_cache(maxsize=1024)
def read_wish(instruction: str) -> Wish:
    """Return what an instruction asks for."""
    text = without_bound(instruction)
    return Wish(text.lower(), frozenset(key_words(text)), find_bound(instruction))


def read_page(observation: str, actions: Sequence[str]) -> Results | Offer | Other | None:
    """Return what a page shows; None for the page where one searches.

    Parameters
    ----------
    observation
        The page's text.
    actions
        What can be done there.
    """
    if any(searched(action) is not None for action in actions):
        return None
    labels = [label for action in actions if (label := clicked(action)) is not None]
    strings = [string.strip() for string in observation.split(SEPARATOR)]
    if BUY in labels:
        return _read_offer(strings, [label for label in labels if label not in _LABELS])
    if "(Total results: " in observation:
        return _read_results(strings, labels)
    return Other(observation)


def guess_page(observation: str) -> Results | Offer | Other | None:
    """Return what a page of the past shows, whose actions nobody kept."""
    strings = observation.split(SEPARATOR)
    if strings[-1] == "Search":
        return None
    if BUY in strings:
        return _read_offer(strings, ())
    if "(Total results: " in observation:
        ids = strings[2:]
        return _read_results(strings, [*_LABELS.intersection(strings), *ids])
    return Other(observation)


def _read_results(strings: Sequence[str], labels: Sequence[str]) -> Results:
    known = {*labels} - _LABELS
    listed = tuple(
        Listed(asin, title, _price_in(price))
        for asin, title, price in zip(strings, strings[1:], strings[2:], strict=False)
        if asin in known and _PRICE.fullmatch(price)
    )
    return Results(listed, NEXT in labels)


def _read_offer(strings: Sequence[str], values: Sequence[str]) -> Offer:
    clickable = {*values}
    places = [place for place, one in enumerate(strings) if one.startswith(_TOLD_PRICE)]
    place = places[0] if places else len(strings)
    title = strings[place - 1] if places else ""
    options: list[tuple[str, list[str]]] = []
    for string in strings[: max(place - 1, 0)]:
        if string in _LABELS:
            continue
        if string in clickable and options:
            options[-1][1].append(string)
        else:
            options.append((string, []))
    told = strings[place].removeprefix(_TOLD_PRICE) if places else ""
    return Offer(
        title,
        _price_in(told),
        tuple((name, tuple(of_name)) for name, of_name in options if of_name),
        frozenset(
            one.removeprefix(_CHOSEN).removesuffix(".")
            for one in strings
            if one.startswith(_CHOSEN)
        ),
    )


def _price_in(text: str) -> float | None:
    found = _PRICE.search(text)
    return None if found is None else float(found[1])


def _is_in(value: str, text: str) -> bool:
    """Whether a text has a value as whole words: ``large`` is not in ``x-large``."""
    return bool(re.search(rf"(?<![\w.-]){re.escape(value)}(?![\w-]|\.\d)", text))
