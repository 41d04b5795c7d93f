"""Faulty replies to every method: asked again or counted, shown, and never completed by a guess."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.events import ParseFailureEvent, ReplyEvent
from dqa.deciders.base import Settings
from dqa.models.conversation import StepPrompt
from dqa.models.scripted import scripted_model
from dqa.testing.models import PreparedReplies, Request
from dqa_ldm2 import ModelUse, building, open_memory
from tests.ldm2.rooms import ROOMS, experts
from tests.scenarios.worlds import questions

METHODS = (
    *("bidder", "direct", "cot", "reflexion", "tree-of-thoughts"),
    *("dellma-pairs", "dellma-naive", "zero-shot", "self-consistency", "chain-of-thought"),
    *("ldm2", "standard", "react"),
    *("planrag", "iterrag", "singlerag"),
)
LABELLED = ("planrag", "iterrag", "singlerag")
"""Methods whose replies have labels and are no JSON."""


def changed(text: str, change: Callable[[Any], Any]) -> str:
    """Return a reply with another JSON object."""
    start = text.find("{")
    if start < 0:
        return text  # plain words, as chain-of-thought's first steps
    return text[:start] + json.dumps(change(json.loads(text[start:])))


def as_text(value: Any) -> Any:
    """Return a JSON value whose numbers are texts."""
    if isinstance(value, dict):
        return {name: as_text(one) for name, one in value.items()}
    if isinstance(value, list):
        return [as_text(one) for one in value]
    return value if isinstance(value, bool) else str(value)


def wrong_names(told: dict[str, Any]) -> dict[str, Any]:
    """Return an object with other names."""
    return {f"my {name}": value for name, value in told.items()}


FAULTS: dict[str, Callable[[str], str]] = {
    "empty": lambda _: "",
    "refusal": lambda _: "I cannot help with that.",
    "half an object": lambda _: '{"',
    "many braces": lambda _: "{" * 200_000,
    "another kind": lambda _: "[1, 2]",
    "missing items": lambda _: "{}",
    "wrong names": lambda text: changed(text, wrong_names),
}
"""Replies that cannot be used."""
ODD: dict[str, Callable[[str], str]] = {
    "numbers as text": lambda text: changed(text, as_text),
    "extra items": lambda text: changed(text, lambda told: {**told, "note": {"a": [1, None]}}),
}
"""Replies that can be used all the same."""


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """Load the first Locating question's situation."""
    found = questions()
    opened = plugins.backend("sqlite").load(found.situation_of(found.find("locating/1")))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a memory of an expert's games."""
    path = tmp_path_factory.mktemp("memory") / "memory.db"
    with pytest.MonkeyPatch.context() as patch, open_memory(path, create=True) as made:
        patch.setattr(building, "expert_trajectories", experts)
        building.build_memory(ROOMS, made, games=4, batch=50, use=ModelUse())
    return path


def decide(
    name: str, database: Database, memory: Path, fault: Callable[[str], str], *, always: bool
) -> tuple[Decision, Sequence[Request], int]:
    """Decide with an analyst whose replies are faulty: the first of each step, or all.

    Returns the decision, the requests, and the number of faulty replies.
    """
    analyst, seen = scripted_model("analyst"), Counter[str]()

    def reply(request: Request) -> str:
        first = next((m for m in request.messages if isinstance(m, StepPrompt)), None)
        purpose = "" if first is None else first.purpose
        seen[purpose] += 1
        good = "{}" if always else analyst.invoke(list(request.messages)).text
        return fault(good) if always or seen[purpose] == 1 else good

    options = {"dellma.samples": "8", "ldm2.memory": str(memory)}
    family = plugins.decider(name).family
    mine = {key: value for key, value in options.items() if key.startswith(f"{family}.")}
    if name in ("standard", "react"):
        mine = {f"{name}.examples": "0"}
    elif not name.startswith("dellma") and family == "dellma":
        mine = {}
    model = PreparedReplies(reply)
    decider = plugins.decider(name)(model, Settings(options=mine))
    decision = decider.decide(questions().find("locating/1"), database)
    return decision, model.requests, len(seen)


def of_kind(decision: Decision, kind: type) -> int:
    """Count the events of a kind."""
    return sum(isinstance(event, kind) for event in decision.trace)


@pytest.mark.parametrize("name", METHODS)
def test_a_faulty_reply_to_each_step_is_asked_again(
    name: str, database: Database, memory: Path
) -> None:
    """The decision is that without faults; every fault is counted, and every reply is shown.

    The first steps of chain-of-thought accept any words.
    """
    clean, _, _ = decide(name, database, memory, lambda text: text, always=False)
    assert clean.ending is Ending.ANSWERED, clean.error
    for title, fault in FAULTS.items():
        if name in LABELLED and title == "wrong names":
            continue
        decision, requests, faulty = decide(name, database, memory, fault, always=False)
        assert (decision.ending, decision.choice) == (clean.ending, clean.choice), title
        failures = of_kind(decision, ParseFailureEvent)
        assert failures == faulty or (name == "chain-of-thought" and failures), title
        assert of_kind(decision, ReplyEvent) == len(requests), title


@pytest.mark.parametrize("name", METHODS)
def test_faulty_replies_alone_are_no_decision(name: str, database: Database, memory: Path) -> None:
    for title, fault in FAULTS.items():
        decision, requests, _ = decide(name, database, memory, fault, always=True)
        assert (decision.ending, decision.choice) == (Ending.UNPARSABLE, None), title
        assert decision.answer == "", title
        assert of_kind(decision, ReplyEvent) == len(requests) >= 3, title
        assert decision.trace[-1].kind == "unparsable", title


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", [name for name in METHODS if name not in LABELLED])
def test_numbers_as_text_and_extra_items_do_no_harm(
    name: str, odd: str, database: Database, memory: Path
) -> None:
    clean, _, _ = decide(name, database, memory, lambda text: text, always=False)
    decision, requests, _ = decide(name, database, memory, ODD[odd], always=False)
    assert (decision.ending, decision.choice) == (clean.ending, clean.choice)
    assert of_kind(decision, ReplyEvent) == len(requests)
