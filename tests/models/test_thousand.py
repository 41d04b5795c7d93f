"""Many runs against a server that misbehaves in every way at once."""

from __future__ import annotations

import hashlib
import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Literal

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.evaluation.score import Judge
from dqa.loaders.generator import generate
from dqa.models.limits import Clock
from dqa.models.policy import CallPolicy, Retry
from dqa.models.registry import Connection, chat_model
from dqa.models.scripted import scripted_model
from dqa_simulators.building.generator import BuildingSize
from dqa_simulators.locating.generator import LocatingSize
from tests.models.model_server import ModelServer, Trouble
from tests.models.scripts import scripted

SCRIPTS = ("analyst", "greedy", "greedy", "greedy")
"""Whom runs ask, in turn: the analyst makes twice as many calls as the others."""
PROTOCOLS: tuple[Literal["react", "tools"], ...] = ("react", "tools")
LOST_SHARE, SPOILT_SHARE, STALL_SHARE, BROKEN_SHARE = 0.16, 0.06, 0.001, 0.02
NAMED = {
    **dict.fromkeys(
        (Trouble.RATE_LIMIT, Trouble.RATE_LIMIT_SECONDS, Trouble.RATE_LIMIT_DATE), "rate_limit"
    ),
    **dict.fromkeys((Trouble.DROPPED, Trouble.HALF_BODY), "connection"),
    **dict.fromkeys((Trouble.INVALID_JSON, Trouble.WRONG_TYPE, Trouble.NO_CHOICES), "malformed"),
    Trouble.SERVER_ERROR: "server",
    Trouble.STALL: "timeout",
    Trouble.AFTER_STOP: "after_stop",
    Trouble.LENGTH: "cut off",
    Trouble.CONTENT_FILTER: "withheld",
    Trouble.REFUSAL: "refusal",
}
"""How a trace calls each trouble: a fault's kind, or words of a parse failure."""
SAID = {
    "react": dict.fromkeys(
        (Trouble.EMPTY, Trouble.UNKNOWN_TOOL), "neither an Action nor a Final Answer"
    ),
    "tools": {Trouble.EMPTY: "calls no tool", Trouble.UNKNOWN_TOOL: "There is no tool"},
}
"""How it calls those that each protocol meets in its own way."""
BROKEN = "are no JSON object"
"""How it calls arguments that are no JSON, which only the program below sends."""


