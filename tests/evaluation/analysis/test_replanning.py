"""Each kind of re-planning on plans made by hand."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dqa.evaluation.analysis.replanning import Replanning, ReplanningKind, kind_of

PLAN = """1. Look up the home node of the country.
2. Look up the flow into the home node.
3. Calculate the profit of each source node.
4. Choose the node with the most profit."""


CASES = json.loads(Path(__file__).with_name("plans.json").read_text("utf-8"))


def test_every_change_has_its_kind() -> None:
    """The paper's nine, and honest names for what is none of them (``plans.json``)."""
    found = {case["id"]: kind_of(case["old"], case["new"]) for case in CASES}
    assert found == {
        case["id"]: Replanning(case["group"], ReplanningKind(case["kind"])) for case in CASES
    }


def test_the_same_plan_and_no_plan_are_unchanged() -> None:
    """No difference is no kind of the paper's."""
    assert kind_of(PLAN, PLAN) == Replanning("Same", ReplanningKind.UNCHANGED)
    assert kind_of(" \n", "") == Replanning("Same", ReplanningKind.UNCHANGED)


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
