"""What a purchase in the shop is worth, held against cases that were worked out by hand.

``data/reward_cases.csv`` has 200 purchases, ``data/reward_products.csv`` the products that they are
of. No row was produced by running the code. For each, a person decided from the rules (attributes
by token_set_ratio above 85 or as part of a text, options by ratio above 85 once a colour is one
word) which attributes and options hit; the column ``why`` says how, where ratios decide with the
count of signs that two texts have in common, in order, of the signs of both: 12 of 12 and 16 is
2 * 12 / 28, and that is 86. ``title words`` counts which of the wanted title's words the bought one
has; what words a title has stands in ``reward_products.csv``. ``hits``, ``total`` and ``reward``
follow from these columns by arithmetic, which a test below does again.
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
from dqa_simulators.shop.words import STOP_WORDS, normalise_colour

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


def test_there_are_200_cases_with_every_branch() -> None:
    """Each value of r_type, both ratios, and every part both hit and missed."""
    assert len(CASES) == 200
    assert {row["r_type"] for row in CASES} == {"1", "0.5", "0.1", "0"}
    assert {row["ratio"] for row in CASES} == {"ratio", "token_set_ratio"}
    for part, of in (("attribute hits", "attributes"), ("option hits", "options")):
        assert any(int(row[part]) == len(listed(row[of])) > 0 for row in CASES)
        assert any(int(row[part]) == 0 < len(listed(row[of])) for row in CASES)
    assert {row["price hits"] for row in CASES} == {"0", "1"}
    assert (
        {row["same query"] for row in CASES}
        == {"yes", "no"}
        == {r["two categories"] for r in CASES}
    )


@pytest.mark.parametrize("row", CASES, ids=[f"{row['case']} {row['branch']}" for row in CASES])
def test_a_purchase_is_worth_what_was_counted_by_hand(row: Row) -> None:
    """All parts, and the reward that they make."""
    chosen = {str(place): value for place, value in enumerate(listed(row["chosen"]))}
    options = tuple((str(place), value) for place, value in enumerate(listed(row["options"])))
    goal = Goal(0, row["wanted"], "", listed(row["attributes"]), options, float(row["bound"]))
    bought, wanted = PRODUCTS[row["bought"]], PRODUCTS[row["wanted"]]
    counted = count_reward(bought, goal, wanted, chosen, cast("OptionRatio", row["ratio"]))
    assert counted.attribute_hits == int(row["attribute hits"])
    assert counted.option_hits == int(row["option hits"])
    assert counted.is_within_bound == (row["price hits"] == "1")
    assert counted.same_query == (row["same query"] == "yes")
    assert counted.same_category == (row["two categories"] == "yes")
    shared, words = map(int, row["title words"].split("/"))
    assert counted.title_overlap == pytest.approx(shared / words if words else 0.2)
    assert counted.r_type == float(row["r_type"])
    assert (counted.hits, counted.total) == (int(row["hits"]), int(row["total"]))
    assert counted.value == pytest.approx(float(Fraction(row["reward"])), abs=1e-12)


@pytest.mark.parametrize("row", CASES, ids=[row["case"] for row in CASES])
def test_the_columns_of_a_case_add_up(row: Row) -> None:
    """What follows by arithmetic, without the code that is tested."""
    bought, wanted = TOLD[row["bought"]], TOLD[row["wanted"]]
    parts = [int(row[name]) for name in ("attribute hits", "option hits", "price hits")]
    total = len(listed(row["attributes"])) + len(listed(row["options"])) + 1
    assert (int(row["hits"]), int(row["total"])) == (sum(parts), total)
    assert int(row["price hits"]) == (float(bought["price"]) <= float(row["bound"]))
    words = [set(told["title words"].split()) for told in (bought, wanted)]
    assert row["title words"] == f"{len(words[0] & words[1])}/{len(words[1])}"
    assert (row["same query"] == "yes") == (bought["query"] == wanted["query"])
    paths = [set(listed(told["path"])) for told in (bought, wanted)]
    assert (row["two categories"] == "yes") == (len(paths[0] & paths[1]) >= 2)
    assert Fraction(row["reward"]) == Fraction(row["r_type"]) * sum(parts) / total


@pytest.mark.parametrize("told", TOLD.values(), ids=list(TOLD))
def test_title_words_are_neither_stop_words_nor_colours(told: Row) -> None:
    """The column by hand keeps to the rule that it goes by."""
    for word in told["title words"].split():
        assert word.isalpha()
        assert len(word) > 1
        assert word not in STOP_WORDS
        assert word not in {"black", "gold", "red"}
        assert word in told["title"].lower()


def test_a_colour_is_one_word_of_an_option() -> None:
    """The first colour by the alphabet counts; a part of a word is none."""
    assert normalise_colour("Heather Grey | Black") == "black"
    assert normalise_colour("standard") == "standard"
    assert normalise_colour("a01_navy") == "navy"
    assert normalise_colour("01#white") == "white"
