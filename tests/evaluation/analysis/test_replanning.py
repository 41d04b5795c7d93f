"""Each kind of re-planning on plans made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dqa.evaluation.analysis.replanning import Replanning, ReplanningKind, kind_of

PLAN = """1. Look up the home node of the country.
2. Look up the flow into the home node.
3. Calculate the profit of each source node.
4. Choose the node with the most profit."""


@pytest.mark.parametrize(
    ("new", "group", "kind"),
    [
        pytest.param(
            """1. Look up the flow into the home node.
            2. Look up the home node of the country.
            3. Calculate the profit of each source node.
            4. Choose the node with the most profit.""",
            "Same",
            ReplanningKind.REORDER,
            id="two steps change places",
        ),
        pytest.param(
            """1. Look up the home node of the country.
            2. Look up which countries keep a merchant abroad.
            3. Calculate the profit of each source node.
            4. Choose the node with the most profit.""",
            "Same",
            ReplanningKind.REPLACE,
            id="a step makes room for another one",
        ),
        pytest.param(
            """1. Look up the home node of the country.
            2. Calculate the flow into the home node.
            3. Calculate the profit of each source node.
            4. Choose the node with the most profit.""",
            "Same",
            ReplanningKind.REPLACE,
            id="another action on the same target",
        ),
        pytest.param(
            """1. Look up the home node of the country.
            2. Look up the flow into the source nodes.
            3. Calculate the profit of each source node.
            4. Choose the node with the most profit.""",
            "Same",
            ReplanningKind.CHANGE_TARGET,
            id="the same action on another target",
        ),
        pytest.param(
            """1. Look up the home node of the country.
            2. Look up the flow into the home node.
            3. Find which merchants work abroad.
            4. Calculate the profit of each source node.
            5. Choose the node with the most profit.""",
            "Increase",
            ReplanningKind.ADD_LOOK_UP,
            id="a look-up more",
        ),
        pytest.param(
            """1. Look up the home node of the country.
            2. Look up the flow into the home node.
            3. Calculate the profit of each source node.
            4. Compute the trading power ratio.
            5. Choose the node with the most profit.""",
            "Increase",
            ReplanningKind.ADD_CALCULATION,
            id="a calculation more",
        ),
        pytest.param(
            """1. Look up the home node of the country.
            2. Look up the flow into the home node.
            3. Look up the power of every merchant, and compute the ratio.
            4. Calculate the profit of each source node.
            5. Choose the node with the most profit.""",
            "Increase",
            ReplanningKind.ADD_BOTH,
            id="both actions in one step more",
        ),
        pytest.param(
            """1. Look up the home node of the country.
            2. Look up the flow into the home node.
            3. Look up the power of every merchant.
            4. Compute the trading ratio.
            5. Calculate the profit of each source node.
            6. Choose the node with the most profit.""",
            "Increase",
            ReplanningKind.ADD_BOTH,
            id="a look-up and a calculation more",
        ),
        pytest.param(
            """1. Look up the home node of the country.
            2. Look up the flow into the home node.
            3. Calculate the profit of each source node.
               a. its local value
               b. its share of power
            4. Choose the node with the most profit.""",
            "Increase",
            ReplanningKind.DIVIDE,
            id="sub-steps below a step",
        ),
        pytest.param(
            """1. Look up the home node of the country.
            2. Look up the flow into the home node.
            3. Calculate the profit of each source.
            4. Calculate the profit of the node behind.
            5. Choose the node with the most profit.""",
            "Increase",
            ReplanningKind.DIVIDE,
            id="a step in two parts",
        ),
        pytest.param(
            """1. Look up the home node of the country.
            2. Look up the flow into the home node.
            3. Choose the node with the most profit.""",
            "Decrease",
            ReplanningKind.DELETE,
            id="a step is left out",
        ),
        pytest.param(
            """1. Look up the home node of the country and the flow into the home node.
            2. Calculate the profit of each source node.
            3. Choose the node with the most profit.""",
            "Decrease",
            ReplanningKind.MERGE,
            id="two steps in one",
        ),
        pytest.param(
            """1) look up the home node of the country
            2) look up the flow into the home node
            3) calculate the profit of each source node
            4) choose the node with the most profit""",
            "Same",
            ReplanningKind.UNCHANGED,
            id="only numbers and full stops differ",
        ),
        pytest.param(
            "1. Guess.\n2. Hope.", "Decrease", ReplanningKind.REWRITTEN, id="nothing is left, less"
        ),
        pytest.param(
            "1. Guess.\n2. Hope.\n3. Wait.\n4. Pray.",
            "Same",
            ReplanningKind.REWRITTEN,
            id="nothing is left, as many",
        ),
        pytest.param(
            "1. Guess.\n2. Hope.\n3. Wait.\n4. Pray.\n5. Sleep.",
            "Increase",
            ReplanningKind.REWRITTEN,
            id="nothing is left, more",
        ),
        pytest.param(
            PLAN + "\n5. Be confident about everything.",
            "Increase",
            ReplanningKind.OTHER,
            id="what is added is no action",
        ),
        pytest.param("", "Decrease", ReplanningKind.OTHER, id="an empty plan"),
    ],
)
def test_every_change_has_its_kind(new: str, group: str, kind: ReplanningKind) -> None:
    """The paper's nine, and honest names for what is none of them."""
    assert kind_of(PLAN, new) == Replanning(group, kind)


