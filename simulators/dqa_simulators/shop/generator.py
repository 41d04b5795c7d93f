"""Generate a catalogue from a seed: products from our vocabulary, and goals of customers.

Each product has its own row of random numbers. So a larger catalogue with the same seed starts
with the same products.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from pydantic import TypeAdapter

from dqa.core.files import parse_toml
from dqa_simulators.shop.records import Goal, Product, bound_price, spell_option, state_bound

T = TypeVar("T")

VOCABULARY: Final = Path(__file__).parent / "vocabulary.toml"
GENERATED_BY: Final = 1
"""The version of the generator. Increase it when a seed gives different products."""

_DRAWS: Final = 72
"""The number of random numbers per product. No product uses all of them."""
_BLOCK: Final = 4096
_ASINS: Final = 36**8
_STEP: Final = 1_513_861_727_111  # coprime to 36, so all ids are different
_DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SHARE_WITH_GOAL: Final = 0.5
_SHARE_WITH_RANGE: Final = 0.3


class _Draws:
    """The random numbers of one product. Each number is used once."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self._numbers = iter(numbers)

    def number(self) -> float:
        """Return the next number, in [0, 1)."""
        return next(self._numbers)

    def pick(self, of: Sequence[T]) -> T:
        """Return a random element."""
        return of[int(next(self._numbers) * len(of))]

    def sample(self, of: Sequence[T], count: int) -> list[T]:
        """Return `count` different elements in random order."""
        left = list(of)
        return [left.pop(int(next(self._numbers) * len(left))) for _ in range(count)]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of product in the vocabulary.

    `options` maps the name of an option to keys of the vocabulary's `spellings`.
    """

    query: str
    nouns: tuple[str, ...]
    category: str
    path: tuple[str, ...]
    price: tuple[float, float]
    attributes: tuple[str, ...]
    words: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    kinds: tuple[_Kind, ...]
    titles: Mapping[str, tuple[str, ...]]
    sentences: Mapping[str, tuple[str, ...]]
    instructions: Mapping[str, tuple[str, ...]]
    spellings: Mapping[str, tuple[str, ...]]


def generate(count: int, seed: int) -> Iterator[tuple[Product, Goal | None]]:
    """Yield products. About half come with the goal of a customer who would buy the product.

    Parameters
    ----------
    count
        The number of products.
    seed
        The seed of all random choices.
    """
    vocabulary = _vocabulary()
    random = np.random.default_rng(seed)
    first = int(random.random() * _ASINS)
    goals = 0
    for began in range(0, count, _BLOCK):
        rows = random.random((min(_BLOCK, count - began), _DRAWS)).tolist()
        for index, row in enumerate(rows, began):
            draws = _Draws(row)
            product, nouns = _product(_asin(first, index), draws, vocabulary)
            goal = None
            if draws.number() < _SHARE_WITH_GOAL:
                goal = _goal(goals, product, draws.pick(nouns), draws, vocabulary)
                goals += 1
            yield product, goal


def _asin(first: int, offset: int) -> str:
    number = (first + offset * _STEP) % _ASINS
    digits = []
    for _ in range(8):
        number, digit = divmod(number, 36)
        digits.append(_DIGITS[digit])
    return "B0" + "".join(digits)


def _product(asin: str, draws: _Draws, vocabulary: _Vocabulary) -> tuple[Product, Sequence[str]]:
    """Return a product, and the nouns that customers may use for it."""
    kind = draws.pick(vocabulary.kinds)
    titles, sentences = vocabulary.titles, vocabulary.sentences
    brand = _brand(draws, titles)
    noun = draws.pick(kind.nouns)
    attributes = draws.sample(kind.attributes, 3 + int(draws.number() * 3))
    named = attributes[: int(draws.number() * 3)]
    words = draws.sample(kind.words, 2 + int(draws.number() * 2))
    title = " ".join([brand, *words, noun.title()])
    if named:
        title = f"{title} with {', '.join(one.title() for one in named)}"
    if draws.number() < 0.4:
        title = f"{title} - {draws.pick(titles['extras'])}"
    bullets = [_say(draws.pick(sentences["bullets"]), noun, brand, one) for one in attributes[1:]]
    bullets.append(draws.pick(sentences["fillers"]))
    description = _say(draws.pick(sentences["descriptions"]), noun, brand, attributes[0])
    low, high = _prices(kind, draws)
    options = _options(kind, vocabulary.spellings, draws)
    price = round(low + (high - low) * draws.number(), 2)
    product = Product(
        *(asin, title, description, tuple(bullets), tuple(attributes), options),
        *(low, high, price, kind.query, kind.category, kind.path),
    )
    return product, kind.nouns


def _brand(draws: _Draws, titles: Mapping[str, Sequence[str]]) -> str:
    parts = [draws.pick(titles["starts"]), draws.pick(titles["middles"])]
    name = "".join([*parts, draws.pick(titles["ends"])])
    return name.upper() if draws.number() < 0.2 else name.capitalize()


def _prices(kind: _Kind, draws: _Draws) -> tuple[float, float]:
    """Return the displayed price range. Cheap products are more common than expensive ones."""
    least, most = kind.price
    low = round(least + (most - least) * draws.number() ** 2, 2)
    share = draws.number()
    if share >= _SHARE_WITH_RANGE:
        return low, low
    return low, round(low * (1.05 + share), 2)


def _options(
    kind: _Kind, spellings: Mapping[str, tuple[str, ...]], draws: _Draws
) -> tuple[tuple[str, str], ...]:
    """Return the options of a product.

    The values of an option are consecutive entries of a list in the vocabulary.
    """
    found = []
    for name, lists in kind.options.items():
        values = [spell_option(value) for value in spellings[draws.pick(lists)]]
        count = min(len(values), 2 + int(draws.number() * 6))
        first = int(draws.number() * (len(values) - count + 1))
        found += [(name, value) for value in values[first : first + count]]
    return tuple(found)


def _goal(number: int, product: Product, noun: str, draws: _Draws, vocabulary: _Vocabulary) -> Goal:
    """Return the goal of a customer who would buy a product."""
    sentences = vocabulary.instructions
    wanted = draws.sample(product.attributes, 1 + int(draws.number() * 3))
    first, rest = wanted[0], wanted[1:]
    text = draws.pick(sentences["openings"]).format(a_first=_with_article(first), noun=noun)
    if rest:
        text += draws.pick(sentences["others"]).format(rest=" and ".join(rest))
    chosen: list[tuple[str, str]] = []
    for name, values in product.choices.items():
        if draws.number() < 0.75:
            value = draws.pick(values)
            forms = sentences["sizes"] if name == "size" else sentences["colours"]
            text += draws.pick(forms).format(name=name, value=value)
            chosen.append((name, value))
    bound = bound_price(product.price, draws.number(), draws.number())
    text += state_bound(bound)
    return Goal(number, product.asin, text, tuple(wanted), tuple(chosen), bound)


def _say(sentence: str, noun: str, brand: str, attribute: str) -> str:
    return sentence.format(
        noun=noun, brand=brand, attribute=attribute, Attribute=attribute.capitalize()
    )


def _with_article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


@lru_cache
def _vocabulary() -> _Vocabulary:
    text = VOCABULARY.read_text(encoding="utf-8")
    return TypeAdapter(_Vocabulary).validate_python(parse_toml(text))
