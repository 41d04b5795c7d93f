"""Golden sentences of the rule: who writes a sentence like this chooses that candidate, or none."""

from __future__ import annotations

import pytest

from dqa.deciders.matching import match_candidate
from dqa.question import Candidate

NODES = ("Genoa", "Venice", "Kiev", "port", "port_west", "gulf_of_siam", "white_sea")
BUILDINGS = (1, 2, 3, 5, 12, 13, 14, 20, 1485)
COMMON = ("best", "second", "not", "Will", "over", "Genoa")

TURNED_DOWN = [
    "Genoa should be avoided.",
    "Reject Genoa",
    "Anything but Genoa",
    "Genoa is a bad choice",
    "It would be wrong to choose Genoa",
    "No merchant should go to Genoa",
    "Refuse Genoa",
    "We can rule out Genoa.",
    "Reject: Genoa, Venice",
    "Anywhere but Genoa or Venice",
    "Any node but Genoa",
    "Every node except Genoa",
    "Any node other than Genoa",
    "Genoa would be a mistake.",
    "Choosing Genoa would be a mistake",
    "It would be a mistake to place the merchant in Genoa.",
    "It is a bad idea to send a merchant to Genoa",
    "Genoa is clearly the wrong node",
    "Genoa is a really poor option",
    "Genoa is out of the question",
    "Genoa is no option",
    "Genoa is no longer the best",
    "Genoa was ruled out",
    "Genoa has been dismissed",
    "There is no reason to choose Genoa",
    "No building or node should be placed in Genoa",
    "Stay away from Genoa",
    "I advise against Genoa",
    "I would advise against placing a merchant in Genoa",
    "The worst node is Genoa",
    "Worst choice: Genoa",
    "I don't think Genoa is good",
    "Genoa can't be recommended.",
    "Genoa isn\u2019t the answer",
    "**Genoa** is *not* the answer",
    "Answer: not Genoa",
    "The answer is neither Genoa nor Venice.",
    "Genoa yields 3. Answer: none",
    "Genoa yields 3, Venice 4. Decision: None of them.",
    "Genoa must not be chosen",
    "Genoa should never be chosen",
    "Without Genoa",
    "Nobody should pick Genoa",
    "None of Genoa, Venice and Kiev",
    "I wouldn't say Genoa",
    "The decision is not to place a merchant in Genoa.",
    "I don't have enough data to decide whether Genoa is best",
    "I am not sure whether Genoa is best",
    "Unfortunately I cannot determine the best node.",
]