def test_the_same_plan_and_no_plan_are_unchanged() -> None:
    """No difference is no kind of the paper's."""
    assert kind_of(PLAN, PLAN) == Replanning("Same", ReplanningKind.UNCHANGED)
    assert kind_of(" \n", "") == Replanning("Same", ReplanningKind.UNCHANGED)


def test_a_step_like_one_that_stays_is_added_and_no_part_of_it() -> None:
    """A second look-up of the same kind does not divide the first."""
    new = PLAN.replace("3. C", "3. Look up the flow into Doab.\n4. C").replace("4. Ch", "5. Ch")
    assert kind_of(PLAN, new) == Replanning("Increase", ReplanningKind.ADD_LOOK_UP)


def test_plans_without_numbers_are_compared_line_by_line() -> None:
    """Nothing depends on the way a model marks its steps."""
    bare = "\n".join(line[3:] for line in PLAN.splitlines())
    assert kind_of(PLAN, bare).kind is ReplanningKind.UNCHANGED
    first, second, *rest = bare.splitlines()
    assert kind_of(bare, "\n".join([second, first, *rest])).kind is ReplanningKind.REORDER


def test_other_languages_are_aligned_by_their_own_words() -> None:
    """Order, replacement and deletion need no English; an action does, and is not guessed."""
    plan = "1. Найти приток в узел.\n2. Рассчитать прибыль страны.\n3. Выбрать лучший узел."
    first, second, third = plan.splitlines()
    assert kind_of(plan, f"{second}\n{first}\n{third}").kind is ReplanningKind.REORDER
    assert kind_of(plan, f"{first}\n{third}").kind is ReplanningKind.DELETE
    assert kind_of(plan, f"{plan}\n4. Проверить соседей.").kind is ReplanningKind.OTHER


def test_a_text_of_thousands_of_lines_is_not_compared() -> None:
    """What a runaway model repeats costs no time."""
    endless = "\n".join(f"{number}. Look at {number}" for number in range(5_000))
    assert kind_of(endless, PLAN) == Replanning("Decrease", ReplanningKind.OTHER)


_LINES = st.lists(
    st.tuples(st.sampled_from(["", "1. ", "2) ", "  - ", "Step 3: ", "1.1 "]), st.text(max_size=12))
)


@given(_LINES, _LINES)
def test_any_two_texts_have_one_kind(
    old: list[tuple[str, str]], new: list[tuple[str, str]]
) -> None:
    """Whatever a model wrote, and the group follows from the number of steps both ways."""
    one, other = ("\n".join(map("".join, lines)) for lines in (old, new))
    there, back = kind_of(one, other), kind_of(other, one)
    assert (there.group, back.group) in {
        ("Same", "Same"),
        ("Increase", "Decrease"),
        ("Decrease", "Increase"),
    }
    assert kind_of(one, one).kind in {ReplanningKind.UNCHANGED, ReplanningKind.OTHER}
