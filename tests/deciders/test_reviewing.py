"""A person approves, corrects and refuses what agents plan, ask and decide."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

import dqa
from dqa.core.review import reviews_in
from dqa.testing import PreparedReplies, answer, query
from tests.sqlite_files import WAREHOUSES, run_script

NAMES = "SELECT name FROM warehouse ORDER BY name"
COSTS = "SELECT name, cost FROM warehouse ORDER BY name"
PLAN = "1. Read\n2. Decide"
PROTOCOLS = pytest.mark.parametrize("protocol", ["react", "tools"])


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Two warehouses."""
    return run_script(tmp_path / "shop.db", WAREHOUSES)


class Person:
    """Answers in this order, then approves; keeps what was shown."""

    def __init__(self, *answers: dict[str, str]) -> None:
        self._answers: Iterator[dict[str, str]] = iter(answers)
        self.shown: list[dqa.Review] = []

    def __call__(self, review: dqa.Review) -> dqa.ReviewAnswer:
        self.shown.append(review)
        said = next(self._answers, {"action": "approve"})
        return dqa.ReviewAnswer.of({"by": "ada", **said})

    @property
    def asked(self) -> list[tuple[str, str]]:
        """What was shown, in order."""
        return [(review.kind, review.text) for review in self.shown]


def decide(
    shop: Path, person: Person | None, review: tuple[Any, ...], *replies: Any, **more: Any
) -> tuple[dqa.Trace, list[str]]:
    """Let an agent decide, and return what its model read last in each request."""
    model = PreparedReplies(replies)
    question = dqa.UserQuestion(question="Which closes?", candidates=("North", "South"))
    given: dict[str, Any] = {"decider": "planrag", "debug": True} | more
    trace = dqa.ask(shop, question, model=model, reviewer=person, review=review, **given)
    return trace, [request.messages[-1].text for request in model.requests]


@PROTOCOLS
def test_what_is_approved_is_as_if_nobody_was_asked(shop: Path, protocol: Any) -> None:
    """The model reads the same to the letter; each thing is shown with what it follows from."""
    replies = (query(NAMES, "Look first.", PLAN), query(NAMES), answer("North"))
    alone, read_alone = decide(shop, None, (), *replies, protocol=protocol)
    person = Person()
    kinds = ("decision", "statement", "plan")
    trace, told = decide(shop, person, kinds, *replies, protocol=protocol)
    assert told == read_alone
    assert (trace.choice, trace.plans, trace.usage) == (alone.choice, alone.plans, alone.usage)
    # The second statement is the first one again, and that was approved.
    assert person.asked == [("plan", PLAN), ("statement", NAMES), ("decision", "North")]
    plan, statement, _ = person.shown
    assert (plan.question, plan.plan) == ("Which closes?", "")
    assert (statement.plan, statement.database) == (PLAN, str(shop))
    assert (statement.thought, "only reads" in statement.verdict) == ("Look first.", True)
    assert [event.by for event in reviews_in(trace.events)] == ["ada"] * 3


@PROTOCOLS
def test_a_corrected_statement_is_what_runs_and_the_model_knows(shop: Path, protocol: Any) -> None:
    """Below the rows, which stay readable as such; the audit has both."""
    person = Person({"action": "correct", "text": COSTS, "reason": "Costs decide"})
    audit = shop.with_name("audit.jsonl")
    trace, told = decide(
        *(shop, person, ("statement",)),
        *(query(NAMES, plan=PLAN), answer("North")),
        protocol=protocol,
        audit=audit,
    )
    assert (
        '["North", 7.5]\n["South", 2.0]\n(2 rows)\n'
        "A person replaced your statement by the following statement. The result above is the "
        f"result of this statement:\n  {COSTS}\nReason: Costs decide. Take it into account in "
        "later statements. Continue from this result."
    ) in told[-1]
    (evidence,) = trace.evidence
    assert evidence.statement == COSTS
    assert evidence.rows == (("North", 7.5), ("South", 2.0))
    entries = [json.loads(line) for line in audit.read_text("utf-8").splitlines()]
    assert [(e["statement"], e["allowed"], e["reason"]) for e in entries] == [
        (NAMES, False, "corrected by ada: Costs decide"),
        (COSTS, True, ""),
    ]


@PROTOCOLS
@pytest.mark.parametrize(
    ("reason", "said"), [("Too slow.", "Reason: Too slow."), ("", "No reason was given.")]
)
def test_a_refused_statement_does_not_run(
    shop: Path, protocol: Any, reason: str, said: str
) -> None:
    """The model receives the reason and the next step, and continues."""
    person = Person({"action": "refuse", "reason": reason})
    trace, told = decide(
        *(shop, person, ("statement",)),
        *(query(NAMES, plan=PLAN), query(COSTS), answer("North")),
        protocol=protocol,
    )
    assert (
        f"Error: A person refused your statement. {said} Write another "
        "statement that takes this into account, or continue without one if none is needed."
    ) in "\n".join(told)
    assert [(e.statement, e.error) for e in trace.evidence] == [
        (NAMES, "NotApprovedError"),
        (COSTS, None),
    ]
    assert trace.choice == "North"


def test_the_guard_goes_first_and_again_behind_a_correction(shop: Path) -> None:
    """A statement that cannot run is not reviewed, and a correction cannot delete rows."""
    person = Person(
        {"action": "correct", "text": "DELETE FROM warehouse"}, {"action": "correct", "text": COSTS}
    )
    trace, told = decide(
        *(shop, person, ("statement",)),
        *(query("DROP TABLE warehouse", plan=PLAN), query(NAMES), answer("North")),
    )
    assert "Error: The statement was not run" in told[1]
    assert "person" not in told[1]
    assert person.asked == [("statement", NAMES)] * 2
    assert "only a query may run" in person.shown[1].problem
    assert [e.statement for e in trace.evidence] == ["DROP TABLE warehouse", COSTS]
    with closing(sqlite3.connect(shop)) as there:
        assert there.execute("SELECT count(*) FROM warehouse").fetchone() == (2,)


