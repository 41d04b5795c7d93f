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
from dqa.core.errors import SituationError, UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.world import World
from dqa.evaluation.play import play_episode
from dqa.worlds.base import PolicyDecider, find_position
from dqa.worlds.history import History
from dqa.worlds.scripted import Shown
from dqa_simulators.placements.outcomes import SIMULATOR, standing_of
from dqa_simulators.placements.position import PlacementsPosition
from dqa_simulators.placements.scripted import SCRIPT
from dqa_simulators.placements.standing import Standing


@cache
def asked() -> QuestionSet:
    """Some generated questions."""
    return dqa.generate(("placements",), count=3, seed=11)


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


@pytest.mark.parametrize("number", range(3))
def test_outcomes_are_those_of_the_best_plan(number: int) -> None:
    """Every plan is played out, and the best of those that begin alike is the outcome."""
    question = asked().questions[number]
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


def test_what_the_rules_say_of_the_rival_is_not_said_of_a_player() -> None:
    """Nobody knows what a player goes by; all other rules hold."""
    move = world().start(3).next_move()
    assert move is not None
    whole = plugins.scenario("placements").rules.splitlines()
    told = move.question.rules.splitlines()
    assert told[:11] + told[12:] == whole[:11] + whole[12:]
    assert told[11] == "12. Rival. By what the rival chooses its nodes is not known."
    assert len(whole) == len(told) == 13
    assert [one.name for one in move.position.hidden] == ["aim"]


def test_what_the_rules_tell_of_the_rival_is_not_inferred() -> None:
    """By rule 12 nothing is hidden, now or later."""
    question = asked().questions[0]
    with closing(plugins.backend("sqlite").load(asked().situation_of(question))) as database:
        position = find_position(question, database)
    assert position.hidden == position.after(position.actions[0]).hidden == ()


def test_a_position_shows_what_its_profits_follow_from() -> None:
    """The profit as things stand, and every route that leaves a node where one of both trades."""
    episode = world().start(3)
    while (move := episode.next_move()) is not None:
        assert isinstance(move.position, PlacementsPosition)
        standing, told = move.position.standing, move.position.describe()
        for side in (0, 1):
            assert standing.earned(side) == pytest.approx(standing.profit(side), rel=1e-12)
            assert f"its profit as things stand: {standing.earned(side):.4g}." in told
        flows = standing.calculated["flow"]
        traded = {*standing.nodes[0], *standing.nodes[1], *(one.home for one in standing.sides)}
        routes = set(zip(flows["source"].tolist(), flows["dest"].tolist(), strict=True))
        shown = {
            tuple(line.split(": ")[0].split(" -> ")) for line in told.split("\n") if " -> " in line
        }
        assert shown == {route for route in routes if route[0] in traded}
        episode.choose(move.position.fallback)


def test_rules_one_to_nine_are_locatings() -> None:
    """Profit is counted by the same rules; the texts cannot drift apart."""
    own, other = (plugins.scenario(name).rules.splitlines() for name in ("placements", "locating"))
    assert own[:9] == other[:9]


@pytest.mark.slow
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


def test_mirrored_the_players_have_each_others_country() -> None:
    """And the same country begins."""
    plain, mirrored = (world().start(3, mirrored=flag).next_move() for flag in (False, True))
    assert plain is not None
    assert mirrored is not None
    assert (plain.player, mirrored.player) == ("player", "opponent")
    assert plain.question.target["country"] == mirrored.question.target["country"]


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


def changed(**values: str) -> Question:
    """A question about something else."""
    question = asked().questions[0]
    return replace(question, target={**question.target, **values})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"merchants": "0"}, "has no merchant left"),
        ({"merchants": "9"}, "from 0 to 3"),
        ({"rival_merchants": "-1"}, "from 0 to 3"),
        ({"rival": "Atlantis"}, "the rival 'Atlantis'"),
        ({"rival": asked().questions[0].target["country"]}, "its own rival"),
    ],
)
def test_what_cannot_be_asked_is_named(values: dict[str, str], words: str) -> None:
    """With the question, and what would do."""
    with pytest.raises(SituationError, match=words):
        SIMULATOR.outcomes(asked().situation_of(asked().questions[0]), [changed(**values)])


def test_a_node_that_cannot_be_chosen_is_refused() -> None:
    """By the game, by a position and by the simulator."""
    episode = world().start(3)
    move = episode.next_move()
    assert move is not None
    home = move.question.target["home"]
    with pytest.raises(UsageError, match="is no candidate"):
        episode.choose(home)
    with pytest.raises(UsageError, match="no node where player"):
        move.position.after(home)
    for early in (episode.returns, episode.facts):
        with pytest.raises(UsageError, match="not ended"):
            early()
    question = asked().questions[0]
    situation = asked().situation_of(question)
    with pytest.raises(SituationError, match="is no candidate"):
        SIMULATOR.simulate(situation, question, question.target["home"])


def test_methods_stand_in_one_table(tmp_path: Path) -> None:
    """BIDDER, PlanRAG, DeLLMa's baseline and a heuristic decide the same ordinary questions."""
    deciders = ("bidder-t1", "planrag", "zero-shot", "placement-most-value")
    run = dqa.evaluate(
        asked(), deciders, model="scripted:analyst", databases=("sqlite",), out=tmp_path / "run"
    )
    assert all(result.outcome.judged for result in run.results)
    assert len(run.results) == len(asked().questions) * len(deciders)
    for trace in run.traces:
        explored = "explored_tree" in [event.kind for event in trace.events]
        assert explored is (trace.decider == "bidder-t1")


def test_the_script_reads_what_a_position_tells() -> None:
    """Where a merchant stands already, another one moves nothing."""
    position = world().start(3).next_move()
    assert position is not None
    first = position.position.actions[0]
    later = position.position.after(first)
    shown = Shown("opponent", "player", "", (), tuple(map(str, position.position.actions)))
    for state, moves in ((position.position, True), (later, False)):
        told = replace(shown, state=state.describe(), viewer="player", scale=state.payoff_range)
        assert (SCRIPT.estimate(told)[str(first)] > 0.0) is moves
        assert 0.0 <= max(SCRIPT.estimate(told).values()) <= 1.0
    theirs = replace(shown, state=later.describe(), actions=tuple(map(str, later.actions)))
    assert SCRIPT.expect(theirs) in later.actions
    assert SCRIPT.infer(theirs, "opponent", "aim", ("a", "b")) == "a"


def test_pairs_of_one_run_have_games_of_their_own(tmp_path: Path) -> None:
    """The second match takes nothing from the first."""
    dqa.play("placements", "greedy", ("greedy", "best-response"), games=1, out=tmp_path / "run")
    with closing(dqa.open_database(str(tmp_path / "run" / "history.db"))) as database:
        assert database.query("SELECT COUNT(DISTINCT game) FROM outcomes").rows == ((2,),)
