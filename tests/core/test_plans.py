"""Steps of plans in many forms."""

from __future__ import annotations

import pytest

from dqa.core.plans import PlanStep, read_plan, steps_of


def texts(plan: str) -> list[str]:
    """Return the steps' texts."""
    return [step.text for step in steps_of(plan)]


@pytest.mark.parametrize(
    "plan",
    [
        "1. Find A\n2. Add B",
        "1) Find A\n2) Add B",
        "(1) Find A\n(2) Add B",
        "Step 1: Find A\nStep 2: Add B",
        "**Step 1:** Find A\n**Step 2:** Add B",
        "Schritt 1: Find A\nSchritt 2: Add B",
        "\u0661. Find A\n\u0662. Add B",
        "- Find A\n- Add B",
        "a) Find A\nb) Add B",
        "1 - Find A\n2 - Add B",
        "Find A\nAdd B",
        "1. Find A 2. Add B",
        "> 1. Find A\n> 2. Add B",
        "Step 1: Find\n  A\nStep 2: Add\n  B",
        "1. Find A\n      2. Add B",
        "\n1. Find\n   A\n\n2. Add\nB\n",
        "Here is my plan:\n\n1. Find A\n2. Add B\n\nLet me begin.",
        "[Step 1: Find A, Step 2: Add B]",
        "Step 1: Find A, Step 2: Add B",
        "**Step 1:** Find A **Step 2:** Add B",
        "(1) Find A, (2) Add B",
        "My plan: [Step 1: Find A, Step 2: Add B]",
        "My plan:\n1) Find A 2) Add\nB\n\nLet me begin.",
        "Find A -> Add B",
    ],
)
def test_the_mark_of_a_step_is_not_part_of_it(plan: str) -> None:
    """Numbers, bullets, letters and the words around a list belong to no step."""
    assert texts(plan) == ["Find A", "Add B"]


@pytest.mark.parametrize(
    "plan",
    [
        "1. Find A\n  1.1 the flow\n  1.2 the power\n2. Add B",
        "1. Find A\n1.1. the flow\n1.2. the power\n2. Add B",
        "1. Find A\n- the flow\n- the power\n2. Add B",
        "1. Find A\n   a. the flow\n   b. the power\n2. Add B",
        "- Find A\n  - the flow\n  - the power\n- Add B",
        "1. Find A\n    1. the flow\n    2. the power\n2. Add B",
    ],
)
def test_sub_steps_know_their_step(plan: str) -> None:
    """Dots, bullets, letters or indentation mark a sub-step."""
    assert steps_of(plan) == (
        PlanStep("Find A"),
        PlanStep("the flow", 0),
        PlanStep("the power", 0),
        PlanStep("Add B"),
    )


def test_numbers_within_a_step_do_not_split_it() -> None:
    """Only consecutive numbers in a plan without marked lines split a line."""
    assert texts("- Compare 1) power 2) flow\n- Decide") == ["Compare 1) power 2) flow", "Decide"]
    assert texts("1. Find A\n2. Multiply by 3. Add B") == ["Find A", "Multiply by 3. Add B"]
    assert texts("[Step 1: Sum [all], Step 2: Add (b, c)]") == ["Sum [all]", "Add (b, c)"]
    assert texts("[Find A] and [add B]") == ["[Find A] and [add B]"]


def test_lines_outside_of_the_steps_are_returned() -> None:
    """Lines outside of the list are returned separately."""
    found = read_plan("Here is my plan:\n\n1. Find A\n2. Add B\n\nLet me begin.")
    assert found.other_lines == ("Here is my plan:", "Let me begin.")
    assert read_plan("Find A\nAdd B").other_lines == ()
    found = read_plan("So:\n\nMy plan: [Step 1: Find A, Step 2: Add B]\n\nLet me begin.")
    assert found.other_lines == ("So:", "My plan:", "Let me begin.")


def test_a_single_line_without_numbers_is_its_sentences() -> None:
    """Each sentence of an unmarked plan is a step."""
    assert texts("First find A. Then multiply it by 1.05; stop.") == [
        "First find A.",
        "Then multiply it by 1.05;",
        "stop.",
    ]
    assert texts("") == texts(" \n\t\n") == []
