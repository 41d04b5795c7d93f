"""Many runs at once against a server that fails and replies badly, at random."""

from __future__ import annotations

import hashlib
import json
import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pytest

import dqa
from dqa import plugins
from dqa.core.decision import Decision, Ending
from dqa.core.question import Question
from dqa.deciders.base import Settings
from dqa.models.limits import Clock
from dqa.models.policy import CallPolicy, Retry
from dqa.models.registry import Connection, chat_model
from dqa.models.scripted import scripted_model
from tests.models.model_server import ModelServer, Trouble
from tests.models.scripts import scripted

Protocol = Literal["react", "tools"]
LOST_SHARE, BAD_SHARE = 0.16, 0.08


class Faults:
    """Draws the fault of each request, and counts them."""

    def __init__(self) -> None:
        self.struck: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._now = threading.local()  # one thread admits and answers a request

    def plan(self, request: dict[str, Any], before: int) -> Trouble | None:
        """Draw from the text of a request and the number of times it came before."""
        text = json.dumps(request["messages"]) + str(before)
        share = random.Random(hashlib.sha256(text.encode()).digest()).random()  # noqa: S311
        is_lost = share < LOST_SHARE
        self._now.bad = LOST_SHARE <= share < LOST_SHARE + BAD_SHARE
        with self._lock:
            self.struck["fault"] += is_lost
            self.struck["parse_failure"] += self._now.bad
        return Trouble.SERVER_ERROR if is_lost else None

    def program(self, request: dict[str, Any]) -> dict[str, Any]:
        """Reply as the script does, or with nothing, or with half of its arguments."""
        reply = scripted(request)
        if not self._now.bad:
            return reply
        if "tool_calls" not in reply:
            return {"content": ""}
        for call in reply["tool_calls"]:
            call["function"]["arguments"] = call["function"]["arguments"][:-2]
        return reply


@pytest.mark.parametrize(
    "count", [pytest.param(40, marks=pytest.mark.slow), pytest.param(1_000, marks=pytest.mark.deep)]
)
def test_many_runs_under_mixed_faults(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """None is lost, each decides as without faults, and every fault is in a trace once."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    questions = dqa.generate(("building", "locating"), count=5, seed=7)
    asked = questions.questions
    protocols: tuple[Protocol, ...] = ("react", "tools")
    policy = CallPolicy(Retry(retries=20, total=1e9), clock=Clock(sleep=lambda _: None))
    backend, faults = plugins.backend("sqlite"), Faults()
    databases = {one.key: backend.load(questions.situation_of(one)) for one in asked}
    plain = plugins.decider("iterrag")(scripted_model("analyst"), Settings())
    undisturbed = {one.key: plain.decide(one, databases[one.key]).choice for one in asked}
    with ModelServer(faults.program, faults.plan) as server:
        agents = {
            protocol: plugins.decider("iterrag")(
                chat_model("openai:analyst", Connection(server.url)),
                Settings(protocol=protocol, max_steps=40, max_parse_failures=10, calls=policy),
            )
            for protocol in protocols
        }

        def run(number: int) -> tuple[Question, Decision]:
            question = asked[number % len(asked)]
            decider = agents[protocols[number // len(asked) % 2]]
            return question, decider.decide(question, databases[question.key])

        with ThreadPoolExecutor(8) as threads:
            decided = list(threads.map(run, range(count)))
    for database in databases.values():
        database.close()
    assert {decision.ending for _, decision in decided} == {Ending.ANSWERED}
    assert all(decision.choice == undisturbed[question.key] for question, decision in decided)
    traced = Counter(event.kind for _, decision in decided for event in decision.trace)
    assert {kind: traced[kind] for kind in faults.struck} == faults.struck
    assert faults.struck.total() > count / 4
