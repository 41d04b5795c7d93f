"""Playing one game of a run, as a decision that the runner stores."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypedDict

from dqa.core.database import Isolation
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.errors import GameTakenError
from dqa.core.events import EndingEvent
from dqa.core.provenance import utc_now
from dqa.core.question import Candidate
from dqa.evaluation.crashes import ended_by
from dqa.evaluation.decision_spans import decision_span, tell_decision, tell_result
from dqa.evaluation.plan import Task
from dqa.evaluation.play import Played, Reference, play_episode
from dqa.evaluation.playing.attempts import Attempts, Trials, learning_from_trials, playing_once
from dqa.evaluation.playing.plan import Game
from dqa.evaluation.playing.records import PlayedGame
from dqa.evaluation.playing.setup import GameSetup
from dqa.evaluation.playing.telling import Told, told_of, told_of_attempts
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.score import Assessment
from dqa.evaluation.traces import Provenance, Trace
from dqa.evaluation.worker import Made
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


class GameWorker:
    """Plays games; threads share it.

    Parameters
    ----------
    setup
        What is played, by whom.
    history
        Where the events of the games are written.
    isolation
        Where statements of players run.
    """

    def __init__(self, setup: GameSetup, history: History, isolation: Isolation) -> None:
        self._setup = setup
        self._history = history
        self._games = {game.task(setup.database).key: game for game in setup.games}
        self._trials = Trials(setup, isolation)
        self._worlds: dict[int, World] = {}
        self._making = threading.Lock()

    def decide(self, task: Task) -> Made | None:
        """Play one game; None if another process has begun it again in the meantime."""
        game = self._games[task.key]
        time_asked, model = utc_now(), self._setup.model_of(game)
        with decision_span(task.key, task.question, task.situation, model=model) as span:
            decision = play_game(self._setup, self._world_of(game), game, self._trials)
            tell_decision(span, decision)
            if decision.is_taken:
                return None
            made = _assess(self._setup, game, task, decision, time_asked)
            tell_result(made.result)
        return made

    def _world_of(self, game: Game) -> World:
        """Return the world of a match, whose games have numbers of their own in the history."""
        with self._making:
            if game.match not in self._worlds:
                numbered = self._history.numbered_from(self._setup.spec.first_number(game.match))
                self._worlds[game.match] = self._setup.world(numbered)
            return self._worlds[game.match]

    def stop(self) -> None:
        """Do nothing: a game waits for no database."""

    def close(self) -> None:
        """Close the history, and the history of attempts."""
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


def _assess(
    setup: GameSetup, game: Game, task: Task, decision: GameDecision, time_asked: str
) -> Made:
    """Return a game with its value for the player."""
    played = decision.game
    model = setup.model_of(game)
    if decision.ending is Ending.ANSWERED and played is not None:
        value = played.returns[setup.players[0]]
        assessed = Assessment(Outcome.PLAYED, value=value, goal="maximise")
    else:
        assessed = Assessment.of_ending(decision)
    result = Result.of(task, setup.kind, model, decision, assessed).changed(game=played)
    provenance = Provenance.of(decision, task.key.id, time_asked)
    trace = Trace.of(task.key, setup.kind, model, decision, provenance)
    return Made(result, trace, decision.lost)
