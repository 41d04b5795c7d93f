"""Show WebShop's pages as text, with their actions and links."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, cast

from dqa.core.question import fits_form
from dqa_simulators.shop.catalogue import Catalogue
from dqa_simulators.shop.records import Product
from dqa_simulators.shop.words import propose_searches

SEPARATOR: Final = " [SEP] "
"""The separator between the visible strings of a page."""
SEARCH_FORM: Final = "search[...]"
CLICK_FORM: Final = "click[...]"
BACK: Final = "Back to Search"
NEXT, PREVIOUS = "Next >", "< Prev"
DESCRIPTION, FEATURES, REVIEWS = "Description", "Features", "Reviews"
BUY: Final = "Buy Now"
A_PAGE: Final = 10
"""The number of products on a page of results."""
NO_REVIEWS: Final = "There are no reviews."
_LONGEST_SEARCH: Final = 400
"""The maximum number of characters of a search. A history stores at most 500 per action."""

PageName: TypeAlias = Literal[
    "search", "results", "product", "description", "features", "reviews", "end"
]

_PARTS: Final = (DESCRIPTION, FEATURES, REVIEWS)
"""The labels of links to parts of a product. In lower case, they are names of pages."""


@dataclass(frozen=True, slots=True)
class View:
    """The current state of a visit.

    Attributes
    ----------
    page
        The kind of the current page.
    found
        The ids of the products found by the last search.
    number
        The number of the page of results, from 1.
    asin
        The id of the current product.
    chosen
        Pairs of an option's name and its chosen value, in the order of the last clicks.
    """

    page: PageName = "search"
    found: tuple[str, ...] = ()
    number: int = 1
    asin: str = ""
    chosen: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A displayed page.

    Attributes
    ----------
    strings
        The visible strings, in order.
    actions
        The actions that are listed as candidates.
    free_form
        The form of additional actions: a search on the search page, otherwise empty.
    """

    strings: tuple[str, ...]
    actions: tuple[str, ...]
    free_form: str = ""

    @property
    def text(self) -> str:
        """The visible strings as one text, without line breaks."""
        return SEPARATOR.join(" ".join(one.split()) for one in self.strings)


def click(label: str) -> str:
    """Return the action of a click."""
    return f"click[{label}]"


def clicked(action: str) -> str | None:
    """Return the label of a click; None if the action is not a click."""
    return _inner(action, CLICK_FORM)


def searched(action: str) -> str | None:
    """Return the text of a search; None if the action is not a search."""
    return _inner(action, SEARCH_FORM)


def _inner(action: str, form: str) -> str | None:
    before, _, after = form.partition("...")
    return action.removeprefix(before).removesuffix(after) if fits_form(action, form) else None


def shorten_search(action: str) -> str:
    """Return a search on one line with at most 400 characters. Other actions stay the same."""
    text = searched(action)
    if text is None:
        return action
    printable = "".join(sign if sign.isprintable() else " " for sign in text)
    return f"search[{' '.join(printable.split())[:_LONGEST_SEARCH].strip()}]"


def show(view: View, catalogue: Catalogue, instruction: str) -> Page:
    """Return the page of a view.

    Parameters
    ----------
    view
        The state of the visit.
    catalogue
        The catalogue of the shop.
    instruction
        The instruction, which the search page displays.
    """
    if view.page == "search":
        searches = tuple(f"search[{one}]" for one in propose_searches(instruction))
        return Page(("Instruction:", instruction, "Search"), searches, SEARCH_FORM)
    if view.page == "results":
        return _show_results(view, catalogue)
    if view.page == "product":
        return _show_product(view, catalogue.product(view.asin))
    if view.page == "end":
        return Page((f"{view.asin} is bought, and the shop closes.",), ())
    product = catalogue.product(view.asin)
    texts = {
        "description": (product.description,),
        "features": product.bullets,
        "reviews": (NO_REVIEWS,),
    }[view.page]
    return _page((BACK, PREVIOUS), (BACK, PREVIOUS, *texts))


def _page(labels: tuple[str, ...], strings: tuple[str, ...]) -> Page:
    """Return a page with one click for each different label."""
    return Page(strings, tuple(dict.fromkeys(click(label) for label in labels)))


def _show_results(view: View, catalogue: Catalogue) -> Page:
    first = (view.number - 1) * A_PAGE
    listed = [catalogue.product(asin) for asin in view.found[first : first + A_PAGE]]
    turning = []
    if view.number > 1:
        turning.append(PREVIOUS)
    if first + A_PAGE < len(view.found):
        turning.append(NEXT)
    text = f"Page {view.number} (Total results: {len(view.found)})"
    products = [string for one in listed for string in (one.asin, one.title, one.tag)]
    asins = (one.asin for one in listed)
    return _page((BACK, *turning, *asins), (BACK, text, *turning, *products))


def _show_product(view: View, product: Product) -> Page:
    choices = product.choices
    values = tuple(value for of_name in choices.values() for value in of_name)
    strings = [string for name, of_name in choices.items() for string in (name, *of_name)]
    shown = (product.title, f"Price: {product.tag}", "Rating: N.A.", *_PARTS, BUY)
    chosen = (f"You have clicked {value}." for _, value in view.chosen)
    return _page(
        (BACK, PREVIOUS, *values, *_PARTS, BUY), (BACK, PREVIOUS, *strings, *shown, *chosen)
    )


def follow(view: View, action: str, catalogue: Catalogue) -> View:
    """Return the view after a legal action."""
    text = searched(action)
    if text is not None:
        return View("results", catalogue.index.search(text))
    label = clicked(action) or ""
    if label == BACK:
        return View()
    if view.page == "results":
        return _turn(view, label)
    if view.page == "product":
        return _look(view, label, catalogue.product(view.asin))
    return replace(view, page="product")


def _turn(view: View, label: str) -> View:
    if label in {NEXT, PREVIOUS}:
        return replace(view, number=view.number + (1 if label == NEXT else -1))
    return replace(view, page="product", asin=label)


def _look(view: View, label: str, product: Product) -> View:
    """Return the view after a click on a product's page."""
    if label == PREVIOUS:
        return replace(view, page="results", asin="", chosen=())
    if label == BUY:
        return replace(view, page="end")
    if label in _PARTS:
        return replace(view, page=cast("PageName", label.lower()))
    return replace(view, chosen=_choose(view, label, product))


def _choose(view: View, value: str, product: Product) -> tuple[tuple[str, str], ...]:
    """Return the chosen values after a click on a value.

    If several options offer this value, the click sets the first option that does not have it yet.
    """
    names = [name for name, values in product.choices.items() if value in values]
    free = [name for name in names if (name, value) not in view.chosen]
    name = (free or names)[0]
    return (*(one for one in view.chosen if one[0] != name), (name, value))
