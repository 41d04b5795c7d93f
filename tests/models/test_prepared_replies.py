"""Models with prepared replies: a list or a function, in the reply format of the method."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from langchain_core.messages import HumanMessage

import dqa
from dqa.core.errors import UsageError
from dqa.models.scripted.steps import Answer, Step
from dqa.testing.models import PreparedReplies

LOOK = Step("Look.", "SELECT name FROM supplier ORDER BY price LIMIT 1")
QUESTION = dqa.UserQuestion(
    question="Which supplier is the cheapest?", candidates="SELECT name FROM supplier"
)


@pytest.fixture
def shop() -> Iterator[dqa.Database]:
    """Two suppliers."""
    tables = {"supplier": {"name": ["north", "south"], "price": [3, 2]}}
    with dqa.temporary_database(tables) as opened:
        yield opened


@pytest.mark.parametrize("protocol", ["react", "tools"])
@pytest.mark.parametrize(
    "decider", ["planrag", "iterrag", "singlerag", "planrag-no-thought", "planrag-thought-first"]
)
def test_the_same_replies_drive_every_agent_in_either_protocol(
    shop: dqa.Database, decider: str, protocol: str
) -> None:
    """They are put into the words that the agent's format asks for."""
    model = PreparedReplies([LOOK, Answer("So.", "south")])
    trace = dqa.ask(shop, QUESTION, decider=decider, protocol=protocol, model=model, debug=True)
    assert (trace.choice, trace.model) == ("south", "scripted:replies")
    assert [asked.statement for asked in trace.evidence] == [LOOK.given]
    assert '["south"]' in model.requests[-1].text
    assert model.unused == 0


@pytest.mark.parametrize("protocol", ["react", "tools"])
def test_a_plan_that_is_a_reply_of_its_own_takes_none_of_those_given(
    shop: dqa.Database, protocol: str
) -> None:
    """The statement waits for it."""
    model = PreparedReplies([Step("", LOOK.given, "1. Look.\n2. Decide."), Answer("", "south")])
    trace = dqa.ask(shop, QUESTION, decider="planrag", protocol=protocol, model=model, debug=True)
    assert (trace.choice, trace.plans) == ("south", ("1. Look.\n2. Decide.",))
    assert (len(trace.evidence), model.unused) == (1, 0)


def test_a_decision_is_its_own_words_where_no_method_has_others() -> None:
    """A statement has none there, and that is said."""
    assert PreparedReplies([Answer("", "south")]).invoke("Which one?").text == "south"
    with pytest.raises(UsageError, match=r"statements.*\nWhich one\?"):
        PreparedReplies([LOOK]).invoke("Which one?")


def test_a_reply_too_many_says_what_was_asked() -> None:
    """And a long request is cut."""
    model = PreparedReplies(["one"])
    model.invoke("Hello")
    with pytest.raises(UsageError, match=r"no reply left.*\nAnd then\?$"):
        model.invoke("And then?")
    with pytest.raises(UsageError, match=r"x{400}\.\.\.$"):
        model.invoke([HumanMessage("x" * 500)])
