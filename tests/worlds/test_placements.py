"""Placements: what is best now turns on what the rival does next."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import dqa
from dqa import plugins
from dqa.core.errors import SituationError
from dqa.core.question_set import QuestionSet
from dqa.evaluation.play import play_episode
from dqa.worlds.base import PolicyDecider, find_position
from dqa.worlds.history import History
from dqa.worlds.world import World
from dqa_simulators.placements.outcomes import SIMULATOR, standing_of
from dqa_simulators.placements.position import PlacementsPosition
from dqa_simulators.placements.standing import Standing


@cache
def asked() -> QuestionSet:
    """Some generated questions."""
    return dqa.generate(("placements",), count=2, seed=11)


def world() -> World:
    """With the usual settings, and no history."""
    factory = plugins.world("placements")
    made: World = factory.make(factory.settings(), None)
    return made


def player(name: str) -> PolicyDecider:
    """A program that plays."""
    return PolicyDecider(name, plugins.world("placements").policies[name].make(0), 0)


def exhaustive(standing: Standing, first: str) -> float:
    """The profit of the best plan that begins with a node, the rival answering by rule 12."""
    later = standing.sides[0].left - 1
    found = []
    for plan in product(standing.nodes[0], repeat=later):
        now, mine = standing.placed(first), iter(plan)
        while now.mover is not None:
            now = now.placed(next(mine) if now.mover == 0 else now.greedy())
        found.append(now.profit(0))
    return max(found)


def test_outcomes_are_those_of_the_best_plan() -> None:
    """The outcome is the best of all plans that begin with the candidate."""
    for question in asked().questions:
        situation = asked().situation_of(question)
        (outcomes,) = SIMULATOR.outcomes(situation, [question])
        standing = standing_of(situation, question)
        assert outcomes.candidates == standing.nodes[0] == question.candidates
        found = [exhaustive(standing, node) for node in standing.nodes[0]]
        assert outcomes.values.tolist() == pytest.approx(found, rel=1e-12)
        assert asked().truths[question.key].answers == (outcomes.answer,)


def test_a_move_reads_back_from_its_database() -> None:
    """Relational and graph hold the same standing, and so does the position that is played."""
    episode = world().start(3)
    for _ in range(3):
        move = episode.next_move()
        assert move is not None
        read = find_position(move.question, move.database)
        assert (read.key, read.events) == (move.position.key, move.position.events)
        assert (read.viewer, read.mover, read.actions) == (move.player, move.player, read.actions)
        episode.choose(move.position.actions[0])
    move = episode.next_move()
    assert move is not None
    assert isinstance(move.position, PlacementsPosition)
    with closing(plugins.backend("ladybug").load(move.position.standing.calculated)) as graph:
        assert find_position(move.question, graph).key == move.position.key
    episode.close()


def test_the_rival_s_aim_is_hidden_in_games_and_stated_in_questions() -> None:
    """A question states how the rival chooses (rule 12); a game does not."""
    move = world().start(3).next_move()
    assert move is not None
    whole = plugins.scenario("placements").rules.splitlines()
    told = move.question.rules.splitlines()
    assert told[:11] + told[12:] == whole[:11] + whole[12:]
    assert told[11] == "12. Rival. By what the rival chooses its nodes is not known."
    assert [one.name for one in move.position.hidden] == ["aim"]
    question = asked().questions[0]
    with closing(plugins.backend("sqlite").load(asked().situation_of(question))) as database:
        position = find_position(question, database)
    assert position.hidden == position.after(position.actions[0]).hidden == ()


@pytest.mark.deep
def test_searching_beats_greed_against_greed() -> None:
    """The best response never gets less than greed does, and sometimes more."""
    gained = []
    for seed in (4, 5, 8):
        returns = [
            play_episode(world(), {"player": player(name), "opponent": player("greedy")}, seed)
            for name in ("best-response", "greedy")
        ]
        best, greedy = (played.returns["player"] for played in returns if played.returns)
        gained.append(best - greedy)
    assert min(gained) >= 0
    assert max(gained) > 0.1


def test_a_history_has_placements_and_profits(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What each got is written when the last merchant stands."""
    file = str(tmp_path_factory.mktemp("history") / "played.db")
    factory = plugins.world("placements")
    history = History(file)
    made = factory.make(factory.settings(merchants=1), history)
    played = play_episode(made, {"player": player("greedy"), "opponent": player("greedy")}, 3)
    with closing(dqa.open_database(file)) as database:
        events = database.query("SELECT actor, action FROM events ORDER BY number").rows
        outcomes = database.query("SELECT player, payoff FROM outcomes").rows
    history.close()
    assert [actor for actor, _ in events] == ["player", "opponent"]
    assert [action for _, action in events] == [one.choice for _, one in played.decisions]
    assert played.returns is not None
    assert {*played.facts} == {f"profit of {name} without merchants" for name in made.players}
    assert {*outcomes} == {*played.returns.items()}


def test_an_invalid_target_is_named() -> None:
    """The message names the question and what is allowed."""
    question = asked().questions[0]
    situation = asked().situation_of(question)
    for values, words in (
        ({"merchants": "0"}, "has no merchant left"),
        ({"merchants": "9"}, "from 0 to 3"),
        ({"rival_merchants": "-1"}, "from 0 to 3"),
        ({"rival": "Atlantis"}, "the rival 'Atlantis'"),
        ({"rival": question.target["country"]}, "its own rival"),
    ):
        wrong = replace(question, target={**question.target, **values})
        with pytest.raises(SituationError, match=words):
            SIMULATOR.outcomes(situation, [wrong])


def test_methods_stand_in_one_table(tmp_path: Path) -> None:
    """BIDDER, PlanRAG, DeLLMa's baseline and a heuristic decide the same ordinary questions."""
    deciders = ("bidder-t1", "planrag", "zero-shot", "placement-most-value")
    run = dqa.evaluate(
        asked(), deciders, model="scripted:analyst", databases=("sqlite",), out=tmp_path / "run"
    )
    assert all(result.outcome.judged for result in run.results)
    assert len(run.results) == len(asked().questions) * len(deciders)
    for trace in run.traces:
        explored = "exploration" in [getattr(event, "purpose", "") for event in trace.events]
        assert explored is (trace.decider == "bidder-t1")


def test_pairs_of_one_run_have_games_of_their_own(tmp_path: Path) -> None:
    """The second match takes nothing from the first."""
    dqa.play("placements", "greedy", ("greedy", "best-response"), games=1, out=tmp_path / "run")
    with closing(dqa.open_database(str(tmp_path / "run" / "history.db"))) as database:
        assert database.query("SELECT COUNT(DISTINCT game) FROM outcomes").rows == ((2,),)
