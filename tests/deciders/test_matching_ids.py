"""Golden sentences of the rule about ids, and about candidates called like common words."""

from __future__ import annotations

import pytest

from dqa.core.question import Candidate
from dqa.deciders.matching import match_candidate

BUILDINGS = (1, 2, 3, 5, 12, 13, 14, 20, 1485)
COMMON = ("best", "second", "not", "Will", "over", "Genoa")

ONE_BUILDING: list[tuple[str, Candidate]] = [
    ("I compared buildings 12, 13 and 14 and choose 13.", 13),
    ("I compared building 12 with building 14. 12 is better.", 12),
    ("id 12 and id 14 tie; I take id 12", 12),
    ("id 12 and id 14 tie; I take 12", 12),
    ("Building 12 is cheap. Answer: 14", 14),
    ("Buildings 12 and 14 were compared. The answer is 13.", 13),
    ("Building 12 looks good but I choose 14 by 5 levels", 14),
    ("I compared 5 buildings; 12 is best", 12),
    ("1. Building 12\n2. Building 14\nBest: building 14", 14),
    ("1. 12\n2. 14\n3. 20\n\nBest: 14", 14),
    ("12. It is the cheapest.", 12),
    ("No. 12", 12),
    ("Buildings 13, 14. Decision: No. 12", 12),
    ("Expand building 12 by 5, since building 14 costs 20", 12),
    ("Building 12 (level 5), not building 14 (level 2)", 12),
    ('{"building": 12, "level": 5, "price": 20}', 12),
    ('{"decision": 12, "increase_by": 5, "alternative": 14}', 12),
    ("| id | price |\n|---|---|\n| 12 | 3.5 |\n| 14 | 3.7 |\n\nAnswer: 12", 12),
    ("Building **12** is optimal; building 14 is not.", 12),
    ("Raise id=12 rather than id=14", 12),
    ("Over all buildings 12 is best", 12),
    ("Buildings 12 and 14: 14 cannot be beaten", 14),
    ("Anything but 14: choose 12", 12),
    ("Choose 12, 5 levels", 12),
    ("Building\uff1a12", 12),
    ("1,485 is best", 1485),
    ("Previous decision: building 14. Final decision: building 12.", 12),
    ("Reject 14 and choose 12", 12),
    ("The answer is building 12, which costs 20 and reaches level 5.", 12),
    ("The recommended building is #12 (#14 costs more).", 12),
    ("Expand building 12 by 5 levels. The price falls from 20 to 14.", 12),
    ("We should expand building 1485, not 12.", 1485),
    ("Building ID: 1485", 1485),
    ("The best building to expand is 12 with a price of 3", 12),
    ("The building with id 12 should be expanded by 5 because 14 is more expensive.", 12),
    ("expand 12", 12),
    ("id\n12", 12),
    ("12\n", 12),
    ("[12]", 12),
    ("{'building_id': 12, 'level': 3}", 12),
    ("Building 12 costs less than building 14", 12),
    ("No building costs less than building 12", 12),
    ("Building 12 has a lower price than building 14", 12),
    ("Increase building 12's level by 5", 12),
    ("Final answer: 12 (from level 1 to 5)", 12),
    ("Final answer: 1,485", 1485),
    ("The price is 20 in building 12 and 14 in building 13. Choose building 13.", 13),
    ("After trying 14 buildings, the answer is 12.", 12),
    ("1) 12\n2) 14\nanswer: 12", 12),
    ("Step 1: query. Step 2: compare. Answer: building 12", 12),
    ("Step 1: query the data. Step 2: compare 12 and 14. Answer: 14", 14),
    ("Candidate 12: 3.4; candidate 14: 3.5; candidate 12 is better", 12),
    ("The cheapest is 12", 12),
    ("trade node 12", 12),
    ("Between 12 and 14 I take 14", 14),
]

NO_BUILDING = [
    "Avoid building 12",
    "Anything but building 12",
    "Reject 12",
    "Building 12 should be avoided",
    "I compared 5 buildings",
    "Take 5 steps",
    "Not building 12 or 14",
    "It would be wrong to raise building 12",
    "12.5 %",
]

SEVERAL_BUILDINGS = [
    "Buildings 12 and 14",
    "12 or 14",
    "12, 14",
    "Building 12 costs 5, building 14 costs 20",
    "Raise building 12 or building 14",
    "(12, 5)",
    "Building 12 costs more than building 14",
    "I choose 12 or 14",
    "12 > 14",
]

COMMON_WORDS: list[tuple[str, str | None]] = [
    ("Genoa is best", "Genoa"),
    ("The second thing is: Genoa, not others, over all, will be best", "Genoa"),
    ("best", "best"),
    ("The answer is 'second'", "second"),
    ("Answer: Will", "Will"),
    ("node over", "over"),
    ("I will not decide", None),
]

ACTIONS: list[tuple[str, tuple[str, ...], str]] = [
    ("Yes.", ("yes", "no"), "yes"),
    ("No.", ("yes", "no"), "no"),
    ("No, there is no better option.", ("yes", "no"), "no"),
    ("Decision: No", ("yes", "no"), "no"),
    ("We should increase the price.", ("increase", "decrease"), "increase"),
    ("Reject the loan.", ("approve", "reject"), "reject"),
    ("Approve, do not reject.", ("approve", "reject"), "approve"),
    ("Expand.", ("expand", "wait"), "expand"),
    ("Answer: none", ("all", "none"), "none"),
    ("I choose the second", ("first", "second"), "second"),
    ("Place AMD, not GME", ("AMD", "GME"), "AMD"),
]


@pytest.mark.parametrize(("answer", "expected"), ONE_BUILDING)
def test_the_building_that_a_reader_takes_is_the_choice(answer: str, expected: Candidate) -> None:
    """Ids are found among levels, prices, list markers and other ids."""
    assert match_candidate(answer, BUILDINGS).named == (expected,)


@pytest.mark.parametrize("answer", NO_BUILDING)
def test_an_id_that_is_turned_down_is_no_choice(answer: str) -> None:
    """Numbers of things, and ids that are turned down, choose nothing."""
    assert match_candidate(answer, BUILDINGS).named == ()


@pytest.mark.parametrize("answer", SEVERAL_BUILDINGS)
def test_ids_that_are_named_alike_leave_the_choice_open(answer: str) -> None:
    """Where the words do not decide between ids, neither does the rule."""
    assert len(match_candidate(answer, BUILDINGS).named) == 2


@pytest.mark.parametrize(("answer", "expected"), COMMON_WORDS)
def test_a_name_that_is_a_common_word_must_be_meant_as_a_name(
    answer: str, expected: str | None
) -> None:
    """A candidate called ``best`` is not named by every sentence that says what is best."""
    match = match_candidate(answer, COMMON)
    assert match.choice == expected
    assert bool(match.named) is (expected is not None)


@pytest.mark.parametrize(("answer", "candidates", "expected"), ACTIONS)
def test_actions_may_be_called_like_words_of_the_rule(
    answer: str, candidates: tuple[str, ...], expected: str
) -> None:
    """Candidates that are verbs, or yes and no, are found where they are the answer."""
    assert match_candidate(answer, candidates).named == (expected,)
