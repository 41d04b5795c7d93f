"""BIDDER and its baselines on moves and on ordinary questions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.errors import UsageError
from dqa.core.events import PromptEvent, StepEvent
from dqa.core.question import Question
from dqa.deciders.base import DeciderFactory, Settings
from dqa.evaluation.episodes import play_episode
from dqa.models.scripted import scripted_model
from dqa.worlds.history import History
from dqa.worlds.world import Move
from dqa_bidder.returns import Returns
from tests.bidder.exact import model_saying
from tests.stored import find_step
from tests.suppliers import BUY

NAMES = ("bidder", "bidder-t1", "bidder-t3", "direct", "cot", "reflexion", "tree-of-thoughts")


@pytest.fixture
def move(history: History) -> Iterator[Move]:
    """Return the second move of a game of Leduc poker."""
    pytest.importorskip("pyspiel")
    factory = plugins.world("leduc")
    episode = factory.make(factory.settings(), history).start(3)
    episode.choose("raise")
    found = episode.next_move()
    assert found is not None
    yield found
    episode.close()


def decided(
    name: str, question: Question, database: Database, script: str = "analyst", **own: str
) -> Decision:
    """Decide a question with a scripted model."""
    options = {f"{name}.{setting}": value for setting, value in own.items()}
    decider = plugins.decider(name)(scripted_model(script), Settings(options=options))
    decider.check(question)
    return decider.decide(question, database)


@pytest.mark.parametrize("name", NAMES)
def test_every_decider_decides_a_move(name: str, move: Move) -> None:
    """Its statements are evidence, and no prompt holds the opponent's card."""
    decision = decided(name, move.question, move.database)
    assert decision.ending is Ending.ANSWERED
    assert decision.choice in move.position.actions
    statements = [one.statement for one in decision.evidence]
    assert all("WHERE game = " in statement for statement in statements)
    assert [s.split(" FROM ")[1].split()[0] for s in statements] == ["events", "outcomes", "hidden"]
    assert [one.error for one in decision.evidence] == [None] * 3
    prompts = [one.messages[0][1] for one in decision.trace if isinstance(one, PromptEvent)]
    assert prompts
    assert all("player raise" in p or "1. [first] player: raise" in p for p in prompts)
    assert all(prompt.count("Chips in the pot") == 1 for prompt in prompts)


@pytest.mark.parametrize("name", NAMES)
def test_every_decider_decides_an_ordinary_question(name: str, suppliers: Database) -> None:
    """On the rows of its context, without inference or opponents."""
    decision = decided(name, BUY, suppliers)
    assert decision.choice == "Bob"
    assert [one.row_count for one in decision.evidence] == [3]
    if name.startswith("bidder"):
        found = find_step(decision.trace, Returns, "returns")
        assert found is not None
        assert [one.value for one in found.returns] == [0.0, 1.0, pytest.approx(2 / 4.5)]
        assert found.ceiling == 1.0
        assert decision.steps == 2


@pytest.mark.parametrize("world", ["kuhn", "leduc", "holdem", "negotiation"])
def test_scripted_models_play_every_world(world: str, history: History) -> None:
    """BIDDER plays a whole game against another method without a failed reply."""
    pytest.importorskip("pyspiel")
    factory = plugins.world(world)
    made = factory.make(factory.settings(), history)
    model = scripted_model("analyst")
    bidder = plugins.decider("bidder")(model, Settings())
    other = plugins.decider("reflexion")(model, Settings())
    played = play_episode(made, {"player": bidder, "opponent": other}, 1)
    assert played.returns is not None
    for decision in (move.decision for move in played.moves):
        assert "parse_failure" not in {event.kind for event in decision.trace}


def results(decision: Decision, purpose: str) -> list[dict[str, object]]:
    """Return the results of a step."""
    steps = [event for event in decision.trace if isinstance(event, StepEvent)]
    return [step.result for step in steps if step.purpose == purpose]


def test_reflexion_shows_the_draft_and_may_change_it(suppliers: Database) -> None:
    """The check decides."""
    draft = 'Ada comes first.\n{"action": "Ada"}'
    model = model_saying(lambda task, _last, _number: draft if task == "cot" else None)
    decision = plugins.decider("reflexion")(model, Settings()).decide(BUY, suppliers)
    assert decision.choice == "Bob"
    assert "> Ada comes first." in model.requests[-1].text
    (revision,) = results(decision, "revision")
    assert revision == {"before": "Ada", "after": "Bob"}


def test_thoughts_are_voted_on_and_bounded(suppliers: Database) -> None:
    """The thought with most votes decides; a vote for an unknown thought is asked again."""
    thoughts = json.dumps(
        {"thoughts": [{"thought": "a", "action": "Cy"}, {"thought": "b", "action": "Ada"}]}
    )

    def say(task: str, last: str, _number: int) -> str | None:
        if task == "thoughts":
            return thoughts
        return '{"best": 2}' if "could not be used" in last else '{"best": 5}'

    model = model_saying(say)
    options = {"tree-of-thoughts.votes": "2", "tree-of-thoughts.depth": "2"}
    decider = plugins.decider("tree-of-thoughts")(model, Settings(options=options))
    decision = decider.decide(BUY, suppliers)
    assert decision.choice == "Ada"
    levels = results(decision, "level")
    assert [(level["level"], level["votes"], level["kept"]) for level in levels] == [
        (1, [0, 2], [1]),
        (2, [0, 2], [1]),
    ]
    asked = [event for event in decision.trace if isinstance(event, PromptEvent)]
    assert len(asked) == 2 * (1 + 2)


def test_a_question_without_actions_is_refused(suppliers: Database) -> None:
    open_question = Question("custom", "1", "Which?", "None.")
    with pytest.raises(UsageError, match="lists no candidates, but BIDDER"):
        plugins.decider("bidder")(scripted_model("analyst"), Settings()).check(open_question)
    unread = Question("custom", "1", "Which?", "None.", candidates=("a", "b"))
    with pytest.raises(UsageError, match=r"BIDDER.*--context"):
        decided("bidder", unread, suppliers)


def test_a_step_is_replaced_as_documented(suppliers: Database) -> None:
    """The decider has its settings, and makes no decision request."""
    page = (Path(__file__).parents[2] / "docs" / "bidder.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, object] = {"__name__": "mine"}
    exec(compile(example, "docs/bidder.md", "exec"), names)  # noqa: S102  (ours)
    mine = names["MINE"]
    assert isinstance(mine, DeciderFactory)
    decision = mine(scripted_model("analyst"), Settings()).decide(BUY, suppliers)
    assert (decision.choice, decision.steps) == ("Bob", 1)
