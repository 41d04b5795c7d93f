"""A thousand runs against a server that misbehaves in every way at once."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from dqa import plugins
from dqa.databases.base import Database
from dqa.deciders.base import Settings
from dqa.decision import Decision, Ending
from dqa.evaluation.score import Judge
from dqa.loaders.generator import BuildingSize, LocatingSize, generate
from dqa.models.limits import Clock
from dqa.models.policy import CallPolicy, Retry
from dqa.models.registry import Connection, chat_model
from dqa.models.scripted import scripted_model
from dqa.models.testing import ModelServer, Trouble
from dqa.question import Question, QuestionSet
from tests.models.scripts import scripted

RUNS = 1_000
SCRIPTS = ("analyst", "greedy", "greedy", "greedy")
"""Whom runs ask, in turn: the analyst makes twice as many calls as the others."""
LOST_SHARE, SPOILT_SHARE, STALL_SHARE = 0.16, 0.06, 0.001
NAMED = {
    **dict.fromkeys(
        (Trouble.RATE_LIMIT, Trouble.RATE_LIMIT_SECONDS, Trouble.RATE_LIMIT_DATE), "rate_limit"
    ),
    **dict.fromkeys((Trouble.DROPPED, Trouble.HALF_BODY), "connection"),
    **dict.fromkeys((Trouble.INVALID_JSON, Trouble.WRONG_TYPE, Trouble.NO_CHOICES), "malformed"),
    Trouble.SERVER_ERROR: "server",
    Trouble.STALL: "timeout",
    Trouble.AFTER_STOP: "after_stop",
    Trouble.EMPTY: "neither an Action nor a Final Answer",
    Trouble.UNKNOWN_TOOL: "neither an Action nor a Final Answer",
    Trouble.LENGTH: "cut off",
    Trouble.CONTENT_FILTER: "withheld",
    Trouble.REFUSAL: "refusal",
}
"""How a trace calls each trouble: a fault's kind, or words of a parse failure."""


def troubles(request: dict[str, Any], before: int) -> Trouble | None:
    """Draw a request's trouble from its own text and how often it came before."""
    text = json.dumps(request["messages"]) + str(before)
    draw = random.Random(hashlib.sha256(text.encode()).digest())  # noqa: S311
    share = draw.random()
    if share < STALL_SHARE:
        return Trouble.STALL
    if share < LOST_SHARE:
        return draw.choice([t for t in Trouble if t.loses_reply and t is not Trouble.STALL])
    if share < LOST_SHARE + SPOILT_SHARE:
        return draw.choice([t for t in Trouble if t.spoils_reply])
    return None


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


def named(decision: Decision) -> Iterator[str]:
    """What a trace calls the troubles of its run."""
    for event in decision.trace:
        if event.kind == "fault":
            yield event.data["fault"]
        elif event.kind == "parse_failure":
            (words,) = {n for n in NAMED.values() if n in event.data["problem"]}
            yield words


def test_a_thousand_runs_under_mixed_faults(
    worlds: tuple[QuestionSet, dict[str, Database]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is lost, none decides otherwise than without faults, and every fault is in a trace."""
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
    with ModelServer(scripted, troubles) as server:
        connection = Connection(server.url, timeout=8.0)
        agents = {
            script: plugins.decider("iterrag")(chat_model(f"openai:{script}", connection), settings)
            for script in SCRIPTS
        }

        def run(number: int) -> tuple[str, Question, Decision]:
            turn, place = divmod(number, len(questions.questions))
            question, script = questions.questions[place], SCRIPTS[turn % len(SCRIPTS)]
            return script, question, agents[script].decide(question, databases[question.key])

        with ThreadPoolExecutor(8) as pool:
            decided = list(pool.map(run, range(RUNS)))

    assert len(decided) == RUNS
    assert {decision.ending for _, _, decision in decided} == {Ending.ANSWERED}
    for script, question, decision in decided:
        outcome = judge.judge(question, decision).outcome
        assert (decision.choice, outcome) == undisturbed[script, question.key]
    in_traces = Counter(name for _, _, decision in decided for name in named(decision))
    struck: Counter[str] = Counter()
    for trouble, times in server.troubles.items():
        struck[NAMED[trouble]] += times
    assert in_traces == struck
    assert set(server.troubles) == set(NAMED)
    assert struck.total() > RUNS / 2
