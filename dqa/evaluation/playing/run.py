"""Playing the games of a run in threads, keeping each as soon as it has ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypedDict

from dqa.core.database import Isolation
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.errors import GameTakenError
from dqa.core.events import EndingEvent
from dqa.core.question import Candidate
from dqa.core.recorder import DecisionWatcher, watched_by
from dqa.evaluation.crashes import Crashes, ended_by
from dqa.evaluation.decision_spans import tell_result
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.making import Made
from dqa.evaluation.observers import tell_observers
from dqa.evaluation.options import RunOptions
from dqa.evaluation.plan import Task
from dqa.evaluation.play import Played, Reference, play_episode
from dqa.evaluation.playing.attempts import Attempts, Trials, learning_from_trials, playing_once
from dqa.evaluation.playing.plan import Game
from dqa.evaluation.playing.records import PlayedGame
from dqa.evaluation.playing.setup import GameSetup
from dqa.evaluation.playing.telling import Told, told_of, told_of_attempts
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.run import make_all
from dqa.evaluation.score import Assessment
from dqa.evaluation.store import RunStore
from dqa.evaluation.traces import Trace
from dqa.worlds.base import PolicyDecider
from dqa.worlds.history import History
from dqa.worlds.world import Move, World


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
            maker = _GameMaker(setup, games, opened(), options.isolation)
            with watched_by(watcher or DecisionWatcher()):
                make_all(store, left, maker, keep, options.workers, stopped)
    finally:
        store.close()
    return store.finish(planned)


class _GameMaker:
    """Plays games, each in one thread."""

    def __init__(
        self,
        setup: GameSetup,
        games: Mapping[DecisionKey, Game],
        history: History,
        isolation: Isolation,
    ) -> None:
        self._setup = setup
        self._games = games
        self._history = history
        self._trials = Trials(setup, isolation)
        self._worlds: dict[int, World] = {}
        self._making = threading.Lock()

    def expect(self, tasks: Sequence[Task]) -> None:
        """Take note of nothing: games share nothing but the history."""

    def make(self, task: Task) -> Decision:
        """Play one game."""
        game = self._games[task.key]
        return play_game(self._setup, self._world_of(game), game, self._trials)

    def _world_of(self, game: Game) -> World:
        """Return the world of a match, whose games have numbers of their own in the history."""
        with self._making:
            if game.match not in self._worlds:
                numbered = self._history.numbered_from(self._setup.spec.first_number(game.match))
                self._worlds[game.match] = self._setup.world(numbered)
            return self._worlds[game.match]

    def close(self) -> None:
        """Close the history, and that of attempts."""
        self._trials.close()
        self._history.close()


def play_game(setup: GameSetup, world: World, game: Game, trials: Trials) -> GameDecision:
    """Play one game; what a failing server or a bug ended has no returns.

    Parameters
    ----------
    setup
        Who plays.
    world
        Where the game is written down.
    game
        Which one.
    trials
        Where attempts are played, by who learns from them.
    """
    by_name = setup.epochs[game.epoch - 1]
    called = dict(zip(setup.players, (game.player, game.opponent), strict=False))
    deciders = {seat: by_name[name] for seat, name in called.items()}
    seat, names = setup.players[0], _names(game)
    how: _HowPlayed = {
        "seconds": setup.spec.budget.seconds,
        "reference": _reference(setup, seat, names),
    }
    learning = None
    if len(setup.players) == 1:
        learning = learning_from_trials(deciders[seat], game.task(setup.database).question)
    tried = None if learning is None else Attempts(learning, game, seat, names, **how)
    started = time.perf_counter()
    played: Played | None = None
    failed: Decision | None = None
    is_taken = False
    try:
        if tried is not None:
            played = tried.play(world, trials)
        else:
            if len(setup.players) == 1:
                deciders[seat] = playing_once(deciders[seat], game.task(setup.database).question)
            played = play_episode(
                *(world, deciders, game.seed), mirrored=game.mirrored, names=names, **how
            )
    except Exception as error:  # noqa: BLE001  (a bug of a world ends one game)
        failed = ended_by(error)
        is_taken = isinstance(error, GameTakenError)
    took = time.perf_counter() - started
    attempts = 1 if tried is None else max(1, len(tried.made))
    kept = PlayedGame.of(game, setup.players, played, setup.spec.reference, attempts)
    told = told_of(played, called) if tried is None else told_of_attempts(tried, called)
    made = _put_together(kept, played, told, failed, called, took)
    return replace(made, is_taken=is_taken)


class _HowPlayed(TypedDict):
    """What of `play_episode` is the same however often a game is played."""

    seconds: float | None
    reference: Reference | None


def _names(game: Game) -> tuple[str, ...]:
    """Return the names in which models are asked, and from which programs draw."""
    named = (f"{game.world}/{game.id}", game.pair)
    return named if game.epoch == 1 else (*named, f"epoch {game.epoch}")


def _reference(setup: GameSetup, player: str, names: tuple[str, ...]) -> Reference | None:
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


def _put_together(  # noqa: PLR0913, PLR0917  (each is a question of its own to the caller)
    game: PlayedGame,
    played: Played | None,
    told: Told,
    failed: Decision | None,
    called: Mapping[str, str],
    seconds: float,
) -> GameDecision:
    """Return a game as one decision, with all that its decisions told of."""
    decisions, events = told.decisions, list(told.events)
    is_whole = played is not None and played.returns is not None
    last = decisions[-1] if decisions and failed is None and not is_whole else None
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


def _told(game: PlayedGame, called: Mapping[str, str]) -> str:
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
