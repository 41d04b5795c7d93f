"""Catalogues: generation from a seed, storage, and search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest

from dqa.core.errors import DataError
from dqa_simulators.shop import catalogue
from dqa_simulators.shop.catalogue import Catalogue, Index, Source, open_catalogue, write_index
from dqa_simulators.shop.generator import generate
from dqa_simulators.shop.records import NO_BOUND
from dqa_simulators.shop.reward import count_reward
from dqa_simulators.shop.words import find_bound
from tests.programs import start_python
from tests.worlds.shop.shops import PRODUCTS


@pytest.fixture(name="catalogue")
def _catalogue() -> Catalogue:
    return open_catalogue(Source(products=PRODUCTS))


def test_what_a_seed_gives_stays_the_same() -> None:
    """If products change on purpose, increase `GENERATED_BY`, so that old caches are not used."""
    told = "\n".join(f"{product} {goal}" for product, goal in generate(50, 0))
    assert blake2b(told.encode(), digest_size=8).hexdigest() == "0754e71d7a1a956a"


def test_products_differ_and_goals_can_be_met() -> None:
    """Ids are unique. Each goal describes its own product, so the reward of that product is 1."""
    made = list(generate(600, 1))
    assert len({product.asin for product, _ in made}) == 600
    assert all(len(product.asin) == 10 for product, _ in made)
    goals = [(product, goal) for product, goal in made if goal is not None]
    assert 0.4 < len(goals) / len(made) < 0.6
    for product, goal in goals:
        chosen = dict(goal.options)
        assert all(value in product.choices[name] for name, value in goal.options)
        assert count_reward(product, goal, product, chosen).value == 1.0
        assert product.low <= product.price <= product.high
        assert find_bound(goal.instruction) == (None if goal.bound == NO_BOUND else goal.bound)
        for value in goal.values:
            assert value in goal.instruction
    assert len(Counter(product.category for product, _ in made)) >= 5


def test_a_catalogue_is_stored_unchanged(catalogue: Catalogue) -> None:
    """Products and goals are read from the database unchanged."""
    made = list(generate(PRODUCTS, 0))
    goals = [goal for _, goal in made if goal is not None]
    assert (catalogue.products, catalogue.goals) == (len(made), len(goals))
    for product, _ in made[::37]:
        assert catalogue.product(product.asin) == product
    for goal in goals[::23]:
        assert catalogue.goal(goal.number) == goal
    with pytest.raises(DataError, match="no product B000"):
        catalogue.product("B000")
    with pytest.raises(DataError, match="no goal 99999"):
        catalogue.goal(99999)


@pytest.mark.slow
def test_two_processes_build_one_catalogue(tmp_path: Path) -> None:
    """At once; both find it complete, and nothing else remains."""
    code = (
        "from dqa_simulators.shop.catalogue import Source, open_catalogue\n"
        "catalogue = open_catalogue(Source(products=60, seed=9))\n"
        "print(catalogue.products, catalogue.index.search('lounge pants')[:3])\n"
    )
    both = [start_python("-P", "-c", code, env={"DQA_CACHE": str(tmp_path)}) for _ in range(2)]
    told = [one.communicate(timeout=120)[0] for one in both]
    assert told[0] == told[1]
    assert told[0].startswith("60 ('B0")
    left = sorted(path.name.rpartition("-")[0] for path in (tmp_path / "shop").iterdir())
    assert left == ["seed-9-60"]


def test_a_damaged_cache_says_what_to_remove(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the database and of the index."""
    monkeypatch.setenv("DQA_CACHE", str(tmp_path))
    open_catalogue(Source(products=20, seed=6))
    (file,) = (tmp_path / "shop").glob("*/catalogue.sqlite")
    content = file.read_bytes()
    file.write_bytes(b"no database" * 100)
    catalogue._opened.cache_clear()
    with pytest.raises(DataError, match=r"Delete the folder .*builds the catalogue again"):
        open_catalogue(Source(products=20, seed=6))
    file.write_bytes(content)
    (file.parent / "vocab.index.json").write_text("{")
    with pytest.raises(DataError, match=r"search index in .* damaged"):
        open_catalogue(Source(products=20, seed=6))


# --- search ---


def make_index(folder: Path, texts: Mapping[str, str]) -> Index:
    """An index of products with one text each, added in the wrong order."""
    folder.mkdir()
    write_index(folder, ((asin, texts[asin]) for asin in sorted(texts, reverse=True)))
    return Index(folder)


def test_equal_products_are_found_in_the_order_of_their_ids(tmp_path: Path) -> None:
    """Also at the end of the list of results."""
    scarves = dict.fromkeys((f"B{number:03}" for number in range(80)), "red wool scarf")
    index = make_index(tmp_path / "index", scarves)
    assert index.search("scarfs") == tuple(f"B{number:03}" for number in range(50))
    assert index.search("the of and") == ()
    assert index.search("zebra") == ()
    assert index.search("") == ()


def test_search_has_the_scores_of_the_formula(tmp_path: Path) -> None:
    """Lucene's BM25 with k1 = 0.9 and b = 0.4, worked out for three products."""
    texts = {"B1": "red scarf", "B2": "red red wool coat", "B3": "blue wool scarf scarf scarf hat"}
    index = make_index(tmp_path / "index", texts)

    def score(count: int, length: int, holding: int) -> float:
        weight = np.log(1 + (3 - holding + 0.5) / (holding + 0.5))
        return float(weight * count / (count + 0.9 * (1 - 0.4 + 0.4 * length / 4)))

    red = [score(1, 2, 2), score(2, 4, 2), 0.0]
    scarf = [score(1, 2, 2), 0.0, score(3, 6, 2)]
    assert index.scores(index.terms("red")) == pytest.approx(red, rel=1e-6)
    both = [sum(pair) for pair in zip(red, scarf, strict=True)]
    assert index.scores(index.terms("red scarfs")) == pytest.approx(both, rel=1e-6)
    assert index.search("red") == ("B2", "B1")
    assert index.search("red scarfs") == ("B1", "B3", "B2")
