"""Many runs at once with a model that fails and replies badly, at random."""

from __future__ import annotations

import hashlib
import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

import dqa
from dqa import plugins
from dqa.core.decision import Decision, Ending
from dqa.core.question import Question
from dqa.deciders.base import Settings
from dqa.models.policy import CallPolicy, Clock, Retry
from dqa.models.scripted import scripted_model
from dqa.models.tool_model import ToolModel

LOST_SHARE, BAD_SHARE = 0.16, 0.08


class Faulty(ToolModel):
    """The analyst behind a provider that fails, or replies with nothing or with a wrong call."""

    _struck: Counter[str] = PrivateAttr(default_factory=Counter)
    _seen: Counter[str] = PrivateAttr(default_factory=Counter)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def struck(self) -> Counter[str]:
        """The number of faults of each kind."""
        return self._struck

    @property
    def _llm_type(self) -> str:
        return "faulty"

    def _generate(
        self, messages: list[BaseMessage], *args: Any, tools: Any = (), **kwargs: Any
    ) -> ChatResult:
        text = "\n".join(message.text for message in messages)
        with self._lock:
            self._seen[text] += 1
            drawn = hashlib.sha256(f"{text}{self._seen[text]}".encode()).digest()
            share = random.Random(drawn).random()  # noqa: S311
            is_bad = LOST_SHARE <= share < LOST_SHARE + BAD_SHARE
            self._struck["fault"] += share < LOST_SHARE
            self._struck["parse_failure"] += is_bad
        if share < LOST_SHARE:
            raise ConnectionError("The server had an error.")
        reply = scripted_model("analyst").bind(tools=tools).invoke(messages)
        if is_bad:
            calls = [{**call, "args": {"wrong": [1]}} for call in reply.tool_calls]
            reply = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=reply)])


@pytest.mark.parametrize(
    "count", [pytest.param(40, marks=pytest.mark.slow), pytest.param(1_000, marks=pytest.mark.deep)]
)
def test_many_runs_under_mixed_faults(count: int) -> None:
    """None is lost, each decides as without faults, and every fault is in a trace once."""
    questions = dqa.generate(("building", "locating"), count=5, seed=7)
    asked = questions.questions
    policy = CallPolicy(Retry(retries=20, total=1e9), clock=Clock(sleep=lambda _: None))
    backend, model = plugins.backend("sqlite"), Faulty()
    databases = {one.key: backend.load(questions.situation_of(one)) for one in asked}
    iterrag = plugins.decider("iterrag")
    plain = iterrag(scripted_model("analyst"), Settings())
    undisturbed = {one.key: plain.decide(one, databases[one.key]).choice for one in asked}
    react = Settings(max_steps=40, max_parse_failures=10, calls=policy)
    agents = [iterrag(model, react), iterrag(model, replace(react, protocol="tools"))]

    def run(number: int) -> tuple[Question, Decision]:
        question = asked[number % len(asked)]
        decider = agents[number // len(asked) % 2]
        return question, decider.decide(question, databases[question.key])

    with ThreadPoolExecutor(8) as threads:
        decided = list(threads.map(run, range(count)))
    for database in databases.values():
        database.close()
    assert {decision.ending for _, decision in decided} == {Ending.ANSWERED}
    assert all(decision.choice == undisturbed[question.key] for question, decision in decided)
    traced = Counter(event.kind for _, decision in decided for event in decision.trace)
    assert {kind: traced[kind] for kind in model.struck} == model.struck
    assert model.struck.total() > count / 4