class Spoiling:
    """Draws troubles, and breaks the arguments of tool calls where nothing else is amiss."""

    def __init__(self) -> None:
        self.struck: Counter[str] = Counter()
        self._lock = threading.Lock()
        # Each request is admitted and answered by one thread.
        self._now = threading.local()

    def plan(self, request: dict[str, Any], before: int) -> Trouble | None:
        """Name a request's trouble; see `ModelServer.plan`."""
        trouble, broken = drawn(request, before)
        in_tools = "tools" in request
        if trouble is Trouble.AFTER_STOP and in_tools:
            trouble = None  # tool calls have no stop sequence to run past
        self._now.breaks = broken and in_tools and trouble is None
        if trouble is not None or self._now.breaks:
            said = SAID["tools" if in_tools else "react"]
            name = BROKEN if trouble is None else said.get(trouble) or NAMED[trouble]
            with self._lock:
                self.struck[name] += 1
        return trouble

    def program(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer as the script would, perhaps with arguments that are no JSON."""
        reply = scripted(request)
        if self._now.breaks:
            for call in reply["tool_calls"]:
                call["function"]["arguments"] = call["function"]["arguments"][:-2]
        return reply


def drawn(request: dict[str, Any], before: int) -> tuple[Trouble | None, bool]:
    """Draw a request's trouble from its own text and how often it came before."""
    text = json.dumps(request["messages"]) + str(before)
    draw = random.Random(hashlib.sha256(text.encode()).digest())  # noqa: S311
    share = draw.random()
    if share < STALL_SHARE:
        return Trouble.STALL, False
    if share < LOST_SHARE:
        return draw.choice([t for t in Trouble if t.loses_reply and t is not Trouble.STALL]), False
    if share < LOST_SHARE + SPOILT_SHARE:
        return draw.choice([t for t in Trouble if t.spoils_reply]), False
    return None, draw.random() < BROKEN_SHARE


@pytest.fixture(scope="module")
def worlds() -> Iterator[tuple[QuestionSet, dict[str, Database]]]:
    """Twenty small questions, each on its SQLite database."""
    questions = generate(
        count=10, seed=7, sizes=(LocatingSize(6, 10, 8, 20), BuildingSize(6, 12, 10, 14))
    )
    backend = plugins.backend("sqlite")
    with ExitStack() as stack:
        databases = {}
        for question in questions.questions:
            databases[question.key] = backend.load(questions.situation_of(question))
            stack.callback(databases[question.key].close)
        yield questions, databases


KNOWN = {*NAMED.values(), *SAID["react"].values(), *SAID["tools"].values(), BROKEN}


def named(decision: Decision) -> Iterator[str]:
    """What a trace calls the troubles of its run."""
    for event in decision.trace:
        if event.kind == "fault":
            yield event.data["fault"]
        elif event.kind == "parse_failure":
            (words,) = {n for n in KNOWN if n in event.data["problem"]}
            yield words


@pytest.mark.parametrize(
    "runs", [pytest.param(160, marks=pytest.mark.slow), pytest.param(1_000, marks=pytest.mark.deep)]
)
def test_many_runs_under_mixed_faults(
    runs: int, worlds: tuple[QuestionSet, dict[str, Database]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is lost, none decides otherwise than without faults, and every fault is in a trace.

    One half talks in text, the other in tool calls.
    """
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    questions, databases = worlds
    judge = Judge(questions, "paper")
    undisturbed = {}
    for script in SCRIPTS:
        plain = plugins.decider("iterrag")(scripted_model(script), Settings())
        for question in questions.questions:
            decision = plain.decide(question, databases[question.key])
            verdict = judge.judge(question, decision)
            undisturbed[script, question.key] = (decision.choice, verdict.outcome)

    policy = CallPolicy(Retry(retries=20, total=1e9), clock=Clock(sleep=lambda _: None))
    settings = Settings(max_steps=40, max_parse_failures=10, calls=policy)
    spoiling = Spoiling()
    with ModelServer(spoiling.program, spoiling.plan) as server:
        connection = Connection(server.url, timeout=8.0)
        agents = {
            (script, protocol): plugins.decider("iterrag")(
                chat_model(f"openai:{script}", connection), replace(settings, protocol=protocol)
            )
            for script in SCRIPTS
            for protocol in PROTOCOLS
        }

        def run(number: int) -> tuple[str, Question, Decision]:
            turn, place = divmod(number, len(questions.questions))
            question, protocol = questions.questions[place], PROTOCOLS[turn % 2]
            script = SCRIPTS[turn // 2 % len(SCRIPTS)]
            decider = agents[script, protocol]
            return script, question, decider.decide(question, databases[question.key])

        with ThreadPoolExecutor(8) as pool:
            decided = list(pool.map(run, range(runs)))

    assert len(decided) == runs
    assert {decision.ending for _, _, decision in decided} == {Ending.ANSWERED}
    for script, question, decision in decided:
        outcome = judge.judge(question, decision).outcome
        assert (decision.choice, outcome) == undisturbed[script, question.key]
    in_traces = Counter(name for _, _, decision in decided for name in named(decision))
    assert in_traces == spoiling.struck
    assert spoiling.struck.total() > runs / 2
    if runs >= 1_000:  # each of them has struck by then
        assert set(server.troubles) == {*NAMED, *SAID["react"]}
        assert set(spoiling.struck) == KNOWN
