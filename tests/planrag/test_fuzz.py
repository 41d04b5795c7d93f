"""Random and mutated replies crash no parser or run and do not get past the guard.

Replies are cut, doubled, relabelled
and filled with foreign text, including harmful statements. The driver of the database records every
statement that reaches it.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import Any, Self

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, InvalidToolCall
from langchain_core.messages.tool import ToolCall

from dqa import guard, plugins
from dqa.core.database import Database, Limits
from dqa.core.decision import Ending
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.evaluation.prepare import Task
from dqa.evaluation.results import Result
from dqa.evaluation.score import Judge
from dqa.evaluation.traces import Trace
from dqa.testing.fake_models import PreparedReplies
from dqa_planrag.recipes import RECIPES
from tests.planrag.conftest import assert_sendable, calling, open_question

RUNS = pytest.mark.parametrize("runs", [20, pytest.param(200, marks=pytest.mark.deep)])
"""Runs in each protocol."""
SHORT = Limits(rows=20, bytes=4_000, seconds=2.0)
OPENING = {"PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF"}
"""Statements of the backend on a new connection."""

READING = (
    "SELECT COUNT(*) FROM trade_node",
    "SELECT name FROM trade_node ORDER BY name LIMIT 3;",
    "WITH a AS (SELECT source FROM flow) SELECT COUNT(*) FROM a -- all",
    "SELECT nothing FROM nowhere",
    "SELECT CONCAT('a', `source`) FROM flow LIMIT 1",
)
HARMFUL = (
    "DROP TABLE flow",
    "DELETE FROM trade_node",
    "UPDATE country SET name = 'x'",
    "INSERT INTO flow VALUES (1)",
    "ATTACH DATABASE 'other.db' AS other",
    "PRAGMA query_only = OFF",
    "CREATE TABLE t AS SELECT 1",
    "SELECT load_extension('x')",
    "SELECT 1; DROP TABLE flow",
    "VACUUM INTO 'copy.db'",
    "WITH a AS (SELECT 1) DELETE FROM flow",
)
STATEMENTS = (*READING, *HARMFUL)
LABELS = (
    *("Plan:", "Re-plan:", "Thought:", "Action:", "Action Input:", "Final Answer:"),
    *("Observation:", "**Action:**", "> Plan :", "New plan:", "final answer :"),
)
PIECES = (
    *LABELS,
    *("```", "```sql\n", "`", '"', "'", "{", "}", '{"statement": "', "[[[[", "<think>", "</think>"),
    *("\n", "\r\n", "\t", "\0", "\x1b[2J", "\u2028", "\ud800", "\u202e", "\ufeff", ";", "--", "/*"),
    *("計画:", "Ответ:", "خطة:", "१. देखो", "🙂", "keep", "1. look", "simulate", "compare", "all"),
    *(" " * 3_000, "a" * 30_000, "1" * 5_000, '{"a":' * 3_000, "(" * 2_000),
)
TOOLS = (
    "query_database",
    "simulate",
    "compare",
    "plan",
    "replan",
    "decide",
    "web",
    "",
    "\x1b[0m\0",
)


def good_replies() -> tuple[str, ...]:
    """Return replies in the agents' formats, with harmless and harmful statements."""
    replies = ["Thought: it is clear\nFinal Answer: genoa", "Re-plan: keep\nFinal Answer: 42"]
    replies += [f"Action: {tool}\nAction Input: genoa, all" for tool in ("simulate", "compare")]
    for number, statement in enumerate(STATEMENTS):
        act = f"Action: query_database\nAction Input: {statement}"
        fenced = f"Action: query_database\nAction Input: ```sql\n{statement}\n```"
        replies += [
            f"Thought: look\n{act}",
            f"Plan:\n1. look\n2. choose\nThought: look\n{fenced}",
            f"Re-plan: {number}. other\n{act}",
            f'Action: query_database("{statement}")',
            f'Action: query_database\nAction Input: {{"statement": "{statement}"}}',
        ]
    return tuple(replies)


