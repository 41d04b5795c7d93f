"""LDM2 and its baselines on ordinary questions and episodes, and their exclusion of own answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import EpisodeDecider, Step, Trajectory
from dqa.core.decision import Ending
from dqa.core.errors import UsageError
from dqa.core.events import PromptEvent, StepEvent
from dqa.deciders.base import Settings
from dqa.models.scripted import scripted_model
from dqa.worlds.history import History
from dqa_ldm2 import Imitation, Memory, Origin, Recall, Situation
from dqa_ldm2.deciders import ReAct, Reflexion, Standard, StandardRetrieved
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.retrieval import whole_examples
from dqa_ldm2.settings import TrialSettings
from tests.ldm2.memory_contract import REFINED, make_tuple
from tests.ldm2.playing import canned, deciding, found, play, prompts
from tests.ldm2.rooms import Rooms, RoomsSettings
from tests.suppliers import BUY

USUAL = RoomsSettings(steps=6)
Built = Callable[..., Memory]


def test_an_ordinary_question_is_decided_by_its_rows(memory: Memory, suppliers: Database) -> None:
    """A decision of another run is imitated; every statement is evidence."""
    before = make_tuple("Rows.", "Cy", source="runs/a custom/1", goal="Whom did we buy from?")
    memory.add([before], Origin("formation", "runs"))
    decision = deciding(memory).decide(BUY, suppliers)
    assert (decision.ending, decision.choice) == (Ending.ANSWERED, "Cy")
    assert [one.row_count for one in decision.evidence] == [3]
    (prompt,) = prompts(decision.trace)
    assert '> ["Bob", 7.5]' in prompt
    assert "> A larger margin is better." in prompt
    (imitation,) = found(decision.trace, Imitation, "imitation")
    assert (imitation.source, imitation.is_same) == ("runs/a custom/1", True)


@pytest.mark.parametrize(
    "source",
    [
        "runs/a custom/7",
        "custom/7",
        "custom 7",
        QuestionIdentity.of(BUY).source("runs/b", "custom/99", "by planrag on sqlite"),
        "a colleague's notes",
    ],
)
def test_the_answer_of_the_question_itself_is_never_recalled(
    memory: Memory, suppliers: Database, source: str
) -> None:
    """No prompt contains it, under any run and name."""
    planted = make_tuple("Rows.", "Bob", source=source, goal=BUY.text)
    other = make_tuple("Others.", "Ada", source="runs/a custom/1", goal="Which one?")
    memory.add([planted, other], Origin("formation", "runs"))
    decision = deciding(memory, retrieved=1).decide(BUY, suppliers)
    (recall,) = found(decision.trace, Recall, "recall")
    assert [one.source for one in recall.tuples] == ["runs/a custom/1"]
    assert 'Action: "Bob"' not in prompts(decision.trace)[0]
    for kind in (Standard, StandardRetrieved, ReAct):
        shown = prompts(deciding(memory, kind).decide(BUY, suppliers).trace)
        assert shown
        assert all('Action: "Bob"' not in text and 'Action: "Ada"' in text for text in shown)


def test_a_trace_names_the_tuple_behind_each_action(built: Built, history: History) -> None:
    """With its source, in the data and in words."""
    memory = built()
    tuples = {one.id: one for one in memory.tuples()}
    (played,) = play(deciding(memory, retrieved=3), history, 5_003, USUAL).played
    assert len(played.moves) >= 4
    for number, move in enumerate(played.moves):
        trace = move.decision.trace
        (recall,) = found(trace, Recall, "recall")
        (imitation,) = found(trace, Imitation, "imitation")
        assert 1 <= len(recall.tuples) <= 3
        assert imitation.action == move.event.choice
        assert imitation.tuple_id in [one.id for one in recall.tuples]
        source = tuples[imitation.tuple_id or 0]
        assert imitation.source == source.source
        assert imitation.is_same == (source.action == move.event.choice)
        steps = [event for event in trace if isinstance(event, StepEvent)]
        text = "\n".join(line for event in steps for line in (event.title, *event.lines))
        assert f"tuple: {imitation.tuple_id}" in text
        assert "goal type: " in text
        assert ("subgoals" in text) == (number > 0)


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_the_papers_prompts_show_all_steps_and_no_rewards(
    built: Built, history: History, preset: str
) -> None:
    """By default, subgoals are divided once, and judged from summaries. No text is typed twice."""
    is_paper = preset == "paper"
    made = play(deciding(built(games=6), preset=preset), history, 5_000, USUAL)
    acts, judged, typed = (
        [text for text in prompts(made.trace) if f"# Task: {task}" in text]
        for task in ("act", "evaluate", "index")
    )
    assert all(("Reward at the end" in text) != is_paper for text in acts)
    assert all(("# Steps so far" in text) == is_paper for text in judged)
    assert len(judged) > 1
    assert sum("Divide the goal" in text for text in judged) == (len(judged) if is_paper else 1)
    assert len(set(typed)) == len(typed)


def test_each_batch_memory_plays_and_the_best_process_is_chosen(
    built: Built, history: History
) -> None:
    """The prompt of the choice contains no reward (equation 5)."""
    memory = built(batch=4)
    assert memory.batches() == (1, 2, 3)
    made = play(deciding(memory, model=canned(choice={"best": "2"})), history, 5_002, USUAL)
    batches = [
        {one.batch for move in each.moves for one in found(move.decision.trace, Recall, "recall")}
        for each in made.played
    ]
    assert batches == [{1}, {2}, {3}]
    (prompt,) = prompts(made.chosen.trace)
    assert "# Process 3" in prompt
    assert not re.search(r"reward|\b1\.0\b", prompt, re.IGNORECASE)
    assert made.chosen.choice == 2
    assert len(play(deciding(memory, batches=2), history, 5_002, USUAL).played) == 2
    unclear = play(deciding(memory, model=canned(choice="none")), history, 5_002, USUAL)
    assert unclear.chosen.choice == 1
    assert any("No reply chooses" in getattr(e, "text", "") for e in unclear.chosen.trace)


def test_an_unusable_reply_ends_one_move(built: Built, history: History) -> None:
    """The fallback action is played, and nothing else is lost."""
    memory = built(games=4)

    def acts(values: Mapping[str, object]) -> object:
        return {"action": values["legal"][0]} if values["history"] else "I fly."  # type: ignore[index]

    decider = deciding(memory, model=canned(action=acts))
    (played,) = play(decider, history, 5_000, RoomsSettings()).played
    assert [move.event.fallback for move in played.moves][:2] == [True, False]
    assert played.moves[0].decision.ending is Ending.UNPARSABLE
    assert played.returns is not None


@pytest.mark.parametrize("kind", [Standard, ReAct])
def test_fixed_examples_are_the_same_for_every_question(
    built: Built, history: History, kind: type[Standard]
) -> None:
    """ReAct's examples have thoughts, and its own thoughts are repeated in later moves."""
    memory, thinks = built(games=6), kind.thinks
    sources = set[str]()
    for seed in (5_000, 5_001):
        made = play(deciding(memory, kind), history, seed, RoomsSettings())
        shown = [text for text in prompts(made.trace) if "# Observation now" in text]
        assert len(shown) == len(made.played[0].moves) > 1
        assert all("# Example 2" in text and "# Example 3" not in text for text in shown)
        thoughts = [text.count("> It leads to the goal.") for text in shown]
        own = [text.count("> It is what was done there.") for text in shown]
        assert thoughts == [8 if thinks else 0] * len(shown)
        assert own == [number if thinks else 0 for number in range(len(shown))]
        asked = [e.purpose for e in made.trace if isinstance(e, PromptEvent)]
        assert asked.count("thoughts of the examples") == thinks
        sources.add(shown[0].partition("# Steps so far")[0].partition("# Example 1")[2])
    assert len(sources) == 1


