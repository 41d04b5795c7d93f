"""How scripted models shop: by the words of the instruction, and by what the prompt shows alone.

A decent customer with faults: it never looks at the features, takes the first product whose title
has enough of the wanted words, and does not come back to one that it has left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from dqa.worlds.scripted import Shown
from dqa_simulators.shop.pages import BACK, BUY, NEXT, PREVIOUS, SEPARATOR, clicked, searched
from dqa_simulators.shop.reading import Offer, Results, Wish, read_page, read_wish

_GOAL: Final = re.compile(r"^Goal: (?P<goal>.*)$", re.MULTILINE)
_SHOWS: Final = re.compile(r"^Instruction: \[SEP\] (?P<goal>.*?) \[SEP\] Search$", re.MULTILINE)
_ENOUGH: Final = 0.4
"""Which share of the wanted words a title has to have."""
_LEAST: Final = 0.05


class ShopScript:
    """A customer; see `dqa.worlds.scripted.WorldScript`."""

    def infer(self, shown: Shown, player: str, name: str, states: tuple[str, ...]) -> str:
        """Return the first state: nobody else plays, and nothing is hidden by anybody."""
        del shown, player, name
        return states[0]

    def expect(self, shown: Shown) -> str:
        """Return the first action: nobody else plays."""
        return shown.actions[0]

    def estimate(self, shown: Shown) -> Mapping[str, float]:
        """Return how promising each action looks, from 0 to 1."""
        wish = read_wish(_find_goal(shown.state))
        page = read_page(_find_page(shown.state), shown.actions)
        done = {event.action for event in shown.events}
        if page is None:
            return _rate_searches(shown.actions, wish, done)
        worth = dict.fromkeys(shown.actions, _LEAST)
        if isinstance(page, Results):
            _rate_results(worth, page, wish, done)
        elif isinstance(page, Offer):
            _rate_offer(worth, page, wish)
        else:
            _set(worth, PREVIOUS, 0.9)
        return worth


def _find_goal(state: str) -> str:
    for form in (_GOAL, _SHOWS):
        if (found := form.search(state)) is not None:
            return found["goal"]
    return state


def _find_page(state: str) -> str:
    """Return the last line that shows a page, without what is said before it."""
    pages = [line for line in state.splitlines() if SEPARATOR in line]
    if not pages:
        return state
    page = pages[-1]
    first = page.find(BACK)
    return page[first:] if first > 0 else page


def _rate_searches(actions: tuple[str, ...], wish: Wish, done: set[str]) -> dict[str, float]:
    """Prefer searches with many of the wanted words, and none that was made before."""
    return {
        action: 0.1 if action in done else 0.3 + 0.6 * wish.share_in(searched(action) or "")
        for action in actions
    }


def _rate_results(worth: dict[str, float], page: Results, wish: Wish, done: set[str]) -> None:
    _set(worth, NEXT, 0.3)
    _set(worth, BACK, 0.2)
    for place, product in enumerate(page.listed):
        share = wish.share_in(product.title)
        rate = 0.9 if share >= _ENOUGH else 0.3 + share
        if not wish.affords(product.price):
            rate = 0.15
        if f"click[{product.asin}]" in done:
            rate = 0.1
        _set(worth, product.asin, rate - 0.01 * place)


def _rate_offer(worth: dict[str, float], page: Offer, wish: Wish) -> None:
    if not wish.affords(page.price):
        _set(worth, PREVIOUS, 0.8)
    _set(worth, BUY, 0.6 if wish.affords(page.price) else 0.3)
    for _, values in page.options:
        value = wish.asks_for(values)
        if value is not None and value not in page.chosen:
            _set(worth, value, 0.7)


def _set(worth: dict[str, float], label: str, rate: float) -> None:
    """Rate a click, where it can be made."""
    for action in worth:
        if clicked(action) == label:
            worth[action] = rate


SCRIPT: Final = ShopScript()
