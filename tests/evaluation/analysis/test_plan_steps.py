"""Plans become steps however they are written."""

from __future__ import annotations

import pytest

from dqa.evaluation.analysis.plan_steps import Action, PlanStep, actions_in, steps_of


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
        "### 1. Find A\n### 2. Add B",
        "Schritt 1: Find A\nSchritt 2: Add B",
        "第1步：Find A\n第2步：Add B",  # noqa: RUF001
        "1、Find A\n2、Add B",
        "\u0661. Find A\n\u0662. Add B",
        "- Find A\n- Add B",
        "• Find A\n• Add B",
        "a) Find A\nb) Add B",
        "1 - Find A\n2 - Add B",
        "Find A\nAdd B",
        "1. Find A 2. Add B",
        "1. Find A\n      2. Add B",
        "\n1. Find\n   A\n\n2. Add\nB\n",
        "Here is my plan:\n\n1. Find A\n2. Add B\n\nLet me begin.",
    ],
)
def test_marks_are_no_part_of_a_step(plan: str) -> None:
    """Numbers, words before them, bullets, letters, wrapped lines and words around the list."""
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
    """By dots, bullets, letters or indentation."""
    assert steps_of(plan) == (
        PlanStep("Find A"),
        PlanStep("the flow", 0),
        PlanStep("the power", 0),
        PlanStep("Add B"),
    )


def test_numbers_in_a_step_begin_no_step() -> None:
    """Factors, years and decimals are part of what a step says."""
    assert texts("1. Multiply by\n1.05 and\n2024: add\n2. Stop") == [
        "Multiply by 1.05 and 2024: add",
        "Stop",
    ]


def test_a_single_line_without_numbers_is_its_sentences() -> None:
    """An unmarked plan has steps as well."""
    assert texts("First find A. Then multiply it by 1.05; stop.") == [
        "First find A.",
        "Then multiply it by 1.05;",
        "stop.",
    ]
    assert texts("") == texts(" \n\t\n") == []


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("Look up the sum of flows", {Action.LOOK_UP}),
        ("Query the database to calculate the total", {Action.LOOK_UP, Action.CALCULATE}),
        ("Find A, then compute B", {Action.LOOK_UP, Action.CALCULATE}),
        ("For each node, calculate the ratio", {Action.CALCULATE}),
        ("We should retrieve everything", {Action.LOOK_UP}),
        ("Choose the best", set()),
        ("Рассчитать прибыль", set()),
    ],
)
def test_actions_are_read_from_the_words_that_begin_clauses(
    text: str, actions: set[Action]
) -> None:
    """A noun like "sum" inside a look-up makes it no calculation."""
    assert actions_in(PlanStep(text)) == actions
