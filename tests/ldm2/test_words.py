"""How like texts are: the same ranking as a plain BM25, and nothing of what is excluded."""

from __future__ import annotations

from collections import Counter
from math import log
from random import Random

import pytest

from dqa.core.relevance import LENGTH, SATURATION, words_in
from dqa_ldm2.memory.words import WordIndex


def plain(texts: list[str], about: str) -> list[float]:
    """Return BM25 as its formula is written."""
    held = [list(words_in(text)) for text in texts]
    mean = sum(map(len, held)) / len(held)
    having = Counter(word for own in held for word in set(own))
    scores = []
    for own in held:
        total = 0.0
        for word in dict.fromkeys(words_in(about)):
            rarity = log(1 + (len(held) - having[word] + 0.5) / (having[word] + 0.5))
            value = own.count(word) / (1 - LENGTH + LENGTH * len(own) / mean)
            total += rarity * value / (SATURATION + value)
        scores.append(total)
    return scores


@pytest.fixture(params=[200, 5_000])
def texts(request: pytest.FixtureRequest) -> list[str]:
    """Return few texts, or so many that an index of words is used."""
    draw = Random(3)  # noqa: S311
    vocabulary = ["desks", "desk", "Lamp", "shelf", "mug", "go", "1", "22", "seen", "apples"]
    lengths = [draw.randrange(1, 9) for _ in range(request.param)]
    return [" ".join(draw.choices(vocabulary, k=length)) for length in lengths]


def test_it_ranks_as_the_formula_does(texts: list[str]) -> None:
    """Ties in the order of ids; numbers and plurals are words."""
    index = WordIndex((10 + n, f"s{n % 7}", text) for n, text in enumerate(texts))
    for about in ("a lamp on desk 22", "apple", "mug mug mug", "nothing known", ""):
        expected = plain(texts, about)
        ranked = sorted(range(len(texts)), key=lambda n: (-round(expected[n], 5), n))
        found = index.best(about, 20)
        assert [round(score, 4) for _, score in found] == pytest.approx(
            [expected[n] for n in ranked[:20]], abs=2e-4
        )
        firm = [n for n in ranked[:20] if sum(abs(expected[n] - e) < 1e-6 for e in expected) == 1]
        assert {10 + n for n in firm} <= {identifier for identifier, _ in found}
        scores = [score for _, score in found]
        assert scores == sorted(scores, reverse=True)
    assert [identifier for identifier, _ in index.best("nothing known", 3)] == [10, 11, 12]
