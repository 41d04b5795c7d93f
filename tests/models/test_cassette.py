"""Cassettes: what is recorded is played exactly, and nothing else is."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool

from dqa.core.errors import (
    ModelUnavailableError,
    ParseError,
    RequestTooLongError,
    UnrecordedRequestError,
    UsageError,
)
from dqa.core.recorder import Recorder
from dqa.models.calling import call_model
from dqa.models.cassette import FORMAT, Cassette
from dqa.models.policy import CallPolicy, Clock, Retry
from dqa.models.registry import Connection, chat_model
from dqa.models.replies import ModelReply
from tests.models.conftest import NAME, Speaking, playing, recording, saying
from tests.models.model_server import ModelServer, Trouble

STOP = ("\nObservation:",)
PROMPT = "# Question\nWhich node is best?\n\n# Database\nKind: relational database"
IMPATIENT = CallPolicy(Retry(1), clock=Clock(sleep=lambda _: None))


def counting(says: str = "reply {}") -> Speaking:
    """Return a model that never gives the same reply twice."""
    numbers = count(1)
    return Speaking(say=lambda _: says.format(next(numbers)))


def ask(model: BaseChatModel, *texts: str) -> ModelReply:
    """Ask for a reply to a conversation: human and model in turn."""
    kinds: tuple[type[BaseMessage], ...] = (HumanMessage, AIMessage)
    return call_model(
        model, [kinds[n % 2](t) for n, t in enumerate(texts)], Recorder(), IMPATIENT, STOP
    )


def lines(tape: Path) -> Iterator[dict[str, Any]]:
    """The cassette's lines."""
    return map(json.loads, tape.read_text("utf-8").splitlines())