GOOD = good_replies()


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A good reply after a few mutations, or any text."""
    text = draw(st.one_of(st.sampled_from(GOOD), st.sampled_from(GOOD), st.text(max_size=200)))
    for _ in range(draw(st.integers(0, 4))):
        how = draw(st.sampled_from(["cut", "drop", "double", "insert", "join", "shuffle", "case"]))
        start, length = draw(st.integers(0, len(text))), draw(st.integers(0, 30))
        if how == "cut":
            text = text[:start]
        elif how == "drop":
            text = text[:start] + text[start + length :]
        elif how == "double":
            text = text[: start + length] + text[start:]
        elif how == "insert":
            text = text[:start] + draw(st.sampled_from(PIECES)) + text[start:]
        elif how == "join":
            text += draw(st.sampled_from(["\n", " ", ""])) + draw(st.sampled_from(GOOD))
        elif how == "shuffle":
            text = "\n".join(draw(st.permutations(text.split("\n")[:12])))
        else:
            text = text.swapcase()
    return text


VALUES = st.one_of(
    *(st.sampled_from(STATEMENTS), st.sampled_from(PIECES), st.text(max_size=20)),
    *(st.none(), st.booleans(), st.integers(), st.floats()),
)
NAMES = st.sampled_from(["statement", "decision", "candidates", "steps", "sql", ""])
ARGUMENTS = st.one_of(
    st.sampled_from(STATEMENTS).map(lambda s: {"statement": s}),
    st.dictionaries(NAMES, VALUES | st.lists(VALUES, max_size=4), max_size=3),
)
CALLS = st.builds(
    ToolCall,
    name=st.sampled_from((*TOOLS, "query_database", "query_database")),
    args=ARGUMENTS,
    id=st.sampled_from([None, "", "1"]),
    type=st.just("tool_call"),
)
BROKEN = st.builds(
    InvalidToolCall,
    name=st.sampled_from([None, *TOOLS]),
    args=st.sampled_from([None, *PIECES, *STATEMENTS]),
    id=st.sampled_from([None, "1"]),
    error=st.just("not JSON"),
    type=st.just("invalid_tool_call"),
)
CONTENTS = st.one_of(
    st.just(""),
    st.sampled_from(PIECES),
    mutated(),
    st.lists(
        st.sampled_from(PIECES).map(lambda piece: {"type": "text", "text": piece}), max_size=3
    ),
)
MESSAGES = st.builds(
    AIMessage,
    content=CONTENTS,
    tool_calls=st.one_of(st.lists(CALLS, min_size=1, max_size=2), st.lists(CALLS, max_size=10)),
    invalid_tool_calls=st.one_of(st.just([]), st.just([]), st.lists(BROKEN, max_size=2)),
)


SOUND = st.sampled_from(
    [
        calling(("plan", {"steps": ["look", "choose"]})),
        calling(("query_database", {"statement": READING[0]})),
        calling(("replan", {"steps": []})),
        calling(("decide", {"decision": "genoa"})),
    ]
)
"""Valid calls, so that some runs reach a decision."""


@dataclass
class Watched:
    """A database, and every statement that reached its driver."""

    database: Database
    reached: list[str]
    counts: Counter[str] = field(default_factory=Counter)

    def unguarded(self) -> list[str]:
        """Return the recorded statements that the guard does not allow, and clear the record."""
        ran = [statement for statement in self.reached if statement not in OPENING]
        self.counts["ran"] += len(ran)
        self.reached.clear()
        return [statement for statement in ran if not guard.check(statement, "sqlite").allowed]


@pytest.fixture(scope="module")
def watched(questions: QuestionSet) -> Iterator[Watched]:
    """Load the first Locating question's world into SQLite with a recording driver."""
    reached: list[str] = []

    class Cursor(sqlite3.Cursor):
        def execute(self, statement: str, *parameters: Any) -> Self:
            reached.append(statement)
            return super().execute(statement, *parameters)

    class Connection(sqlite3.Connection):
        def cursor(self, *arguments: Any, **options: Any) -> Any:
            return super().cursor(Cursor)

    situation = questions.situation_of(questions.find("locating/1"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Connection))
        database = plugins.backend("sqlite").load(situation, isolation="none")
        database.schema()
        reached.clear()
        yield Watched(database, reached)
        database.close()


@RUNS
@pytest.mark.parametrize("name", ["react", "tools"])
def test_runs_of_mutated_replies_end_in_a_decision_that_can_be_stored(
    name: Any, runs: int, watched: Watched, questions: QuestionSet
) -> None:
    question = open_question(questions)
    judge = Judge(questions, "paper")
    messages = mutated().map(AIMessage) if name == "react" else st.one_of(MESSAGES, SOUND)
    recipes = cycle(RECIPES)
    endings: Counter[Ending] = Counter()

    @settings(
        max_examples=runs,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(replies=st.lists(messages, min_size=6, max_size=6))
    def decide(replies: list[AIMessage]) -> None:
        recipe = next(recipes)
        model = PreparedReplies(replies)
        chosen = Settings(max_steps=5, limits=SHORT, protocol=name)
        decision = plugins.decider(recipe.name)(model, chosen).decide(question, watched.database)
        assert watched.unguarded() == []
        assert decision.ending in {Ending.ANSWERED, Ending.UNPARSABLE, Ending.STEP_LIMIT}
        for request in model.requests:
            assert_sendable(request.messages)
        endings[decision.ending] += 1
        task = Task(question, f"sqlite {endings.total()}", recipe.name, "", model="fuzz")
        verdict = judge.judge(question, decision)
        result = Result.of(task, decision, verdict)
        trace = Trace.of(task.key, decision, kind="relational", model="fuzz")
        assert Result.from_json(json.loads(result.to_line())).key == result.key
        assert Trace.from_json(json.loads(trace.to_line())).key == trace.key

    decide()
    assert endings.total() == runs
    if runs > 20:  # few runs need not reach every ending
        assert set(endings) == {Ending.ANSWERED, Ending.UNPARSABLE, Ending.STEP_LIMIT}
