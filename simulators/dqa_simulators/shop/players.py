"""Players of the shop world: a shopper that reads the pages, and a random player."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from dqa.core.question import Candidate
from dqa.worlds.base import RANDOM, Policy, PolicyFactory
from dqa.worlds.world import GameEvent, Position
from dqa_simulators.shop import pages
from dqa_simulators.shop.words import find_bound, key_words, without_bound

if TYPE_CHECKING:
    from dqa.worlds.observed import ObservedPosition

_LOOKS: Final = 2
"""The number of products that the shopper compares."""
_GOOD: Final = 0.99
"""The shopper stops comparing at a product with at least this share of the wanted words."""
_PRICE: Final = re.compile(r"\$(\d+(?:\.\d+)?)(?: to \$(\d+(?:\.\d+)?))?")
_LABELS: Final = (pages.BACK, pages.PREVIOUS)
"""The labels before the options on a page of a product."""
_CHOSEN: Final = "You have clicked "
_SHOWN_PRICE: Final = "Price: "


@dataclass(frozen=True, slots=True)
class Wish:
    """The wish of a customer, read from an instruction.

    Attributes
    ----------
    text
        The instruction in lower case, without its price bound.
    words
        The words that describe the product.
    bound
        The price bound in dollars; None without one.
    """

    text: str
    words: frozenset[str]
    bound: float | None

    def share_in(self, text: str) -> float:
        """Return the share of the wanted words that a text contains."""
        return len(self.words & {*key_words(text)}) / max(len(self.words), 1)

    def affords(self, price: float | None) -> bool:
        """Return whether a price is within the bound.

        If the price or the bound is unknown, the result is True.
        """
        return price is None or self.bound is None or price <= self.bound

    def asks_for(self, values: Sequence[str]) -> str | None:
        """Return the longest of the values that the wish contains; None without such a value."""
        named = [
            value
            for value in values
            # Only whole words match: 'x-large' does not contain 'large'.
            if re.search(rf"(?<![\w.-]){re.escape(value.lower())}(?![\w-]|\.\d)", self.text)
        ]
        return max(named, key=len, default=None)


@lru_cache(maxsize=1024)
def read_wish(instruction: str) -> Wish:
    """Return the wish in an instruction: the product, its options and the highest price."""
    text = without_bound(instruction)
    return Wish(text.lower(), frozenset(key_words(text)), find_bound(instruction))


class Shopper(Policy):
    """Searches, compares the most likely products, and buys the best one with the wanted options.

    The shopper uses only the instruction and the pages.
    """

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Return the next action."""
        del random
        seen = cast("ObservedPosition", position)
        wish, actions = read_wish(seen.goal), [str(action) for action in seen.actions]
        page = seen.events[-1].stage
        if page == "search":
            searches = sum(pages.searched(event.action) is not None for event in seen.events)
            return actions[min(searches, len(actions) - 1)]
        visited = _read_visits(seen.events)
        looks = {asin: _fit(texts, wish) for asin, texts in visited.items()}
        if page == "results":
            return _pick(_strings(seen.observation), wish, looks, actions)
        if page != "product":
            return _or_first(pages.click(pages.PREVIOUS), actions)
        asin = next((asin for event in reversed(seen.events) if (asin := _opened(event))), "")
        if not any(event.stage == "features" for event in visited.get(asin, ())):
            return _or_first(pages.click(pages.FEATURES), actions)
        fit = looks.get(asin, 0.0)
        is_best = fit >= max(looks.values(), default=0.0)
        results = next(event.detail for event in reversed(seen.events) if event.stage == "results")
        has_other = bool(_new(_listed(_strings(results)), wish, looks))
        if not is_best or (len(looks) < _LOOKS and fit < _GOOD and has_other):
            return _or_first(pages.click(pages.PREVIOUS), actions)
        return _customise(_strings(seen.observation), wish, actions)


def _strings(observation: str) -> list[str]:
    return [string.strip() for string in observation.split(pages.SEPARATOR)]


def _listed(strings: list[str]) -> dict[str, tuple[str, float]]:
    """Return the title and the lowest price of each product on a page of results, by id."""
    return {
        asin: (title, float(found[1]))
        for asin, title, price in zip(strings, strings[1:], strings[2:], strict=False)
        if _is_id(asin) and (found := _PRICE.fullmatch(price))
    }


def _new(listed: dict[str, tuple[str, float]], wish: Wish, looks: dict[str, float]) -> list[str]:
    """Return those products of a page of results that are affordable and were not visited yet."""
    return [asin for asin in listed if asin not in looks and wish.affords(listed[asin][1])]


def _pick(strings: list[str], wish: Wish, looks: dict[str, float], actions: list[str]) -> str:
    """Return the click that opens the most likely new product or the best visited product.

    If the page lists neither, return the click to the next page.
    """
    listed = _listed(strings)
    best = max(looks, key=lambda asin: looks[asin], default="")
    if best in listed and (len(looks) >= _LOOKS or looks[best] >= _GOOD):
        return pages.click(best)
    new = _new(listed, wish, looks)
    if new:
        return pages.click(max(new, key=lambda asin: wish.share_in(listed[asin][0])))
    return pages.click(best) if best in listed else _or_first(pages.click(pages.NEXT), actions)


def _customise(strings: list[str], wish: Wish, actions: list[str]) -> str:
    """Return the click on the next wanted option, or the click that buys if all are chosen."""
    position = next(i for i, one in enumerate(strings) if one.startswith(_SHOWN_PRICE))
    options: list[list[str]] = []
    for string in strings[: max(position - 1, 0)]:
        if string in _LABELS:
            continue
        if pages.click(string) in actions and options:
            options[-1].append(string)
        else:
            options.append([])
    for values in options:
        value = wish.asks_for(values)
        if value is not None and f"{_CHOSEN}{value}." not in strings:
            return pages.click(value)
    return pages.click(pages.BUY)


def _is_id(label: str) -> bool:
    """Return whether a text has the form of a product's id."""
    return len(label) == 10 and label.isalnum() and label.isupper()


def _opened(event: GameEvent) -> str | None:
    """Return the id of the product that a click opened; None if the clicked label is not an id."""
    label = pages.clicked(event.action)
    return label if label is not None and _is_id(label) else None


def _read_visits(events: Sequence[GameEvent]) -> dict[str, list[GameEvent]]:
    """Return, by product id, the events in which a page of the product was displayed."""
    visits: dict[str, list[GameEvent]] = {}
    current = ""
    for event in events:
        current = _opened(event) or current
        if event.stage in {"results", "search"}:
            current = ""
        if current:
            visits.setdefault(current, []).append(event)
    return visits


def _fit(visit: list[GameEvent], wish: Wish) -> float:
    """Return the fit of a visited product to the wish, from 0 to 1."""
    text = " ".join(event.detail for event in visit)
    shown = text.partition(_SHOWN_PRICE)[2]
    price = _PRICE.match(shown)
    is_affordable = wish.affords(None if price is None else float(price[1]))
    return wish.share_in(text) * (1.0 if is_affordable else 0.5)


def _or_first(action: str, actions: list[str]) -> str:
    return action if action in actions else actions[0]


POLICIES: Final = {
    "rule": PolicyFactory(
        "rule",
        "searches, compares two products by the instruction's words, chooses options and buys",
        lambda _: Shopper(),
    ),
    "random": RANDOM,
}
