"""Play one game of a run, as a decision that the runner stores."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from dqa.core.decider import Decider, EpisodeDecider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import GameTakenError
from dqa.core.events import AttemptEvent, EndingEvent, Event, MoveEvent
from dqa.core.question import Candidate
from dqa.core.recorder import collect_recorders
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.by_scenario import ByScenario
from dqa.evaluation.crashes import decide_or_end, end_decision
from dqa.evaluation.plan import Task
from dqa.evaluation.play import UNDECIDED, Played, Reference, play_episode
from dqa.evaluation.playing.setup import GameSetup
from dqa.evaluation.playing.spec import Game
from dqa.evaluation.results import Outcome, PlayedGame
from dqa.evaluation.score import Assessment
from dqa.evaluation.worker import Made, decide_task
from dqa.models.attempts import attempt_by
from dqa.worlds.base import PolicyDecider
from dqa.worlds.history import History
from dqa.worlds.observed import events_of, trajectory_of
from dqa.worlds.world import Move, World

if TYPE_CHECKING:
    from dqa.evaluation.playing.spec import Game

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

    def close(self, *, is_deciding: bool = False) -> None:
        """Close the history, unless a game is still being played."""
        if not is_deciding:
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
                keep_moves=True,
            )

        own = deciders[seat]
        if len(deciders) == 1 and isinstance(own, ByScenario):
            own = own.decider_of(game.question)
        log, attempts, played = GameLog(called), None, None
        began = time.perf_counter()
        try:
            if len(deciders) > 1 or not isinstance(own, EpisodeDecider):
                played = play(deciders)
            elif own.attempts > 1:
                attempts = Attempts(own, game, seat, names)
                played = attempts.play(world, history, lambda one, name: play({seat: one}, name))
            else:
                played = play({seat: _begin_attempt(own, (), log.add) or own})
            failure = None if played is None else played.failure
        except GameTakenError:
            raise
        except Exception as error:  # noqa: BLE001  (a bug of a world or a player ends one game)
            failure = error
        failed = None if failure is None else end_decision(Decision(Ending.CRASHED), failure)
        if attempts is None:
            log.add_moves(played)
        else:
            attempts.record(log)
        count = 1 if attempts is None else attempts.count
        kept = _record(game, setup, played, count)
        return _join(kept, log, failed, time.perf_counter() - began)

    def _judge(self, decision: Decision) -> Assessment:
        """Return a game with its value for the player."""
        game = decision.game if isinstance(decision, _GameDecision) else None
        if decision.ending is not Ending.ANSWERED or game is None:
            return Assessment.of_ending(decision, game)
        value = game.returns[self._setup.players[0]]
        return Assessment(Outcome.PLAYED, value=value, goal="maximise", game=game)


def _begin_attempt(
    decider: EpisodeDecider,
    earlier: Sequence[Trajectory],
    add: Callable[[Decision], None],
) -> Decider | None:
    """Return the player of the next attempt; what it recorded is added, also before an error."""
    with collect_recorders() as recorders:
        try:
            return decider.attempt(earlier)
        finally:
            made = [recorder.decision(Ending.ANSWERED) for recorder in recorders]
            add(Decision.join(made, Ending.ANSWERED))


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
    return _GameDecision.join(
        decisions,
        Ending.ANSWERED if ended is None else ended.ending,
        answer=answer,
        seconds=seconds,
        error=None if ended is None else ended.error,
        outage=None if ended is None else ended.outage,
        trace=tuple(events),
        game=game,
    )


_SHOWN_ACTIONS: Final = 12
"""Legal actions of a move in a trace; their number is always there."""


@dataclass(frozen=True, slots=True)
class GameLog:
    """The decisions and events of a game in order.

    Attributes
    ----------
    called
        The decider's name of each player.
    """

    called: Mapping[str, str]
    decisions: list[Decision] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def add(self, decision: Decision) -> None:
        """Add a decision with its events."""
        self.decisions.append(decision)
        self.events.extend(decision.trace)

    def add_moves(self, played: Played | None, attempt: int = 0) -> None:
        """Add the moves of a game, each after the events of its decision."""
        for move in () if played is None else played.moves:
            decision = move.decision
            self.add(decision)
            self.events.append(
                MoveEvent(
                    player=move.player,
                    decider=self.called[move.player],
                    shown=move.shown,
                    actions=move.actions[:_SHOWN_ACTIONS],
                    total=len(move.actions),
                    choice=move.choice,
                    ending=decision.ending.value,
                    problem=decision.error,
                    fallback=move.fallback,
                    reference=move.reference,
                    input_tokens=decision.usage.input_tokens,
                    output_tokens=decision.usage.output_tokens,
                    calls=decision.usage.calls,
                    attempt=attempt,
                )
            )


@dataclass
class _Attempt:
    before: Decision
    played: Played | None = None
    trajectory: Trajectory | None = None


class Attempts:
    """Plays a game until its decider wants no further attempt.

    Parameters
    ----------
    decider
        The player.
    game
        The game.
    seat
        The world's name of the player.
    names
        The names in which models are asked.
    """

    def __init__(
        self, decider: EpisodeDecider, game: Game, seat: str, names: tuple[str, ...]
    ) -> None:
        self._decider, self._game, self._seat, self._names = decider, game, seat, names
        self._attempts: list[_Attempt] = []
        self._others: list[Decision] = []
        self._counted = 0

    def play(
        self, world: World, history: History, play: Callable[[Decider, str], Played]
    ) -> Played | None:
        """Play every attempt, and then the one that counts again.

        Parameters
        ----------
        world, history
            The world of the game, and its history.
        play
            Plays the game by a decider, with a name for the attempt.

        Returns
        -------
        Played
            The attempt that counts, or the one that did not reach its end; None if the decider did
            not answer.

        Raises
        ------
        ValueError
            The decider wants no first attempt or names a missing one, or the world is not
            reproducible.
        """
        while len(self._attempts) < self._decider.attempts:
            number = len(self._attempts) + 1
            with attempt_by(*self._names, f"before attempt {number}", self._decider.name):
                player = _begin_attempt(self._decider, self._trajectories, self._others.append)
            if player is None:
                break
            attempt = _Attempt(self._others.pop())
            self._attempts.append(attempt)
            attempt.played = play(player, f"attempt {number}")
            if attempt.played.returns is None:
                return attempt.played
            attempt.trajectory = self._read(history, number, attempt.played)
        if not self._attempts:
            raise ValueError(f"{self._decider.name} wants to play no attempt at all.")
        self._counted = self._choose()
        counted = self._attempts[self._counted - 1].played if self._counted else None
        return None if counted is None else self._play_again(world, counted)

    @property
    def count(self) -> int:
        """The number of attempts, at least 1."""
        return max(1, len(self._attempts))

    def record(self, log: GameLog) -> None:
        """Add the attempts to a log, each after an event with its number."""
        for number, one in enumerate(self._attempts, 1):
            reward = None if one.trajectory is None else one.trajectory.reward
            moves = 0 if one.played is None else len(one.played.moves)
            counts = number == self._counted
            log.events.append(
                AttemptEvent(number=number, moves=moves, reward=reward, counts=counts)
            )
            log.add(one.before)
            log.add_moves(one.played, number)
        for decision in self._others:
            log.add(decision)

    @property
    def _trajectories(self) -> tuple[Trajectory, ...]:
        return tuple(one.trajectory for one in self._attempts if one.trajectory is not None)

    def _read(self, history: History, number: int, played: Played) -> Trajectory:
        """Return an attempt as a trajectory, with the observation after its last action."""
        source = f"{self._game.world} {self._game.id}, attempt {number}"
        reward = (played.returns or {}).get(self._seat)
        game = history.number_of(self._game.seed, mirrored=False)
        with closing(history.open_for(game, self._seat)) as database:
            events = events_of(database, source)
        if events:
            return trajectory_of(played.goal, events, source, reward)
        # A world that writes no history is described by its positions.
        steps = tuple(Step(move.shown, str(move.choice)) for move in played.moves)
        return Trajectory(played.goal, steps, source, reward)

    def _choose(self) -> int:
        """Return the number of the attempt that counts; 0 if the decider cannot answer."""
        if len(self._attempts) == 1:
            return 1
        name = self._decider.name
        with attempt_by(*self._names, "which attempt counts", name):
            choose = partial(self._decider.choose_attempt, self._trajectories)
            decision = decide_or_end(choose, f"the choice of an attempt by {name}")
        self._others.append(decision)
        if decision.ending in UNDECIDED:
            return len(self._attempts)
        if decision.ending is not Ending.ANSWERED:
            return 0
        number = str(decision.choice)
        if not (number.isdecimal() and 1 <= int(number) <= len(self._attempts)):
            raise ValueError(
                f"{name} lets attempt {decision.choice!r} count, and there are "
                f"{len(self._attempts)}."
            )
        return int(number)

    def _play_again(self, world: World, counted: Played) -> Played:
        """Play an attempt again, by its choices alone."""
        with closing(world.start(self._game.seed)) as episode:
            for move in counted.moves:
                asked, choice = episode.next_move(), move.choice
                if asked is None or choice is None or not asked.position.accepts(choice):
                    raise self._differs(f"'{choice}' is not legal")
                episode.choose(choice)
            if episode.next_move() is not None:
                raise self._differs("it has not ended")
            returns, facts = episode.returns(), episode.facts()
        if dict(returns) != dict(counted.returns or {}):
            raise self._differs(f"it brings {dict(returns)}")
        return Played(counted.moves, returns, facts, counted.goal)

    def _differs(self, how: str) -> ValueError:
        return ValueError(
            f"Game {self._game.id} of '{self._game.world}' does not go the same way twice: attempt "
            f"{self._counted} was played again by its own choices, and {how}. A world has to "
            "follow from its seed and the choices alone."
        )
