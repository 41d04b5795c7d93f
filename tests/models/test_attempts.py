"""Replies belong to their requester, and each attempt at a decision begins with the first."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda, RunnableParallel

from dqa.core.errors import ModelUnavailableError, UnrecordedRequestError
from dqa.core.recorder import Recorder
from dqa.models.attempts import attempt_by, current_attempt
from dqa.models.calling import ChatRunnable, call_model
from dqa.models.policy import CallPolicy, Clock, Retry
from tests.models.conftest import Speaking, playing, recording
from tests.models.scripts import Moody

PROMPT = "# Question\nWhich building is best?"
ONCE = CallPolicy(Retry(0), clock=Clock(sleep=lambda _: None))


@pytest.fixture
def mood() -> Moody:
    """What the recorded model says."""
    return Moody(0.0)


def failing(mood: Moody, at: int) -> Callable[[str], str]:
    """Return a function that speaks as a mood, and fails at a call."""

    def say(text: str) -> str:
        reply = mood.reply(text)
        if re.search(rf"mood {at}\b", reply):
            raise ConnectionError(reply)
        return reply

    return say


def said(model: ChatRunnable, text: str = PROMPT) -> str:
    """What a model says to a text."""
    return call_model(model, [HumanMessage(text)], Recorder(), ONCE).reply.text


def test_a_failure_is_asked_again_by_the_next_take_and_not_by_its_own(
    tape: Path, mood: Moody
) -> None:
    """A decision that went on after a failure is played with it; one made again, without it."""
    model = recording(tape, Speaking(say=failing(mood, 2)))
    with attempt_by("one"):
        first = said(model)
        with pytest.raises(ModelUnavailableError):
            said(model)
        third = said(model)
    model = playing(tape)
    with attempt_by("one"):
        assert said(model) == first
        with pytest.raises(ModelUnavailableError, match="mood 2"):
            said(model)
        assert said(model) == third
    model = recording(tape, Speaking(say=mood.reply), resume=True)
    with attempt_by("one"):
        made = [said(model) for _ in range(3)]
    assert (made[0], made[2]) == (first, third)
    assert mood.said == 4
    model = playing(tape)
    with attempt_by("one"):
        assert [said(model) for _ in range(3)] == made


def test_a_name_reaches_the_threads_of_langchain(tape: Path, mood: Moody) -> None:
    """Both replies are the asker's, and so is a failure there."""
    model, threads = recording(tape, Speaking(say=failing(mood, 3))), set()
    together = threading.Barrier(2, timeout=60.0)

    def work(_: None) -> str:
        threads.add(threading.get_ident())
        together.wait()
        assert current_attempt().requester == ("one", "sqlite")
        return said(model)

    def in_parallel(work: Callable[[None], str]) -> list[str]:
        branch = RunnableLambda(work)
        return list(RunnableParallel(left=branch, right=branch).invoke(None).values())

    def breaking(_: None) -> str:
        try:
            return said(model, "a third")
        except ModelUnavailableError:
            return "failed"

    with attempt_by("one", "sqlite"):
        made = sorted(in_parallel(work))
        in_parallel(breaking)
    assert len(threads) == 2
    assert current_attempt().requester == ()
    entries = [json.loads(line) for line in tape.read_text("utf-8").splitlines()]
    assert {tuple(entry["asker"]) for entry in entries if "asker" in entry} == {("one", "sqlite")}
    assert sum("failure" in entry for entry in entries) == 1
    model = playing(tape)
    with attempt_by("one", "sqlite"):
        assert sorted(in_parallel(work)) == made


def test_nobody_is_given_the_reply_to_another_question(tape: Path, mood: Moody) -> None:
    """The message names the requester and the request."""
    model = recording(tape, Speaking(say=mood.reply))
    for number in range(2):
        with attempt_by(f"building/{number}", "sqlite"):
            said(model)
    words = r"no further reply to this request of \(building/9, sqlite\) .*Which building is best"
    with pytest.raises(UnrecordedRequestError, match=words), attempt_by("building/9", "sqlite"):
        said(playing(tape))
