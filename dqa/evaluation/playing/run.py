"""Playing the games of a run in threads, keeping each as soon as it has ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from dqa.core.decision import Decision, Ending, Usage
from dqa.core.errors import GameTakenError
from dqa.core.events import EndingEvent, Event, MoveEvent
from dqa.core.question import Candidate
from dqa.core.recorder import DecisionWatcher, watched_by
from dqa.core.world import Move, World
from dqa.evaluation.crashes import Crashes, ended_by
from dqa.evaluation.decision_spans import tell_result
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.making import Made
from dqa.evaluation.observers import tell_observers
from dqa.evaluation.options import RunOptions
from dqa.evaluation.plan import Task
from dqa.evaluation.play import Played, PlayedMove, play_episode
from dqa.evaluation.playing.plan import Game
from dqa.evaluation.playing.records import PlayedGame
from dqa.evaluation.playing.setup import GameSetup
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.run import make_all
from dqa.evaluation.score import Assessment
from dqa.evaluation.store import RunStore
from dqa.evaluation.traces import Trace
from dqa.worlds.base import PolicyDecider
from dqa.worlds.history import History

_ACTIONS_TOLD = 12
"""Legal actions that a trace has of each move; it always says how many there were."""


@dataclass(frozen=True, slots=True)
class GameDecision(Decision):
    """A game that was played, as the decision of a run that it is.

    Attributes
    ----------
    game
        What is kept of it.
    is_taken
        Whether another process has begun it again meanwhile: that one's is kept.
    """

    game: PlayedGame | None = None
    is_taken: bool = False


class OpenHistory(Protocol):
    """Opens the history of a run, once it is known where the run is kept."""

    def __call__(self) -> History:
        """Open it."""
        ...


def play_games(  # noqa: PLR0913  (each is a question of its own to the caller)
    setup: GameSetup,
    store: RunStore,
    options: RunOptions,
    opened: OpenHistory,
    on_result: Callable[[Result], object] = id,
    *,
    watcher: DecisionWatcher | None = None,
) -> tuple[Result, ...]:
    """Play and keep every game that the store does not hold yet.

    Parameters
    ----------
    setup
        What is played, by whom.
    store
        Keeps each result as soon as it is there.
    options
        Threads, and what happens at a crash.
    opened
        Opens the history; called where a game is left to be played.
    on_result
        Called with each new result, by one thread at a time.
    watcher
        Is told what happens in the decisions, by several threads at once.

    Returns
    -------
    tuple of Result
        One result a game, in the order of the plan.

    Raises
    ------
    KeyboardInterrupt
        The user stopped the run; games that came to their end are in the store.
    CrashError
        Too many games crashed; they and those before are in the store.
    """
    planned = tuple(game.task(setup.database) for game in setup.games)
    games = {task.key: game for task, game in zip(planned, setup.games, strict=True)}
    crashes = Crashes(fail_fast=options.fail_fast)

    def keep(task: Task, decision: Decision) -> None:
        if isinstance(decision, GameDecision) and decision.is_taken:
            return  # or the other process, which has the claim by now, could not keep its own
        made = _judged(setup, games[task.key], task, decision)
        store.add(made.result, made.trace, made.lost)
        tell_observers(made.trace)
        tell_result(made.result)
        on_result(made.result)
        crashes.count(str(task.key), made.trace)

    try:
        left = store.begin(planned)
        if left:
            stopped = threading.Event()
            maker = _GameMaker(setup, games, opened())
            with watched_by(watcher or DecisionWatcher()):
                make_all(store, left, maker, keep, options.workers, stopped)
    finally:
        store.close()
    return store.finish(planned)


class _GameMaker:
    """Plays games, each in one thread."""

    def __init__(
        self, setup: GameSetup, games: Mapping[DecisionKey, Game], history: History
    ) -> None:
        self._setup = setup
        self._games = games
        self._history = history
        self._worlds: dict[int, World] = {}
        self._making = threading.Lock()

    def expect(self, tasks: Sequence[Task]) -> None:
        """Take note of nothing: games share nothing but the history."""

    def make(self, task: Task) -> Decision:
        """Play one game."""
        game = self._games[task.key]
        return play_game(self._setup, self._world_of(game), game)

    def _world_of(self, game: Game) -> World:
        """Return the world of a match, whose games have numbers of their own in the history."""
        with self._making:
            if game.match not in self._worlds:
                numbered = self._history.numbered_from(self._setup.spec.first_number(game.match))
                self._worlds[game.match] = self._setup.world(numbered)
            return self._worlds[game.match]

    def close(self) -> None:
        """Close the history."""
        self._history.close()


def play_game(setup: GameSetup, world: World, game: Game) -> GameDecision:
    """Play one game; what a failing server or a bug ended has no returns.

    Parameters
    ----------
    setup
        Who plays.
    world
        Where the game is written down.
    game
        Which one.
    """
    player, opponent = setup.players
    by_name = setup.epochs[game.epoch - 1]
    deciders = {player: by_name[game.player], opponent: by_name[game.opponent]}
    names = _names(game)
    started = time.perf_counter()
    played: Played | None = None
    failed: Decision | None = None
    is_taken = False
    try:
        played = play_episode(
            *(world, deciders, game.seed),
            mirrored=game.mirrored,
            names=names,
            seconds=setup.spec.budget.seconds,
            reference=_reference(setup, player, names),
        )
    except Exception as error:  # noqa: BLE001  (a bug of a world ends one game)
        failed = ended_by(error)
        is_taken = isinstance(error, GameTakenError)
    took = time.perf_counter() - started
    kept = PlayedGame.of(game, (player, opponent), played, setup.spec.reference)
    called = {player: game.player, opponent: game.opponent}
    made = _put_together(kept, played, failed, called, took)
    return replace(made, is_taken=is_taken)


def _names(game: Game) -> tuple[str, ...]:
    """Return the names in which models are asked, and from which programs draw."""
    named = (f"{game.world}/{game.id}", game.pair)
    return named if game.epoch == 1 else (*named, f"epoch {game.epoch}")


def _reference(
    setup: GameSetup, player: str, names: tuple[str, ...]
) -> Callable[[Move], Candidate | None] | None:
    """Return what says how the reference would move where the player is to."""
    if setup.reference is None or setup.spec.reference is None:
        return None
    # Draws of its own, so that even the reference is compared with itself as with another.
    compared = PolicyDecider(f"reference {setup.spec.reference}", setup.reference, setup.spec.seed)

    def ask(move: Move) -> Candidate | None:
        if move.player != player:
            return None
        drawn_from = ("reference", *names, str(len(move.position.events)))
        asked = compared.decide_at(move.question, move.position, drawn_from, move.reveal)
        return asked.choice

    return ask


def _put_together(
    game: PlayedGame,
    played: Played | None,
    failed: Decision | None,
    called: dict[str, str],
    seconds: float,
) -> GameDecision:
    """Return a game as one decision, with all that its decisions told of."""
    moves = () if played is None else played.moves
    decisions = [move.decision for move in moves]
    events: list[Event] = []
    for move in moves:
        events += [*move.decision.trace, _event(move, called[move.player])]
    last = decisions[-1] if decisions and played is not None and played.returns is None else None
    ended = failed or last
    if failed is not None:
        events += failed.trace
    elif last is not None and not any(isinstance(event, EndingEvent) for event in last.trace):
        events.append(EndingEvent.of(last.ending.value, 0, last.error))
    return GameDecision(
        Ending.ANSWERED if ended is None else ended.ending,
        answer=_told(game, called) if ended is None else "",
        evidence=tuple(one for decision in decisions for one in decision.evidence),
        plans=tuple(plan for decision in decisions for plan in decision.plans),
        usage=sum((decision.usage for decision in decisions), Usage()),
        steps=sum(decision.steps for decision in decisions),
        seconds=seconds,
        error=None if ended is None else ended.error,
        outage=None if ended is None else ended.outage,
        trace=tuple(events),
        lost=sum((decision.lost for decision in decisions), Usage()),
        game=game,
    )


def _event(move: PlayedMove, decider: str) -> MoveEvent:
    decision = move.decision
    return MoveEvent(
        player=move.player,
        decider=decider,
        shown=move.shown,
        actions=move.actions[:_ACTIONS_TOLD],
        total=len(move.actions),
        choice=move.choice,
        ending=decision.ending.value,
        problem=decision.error,
        fallback=move.fallback,
        reference=move.reference,
        input_tokens=decision.usage.input_tokens,
        output_tokens=decision.usage.output_tokens,
        calls=decision.usage.calls,
    )


def _told(game: PlayedGame, called: dict[str, str]) -> str:
    got = (f"{called[seat]} ({seat}) {value:+g}" for seat, value in game.returns.items())
    facts = (f"{name}: {value}" for name, value in game.facts.items() if value is not None)
    return ", ".join((*got, *facts))


def _judged(setup: GameSetup, game: Game, task: Task, decision: Decision) -> Made:
    """Return a game with what it brought to the player."""
    played = decision.game if isinstance(decision, GameDecision) else None
    model = setup.model_of(game)
    if decision.ending is Ending.ANSWERED and played is not None:
        value = played.returns[setup.players[0]]
        assessed = Assessment(Outcome.PLAYED, value=value, goal="maximise")
    else:
        assessed = Assessment.of_ending(decision)
    result = Result.of(task, setup.kind, model, decision, assessed).changed(game=played)
    return Made(result, Trace.of(task.key, setup.kind, model, decision), decision.lost)
