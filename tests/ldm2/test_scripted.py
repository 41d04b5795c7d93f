"""What scripted models do by rule: adapt, explore, sort, compare."""

from __future__ import annotations

import pytest

from dqa.core.trajectories import Step, Trajectory
from dqa_ldm2.memory.base import Placed, Remembered, StateAction
from dqa_ldm2.operations.acting import Known, _prompt
from dqa_ldm2.prompting import cut, cut_steps, prompt
from dqa_ldm2.scripted.reading import asks, read_prompt
from dqa_ldm2.scripted.responder import reply_to
from dqa_ldm2.situation import Situation


def asked_to_act(situation: Situation, *known: StateAction, history: str | None = "") -> str:
    """Return the action that a scripted model takes where this is remembered."""
    found = [Remembered(n, 1, 1, Placed(one, "a", "b")) for n, one in enumerate(known, 1)]
    text = _prompt("action", situation, Known(found, history), 10_000)
    assert asks(text)
    return str(reply_to(read_prompt(text), "analyst", 0)["action"])


def test_names_and_numbers_are_those_of_this_situation() -> None:
    """What takes the place of a word of that goal takes its place in the action."""
    known = StateAction(
        "put some mug on shelf.",
        "",
        "On the table 1, you see a mug 2.",
        "take mug 2 from table 1",
        "s",
        1,
    )
    here = Situation(
        "put some apple on bed.",
        "On the table 3, you see a apple 1, a book 1.",
        ("go to bed 1", "take book 1 from table 3", "take apple 1 from table 3"),
    )
    assert asked_to_act(here, known) == "take apple 1 from table 3"


def test_what_the_goal_does_not_want_is_left() -> None:
    """Though it stands where something was taken."""
    took = ("put mug on shelf", "", "On the sink, you see a mug 1.", "take mug 1 from sink 1")
    went = ("put mug on shelf", "", "On the bed, you see a book 1.", "go to sink 1")
    known = [StateAction(*one, "s", 1) for one in (took, went)]
    here = Situation(
        "put a clean apple in fridge",
        "On the sink, you see a book 1.",
        ("go to bed 1", "take book 1 from sink 1"),
    )
    assert asked_to_act(here, *known) == "go to bed 1"


def test_a_search_is_written_with_the_words_of_this_goal() -> None:
    """Without those that all goals have."""
    known = [
        StateAction(
            f"i need a {thing}, and price lower than {price} dollars",
            "",
            "Search.",
            f"search[{thing}]",
            "s",
            1,
        )
        for thing, price in (("blue mug", 20), ("wool hat", 30), ("long rope", 15))
    ]
    here = Situation(
        "i need a red lamp, and price lower than 40 dollars", "Search.", (), free_form="search[...]"
    )
    action = asked_to_act(here, *known)
    assert action.startswith("search[red lamp")
    assert "price" not in action


def test_what_led_nowhere_is_not_done_again_at_once() -> None:
    """By the steps that are shown, or by what a summary lists."""
    known = StateAction("put mug on bed", "", "You see nothing.", "go to the sink", "s", 1)
    steps = (Step("The hall.", "go to the sink"),)
    here = Situation(
        "put mug on bed", "You see nothing.", ("go to the shelf", "go to the sink"), steps
    )
    assert asked_to_act(here, known, history=None) == "go to the shelf"
    assert asked_to_act(here, known, history="Did: go to the sink") == "go to the shelf"
    assert asked_to_act(here, known, history="Did: look") == "go to the sink"


def test_a_summary_is_the_same_from_scratch_and_step_by_step() -> None:
    """So it does not matter what was known before."""
    steps = [Step(f"seen {number}", f"do {number}") for number in range(20)]
    before = ""
    for number, step in enumerate(steps, 1):
        text = prompt("summary", goal="g", rules="", before=before, steps=[step], first=number)
        before = str(reply_to(read_prompt(text), "analyst", 0)["summary"])
    text = prompt("summary", goal="g", rules="", before="", steps=steps, first=1)
    assert reply_to(read_prompt(text), "analyst", 0)["summary"] == before
    assert before.endswith("do 18; do 19")


def test_texts_are_sorted_by_how_they_begin_and_by_what_they_share() -> None:
    """Known types are used again."""
    seen = ["You open the fridge 1.\nIn it", "You arrive at sink 2.", "You open the box 3."]
    text = prompt("cluster", kind="observation", texts=seen, known=[])
    assert reply_to(read_prompt(text), "analyst", 0)["types"] == {
        "you open the": [1, 3],
        "you arrive at": [2],
    }
    goals = ["heat some egg", "heat some cup", "cool some egg", "cool some cup"]
    text = prompt("cluster", kind="goal", texts=goals, known=["heat some egg"])
    found = reply_to(read_prompt(text), "analyst", 0)["types"]
    assert sorted(n for numbers in found.values() for n in numbers) == [1, 2, 3, 4]
    assert found["heat some egg"] == [1]


@pytest.mark.parametrize(("ground", "step"), [("axc", 2), ("abd", 3), ("ab", 3)])
def test_the_first_difference_is_found(ground: str, step: int) -> None:
    """From the prompt alone."""
    shown = [
        Trajectory("g", tuple(Step("same", action) for action in did), "s")
        for did in ("abc", ground)
    ]
    text = prompt("comparison", goal="g", rules="", processes=shown, first=1)
    assert reply_to(read_prompt(text), "analyst", 0) == {"step": step}


def test_the_process_that_looks_complete_is_chosen() -> None:
    """Rather than one that goes in circles."""
    circles = Trajectory("put mug on bed", (Step("a", "go"), Step("a", "go"), Step("a", "go")), "s")
    done = Trajectory("put mug on bed", (Step("a", "take mug"), Step("b", "put mug on bed")), "s")
    text = prompt("choice", goal="put mug on bed", rules="", processes=[circles, done], first=1)
    assert reply_to(read_prompt(text), "analyst", 0) == {"best": 2}


def test_long_texts_are_cut_and_say_so() -> None:
    """What was seen last is kept; every action is."""
    assert cut("x" * 80, 10) == f"{'x' * 10} [... 70 more characters]"
    assert cut("x" * 30, 10) == "x" * 30  # a mark would say less than what it hides
    steps = [Step("y" * 500, f"do {number}") for number in range(3)]
    shown = cut_steps(steps, 600)
    assert [len(step.observation) > 300 for step in shown] == [False, False, True]
    assert [step.action for step in shown] == ["do 0", "do 1", "do 2"]
