"""Scripted models: by name, and answered for by whichever method knows the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.models.scripted import Responder, scripted_model


class Greeter:
    """Answers greetings, with what it was handed."""

    def answers(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether the last message greets."""
        return messages[-1].text.startswith("Hello")

    def reply(
        self, messages: Sequence[BaseMessage], tools: Sequence[str], script: str, seed: int
    ) -> AIMessage:
        """Greet back."""
        return AIMessage(f"{messages[-1].text}, says {script} {seed} with {', '.join(tools)}")


@tool
def look(place: str) -> str:
    """Look at a place."""
    return place


def test_a_method_answers_for_scripted_models_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model hands on what it is asked, which tools there are, its script and its seed."""
    assert isinstance(Greeter(), Responder)
    monkeypatch.setattr(plugins, "responders", lambda: (Greeter(),))
    model = scripted_model("analyst", seed=4).bind_tools([look])
    assert model.invoke([HumanMessage("Hello")]).text == "Hello, says analyst 4 with look"


def test_a_conversation_of_nobody_s_is_refused() -> None:
    """The message says which methods there are answers for, and what to do."""
    answered = r"\(bidder, dellma, ldm2, planrag\)"
    with pytest.raises(UsageError, match=answered):
        scripted_model("analyst").invoke("Hello")


def test_a_broken_responder_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that cannot be imported does not affect the other packages."""
    figures = EntryPoint("awry", "no_such_package:PUBLICATION", "dqa.publications")
    monkeypatch.setitem(plugins._registered("publication"), "awry", figures)
    assert plugins.analyse() == plugins.analyse("planrag")
    with pytest.raises(UsageError, match="'bidder' contains no analysis"):
        plugins.analyse("bidder")
    broken = EntryPoint("awry", "no_such_package:RESPONDER", "dqa.scripted")
    known = plugins._registered("scripted")
    there = plugins.responders()
    plugins.responders.cache_clear()
    monkeypatch.setitem(known, "awry", broken)
    try:
        assert "awry" in plugins.names("scripted")
        assert plugins.responders() == there
    finally:
        plugins.responders.cache_clear()
