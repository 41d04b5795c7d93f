"""OpenAI's chat model: settings its server refuses, and the shapes that replies come in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI

from dqa.core.errors import ModelUnavailableError, UnparsableReplyError
from dqa.models import bounded_http
from dqa.models.calling import call_model
from dqa.models.cleaning import without_halves
from dqa.models.faults import Fault, FaultKind
from dqa.models.openai_chat import OpenAIChat
from dqa.models.policy import CallPolicy, Retry
from tests.models.conftest import Hours
from tests.models.listening import Saying
from tests.models.model_server import MADE_UP, ModelServer, Trouble
from tests.models.served import KEY, STOP, TEXT, both_ways, call, model_at, server


@pytest.mark.parametrize(
    ("trouble", "words", "streaming"),
    [
        (Trouble.LENGTH, "cut off", False),
        (Trouble.LENGTH, "cut off", True),
        (Trouble.CONTENT_FILTER, "withheld", False),
        (Trouble.CONTENT_FILTER, "withheld", True),
        (Trouble.REFUSAL, "refusal", False),  # LangChain leaves refusals out of streams
    ],
)
def test_a_reply_that_is_not_whole_cannot_be_taken_for_one(
    trouble: Trouble, words: str, streaming: bool, hours: Hours
) -> None:
    """Half an answer may name the wrong candidate: the model is told and asked again."""
    with server(trouble) as served:
        called, _ = call(served, CallPolicy(clock=hours.clock), streaming=streaming)
    assert words in (called.incomplete or "")
    with pytest.raises(UnparsableReplyError, match=words):
        called.check()


@both_ways
def test_what_follows_a_stop_sequence_is_cut_and_named(streaming: bool, hours: Hours) -> None:
    """A server that ignores stop sequences lets its model invent observations."""
    with server(Trouble.AFTER_STOP) as served:
        called, (fault,) = call(served, CallPolicy(clock=hours.clock), streaming=streaming)
    assert called.reply.text == TEXT
    assert (fault.kind, fault.wait) == (FaultKind.AFTER_STOP, None)


REFUSED = {Trouble.STOP_UNSUPPORTED: "stop", Trouble.TEMPERATURE_UNSUPPORTED: "temperature"}


@both_ways
@pytest.mark.parametrize("trouble", list(REFUSED))
def test_a_model_that_refuses_a_setting_is_asked_without_it(
    trouble: Trouble, streaming: bool, hours: Hours
) -> None:
    """At once, with no attempt counted, named in the trace, and only the first time."""
    served, faults = server(trouble, times=99, program=lambda _: TEXT + MADE_UP), list[Fault]()
    with served:
        model = model_at(served, streaming=streaming)
        policy = CallPolicy(Retry(retries=0), clock=hours.clock)
        replies = [
            call_model(model, [HumanMessage(text)], STOP, policy, faults.append).reply.text
            for text in ("Decide.", "Decide again.")
        ]
        asked_with = [REFUSED[trouble] in request for request in served.requests]
    assert replies == [TEXT, TEXT], "what follows a stop sequence is cut off here"
    assert asked_with == [True, False, False]
    assert hours.slept == []
    unsupported, *others = faults
    assert (unsupported.kind, unsupported.attempt) == (FaultKind.UNSUPPORTED, 1)
    assert (REFUSED[trouble] in unsupported.message, unsupported.wait) == (True, 0.0)
    assert {fault.kind for fault in others} == {FaultKind.AFTER_STOP}


def test_a_model_may_refuse_several_settings_to_several_threads() -> None:
    """Reasoning models take neither; each thread that was refused asks again."""

    def plan(request: dict[str, Any], _: int) -> Trouble | None:
        return next((trouble for trouble, name in REFUSED.items() if name in request), None)

    with ModelServer(lambda _: TEXT, plan) as served:
        model = model_at(served)

        def ask(number: int) -> str:
            asked = [HumanMessage(f"Decide {number}.")]
            return call_model(model, asked, STOP, CallPolicy(Retry(retries=0))).reply.text

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(ask, range(40))) == {TEXT}
        assert not set(REFUSED.values()) & served.requests[-1].keys()
        assert served.troubles.total() <= 2 * 8


class Stubborn(OpenAIChat):
    """A model that sends a setting although it was told not to."""

    def leave_out(self, setting: str) -> None:
        """Do nothing."""


def test_a_setting_that_is_refused_again_is_a_rejected_request() -> None:
    """Two requests, and no endless loop."""
    with server(Trouble.STOP_UNSUPPORTED, times=99) as served:
        model = Stubborn(
            model="test",
            base_url=served.url,
            api_key=KEY,  # type: ignore[arg-type]
            max_retries=0,
        )
        with pytest.raises(ModelUnavailableError, match="rejects the request"):
            call_model(model, [HumanMessage("Decide.")], STOP)
        assert len(served.requests) == 2


def test_a_stop_sequence_is_found_in_a_reply_of_several_blocks() -> None:
    """As the Responses API gives them, which knows no stop sequences at all."""
    blocks: list[str | dict[str, Any]] = [
        {"type": "reasoning", "summary": []},
        {"type": "text", "text": "Action: look"},
        {"type": "text", "text": "\nObservation: made up"},
    ]
    model, faults = Saying(reply=AIMessage(blocks)), list[Fault]()
    called = call_model(model, [HumanMessage("Decide.")], STOP, on_fault=faults.append)
    assert called.reply.content == "Action: look"
    assert [fault.kind for fault in faults] == [FaultKind.AFTER_STOP]
    about = {"incomplete_details": {"reason": "max_output_tokens"}}
    cut = Saying(reply=AIMessage("half", response_metadata=about))
    assert call_model(cut, [HumanMessage("Decide.")]).incomplete is not None


def test_an_empty_reply_and_a_made_up_tool_are_the_agents_to_judge(hours: Hours) -> None:
    """They are replies: what the model said, not what its provider broke."""
    with server(Trouble.EMPTY) as served:
        called, faults = call(served, CallPolicy(clock=hours.clock))
    assert (called.reply.text, called.incomplete, faults) == ("", None, [])
    with server(Trouble.UNKNOWN_TOOL) as served:
        called, faults = call(served, CallPolicy(clock=hours.clock))
    assert [made["name"] for made in called.reply.tool_calls] == ["browse_the_web"]
    assert (called.incomplete, faults) == (None, [])


@both_ways
def test_half_a_character_is_replaced_before_anything_stores_it(streaming: bool) -> None:
    """JSON can spell half a surrogate pair; no file and no later request can hold one."""
    with server(program=lambda _: "Final Answer: x\ud83d") as served:
        called, _ = call(served, CallPolicy(), streaming=streaming)
    assert called.reply.text == "Final Answer: x\ufffd"
    called.reply.text.encode()


def test_half_a_character_in_a_call_is_replaced_too() -> None:
    """Arguments of tools are text like any other."""
    reply = AIMessage("", tool_calls=[{"name": "q", "args": {"a": ["\udc00"]}, "id": "1"}])
    clean = without_halves(reply)
    assert clean.tool_calls[0]["args"] == {"a": ["\ufffd"]}
    assert without_halves(clean) is clean


@both_ways
@pytest.mark.parametrize("arguments", ['["SELECT 1"]', "null"])
def test_arguments_that_are_no_object_are_the_models_mistake(
    arguments: str, streaming: bool
) -> None:
    """The reply is there, with a call that cannot be read: nothing failed at the server."""
    called_tool = {
        "content": None,
        "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {"name": "query_database", "arguments": arguments},
            }
        ],
    }
    with server(program=lambda _: called_tool) as served:
        called, faults = call(served, CallPolicy(), streaming=streaming)
    assert not faults
    (broken,) = called.reply.invalid_tool_calls
    assert broken["name"] == "query_database"
    assert not called.reply.tool_calls


@pytest.mark.parametrize(("arguments", "read"), [(None, {}), ({"a": 1}, {"a": 1})])
def test_arguments_that_are_no_text_are_read_all_the_same(
    arguments: Any, read: dict[str, int]
) -> None:
    """Some servers send the object itself, or nothing where a tool takes none."""
    called_tool = {
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "look", "arguments": arguments}}
        ],
    }
    with server(program=lambda _: called_tool) as served:
        called, faults = call(served, CallPolicy())
    assert not faults
    assert [made["args"] for made in called.reply.tool_calls] == [read]


def test_a_stop_sequence_in_what_a_model_thinks_ends_nothing() -> None:
    """The reply goes on after the thinking."""
    said = "<think>maybe\nObservation: x\n</think>\nFinal Answer: ghent"
    with server(program=lambda _: said) as served:
        called, faults = call(served, CallPolicy())
    assert called.reply.text == said
    assert not faults


@tool
def look_up(names: list[str], year: int | None = None) -> str:
    """Look something up."""
    return f"{names} {year}"


TALK = [
    SystemMessage("Decide."),
    HumanMessage([{"type": "text", "text": "Where to?"}]),
    AIMessage(
        "",
        tool_calls=[{"name": "look_up", "args": {"names": ["a"]}, "id": "1", "type": "tool_call"}],
    ),
    ToolMessage('["a"]', tool_call_id="1"),
    HumanMessage("And now?", name="someone"),
]


@both_ways
@pytest.mark.parametrize("tools", [[], [look_up]], ids=["text", "tools"])
def test_a_server_is_sent_what_bare_chat_openai_sends(
    tools: list[BaseTool], streaming: bool
) -> None:
    """Every key and value, whoever words them."""
    with server() as served:
        for kind in (ChatOpenAI, OpenAIChat):
            model = kind(
                model="test",
                base_url=served.url,
                api_key=KEY,  # type: ignore[arg-type]
                temperature=0,
                streaming=streaming,
                extra_body={"top_k": 5},
            )
            asked = model.bind_tools(tools, tool_choice="auto") if tools else model
            assert asked.invoke(TALK, stop=["\nObservation:"]).text == TEXT
        bare, ours = served.requests
    assert list(ours.items()) == list(bare.items())
    assert len(ours["messages"]) == len(TALK)


def test_no_connection_is_left_open_at_the_end() -> None:
    """LangChain keeps its clients for the whole process; Python may warn of their sockets then."""
    with server() as served:
        model = model_at(served)
        assert model.invoke("?").text == TEXT
        assert not model.root_client.is_closed()
        bounded_http.close_clients()
        assert model.root_client.is_closed()