ONE_NODE = [
    # The reviewed sentences.
    ("The answer is Genoa. The second choice is Venice.", "Genoa"),
    ("My decision is Genoa. An alternative answer: Venice", "Genoa"),
    ("Previous decision: Venice. Final: Genoa", "Genoa"),
    ("Having compared the nodes I choose Genoa", "Genoa"),
    ("Over all nodes Genoa is best", "Genoa"),
    ("Averaged over all paths Genoa wins", "Genoa"),
    ("Genoa cannot be beaten", "Genoa"),
    ("Genoa is second to none", "Genoa"),
    ("Genoa does not lose value", "Genoa"),
    ("Between Genoa and Venice I choose Genoa.", "Genoa"),
    ("Candidates: Genoa, Venice.\nBest node: Venice", "Venice"),
    ("Genoa: 12.3\nVenice: 14.5\nBest: Venice", "Venice"),
    ("Recommended node: Venice (Genoa yields less)", "Venice"),
    ("I reject Genoa and choose Venice", "Venice"),
    ("Assign the merchant to Genoa; Venice yields 3 ducats less", "Genoa"),
    # Labels, and what stands beside them.
    ("Answer: Genoa\nRunner-up: Venice", "Genoa"),
    ("Genoa\nAlternative: Venice", "Genoa"),
    ("Fallback option: Venice. Final answer: Genoa", "Genoa"),
    ("Final answer: Genoa. Fallback answer: Venice", "Genoa"),
    ("Initial choice: Venice\nFinal choice: Genoa", "Genoa"),
    ("My earlier answer was Venice. My answer is now Genoa.", "Genoa"),
    ("The second best node is Venice, the best node is Genoa", "Genoa"),
    ("The next best choice is Venice. Choose Genoa.", "Genoa"),
    ("The answer is Genoa. The worst choice is Venice.", "Genoa"),
    ("The answer is clear. Venice gives 3 and Genoa 5; choose Genoa.", "Genoa"),
    ("Venice gives 3.\n\n## Final answer\n\nGenoa", "Genoa"),
    ("Venice gives 3.\nFinal answer:\n**Genoa**", "Genoa"),
    ("Venice and Kiev were considered.\n**Answer:** Genoa", "Genoa"),
    ("Venice and Kiev were considered.\n**Answer**: Genoa", "Genoa"),
    ("Venice or Kiev? My pick: Genoa", "Genoa"),
    ("Venice, Kiev, Genoa. The winner is Genoa.", "Genoa"),
    ("Chosen node = Genoa, with Venice at 3", "Genoa"),
    ("Best location for the merchant: Genoa (not Venice)", "Genoa"),
    ("The optimal location to place the merchant is Genoa, ahead of Venice", "Genoa"),
    ("Conclusion: Genoa. Venice gives 3.", "Genoa"),
    ("Answer: Genoa. The decision is final; Venice loses.", "Genoa"),
    ("| Node | Value |\n|---|---|\n| Genoa | 3 |\n| Venice | 5 |\n\nBest: Venice", "Venice"),
    ("| Venice | 3 |\n| Genoa | 5 |\n| Decision | Genoa |", "Genoa"),
    ('{"answer": "Genoa", "alternative": "Venice"}', "Genoa"),
    ('{"best_node": "Genoa", "runner_up": "Venice", "value": 3}', "Genoa"),
    ('{"values": {"Genoa": 3, "Venice": 4}, "decision": "Venice"}', "Venice"),
    ('{"alternatives": ["Venice"], "choice": "Genoa"}', "Genoa"),
    ("```json\n{'node': 'Genoa'}\n```", "Genoa"),
    ("- Genoa: 12\n- Venice: 14\n\n**Best node: Venice**", "Venice"),
    ("* Genoa\n* Venice\n* Kiev\n\nI pick Kiev.", "Kiev"),
    ("1. Genoa - 12\n2. Venice - 10\nDecision: Genoa", "Genoa"),
    # Other punctuation.
    ("\u300cGenoa\u300d", "Genoa"),
    ("\u201eGenoa\u201c", "Genoa"),
    ("\u00abGenoa\u00bb", "Genoa"),
    ("Venice\uff1a3\u3002Answer\uff1aGenoa\u3002", "Genoa"),
    ("Genoa\uff0cnot Venice\u3002", "Genoa"),
    ("\u00a1Genoa! \u00bfVenice? No.", "Genoa"),
    ("Genoa \u2014 not Venice", "Genoa"),
    ("Genoa\u2026 not Venice", "Genoa"),
    # Choosing verbs.
    ("Station the merchant in Genoa, as Venice yields less.", "Genoa"),
    ("Locate it in Genoa; Venice is weaker", "Genoa"),
    ("I take Genoa. Venice yields 3.", "Genoa"),
    ("We should place the merchant at Genoa. Venice yields 3.", "Genoa"),
    ("I recommend placing a merchant at Genoa. It flows to Venice.", "Genoa"),
    ("I recommend Genoa with Venice downstream", "Genoa"),
    ("Among Genoa, Venice and Kiev we select Kiev", "Kiev"),
    ("Choosing between Genoa and Venice, I would go with Genoa", "Genoa"),
    ("I opt for Genoa. Venice yields 3.", "Genoa"),
    ("I dismiss Venice and Kiev and pick Genoa", "Genoa"),
    ("Rule out Venice, then choose Genoa", "Genoa"),
    ("The merchant should be sent to Genoa, since Venice yields 3", "Genoa"),
    ("If I choose Venice I get 3, so I choose Genoa", "Genoa"),
    ("Placing a merchant at Venice yields 3. I therefore choose Genoa.", "Genoa"),
    ("Had we chosen Venice, we would get 3; Genoa is best.", "Genoa"),
    # What is said of a name.
    ("Venice gives 3 and Genoa should be chosen", "Genoa"),
    ("Venice is good, Genoa is better", "Genoa"),
    ("Venice is better than Kiev; Genoa is the best", "Genoa"),
    ("Genoa is not a bad choice", "Genoa"),
    ("Genoa isn't beaten by any node", "Genoa"),
    ("Genoa can't be surpassed; Venice yields 3", "Genoa"),
    ("Genoa is no doubt best; Venice yields 3", "Genoa"),
    ("No doubt Genoa is best", "Genoa"),
    ("As the price does not matter Genoa is best", "Genoa"),
    ("Genoa is never worse than Venice", "Genoa"),
    ("It would be a mistake not to choose Genoa", "Genoa"),
    ("None other than Genoa", "Genoa"),
    ("Nothing but Genoa", "Genoa"),
    ("Nowhere but Genoa", "Genoa"),
    ("No node can match Genoa", "Genoa"),
    ("No other node beats Genoa", "Genoa"),
    ("Nothing beats Genoa, not even Venice", "Genoa"),
    ("There is no better node than Genoa", "Genoa"),
    ("Venice cannot match Genoa", "Genoa"),
    ("Venice loses to Genoa", "Genoa"),
    ("Venice is second, Genoa wins", "Genoa"),
    ("Genoa over Venice", "Genoa"),
    ("I prefer Genoa over Venice", "Genoa"),
    ("Over Venice I prefer Genoa", "Genoa"),
    ("Compared with Venice, Genoa yields more", "Genoa"),
    ("Compared to Venice or Kiev Genoa is best", "Genoa"),
    ("I compared Genoa against Venice; choose Genoa", "Genoa"),
    ("Genoa, as opposed to Venice", "Genoa"),
    ("Genoa has more value than Venice", "Genoa"),
    ("I select as node Genoa", "Genoa"),
    ("Genoa is the one I would choose, Venice yields 3", "Genoa"),
    ("With no competition in the node Genoa wins", "Genoa"),
    ("I see no reason to wait: Genoa", "Genoa"),
    ("In the worst case Genoa still yields 5", "Genoa"),
    ("In second place Venice, in first place Genoa", "Genoa"),
    # Names.
    ("port_west", "port_west"),
    ("Port West, not port", "port_west"),
    ("I choose the port, not port_west", "port"),
    ("`port`", "port"),
    ("the best one is `port-west` rather than `port`", "port_west"),
    ("portwest", "port_west"),
    ("**Gulf of Siam**, not the White Sea", "gulf_of_siam"),
    ("the node 'white_sea'", "white_sea"),
    ("__white_sea__", "white_sea"),
    ("VENICE!!!", "Venice"),
    ("Based on the simulation, the best trading node for the merchant is Genoa.", "Genoa"),
    (
        ("After evaluating all trade nodes, I conclude that Genoa is the best choice, with "
        "12.5 ducats. Venice comes second with 11.2 ducats."),
        "Genoa",
    ),
    (
        ("To maximize the profit, the merchant should be placed in Genoa, because the share "
        "rises from 5 % to 12 %, while in Venice it does not."),
        "Genoa",
    ),
    ("Final Answer: The merchant should go to Genoa rather than Venice.", "Genoa"),
    ("Thought: I know the final answer\nFinal Answer: Genoa", "Genoa"),
    ("Venice: 3.5\nGenoa: 5.6\nKiev: 2.2\nTherefore, Genoa.", "Genoa"),
    ("Therefore Genoa is our choice, not Venice or Kiev.", "Genoa"),
    ("I considered Venice, but it loses too much. Kiev is too small. Go with Genoa.", "Genoa"),
    ("Genoa would be the best place to put a merchant. Venice would be the second best.", "Genoa"),
    ("1. Genoa (best)\n2. Venice\n3. Kiev", "Genoa"),
    ("Genoa (recommended)\nVenice", "Genoa"),
    ("I'd choose Genoa.", "Genoa"),
    ("I'd pick Genoa, but Venice is close.", "Genoa"),
    ("I'll go with Genoa instead of Venice", "Genoa"),
    ("Let's place the merchant in Genoa; Venice is worse", "Genoa"),
    ("You should select Genoa. Do not select Venice.", "Genoa"),
    ("My answer: don't choose Venice, choose Genoa", "Genoa"),
    ("While Venice is a good choice, Genoa is better.", "Genoa"),
    ("Genoa is a better choice than Venice.", "Genoa"),
    ("Genoa is the better choice.", "Genoa"),
    ("Venice was my first thought. However, Genoa it is.", "Genoa"),
    ("Venice might be chosen, but I select Genoa", "Genoa"),
    ("It's Genoa.", "Genoa"),
    ("Genoa? No. Venice? Yes.", "Venice"),
    ("Should it be Venice? No, Genoa.", "Genoa"),
    ("The merchant should not be placed in Venice; it should be placed in Genoa.", "Genoa"),
    ("The merchant should not be placed in Venice but in Genoa.", "Genoa"),
    ("Genoa is not as good as Venice.", "Venice"),
    ("Genoa isn't better than Venice", "Venice"),
    ("Neither Venice nor Kiev can compete with Genoa", "Genoa"),
    ("Everything points to Genoa", "Genoa"),
    ("No doubt: Genoa", "Genoa"),
    ("Not surprisingly, Genoa wins.", "Genoa"),
    ("Not surprisingly Genoa wins", "Genoa"),
    ("Without doubt Genoa", "Genoa"),
    ("Without a doubt, Genoa is best", "Genoa"),
    ("The decision is to place the merchant in Genoa.", "Genoa"),
    ("Decision:\n- Genoa\n", "Genoa"),
    ("Decision:\n1. Genoa\n", "Genoa"),
    ("The answer is **Genoa** (Venice is close).", "Genoa"),
    ("<answer>Genoa</answer> Venice is close", "Genoa"),
    ('Answer = "Genoa"; alternatives = ["Venice"]', "Genoa"),
    ('{"decision": "Genoa", "reason": "Venice is best upstream"}', "Genoa"),
    ('{"reason": "Venice is close but Genoa is best", "decision": "Genoa"}', "Genoa"),
    ('{"action": "place", "node": "Genoa", "rejected": ["Venice", "Kiev"]}', "Genoa"),
    ("Options: Genoa, Venice. Chosen: Venice.", "Venice"),
    ("Option 1: Genoa. Option 2: Venice. The best option is option 2: Venice", "Venice"),
    ("The best choice between Genoa and Venice is Genoa", "Genoa"),
    ("The best choice among Genoa, Venice and Kiev is Genoa", "Genoa"),
    ("Send the merchant to Genoa from Venice", "Genoa"),
    ("Do not stay in Venice, go to Genoa", "Genoa"),
    ("Genoa is where I would place the merchant; Venice is next.", "Genoa"),
    ("The node I recommend is Genoa. Venice flows into it.", "Genoa"),
    ("What I recommend is Genoa. Venice flows into it.", "Genoa"),
    ("Genoa has no competition", "Genoa"),
    ("Don't forget that Genoa flows to Venice; choose Genoa", "Genoa"),
    ("Genoa is not bad, but Venice is best", "Venice"),
    ("Genoa is best, but Venice is not bad", "Genoa"),
    ("Genoa comes first, Venice comes second", "Genoa"),
    ("Genoa's profit is higher than Venice's", "Genoa"),
    ("best_node = 'Genoa'  # Venice is 2nd", "Genoa"),
    ("My final choice would be Genoa, followed by Venice", "Genoa"),
    ("Antwort: Genoa", "Genoa"),
]  # fmt: skip

