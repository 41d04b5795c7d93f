"""Chat models that are given as they are, and decisions that are observed."""

from __future__ import annotations

import pytest

import dqa
from dqa.core.errors import UsageError
from dqa.models.scripted import scripted_model
from dqa.models.scripted.steps import Answer, Step
from dqa.testing.models import PreparedReplies

QUESTIONS = dqa.generate(["locating"], count=2)


def test_a_model_itself_decides_as_one_by_name_does() -> None:
    """Its name is what results call it."""
    model = scripted_model("analyst")
    model.name = "scripted:mine"
    mine = dqa.evaluate(QUESTIONS, "planrag", databases="sqlite", model=model)
    named = dqa.evaluate(QUESTIONS, "planrag", databases="sqlite", model="scripted:analyst")
    assert [result.choice for result in mine.results] == [r.choice for r in named.results]
    assert {result.model for result in mine.results} == {"scripted:mine"}
    assert mine.spec is not None
    assert mine.spec.model.name == "scripted:mine"


def test_two_deciders_of_one_name_and_what_is_no_model_are_refused() -> None:
    """Results could not tell the two apart."""
    with pytest.raises(UsageError, match=r"is not a decider: .* inherits from dqa\.Decider"):
        dqa.evaluate(QUESTIONS, ["planrag", object()])  # type: ignore[list-item]
    nameless = type("Nameless", (dqa.Decider,), {"decide": lambda *_: None})
    with pytest.raises(UsageError, match="an object of a class that inherits"):
        dqa.evaluate(QUESTIONS, [nameless])  # type: ignore[list-item]
    with pytest.raises(UsageError, match=r"Nameless.* has a name"):
        dqa.evaluate(QUESTIONS, [nameless()])
    taken = type("Taken", (dqa.Decider,), {"name": "planrag", "decide": lambda *_: None})
    with pytest.raises(UsageError, match="the name 'planrag'"):
        dqa.evaluate(QUESTIONS, [taken(), "planrag"])
    with pytest.raises(UsageError, match=r"^model is a int: give a name such as openai:gpt-5"):
        dqa.evaluate(QUESTIONS, "planrag", model=3)


def test_decisions_are_observed_whoever_asks_for_them() -> None:
    """Those of evaluate, made by several threads, and those of ask; none after the block."""
    seen: list[dqa.Trace] = []
    with (
        dqa.observe_decisions(seen.append),
        dqa.temporary_database({"supplier": {"name": ["north"]}}) as database,
    ):
        dqa.evaluate(QUESTIONS, ["first"], databases="sqlite")
        dqa.ask(
            database, "Which?", model=PreparedReplies([Step("", "SELECT 1"), Answer("", "north")])
        )
    dqa.evaluate(QUESTIONS, ["first"], databases="sqlite")
    assert sorted(trace.question for trace in seen) == ["custom/1", "locating/1", "locating/2"]
