"""Chat models are found by name, and what is missing is named."""

from __future__ import annotations

import sys

import pytest
from langchain_openai import ChatOpenAI

from dqa.core.errors import MissingKeyError, UsageError
from dqa.models.registry import Connection, chat_model
from tests.models.model_server import ModelServer


@pytest.mark.parametrize("name", ["", "gpt-5", "openai:", ":x"])
def test_a_name_without_provider_says_how_names_look(name: str) -> None:
    """The message shows the form."""
    with pytest.raises(UsageError, match="provider:model"):
        chat_model(name)


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A placeholder stands in for the key; temperature and the package's own retries are 0."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = chat_model("openai:some-model", Connection("http://localhost:9/v1", timeout=7.0))
    assert isinstance(model, ChatOpenAI)
    assert model.temperature == 0
    assert model.openai_api_base == "http://localhost:9/v1"
    assert (model.max_retries, model.request_timeout) == (0, 7.0)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message contains the command that installs the package."""
    monkeypatch.delitem(sys.modules, "dqa.models.openai_chat", raising=False)
    monkeypatch.setitem(sys.modules, "langchain_openai", None)
    with pytest.raises(MissingKeyError, match=r'\[openai\]"'):
        chat_model("openai:some-model")
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(MissingKeyError, match=r'\[models\]"'):
        chat_model("someone:some-model")


def test_a_server_is_asked_for_short_replies_in_both_words_for_it() -> None:
    """Some servers know only the older name. Without a limit, neither name is sent."""
    with ModelServer(lambda _: "Yes.") as server:
        chat_model("openai:x", Connection(server.url, reply_tokens=9)).invoke("Well?")
        chat_model("openai:x", Connection(server.url)).invoke("Well?")
    short, free = server.requests
    assert (short["max_tokens"], short["max_completion_tokens"]) == (9, 9)
    assert not {"max_tokens", "max_completion_tokens"} & free.keys()
