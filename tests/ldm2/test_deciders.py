"""LDM2 and its baselines on ordinary questions and episodes, and what is not remembered."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import EpisodeDecider
from dqa.core.decision import Ending
from dqa.core.events import PromptEvent
from dqa.core.question import Question
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.base import Settings
from dqa.models.scripted import GivenReplies, Request
from dqa.worlds.history import History
from dqa_ldm2 import Memory
from dqa_ldm2.events import ImitationEvent, RecallEvent, ReflectionEvent
from dqa_ldm2.factories import example_decider, remembering_decider
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.memory.base import Origin, Placed, StateAction
from dqa_ldm2.scripted.reading import read_prompt
from dqa_ldm2.scripted.responder import reply_to
from dqa_ldm2.settings import TrialSettings
from tests.ldm2.playing import deciding, play
from tests.ldm2.rooms import RoomsSettings

BUY = Question(
    "custom",
    "7",
    "Which supplier earns most?",
    "A larger margin is better.",
    candidates=("Ada", "Bob", "Cy"),
    context_queries=("SELECT name, margin FROM supplier ORDER BY name",),
)
Built = Callable[..., Memory]


@pytest.fixture
def suppliers(tmp_path: Path) -> Iterator[Database]:
    """A user's own database."""
    path = tmp_path / "own.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE supplier (name TEXT, margin REAL)")
        rows = [("Ada", 3.0), ("Bob", 7.5), ("Cy", 5.0)]
        made.executemany("INSERT INTO supplier VALUES (?, ?)", rows)
    made.close()
    opened = plugins.backend_for(str(path)).open(str(path))
    yield opened
    opened.close()


def decided_before(memory: Memory, *actions: tuple[str, str]) -> Memory:
    """Add decisions to a memory: a source and an action each, a batch each."""
    for source, action in actions:
        content = StateAction("Whom did we buy from?", "", "Rows.", action, source, 1, 1.0)
        memory.add([Placed(content, "buying", "margins")], Origin("import", source))
    return memory


def test_an_ordinary_question_is_decided_by_what_its_rows_say(
    memory: Memory, suppliers: Database
) -> None:
    """What was decided in another run is imitated; every statement is evidence."""
    decision = deciding(decided_before(memory, ("runs/a custom/1", "Cy"))).decide(BUY, suppliers)
    assert (decision.ending, decision.choice) == (Ending.ANSWERED, "Cy")
    assert [one.row_count for one in decision.evidence] == [3]
    (prompt,) = (one for one in decision.trace if isinstance(one, PromptEvent))
    assert '> ["Bob", 7.5]' in prompt.messages[0][1]
    assert "> A larger margin is better." in prompt.messages[0][1]
    (event,) = (one for one in decision.trace if isinstance(one, ImitationEvent))
    assert (event.source, event.is_same) == ("runs/a custom/1", True)


_IDENTITY = QuestionIdentity.of(BUY)


@pytest.mark.parametrize(
    "source",
    [
        "runs/a custom/7",
        "custom/7",
        "custom 7",
        _IDENTITY.source("runs/b", "custom/99", "by planrag on sqlite"),
        "a colleague's notes",
    ],
)
def test_the_answer_of_the_very_question_is_never_recalled(
    memory: Memory, suppliers: Database, source: str
) -> None:
    """It is planted, and no prompt has it, whichever run it is of and whatever it is called."""
    planted = StateAction(BUY.text, "", "Rows.", "Bob", source, 1, 1.0)
    other = StateAction("Which one?", "", "Others.", "Ada", "runs/a custom/1", 1, 1.0)
    placed = [Placed(one, "buying", "margins") for one in (planted, other)]
    memory.add(placed, Origin("import", "runs"))
    decision = deciding(memory, retrieved=1).decide(BUY, suppliers)
    (recall,) = (one for one in decision.trace if isinstance(one, RecallEvent))
    assert [one.source for one in recall.tuples] == ["runs/a custom/1"]
    (prompt,) = (one for one in decision.trace if isinstance(one, PromptEvent))
    assert 'Done: "Bob"' not in prompt.messages[0][1]
    for baseline in (False, True):
        factory = example_decider("x", "", thinks=baseline, opener=lambda _: memory)
        shown = deciding(memory, factory).decide(BUY, suppliers).trace
        texts = [one.messages[0][1] for one in shown if isinstance(one, PromptEvent)]
        assert texts
        assert all('Done: "Bob"' not in text and 'Done: "Ada"' in text for text in texts)


@pytest.mark.parametrize("thinks", [False, True])
def test_whole_examples_are_shown(built: Built, history: History, thinks: bool) -> None:
    """ReAct keeps what it thought from move to move."""
    memory = built(games=6)
    factory = example_decider("x", "", thinks=thinks, opener=lambda _: memory)
    (played,) = play(deciding(memory, factory), history, 5_000, RoomsSettings()).played
    prompts = [
        event.messages[0][1]
        for move in played.moves
        for event in move.decision.trace
        if isinstance(event, PromptEvent)
    ]
    assert len(prompts) == len(played.moves) > 1
    assert all("# Example 2" in text and "# Example 3" not in text for text in prompts)
    assert all("Step 4." in text for text in prompts)
    assert [text.count("> It does what was done there.") for text in prompts] == [
        number if thinks else 0 for number in range(len(prompts))
    ]


def test_trials_end_with_the_first_that_succeeds(built: Built, history: History) -> None:
    """Each reflects once on those before it, whose rewards it is told; the best one counts."""
    memory = built(games=6)
    factory = example_decider("r", "", TrialSettings, opener=lambda _: memory)
    hard = RoomsSettings(usual=0.0, steps=5)
    made = play(deciding(memory, factory, trials=3), history, 5_000, hard)
    rewards = [one.reward for one in made.trajectories]
    assert len(rewards) == 3 or rewards[-1] == 1.0
    assert len(rewards) > 1
    for number, played in enumerate(made.played):
        trace = [event for move in played.moves for event in move.decision.trace]
        told = [event.trials for event in trace if isinstance(event, ReflectionEvent)]
        assert told == ([number] if number else [])
    assert made.reward == max(rewards, key=lambda reward: reward or 0.0)
    first = deciding(memory, factory)
    assert isinstance(first, EpisodeDecider)
    won = Trajectory("g", (Step("a", "b"),), "s", 1.0)
    assert first.attempt([won]) is None
    lost = Trajectory("g", (Step("a", "b"),), "s", 0.0)
    assert first.choose_attempt([lost, won, lost]).choice == 2
    assert first.choose_attempt([lost, lost]).choice == 2


def test_a_model_that_does_not_name_an_action_ends_one_move(built: Built, history: History) -> None:
    """The player takes the fallback, and it is counted; nothing else is lost."""
    memory = built(games=4)

    def said(request: Request) -> str:
        asked = read_prompt(request.messages[0].text)
        if asked.task == "act" and not asked.history.startswith("Did"):
            return "I fly."
        return json.dumps(reply_to(asked, "analyst", 0))

    factory = remembering_decider("ldm2", "", opener=lambda _: memory)
    decider = factory(GivenReplies(said), Settings())
    (played,) = play(decider, history, 5_000, RoomsSettings()).played
    assert [move.fallback for move in played.moves][:2] == [True, False]
    assert played.moves[0].decision.ending is Ending.UNPARSABLE
    assert played.returns is not None
