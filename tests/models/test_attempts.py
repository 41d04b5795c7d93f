"""Replies belong to who asked, and every go at a decision plays its own from the first one on."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda, RunnableParallel

from dqa.core.errors import (
    ModelUnavailableError,
    ParseError,
    UnrecordedRequestError,
    UsageError,
)
from dqa.models.attempts import attempt_by, current_attempt
from dqa.models.calling import ChatRunnable, call_model
from dqa.models.cassette import Cassette, RecordedModel
from dqa.models.limits import Clock
from dqa.models.policy import CallPolicy, Retry
from tests.models.scripts import Moody

NAME = "openai:test"
PROMPT = "# Question\nWhich building is best?"
ONCE = CallPolicy(Retry(0), clock=Clock(sleep=lambda _: None))


class Failing(BaseChatModel):
    """Speaks as its mood is, and breaks down at the calls with these numbers."""

    mood: Any
    fails_at: Sequence[int] = ()

    @property
    def _llm_type(self) -> str:
        return "failing"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        text = self.mood.reply(messages[-1].text)
        if any(re.search(rf"mood {number}\b", text) for number in self.fails_at):
            raise ConnectionError(text)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    """Where the cassette is going to be."""
    return tmp_path / "tape.jsonl"


@pytest.fixture
def mood() -> Moody:
    """What the recorded model says."""
    return Moody(0.0)


def recording(tape: Path, mood: Moody, *fails_at: int, resume: bool = False) -> BaseChatModel:
    """A model that is recorded."""
    inner = Failing(mood=mood, fails_at=fails_at)
    return RecordedModel(
        model=NAME,
        cassette=Cassette.record(tape, [NAME], resume=resume),
        inner=inner,
        parameters={},
    )


def playing(tape: Path) -> BaseChatModel:
    """The same model from its cassette alone."""
    return RecordedModel(
        model=NAME, cassette=Cassette.replay(tape, [NAME]), inner=None, parameters={}
    )


def said(model: ChatRunnable, text: str = PROMPT) -> str:
    """What a model says to a text."""
    return call_model(model, [HumanMessage(text)], policy=ONCE).reply.text


def test_the_same_request_has_a_tape_for_each_who_makes_it(tape: Path, mood: Moody) -> None:
    """Whoever asks first when it is played gets no one else's reply."""
    model, made = recording(tape, mood), {}
    for name in ("one", "other"):
        with attempt_by(name, "sqlite"):
            made[name] = [said(model), said(model)]
    model = playing(tape)
    for name in ("other", "one"):
        with attempt_by(name, "sqlite"):
            assert [said(model), said(model)] == made[name]
    assert len({*made["one"], *made["other"]}) == 4


def test_a_decision_made_again_gets_what_it_had_and_asks_for_the_rest(
    tape: Path, mood: Moody
) -> None:
    """An outage after two of three votes costs one vote more, and leaves one run on the tape."""
    model = recording(tape, mood)
    with attempt_by("one"):
        cut_off = [said(model) for _ in range(2)]
    with attempt_by("one"):
        whole = [said(model) for _ in range(3)]
    assert whole[:2] == cut_off
    assert mood.said == 3
    model = playing(tape)
    for _ in range(2):  # a replay may suffer an outage as well
        with attempt_by("one"):
            assert [said(model) for _ in range(3)] == whole


def test_a_failure_is_asked_again_by_the_next_take_and_not_by_its_own(
    tape: Path, mood: Moody
) -> None:
    """A decision that went on after a failure is played with it; one made again, without it."""
    model = recording(tape, mood, 2)
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
    model = recording(tape, mood, resume=True)
    with attempt_by("one"):
        made = [said(model) for _ in range(3)]
    assert (made[0], made[2]) == (first, third)
    assert mood.said == 4
    model = playing(tape)
    with attempt_by("one"):
        assert [said(model) for _ in range(3)] == made


def test_a_name_reaches_the_threads_of_langchain(tape: Path, mood: Moody) -> None:
    """Both replies are the asker's, and so is a failure there."""
    model, threads = recording(tape, mood, 3), set()
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
    """The message names both."""
    model = recording(tape, mood)
    for number in range(2):
        with attempt_by(f"building/{number}", "sqlite"):
            said(model)
    words = r"no reply to request 1 of \(building/9, sqlite\) .*of \(building/0, sqlite\)\."
    with pytest.raises(UnrecordedRequestError, match=words), attempt_by("building/9", "sqlite"):
        said(playing(tape))


@pytest.mark.parametrize("position", ["1", '"0"'])
def test_a_line_that_is_out_of_place_is_named(tape: Path, mood: Moody, position: str) -> None:
    """A reply whose predecessor is missing would be played in its place."""
    said(recording(tape, mood))
    text = tape.read_text("utf-8")
    tape.write_text(text.replace('"position": 0', f'"position": {position}'), "utf-8")
    with pytest.raises((ParseError, UsageError), match=r"tape\.jsonl:3"):
        Cassette.replay(tape, [NAME])