def test_replay_needs_no_key_no_server_and_no_package(
    tape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text, tool calls, tokens and how the reply ended come back as they were."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}
    said: list[str | dict[str, Any]] = [{"content": None, "tool_calls": [call]}, "first"]
    with ModelServer(lambda _: said.pop()) as server:
        connection = Connection(server.url, cassette=Cassette.record(tape, [NAME]))
        model = chat_model(NAME, connection)
        made = [ask(model, PROMPT), ask(model, PROMPT, "first", "go on")]
    monkeypatch.setitem(__import__("sys").modules, "langchain_openai", None)
    played = [ask(playing(tape), PROMPT), ask(playing(tape), PROMPT, "first", "go on")]
    for one, other in zip(made, played, strict=True):
        assert one.reply.content == other.reply.content
        assert one.reply.tool_calls == other.reply.tool_calls
        assert one.reply.response_metadata == other.reply.response_metadata
        assert one.usage == other.usage
    assert made[0].usage.input_tokens > 0
    assert made[1].reply.tool_calls[0]["args"] == {"n": 1}


def test_a_request_made_twice_has_two_replies_in_their_order(tape: Path) -> None:
    """Self-consistency asks the same again; a third time was never recorded."""
    model = recording(tape, counting())
    assert [ask(model, PROMPT).reply.text for _ in range(2)] == ["reply 1", "reply 2"]
    model = playing(tape)
    assert [ask(model, PROMPT).reply.text for _ in range(2)] == ["reply 1", "reply 2"]
    with pytest.raises(UnrecordedRequestError, match="no further reply to this request"):
        ask(model, PROMPT)


def test_a_reply_after_the_time_limit_is_not_recorded(tape: Path) -> None:
    """The run asked again and used the second reply, so the replay does too."""
    used = threading.Event()
    policy = CallPolicy(Retry(first=0.0), clock=Clock(sleep=lambda _: None), timeout=0.5)
    numbers = count(1)

    def say(_: str) -> str:
        number = next(numbers)
        if number == 1:  # answered only after its time limit
            used.wait(30.0)
        return f"reply {number}"

    model = recording(tape, Speaking(say=say))
    before = set(threading.enumerate())
    assert call_model(model, [HumanMessage(PROMPT)], Recorder(), policy).reply.text == "reply 2"
    used.set()
    for late in set(threading.enumerate()) - before:
        late.join()
    assert call_model(model, [HumanMessage(PROMPT)], Recorder(), policy).reply.text == "reply 3"
    replayed = playing(tape)
    assert [
        call_model(replayed, [HumanMessage(PROMPT)], Recorder()).reply.text for _ in range(2)
    ] == ["reply 2", "reply 3"]


def test_tools_are_part_of_the_request(tape: Path) -> None:
    """The same words with another tool are another request."""

    @tool
    def look(where: str) -> str:
        """Look somewhere."""
        return where

    with ModelServer(lambda _: "seen") as server:
        connection = Connection(server.url, cassette=Cassette.record(tape, [NAME]))
        bound = chat_model(NAME, connection).bind_tools([look], tool_choice="look")
        call_model(bound, [HumanMessage("x")], Recorder())
        assert server.requests[0]["tools"][0]["function"]["name"] == "look"
        assert server.requests[0]["tool_choice"]["function"]["name"] == "look"
    played = call_model(
        playing(tape).bind_tools([look], tool_choice="look"), [HumanMessage("x")], Recorder()
    )
    assert played.reply.text == "seen"
    with pytest.raises(UnrecordedRequestError, match="record it again"):
        call_model(playing(tape), [HumanMessage("x")], Recorder())


def test_a_run_that_goes_on_plays_what_it_has_and_records_the_rest(tape: Path) -> None:
    """Nothing is paid for twice, and the cassette holds one consistent run."""
    ask(recording(tape, counting()), PROMPT)
    tape.write_bytes(tape.read_bytes() + b'{"request": "half')
    inner = counting("later {}")
    model = recording(tape, inner, resume=True)
    assert ask(model, PROMPT).reply.text == "reply 1"
    assert ask(model, PROMPT, "reply 1", "go on").reply.text == "later 1"
    assert len(inner.asked) == 1
    assert ask(playing(tape), PROMPT, "reply 1", "go on").reply.text == "later 1"


def test_a_failure_is_played_as_a_failure(tape: Path) -> None:
    """A question that a provider ended is ended again, with the same words."""
    with ModelServer(lambda _: "x", lambda *_: Trouble.SERVER_ERROR) as server:
        model = chat_model(NAME, Connection(server.url, cassette=Cassette.record(tape, [NAME])))
        with pytest.raises(ModelUnavailableError) as told:
            ask(model, PROMPT)
    with pytest.raises(ModelUnavailableError) as again:
        ask(playing(tape), PROMPT)
    words = str(told.value)
    assert str(again.value) == words


class ContextOverflowError(Exception):
    """What providers' packages call a request that is too long."""


def test_a_request_that_was_too_long_is_too_long_again(tape: Path) -> None:
    """The replay raises an error of the same class, so that the caller can shorten the request."""
    with pytest.raises(RequestTooLongError):
        ask(recording(tape, saying(ContextOverflowError("8,000 tokens"))), PROMPT)
    with pytest.raises(RequestTooLongError, match="8,000 tokens"):
        ask(playing(tape), PROMPT)


def test_a_refused_setting_leaves_no_mark_on_a_cassette(tape: Path, tmp_path: Path) -> None:
    """Recorded is the request as it was meant, so playing it needs no refusal first, and the file
    is the same whether or not the server takes the setting.
    """

    def record(path: Path, trouble: Trouble | None) -> int:
        with ModelServer(lambda _: "x", lambda *_: trouble) as server:
            connection = Connection(server.url, cassette=Cassette.record(path, [NAME]))
            model = chat_model(NAME, connection)
            assert ask(model, PROMPT).reply.text == ask(model, PROMPT, "x", "on").reply.text == "x"
            return len(server.requests)

    assert record(tape, Trouble.STOP_UNSUPPORTED) == 3
    assert record(tmp_path / "plain.jsonl", None) == 2
    assert tape.read_bytes() == (tmp_path / "plain.jsonl").read_bytes()
    model = playing(tape)
    assert ask(model, PROMPT).reply.text == ask(model, PROMPT, "x", "on").reply.text == "x"


def test_no_secret_is_written_and_the_run_sees_what_is_written(
    tape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the key, nor a password in an address, nor what a reply repeats of them."""
    monkeypatch.setenv("OPENAI_API_KEY", "hush-hush-1234")
    said = "you sent hush-hush-1234 to me"
    with ModelServer(lambda _: said) as server:
        address = server.url.replace("//", "//someone:pass-word-1@")
        model = chat_model(NAME, Connection(address, cassette=Cassette.record(tape, [NAME])))
        texts = [f"{PROMPT} at mysql://me:pass-word-2@host/x", "key sk-abcdef0123456789", "on"]
        made = ask(model, *texts)
    written = tape.read_text("utf-8")
    for secret in ("hush-hush", "pass-word", "sk-abcdef", "127.0.0.1"):
        assert secret not in written
    assert made.reply.text == "you sent *** to me"
    assert ask(playing(tape), *texts).reply.text == made.reply.text


def test_the_file_holds_the_last_message_of_a_request_and_no_time(
    tape: Path, tmp_path: Path
) -> None:
    """The same calls give the same bytes."""

    def made(path: Path) -> bytes:
        model = recording(path, counting())
        ask(model, PROMPT)
        ask(model, PROMPT, "reply 1", "go on")
        return path.read_bytes()

    assert made(tape) == made(tmp_path / "other.jsonl")
    contents = [line["message"] for line in lines(tape) if "message" in line]
    assert contents == [PROMPT, "go on"]


def edited(tape: Path, **header: Any) -> Path:
    """A cassette whose header says something else."""
    ask(recording(tape, counting()), PROMPT)
    first, *others = tape.read_text("utf-8").splitlines()
    tape.write_text("\n".join([json.dumps(json.loads(first) | header), *others, ""]), "utf-8")
    return tape


def test_another_formats_cassette_is_refused(tape: Path) -> None:
    """The message says which version to use."""
    with pytest.raises(ParseError, match=rf"format {FORMAT + 1}.*reads format {FORMAT}.*dqa 9\.0"):
        Cassette.replay(edited(tape, cassette=FORMAT + 1, dqa="9.0"), [NAME])


def test_another_models_cassette_is_refused(tape: Path) -> None:
    """It names the model that it does hold."""
    ask(recording(tape, counting()), PROMPT)
    with pytest.raises(UsageError, match=r"openai:test.*openai:other"):
        Cassette.replay(tape, ["openai:other"])


@pytest.mark.parametrize("content", ["", "{}\n", "what is this\n", "\xff\n"])
def test_what_is_no_cassette_is_refused(tape: Path, content: str) -> None:
    """An error that names the file, whatever it holds."""
    tape.write_bytes(content.encode("latin-1"))
    with pytest.raises((ParseError, UsageError), match=r"tape\.jsonl"):
        Cassette.replay(tape, [NAME])


def test_a_cassette_is_never_overwritten(tape: Path, tmp_path: Path) -> None:
    """A new recording needs a new file; one without replies is as good as new."""
    Cassette.record(tape, [NAME]).close()
    ask(recording(tape, counting()), PROMPT)
    for name in (NAME, "openai:another"):
        with pytest.raises(UsageError, match="already exists"):
            Cassette.record(tape, [name])
    with pytest.raises(UsageError, match="cannot be written"):
        Cassette.record(tmp_path / "no" / "folder.jsonl", [NAME])
