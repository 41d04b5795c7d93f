"""Each kind of re-planning on handwritten plans."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dqa.core.events import Event, PlanEvent, ReplyEvent, ToolEvent
from dqa_planrag.analysis.replanning import kind_of, replannings
from tests.planrag.analysis.runs import make_case

CASES = json.loads(Path(__file__).with_name("plans.json").read_text("utf-8"))
OLD = "1. Look up the sources.\n2. Look up their power.\n3. Calculate the gains.\n4. Choose."


def test_every_change_has_its_kind() -> None:
    """The paper's nine kinds, and three for other changes (``plans.json``)."""
    found = {case["id"]: kind_of(case["old"], case["new"]) for case in CASES}
    assert found == {case["id"]: f"{case['group']}: {case['kind']}" for case in CASES}


def replanned(new: str, *events: Event) -> list[str]:
    """Return the re-plannings of a run that replaces `OLD` after some events."""
    trace = make_case().trace
    plans = PlanEvent(kind="plan", text=OLD), *events, PlanEvent(kind="replan", text=new)
    return replannings(trace.changed(events=plans, plans=(OLD, new)))


def test_finished_steps_that_a_new_plan_leaves_out_are_not_deleted() -> None:
    """The new plan is compared with the unfinished steps, known by the current step or the tools
    used.
    """
    rest = "1. Calculate the gains.\n2. Choose."
    step = ReplyEvent(text="Current step: 2")
    tool = ToolEvent(kind="retrieval", tool="query", statement="SELECT 1", observation="")
    assert replanned(rest) == ["Decrease: delete"]
    assert replanned(rest, step) == ["Same: unchanged"]
    assert replanned(rest, tool, tool) == ["Same: unchanged"]
    assert replanned(rest, tool) == ["Decrease: delete"]
    more = "1. Look up the nodes behind them.\n2. Calculate the gains.\n3. Choose."
    assert replanned(more, step) == ["Increase: add look-up"]
    assert replanned("1. Look up the sources.\n2. Choose.", step) == ["Decrease: delete"]


_LINES = st.lists(
    st.tuples(st.sampled_from(["", "1. ", "2) ", "  - ", "Step 3: ", "1.1 "]), st.text(max_size=12))
)


@given(_LINES, _LINES)
def test_any_two_texts_have_one_kind(
    old: list[tuple[str, str]], new: list[tuple[str, str]]
) -> None:
    """The group follows from the number of steps in both directions."""
    one, other = ("\n".join(map("".join, lines)) for lines in (old, new))
    groups = kind_of(one, other).partition(":")[0], kind_of(other, one).partition(":")[0]
    assert groups in {("Same", "Same"), ("Increase", "Decrease"), ("Decrease", "Increase")}
    assert kind_of(one, one) in {"Same: unchanged", "Same: other"}


def test_a_very_long_plan_is_compared_quickly() -> None:
    """Its steps after the limit are ignored."""
    long = "\n".join(f"{n}. Look at {n}" for n in range(500))
    assert kind_of(long, f"{long}\n500. Choose.") == "Same: unchanged"
