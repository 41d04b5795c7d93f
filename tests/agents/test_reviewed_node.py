"""A decision node that waits for a person: each model call and statement happens exactly once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

import dqa
from dqa.core.errors import InfrastructureError, UsageError
from dqa.testing import PreparedReplies, answer, query
from tests.agents.conftest import entries
from tests.programs import run_python

NAMES = "SELECT name FROM supplier ORDER BY price DESC"
PRICES = "SELECT name, price FROM supplier ORDER BY price DESC"
REPLIES = (query(NAMES, plan="1. Read\n2. Decide"), query(PRICES), answer("Ada"), answer("Bo"))
QUESTION = {
    "question": "Whom do we drop?",
    "rules": "The dearest goes.",
    "candidates": "SELECT name FROM supplier",
}
ALL = ("plan", "statement", "decision")
HERE: Any = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    """What goes through somebody's graph."""

    question: dict[str, Any]
    decision: dict[str, Any]
    letter: str


@pytest.fixture
def database(shop: Path) -> Iterator[dqa.Database]:
    """The shop, audited."""
    opened = dqa.open_database(shop, audit=shop.with_name("audit.jsonl"))
    yield opened
    opened.close()


def graph(database: dqa.Database, model: Any, checkpointer: Any, review: Any = ALL) -> Any:
    """Somebody's graph: a decision, then a letter about it."""

    def write(state: State) -> State:
        return {"letter": f"Dear {state['decision']['choice']}"}

    made = StateGraph(State)
    decisions = dqa.Decisions("planrag", model=model)
    made.add_node("decide", dqa.decision_node(database, decisions, review=review))
    made.add_node("write", write)
    made.add_edge(START, "decide")
    made.add_edge("decide", "write")
    made.add_edge("write", END)
    return made.compile(checkpointer=checkpointer)


def pending(state: dict[str, Any]) -> dict[str, Any]:
    """Return what a person is asked."""
    (found,) = state["__interrupt__"]
    assert json.loads(json.dumps(found.value)) == found.value
    return dict(found.value)


def test_several_interrupts_and_nothing_is_asked_twice(database: dqa.Database, shop: Path) -> None:
    """Approved, corrected, refused; an answer that is none is asked for again."""
    model = PreparedReplies(REPLIES)
    compiled = graph(database, model, InMemorySaver())
    state = compiled.invoke({"question": QUESTION}, HERE)
    answers: list[tuple[str, str, Any]] = [
        ("plan", "1. Read\n2. Decide", {"action": "nod"}),
        ("plan", "1. Read\n2. Decide", {"action": "approve", "by": "ada"}),
        ("statement", NAMES, {"action": "correct", "text": "DROP TABLE supplier"}),
        ("statement", NAMES, {"action": "correct", "text": f"{PRICES} LIMIT 2", "by": "ada"}),
        ("statement", PRICES, {"action": "refuse", "reason": "Enough is known", "by": "bo"}),
        ("decision", "Ada", {"action": "refuse", "reason": "Not the dearest"}),
        ("decision", "Bo", {"action": "approve"}),
    ]
    asked = []
    for kind, text, said in answers:
        shown = pending(state)
        assert (shown["kind"], shown["text"]) == (kind, text)
        assert shown["question"] == "Whom do we drop?"
        asked.append((len(model.requests), bool(shown["problem"])))
        state = compiled.invoke(Command(resume=said), HERE)
    assert asked == [
        (1, False),
        (1, True),
        (1, False),
        (1, True),
        (2, False),
        (3, False),
        (4, False),
    ]
    assert state["letter"] == "Dear Bo"
    assert len(model.requests) == 4
    decision = state["decision"]
    assert decision["ending"] == "answered"
    assert "Reviewed by" in decision["text"]
    audited = [
        (entry["statement"], entry["allowed"]) for entry in entries(shop.with_name("audit.jsonl"))
    ]
    assert audited == [
        ("SELECT name FROM supplier", True),
        (NAMES, False),
        (f"{PRICES} LIMIT 2", True),
        (PRICES, False),
    ]
    assert set(compiled.get_state(HERE).values) == {"question", "decision", "letter"}


def test_a_graph_that_keeps_nothing_is_told_so_before_anything_is_asked(
    database: dqa.Database,
) -> None:
    """It could never go on."""
    model = PreparedReplies(REPLIES)
    with pytest.raises(UsageError, match="compile it with a checkpointer"):
        graph(database, model, None).invoke({"question": QUESTION})
    assert not model.requests
    with pytest.raises(UsageError, match="Did you mean 'plan'"):
        dqa.decision_node(database, dqa.Decisions("first"), review=("plans",))  # type: ignore[arg-type]


def test_what_fails_after_an_answer_goes_on_from_there(database: dqa.Database, shop: Path) -> None:
    """Nobody is asked again for what was said before the outage."""
    model, keeping = PreparedReplies(REPLIES), InMemorySaver()
    compiled = graph(database, model, keeping, ("plan",))
    compiled.invoke({"question": QUESTION}, HERE)
    database.close()
    with pytest.raises(InfrastructureError):
        compiled.invoke(Command(resume={"action": "approve"}), HERE)
    later = dqa.open_database(shop)
    again = PreparedReplies([REPLIES[1], REPLIES[3]])
    state = graph(later, again, keeping, ("plan",)).invoke(None, HERE)
    later.close()
    assert state["letter"] == "Dear Bo"
    assert len(again.requests) == 2


RESUMING = """
import sys
from pathlib import Path
import dqa
from dqa.testing import PreparedReplies
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from tests.agents.test_reviewed_node import HERE, graph

folder = Path(sys.argv[1])
database = dqa.open_database(folder / "shop.db", audit=folder / "audit.jsonl")
model = PreparedReplies([])
with SqliteSaver.from_conn_string(str(folder / "kept.db")) as keeping:
    compiled = graph(database, model, keeping, ("decision",))
    state = compiled.invoke(Command(resume={"action": "correct", "text": "Bo"}), HERE)
print(state["letter"])
"""


@pytest.mark.slow
def test_a_fresh_process_goes_on_where_another_one_waited(
    database: dqa.Database, shop: Path
) -> None:
    """Nothing is asked again: there, the model has no reply."""
    saver = pytest.importorskip("langgraph.checkpoint.sqlite").SqliteSaver
    model = PreparedReplies((REPLIES[0], REPLIES[2]))
    with saver.from_conn_string(str(shop.with_name("kept.db"))) as keeping:
        compiled = graph(database, model, keeping, ("decision",))
        assert pending(compiled.invoke({"question": QUESTION}, HERE))["kind"] == "decision"
    paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = run_python("-c", RESUMING, str(shop.parent), env=env)
    assert (done.returncode, done.stdout) == (0, "Dear Bo\n"), done.stderr
    asked = [entry["statement"] for entry in entries(shop.with_name("audit.jsonl"))]
    assert asked == ["SELECT name FROM supplier", NAMES]
