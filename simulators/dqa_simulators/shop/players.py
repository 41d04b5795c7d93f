"""Programs that shop: one that knows what is wanted, one that reads as anybody can, and chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol, cast

import numpy as np

from dqa.core.question import Candidate
from dqa.worlds.base import InformedPolicy, Policy, PolicyFactory
from dqa.worlds.players import RANDOM
from dqa.worlds.world import GameEvent, Position
from dqa_simulators.shop.pages import (
    BACK,
    BUY,
    FEATURES,
    NEXT,
    PREVIOUS,
    click,
    clicked,
    searched,
)
from dqa_simulators.shop.reading import (
    Offer,
    Other,
    Results,
    Wish,
    guess_page,
    read_page,
    read_wish,
)
from dqa_simulators.shop.records import Goal, Product
from dqa_simulators.shop.reward import is_chosen

if TYPE_CHECKING:
    from dqa.worlds.observed import ObservedPosition
    from dqa_simulators.shop.pages import View

_LOOKS: Final = 2
"""How many products the fair player looks at before it takes the best of them."""
_GOOD: Final = 0.99
"""Which share of the wanted words makes it look no further."""


class _State(Protocol):
    """The true state of a visit; see `dqa_simulators.shop.world.Revealed`."""

    @property
    def goal(self) -> Goal: ...
    @property
    def wanted(self) -> Product: ...
    @property
    def view(self) -> View: ...


class Expert(InformedPolicy):
    """Buys the product that the instruction was written for, with the right options."""

    def choose_informed(
        self, position: Position, state: object, random: np.random.Generator
    ) -> Candidate:
        """Return the next step on the way to the wanted product."""
        del random
        revealed = cast("_State", state)
        view, wanted = revealed.view, revealed.wanted
        if view.page == "search":
            return _search_for(wanted, sum(_is_search(one.action) for one in position.events))
        if view.page == "results":
            return self._find(view, wanted.asin)
        if view.page != "product":
            return click(PREVIOUS)
        if view.asin != wanted.asin:
            return click(BACK)
        return self._customise(revealed)

    @staticmethod
    def _find(view: View, asin: str) -> str:
        if asin not in view.found:
            return click(BACK)
        number = view.found.index(asin) // 10 + 1
        if number == view.number:
            return click(asin)
        return click(NEXT if number > view.number else PREVIOUS)

    @staticmethod
    def _customise(state: _State) -> str:
        chosen = dict(state.view.chosen)
        for name, value in state.goal.options:
            if is_chosen(value, chosen):
                continue
            values = state.wanted.choices.get(name)
            offered = values or tuple(option.value for option in state.wanted.options)
            like = [one for one in offered if is_chosen(value, {name: one})]
            if value in like or like:
                return click(value if value in like else like[0])
        return click(BUY)


def _is_search(action: str) -> bool:
    return searched(action) is not None


def _search_for(wanted: Product, times: int) -> str:
    """Return a search for a product: by its title, then by more and more of its text."""
    values = [option.value for option in wanted.options]
    texts = (wanted.title, " ".join(wanted.bullets), wanted.description, " ".join(values))
    return f"search[{' '.join(texts[: times + 1])}]"[:399].rstrip("]") + "]"


class Shopper(Policy):
    """Searches, looks at the likeliest products, and buys the best of them with their options.

    It reads the instruction and the pages, and nothing else.
    """

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Return the next step."""
        del random
        seen = cast("ObservedPosition", position)
        wish = read_wish(seen.goal)
        actions = [str(action) for action in seen.actions]
        page = read_page(seen.observation, actions)
        if page is None:
            done = sum(_is_search(event.action) for event in seen.events)
            return actions[min(done, len(actions) - 1)]
        looks = _read_looks(seen, wish)
        if isinstance(page, Results):
            return self._pick(page, wish, looks, actions)
        if isinstance(page, Offer):
            return self._judge(page, wish, looks, seen, actions)
        return _or_first(click(PREVIOUS), actions)

    @staticmethod
    def _pick(page: Results, wish: Wish, looks: Mapping[str, float], actions: list[str]) -> str:
        """Return the product to open: the likeliest new one, or the best of those looked at."""
        listed = [one.asin for one in page.listed]
        best = max(looks, key=lambda asin: looks[asin], default="")
        if best in listed and (len(looks) >= _LOOKS or looks[best] >= _GOOD):
            return click(best)
        new = [one for one in page.listed if one.asin not in looks and wish.affords(one.price)]
        if new:
            return click(max(new, key=lambda one: wish.share_in(one.title)).asin)
        if best in listed:
            return click(best)
        return _or_first(click(NEXT), actions)

    @staticmethod
    def _judge(
        page: Offer,
        wish: Wish,
        looks: Mapping[str, float],
        seen: ObservedPosition,
        actions: list[str],
    ) -> str:
        """Return whether to look at the features, at another product, or to choose and buy."""
        asin = next(
            (label for event in reversed(seen.events) if (label := _opened(event.action))), ""
        )
        has_features = any(event.stage == "features" for event in _since(seen, asin))
        if not has_features:
            return _or_first(click(FEATURES), actions)
        is_best = looks.get(asin, 0.0) >= max(looks.values(), default=0.0)
        if not is_best or (len(looks) < _LOOKS and looks.get(asin, 0.0) < _GOOD):
            return _or_first(click(PREVIOUS), actions)
        for _, values in page.options:
            value = wish.asks_for(values)
            if value is not None and value not in page.chosen:
                return click(value)
        return click(BUY)


def _opened(action: str) -> str | None:
    """Return the product that an action opens, as far as its looks tell."""
    label = clicked(action)
    is_id = label is not None and len(label) == 10 and label.isalnum() and label.isupper()
    return label if is_id else None


def _since(seen: ObservedPosition, asin: str) -> list[GameEvent]:
    """Return what happened since a product was first opened, as long as it was looked at."""
    found, current = [], ""
    for event in seen.events:
        current = _opened(event.action) or current
        if event.stage in {"results", "search"}:
            current = ""
        if current == asin:
            found.append(event)
    return found


def _read_looks(seen: ObservedPosition, wish: Wish) -> dict[str, float]:
    """Return how well each product that was looked at fits, from 0 to 1."""
    texts: dict[str, str] = {}
    prices: dict[str, float | None] = {}
    current = ""
    for event in seen.events:
        current = _opened(event.action) or current
        if not current or event.stage in {"results", "search"}:
            current = ""
            continue
        page = guess_page(event.detail)
        if isinstance(page, Offer):
            prices[current] = page.price
        if isinstance(page, Offer | Other):
            texts[current] = f"{texts.get(current, '')} {event.detail}"
    return {
        asin: wish.share_in(text) * (1.0 if wish.affords(prices.get(asin)) else 0.5)
        for asin, text in texts.items()
    }


def _or_first(action: str, actions: list[str]) -> str:
    return action if action in actions else actions[0]


POLICIES: Final = {
    "expert": PolicyFactory(
        "expert",
        "knows the product that is wanted, and buys it with the right options (informed)",
        lambda _: Expert(),
    ),
    "rule": PolicyFactory(
        "rule",
        "searches, compares two products by the instruction's words, chooses options and buys",
        lambda _: Shopper(),
    ),
    "random": RANDOM,
}