def test_retrieved_examples_are_those_most_like_the_goal(built: Built, history: History) -> None:
    """The second form of Standard."""
    memory = built(games=12)
    decider = deciding(memory, StandardRetrieved, examples=1)
    made = play(decider, history, 5_000, RoomsSettings())
    goal = made.trajectories[0].goal
    thing = goal.split()[2]
    assert f"Put the {thing} on the " in prompts(made.trace)[0].partition("# Example 1")[2]
    untold = make_tuple("hall", source="untold", goal=goal, reward=None)
    memory.add([untold], Origin("formation", ""), 1)
    memory.add([make_tuple("hall", "stop", source="tail", goal=goal, number=2)], REFINED, 1)
    for retrieve in (False, True):
        like = Situation(f"{goal} Now.", "", ())
        *known, last = whole_examples(memory, like, 20, retrieve=retrieve)
        assert last.source == "untold"
        assert {one.source for one in known} <= {one.source for one in memory.goals()} - {"tail"}


def test_trials_end_with_the_first_success(built: Built, history: History) -> None:
    """Each reflects once on earlier trials and their rewards; the best one counts."""
    memory = built(games=6)
    hard = RoomsSettings(usual=0.0, steps=5)
    made = play(deciding(memory, Reflexion, TrialSettings, trials=3), history, 5_000, hard)
    rewards = [one.reward for one in made.trajectories]
    assert len(rewards) == 3 or rewards[-1] == 1.0
    assert len(rewards) > 1
    for number, played in enumerate(made.played):
        trace = [event for move in played.moves for event in move.decision.trace]
        lessons = [text for text in prompts(trace) if "# Task: reflect" in text]
        assert [text.count("# Trial") for text in lessons] == ([number] if number else [])
        assert all("Reward: 0 of 1" in text for text in lessons)
    assert made.reward == max(rewards, key=lambda reward: reward or 0.0)
    first = deciding(memory, Reflexion, TrialSettings)
    assert isinstance(first, EpisodeDecider)
    won, lost = (Trajectory("g", (Step("a", "b"),), "s", reward) for reward in (1.0, 0.0))
    assert first.attempt([won]) is None
    assert first.choose_attempt([lost, won, lost]).choice == 2
    assert first.choose_attempt([lost, lost]).choice == 2


def test_a_missing_memory_is_an_error_that_names_the_command(
    history: History, memory: Memory
) -> None:
    move = Rooms(USUAL, history).start(1).next_move()
    assert move is not None
    for name in ("ldm2", "ldm2-refined"):
        options = {f"{name}.memory": "/nowhere/memory.db"}
        decider = plugins.decider(name)(scripted_model("analyst"), Settings(options=options))
        with pytest.raises(UsageError, match="dqa memory build --world"):
            decider.check(move.question)
    with pytest.raises(UsageError, match="is empty"):
        deciding(memory).check(move.question)
