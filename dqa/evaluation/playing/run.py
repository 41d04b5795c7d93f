"""Play one game of a run, as a decision that the runner stores."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass

from dqa.core.decider import Decider, EpisodeDecider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.errors import GameTakenError
from dqa.core.events import EndingEvent
from dqa.core.question import Candidate, Question
from dqa.deciders.by_scenario import ByScenario
from dqa.evaluation.crashes import ended_by
from dqa.evaluation.plan import Task
from dqa.evaluation.play import Played, Reference, play_episode
from dqa.evaluation.playing.attempts import Attempts, GameLog
from dqa.evaluation.playing.records import PlayedGame
from dqa.evaluation.playing.setup import GameSetup
from dqa.evaluation.playing.spec import Game
from dqa.evaluation.results import Outcome
from dqa.evaluation.score import Assessment
from dqa.evaluation.worker import Made, decide_task
from dqa.worlds.base import PolicyDecider
from dqa.worlds.history import History
from dqa.worlds.world import Move, World

_OF_GAME = ("world", "number", "seed", "mirrored", "player", "opponent")


@dataclass(frozen=True, slots=True)
class _GameDecision(Decision):
    """A game as one decision, with the record of the game."""

    game: PlayedGame | None = None


class GameWorker:
    """Plays games; threads share it.

    Parameters
    ----------
    setup
        The games and their players.
    history
        Stores the events of the games.
    """

    def __init__(self, setup: GameSetup, history: History) -> None:
        self._setup = setup
        self._history = history
        self._games = {setup.task_of(game).key: game for game in setup.games}
        self._worlds: dict[int, tuple[World, History]] = {}
        self._lock = threading.Lock()

    def decide(self, task: Task) -> Made | None:
        """Play one game; None if another process has begun it again in the meantime."""
        game = self._games[task.key]
        try:
            return decide_task(task, lambda: self._play(game), self._judge)
        except GameTakenError:
            return None

    def stop(self) -> None:
        """Do nothing: a game waits for no database."""

    def close(self) -> None:
        """Close the history."""
        self._history.close()

    def _world_of(self, game: Game) -> tuple[World, History]:
        """Return the world of a match, and its history, which numbers its games."""
        with self._lock:
            if game.match not in self._worlds:
                numbered = self._history.numbered_from(self._setup.spec.first_number(game.match))
                self._worlds[game.match] = (self._setup.world(numbered), numbered)
            return self._worlds[game.match]

    def _play(self, game: Game) -> _GameDecision:
        """Play one game; a failing server or a bug ends it without returns."""
        setup, (world, history) = self._setup, self._world_of(game)
        called = dict(zip(setup.players, (game.player, game.opponent), strict=False))
        deciders = {seat: setup.epochs[game.epoch - 1][name] for seat, name in called.items()}
        seat, names = setup.players[0], _names(game)
        reference = _reference(setup, seat, names)

        def play(deciders: dict[str, Decider], *more: str) -> Played:
            return play_episode(
                *(world, deciders, game.seed),
                mirrored=game.mirrored,
                names=(*names, *more),
                reference=reference,
            )

        own = deciders[seat]
        if len(deciders) == 1:
            own = _decider_of(own, game.question)
        attempts = None
        if len(deciders) == 1 and isinstance(own, EpisodeDecider):
            if own.attempts > 1:
                attempts = Attempts(own, game, seat, names)
            else:
                deciders = {seat: own.attempt(()) or own}
        played = failed = None
        started = time.perf_counter()
        try:
            if attempts is None:
                played = play(deciders)
            else:
                played = attempts.play(world, history, lambda one, name: play({seat: one}, name))
        except GameTakenError:
            raise
        except Exception as error:  # noqa: BLE001  (a bug of a world ends one game)
            failed = ended_by(error)
        log = GameLog(called)
        if attempts is None:
            log.add_moves(played)
        else:
            attempts.record(log)
        count = 1 if attempts is None else attempts.count
        kept = _record(game, setup, played, count)
        return _join(kept, log, failed, time.perf_counter() - started)

    def _judge(self, decision: Decision) -> Assessment:
        """Return a game with its value for the player."""
        game = decision.game if isinstance(decision, _GameDecision) else None
        if decision.ending is not Ending.ANSWERED or game is None:
            return Assessment.of_ending(decision, game)
        value = game.returns[self._setup.players[0]]
        return Assessment(Outcome.PLAYED, value=value, goal="maximise", game=game)


def _decider_of(decider: Decider, question: Question) -> Decider:
    return decider.decider_of(question) if isinstance(decider, ByScenario) else decider


def _names(game: Game) -> tuple[str, ...]:
    """Return the names in which models are asked, and from which programs draw."""
    named = (f"{game.world}/{game.id}", game.pair)
    return named if game.epoch == 1 else (*named, f"epoch {game.epoch}")


def _reference(setup: GameSetup, player: str, names: tuple[str, ...]) -> Reference | None:
    """Return what chooses as the reference where the player moves."""
    if setup.reference is None or setup.spec.reference is None:
        return None
    # It draws for itself, also if it is compared with itself.
    compared = PolicyDecider(f"reference {setup.spec.reference}", setup.reference, setup.spec.seed)

    def ask(move: Move) -> Candidate | None:
        if move.player != player:
            return None
        drawn_from = ("reference", *names, str(len(move.position.events)))
        return compared.decide_at(move.question, move.position, drawn_from, move.reveal).choice

    return ask


def _record(game: Game, setup: GameSetup, played: Played | None, attempts: int) -> PlayedGame:
    """Return the record of a game, also of one that did not begin."""
    seats = setup.players
    played = played or Played((), None)
    moves = played.moves
    compared = [m for m in moves if m.player == seats[0] and m.reference is not None]
    actions: dict[str, Counter[str]] = {seat: Counter() for seat in seats}
    for move in moves:
        if move.choice is not None and not move.fallback:
            actions[move.player][str(move.choice)] += 1
    return PlayedGame(
        **{name: getattr(game, name) for name in _OF_GAME},
        seats=seats,
        returns=dict(played.returns or {}),
        moves={seat: sum(move.player == seat for move in moves) for seat in seats},
        fallbacks={seat: played.fallbacks(seat) for seat in seats},
        actions={seat: dict(sorted(taken.items())) for seat, taken in actions.items()},
        reference=setup.spec.reference,
        compared=len(compared),
        agreed=sum(move.choice == move.reference and not move.fallback for move in compared),
        facts=dict(played.facts),
        attempts=attempts,
    )


def _join(game: PlayedGame, log: GameLog, failed: Decision | None, seconds: float) -> _GameDecision:
    """Return a game as one decision, with everything from its decisions."""
    decisions, events = log.decisions, list(log.events)
    last = decisions[-1] if decisions and not game.returns else None
    ended = failed or last
    if failed is not None:
        events += failed.trace
    elif last is not None and not any(isinstance(event, EndingEvent) for event in last.trace):
        events.append(EndingEvent.of(last.ending.value, 0, last.error))
    answer = ""
    if ended is None:
        got = [f"{log.called[seat]} ({seat}) {value:+g}" for seat, value in game.returns.items()]
        got += [f"{name}: {value}" for name, value in game.facts.items() if value is not None]
        answer = ", ".join(got)
    return _GameDecision(
        Ending.ANSWERED if ended is None else ended.ending,
        answer=answer,
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