@PROTOCOLS
def test_a_corrected_plan_is_the_plan_from_then_on(shop: Path, protocol: Any) -> None:
    """The actions of the old plan do not run. A review of a later plan shows both plans."""
    person = Person({"action": "correct", "text": "Read costs\nCompare"})
    replies = [query(NAMES, plan=PLAN), query(COSTS), query(COSTS, plan="1. Ask again")]
    trace, told = decide(*(shop, person, ("plan",)), *replies, answer("North"), protocol=protocol)
    assert trace.plans == ("1. Read costs\n2. Compare", "1. Ask again")
    corrected = (
        "A person corrected your plan. This is the plan from now on:\n1. Read costs\n2. Compare\n"
        "Continue with its first step that is not finished."
    )
    assert told[1].endswith(corrected)
    if protocol == "react":
        assert told[1].startswith("Observation: Not run, because")
        assert [e.statement for e in trace.evidence] == [COSTS, COSTS]
    assert "1. Read costs\n2. Compare" in told[2]  # behind the observation, as any plan
    assert person.shown[1].plan == "1. Read costs\n2. Compare"


@PROTOCOLS
def test_a_refused_plan_is_made_again(shop: Path, protocol: Any) -> None:
    """The model receives the reason."""
    person = Person({"action": "refuse", "reason": "Costs are missing"}, {"action": "approve"})
    first: tuple[Any, ...] = (query(NAMES, plan=PLAN), query(COSTS, plan="1. Read costs"))
    if protocol == "tools":
        first = (calling("plan", ["Read"]), calling("plan", ["Read costs"]), query(COSTS))
    trace, told = decide(shop, person, ("plan",), *first, answer("North"), protocol=protocol)
    assert trace.plans == ("1. Read costs",)
    assert told[1].endswith(
        "A person refused your plan. Reason: Costs are missing. Write another plan that takes "
        "this into account."
    )


def calling(tool: str, steps: list[str]) -> Any:
    """Return a reply that calls a tool with the steps of a plan."""
    call = {"name": tool, "args": {"steps": steps}, "id": "x", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


@PROTOCOLS
def test_a_decision_is_refused_corrected_and_has_to_be_a_candidate(
    shop: Path, protocol: Any
) -> None:
    """What a person decides is validated like what a model decides."""
    person = Person(
        {"action": "refuse", "reason": "It is cheap"},
        {"action": "correct", "text": "East"},
        {"action": "correct", "text": "South"},
    )
    replies = (query(COSTS, plan=PLAN), answer("South"), answer("North"))
    trace, told = decide(shop, person, ("decision",), *replies, protocol=protocol)
    assert (trace.choice, trace.answer, trace.ending) == ("South", "South", dqa.Ending.ANSWERED)
    assert (
        "A person refused your decision. Reason: It is cheap. Check the decision, by a query if "
        "the results so far are not sufficient. If it is right, decide the same again and give the "
        "evidence. If it is wrong, decide differently."
    ) in told[-1]
    assert "East" in person.shown[2].problem


@pytest.mark.parametrize(
    ("said", "choice", "ending"),
    [
        ({"action": "approve"}, "North", dqa.Ending.ANSWERED),
        ({"action": "correct", "text": "South"}, "South", dqa.Ending.ANSWERED),
        ({"action": "refuse", "reason": "Too soon"}, None, dqa.Ending.STOPPED),
        ({"action": "end"}, None, dqa.Ending.STOPPED),
    ],
)
def test_the_decision_of_any_decider_can_be_reviewed(
    shop: Path, said: dict[str, str], choice: str | None, ending: dqa.Ending
) -> None:
    """Of those that cannot go on, too."""
    trace, _ = decide(shop, Person(said), ("plan", "statement", "decision"), decider="first")
    assert (trace.choice, trace.ending) == (choice, ending)
    assert len(reviews_in(trace.events)) == 1
    assert (trace.error is None) == (choice is not None)


def test_ending_the_run_keeps_what_happened(shop: Path) -> None:
    """The record says who ended it, and where."""
    person = Person({"action": "approve"}, {"action": "end", "reason": "enough"})
    trace, _ = decide(shop, person, ("plan", "statement"), query(NAMES, plan=PLAN))
    assert trace.ending is dqa.Ending.STOPPED
    assert trace.error == "A person (ada) ended the run in the review of a statement: enough."
    assert [event.kind for event in trace.events] == [
        *("prompt", "reply", "review", "plan", "review", "stopped")
    ]
    assert trace.plans == (PLAN,)
    assert dqa.Trace.from_json(trace.to_json()).to_json() == trace.to_json()


def test_a_text_to_sql_answer_is_reviewed_before_it_runs(shop: Path) -> None:
    """It runs once to be tried, and that is a statement, too."""
    from dqa.core.question import Question
    from dqa.core.review import Reviewing, reviewed_by
    from dqa.deciders.base import Settings
    from dqa.plugins import decider

    model = PreparedReplies([query(NAMES, plan=PLAN), answer(COSTS)])
    person = Person()
    question = Question("custom", "1", "The costs?", "", answer_form="statement")
    reviewing = reviewed_by(Reviewing(person, ("statement",)))
    with closing(dqa.open_database(shop)) as database, reviewing:
        decision = decider("planrag")(model, Settings()).decide(question, database)
    assert decision.choice == COSTS
    assert person.asked == [("statement", NAMES), ("statement", COSTS)]
