"""The reward of a purchase, compared with cases that were calculated by hand.

``data/reward_cases.csv`` has 200 purchases, ``data/reward_products.csv`` the products that they are
of. No row was produced by running the code. For each, a person decided from the rules (attributes
by token_set_ratio above 85 or as part of a text, options by ratio above 85 once a colour is one
word) which attributes and options hit; the column ``why`` says how, where ratios decide with the
count of signs that two texts have in common, in order, of the signs of both: 12 of 12 and 16 is
2 * 12 / 28, and that is 86. ``title words`` counts which of the wanted title's words the bought one
has; what words a title has stands in ``reward_products.csv``. ``hits``, ``total`` and ``reward``
follow from these columns by arithmetic.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import cast

import pytest

from dqa_simulators.shop.records import Goal, Product
from dqa_simulators.shop.reward import OptionRatio, count_reward
from dqa_simulators.shop.words import normalise_colour

Row = Mapping[str, str]
DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[Row]:
    """The rows of a file; a missing file fails."""
    with (DATA / name).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def listed(text: str) -> tuple[str, ...]:
    """The parts of a list."""
    return tuple(text.split(";")) if text else ()


CASES = rows("reward_cases.csv")
TOLD = {row["product"]: row for row in rows("reward_products.csv")}
PRODUCTS = {
    name: Product(
        name,
        row["title"],
        row["description"],
        listed(row["bullets"]),
        listed(row["attributes"]),
        (),
        float(row["price"]),
        float(row["price"]),
        float(row["price"]),
        row["query"],
        row["path"].partition(";")[0],
        listed(row["path"]),
    )
    for name, row in TOLD.items()
}


def test_200_purchases_are_worth_what_was_counted_by_hand() -> None:
    """All parts, and the reward that follows from them; every branch has a case."""
    assert len(CASES) == 200
    assert {row["r_type"] for row in CASES} == {"1", "0.5", "0.1", "0"}
    assert {row["ratio"] for row in CASES} == {"ratio", "token_set_ratio"}
    wrong = {}
    for row in CASES:
        chosen = {str(place): value for place, value in enumerate(listed(row["chosen"]))}
        options = tuple((str(place), value) for place, value in enumerate(listed(row["options"])))
        goal = Goal(0, row["wanted"], "", listed(row["attributes"]), options, float(row["bound"]))
        bought, wanted = PRODUCTS[row["bought"]], PRODUCTS[row["wanted"]]
        counted = count_reward(bought, goal, wanted, chosen, cast("OptionRatio", row["ratio"]))
        shared, words = map(int, row["title words"].split("/"))
        found = {
            "attribute hits": str(counted.attribute_hits),
            "option hits": str(counted.option_hits),
            "price hits": str(int(counted.is_within_bound)),
            "same query": "yes" if counted.same_query else "no",
            "two categories": "yes" if counted.same_category else "no",
            "r_type": f"{counted.r_type:g}",
            "hits": str(counted.hits),
            "total": str(counted.total),
        }
        differ = {name: value for name, value in found.items() if row[name] != value}
        if counted.title_overlap != pytest.approx(shared / words if words else 0.2):
            differ["title words"] = str(counted.title_overlap)
        if counted.value != pytest.approx(float(Fraction(row["reward"])), abs=1e-12):
            differ["reward"] = str(counted.value)
        if differ:
            wrong[row["case"]] = differ
    assert wrong == {}


def test_a_colour_is_one_word_of_an_option() -> None:
    """The first colour by the alphabet counts; a part of a word is none."""
    assert normalise_colour("Heather Grey | Black") == "black"
    assert normalise_colour("standard") == "standard"
    assert normalise_colour("a01_navy") == "navy"
    assert normalise_colour("01#white") == "white"
