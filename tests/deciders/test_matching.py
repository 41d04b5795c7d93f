"""Answers are matched to candidates as a person would read them."""

from __future__ import annotations

import pytest

from dqa.core.question import Candidate
from dqa.deciders.matching import match_candidate

NODES = (
    "krakow", "wien", "pest", "kiev", "gulf_of_siam", "siam", "st_lawrence", "ganges_delta",
    "white_sea", "rio_grande",
)  # fmt: skip
BUILDINGS = (1, 5, 12, 20, 1485, 1486)

ONE_NODE = [
    ("krakow", "krakow"),
    ("  Krakow.", "krakow"),
    ('"krakow"', "krakow"),
    ("**Gulf of Siam**", "gulf_of_siam"),
    ("gulf-of-siam", "gulf_of_siam"),
    ("GangesDelta", "ganges_delta"),
    ("St. Lawrence", "st_lawrence"),
    ("Kraków", "krakow"),
    ("node krakow", "krakow"),
    ("node_krakow", "krakow"),
    ("Put the merchant in krakow's node", "krakow"),
    ('{"answer": "white_sea"}', "white_sea"),
    ("not Wien but Krakow", "krakow"),
    ("Krakow, not Wien", "krakow"),
    ("Krakow not Wien", "krakow"),
    ("Krakow rather than Wien, Pest or Kiev", "krakow"),
    ("Rather than Wien, Krakow", "krakow"),
    ("Instead of Wien or Pest, choose Krakow.", "krakow"),
    ("Wien looked good; instead choose Krakow", "krakow"),
    ("Neither Wien nor Pest; Krakow.", "krakow"),
    ("Krakow is better than Wien", "krakow"),
    ("No other node is better than Krakow", "krakow"),
    ("Wien is worse than Krakow", "krakow"),
    ("Wien isn't as good as Krakow", "krakow"),
    ("Wien is not better than Krakow", "krakow"),
    ("Wien is not an option. Krakow it is.", "krakow"),
    ("I would not choose Wien; Krakow is best.", "krakow"),
    ("Don't use wien, pest or kiev. Use krakow.", "krakow"),
    ("Krakow beats Wien and Pest", "krakow"),
    ("It is not only Krakow", "krakow"),
    ("Wien gives 3.2 and Krakow gives 5.1. Answer: Krakow", "krakow"),
    ("Wien gives 3.2, Krakow gives 5.1, so my final decision is Krakow.", "krakow"),
    ("Answer: Krakow, since its value flows on to Wien", "krakow"),
    ("The answer is not Wien but Krakow", "krakow"),
    ("Place it at krakow, which flows to wien and then to pest.", "krakow"),
    ("krakow, krakow and again krakow", "krakow"),
]

NO_NODE = ["", "   ", "I cannot tell.", "krakowia", "siam_2", "not Wien", "neither Wien nor Pest"]

SEVERAL_NODES = [
    ("krakow or wien", ("krakow", "wien")),
    ("Answer: krakow, wien", ("krakow", "wien")),
    ("The value of krakow is 3, that of wien is 4.", ("krakow", "wien")),
]

ONE_BUILDING: list[tuple[str, Candidate]] = [
    ("1485", 1485),
    ("1485.0", 1485),
    ("1,485", 1485),
    ("Building 1485", 1485),
    ("building_1485", 1485),
    ("Raise building 1485 by 5 levels, from level 1 to 12.", 1485),
    ("id: 1485, price 20", 1485),
    ("#12", 12),
    ("We should expand 12", 12),
    ("12 by 5", 12),
    ("12, as its price of 5 is lowest", 12),
    ("Building 12 rather than building 20", 12),
    ("Buildings 12 and 20 were compared. Decision: building 12", 12),
    ("0012", 12),
]

NO_BUILDING = ["12.5", "B12", "-12", "by 5 levels", "14850", "not 12"]


@pytest.mark.parametrize(("answer", "expected"), ONE_NODE)
def test_one_named_node_is_the_choice(answer: str, expected: str) -> None:
    """Case, quotes, signs, sentences and turned-down names do not hide the one that is meant."""
    assert match_candidate(answer, NODES).choice == expected


@pytest.mark.parametrize("answer", NO_NODE)
def test_an_answer_without_a_candidate_names_none(answer: str) -> None:
    """Nothing, pieces of other words and turned-down names are no choice."""
    assert match_candidate(answer, NODES).named == ()


@pytest.mark.parametrize(("answer", "expected"), SEVERAL_NODES)
def test_several_names_stay_ambiguous(answer: str, expected: tuple[str, ...]) -> None:
    """An answer that names several candidates alike chooses none of them."""
    match = match_candidate(answer, NODES)
    assert match.named == expected
    assert match.choice is None


@pytest.mark.parametrize(("answer", "expected"), ONE_BUILDING)
def test_an_id_is_told_from_a_measure(answer: str, expected: Candidate) -> None:
    """Numbers that measure something are no ids, in whatever form the id is written."""
    assert match_candidate(answer, BUILDINGS).choice == expected


@pytest.mark.parametrize("answer", NO_BUILDING)
def test_numbers_that_are_no_ids_name_none(answer: str) -> None:
    """Fractions, signs, longer numbers and measures are no ids."""
    assert match_candidate(answer, BUILDINGS).named == ()


def test_two_ids_are_ambiguous() -> None:
    """A list of ids chooses none."""
    assert match_candidate("buildings 12 and 20", BUILDINGS).named == (12, 20)
    assert match_candidate("1,20", BUILDINGS).named == (1, 20)


def test_names_that_differ_only_in_case_are_told_apart_by_their_spelling() -> None:
    """The spelling decides where folding cannot, and none decides where no spelling fits."""
    assert match_candidate("the answer is Saint-Denis", ("saint-denis", "Saint-Denis")).choice == (
        "Saint-Denis"
    )
    assert len(match_candidate("SAINT DENIS", ("saint-denis", "Saint-Denis")).named) == 2


def test_a_single_letter_is_a_name_only_where_it_is_meant_as_one() -> None:
    """An article is no candidate called ``a``."""
    assert match_candidate("a merchant at node b", ("a", "b")).choice == "b"
    assert match_candidate("A", ("A", "B")).choice == "A"
    assert match_candidate('I choose "A"', ("A", "B")).choice == "A"


@pytest.mark.parametrize("candidate", [*NODES, *BUILDINGS, "???", "v1.2", "Ærø", "日本", "a b\nc"])
def test_every_candidate_matches_its_own_spelling(candidate: Candidate) -> None:
    """Whatever a candidate is called, its own name chooses it."""
    assert (
        match_candidate(
            f" {candidate} ", (*NODES, *BUILDINGS, "???", "v1.2", "Ærø", "日本", "a b\nc")
        ).choice
        == candidate
    )


def test_a_long_answer_is_read_in_one_pass() -> None:
    """Names that share their first words, and endless lists, are no trap."""
    nodes = tuple(f"trade node {number}" for number in range(1000))
    assert match_candidate("trade node " * 20_000 + "7", nodes).choice == "trade node 7"
    assert len(match_candidate("ids " + ", ".join(map(str, range(5_000))), range(5_000)).named) == (
        5_000
    )