SEVERAL_NODES = [
    "Venice has less value than Genoa",
    "Genoa and Venice are equally good",
    "Genoa is as good as Venice",
    "Genoa as well as Venice",
    "Either Genoa or Venice should be chosen",
    "If we choose Venice the profit is 5. Genoa gives 7.",
    "Placing a merchant at Venice yields 5, at Genoa 7.",
    "We could place it at Venice; Genoa is possible",
    "The answer is Genoa or Venice",
    "Best: Genoa, Venice",
    "I choose Genoa. I choose Venice.",
    "Genoa is best. Venice is best.",
    "- Genoa\n- Venice",
    "| Genoa | 3 |\n| Venice | 4 |",
    '["Genoa", "Venice"]',
    "Genoa has the highest price, Venice the lowest",
    "Genoa yields the highest profit. Venice yields the lowest.",
    "**Decision**\nVenice yields 3.\nGenoa yields 5: best.",
    "\\boxed{Genoa}, Venice is close",
    "Of Genoa and Venice, Genoa",
    "Genoa dominates Venice",
    "I can't decide: Genoa or Venice",
    "The query failed. Possible nodes are Genoa, Venice.",
    "Venice's profit is lower than Genoa's",
]

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


@pytest.mark.parametrize("answer", TURNED_DOWN)
def test_a_name_that_is_turned_down_is_no_choice(answer: str) -> None:
    """Whoever warns of a candidate, or wants any other, chooses none."""
    assert match_candidate(answer, NODES).named == ()


@pytest.mark.parametrize(("answer", "expected"), ONE_NODE)
def test_the_node_that_a_reader_takes_is_the_choice(answer: str, expected: str) -> None:
    """Names that stand beside the choice neither hide it nor take its place."""
    assert match_candidate(answer, NODES).named == (expected,)


@pytest.mark.parametrize("answer", SEVERAL_NODES)
def test_nodes_that_are_named_alike_leave_the_choice_open(answer: str) -> None:
    """Where the words do not decide between names, neither does the rule."""
    assert len(match_candidate(answer, NODES).named) == 2


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


@pytest.mark.parametrize(
    ("repeated", "choice"),
    [
        ("Answer: Genoa. ", "Genoa"),
        ("Genoa and Venice, ", None),
        ("Genoa is not better than Venice. ", "Venice"),
    ],
)
def test_ten_thousand_names_cost_what_they_cost_one_by_one(
    repeated: str, choice: str | None
) -> None:
    """Work grows with the answer and not with its square, which would be many minutes here."""
    assert match_candidate(repeated * 10_000, NODES).choice == choice
