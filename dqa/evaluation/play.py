"""Play the games of a run. Deciders choose every move as they answer questions.

If a decision names no legal action, the fallback of the position is played, and the result counts
these moves. A server error, a spent budget, a person or a bug of a decider ends a game without
returns. A game is stored as one decision, with the events of all its moves.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Final

from dqa.core.decider import Decider, EpisodeDecider, Step, Trajectory
from dqa.core.decision import Decision, Ending
from dqa.core.errors import GameTakenError
from dqa.core.events import AttemptEvent, EndingEvent, Event, MoveEvent
from dqa.core.question import Candidate
from dqa.core.recorder import collect_recorders
from dqa.deciders.base import ByScenario
from dqa.evaluation.decide import Made, decide_or_end, decide_task, end_decision
from dqa.evaluation.episodes import UNDECIDED, Played, PlayedMove, play_episode
from dqa.evaluation.games import GameSetup
from dqa.evaluation.prepare import Task
from dqa.evaluation.results import Outcome, PlayedGame
from dqa.evaluation.score import Assessment
from dqa.models.attempts import attempt_by
from dqa.worlds.base import PolicyDecider
from dqa.worlds.history import History
from dqa.worlds.observed import events_of, trajectory_of
from dqa.worlds.world import Move, World

_OF_GAME = ("world", "number", "seed", "mirrored", "player", "opponent")
_SHOWN_ACTIONS: Final = 12
"""Maximum number of legal actions that a trace lists for a move."""


class GameWorker:
    """Plays games. Several threads share a worker.

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
        self._worlds: dict[int, tuple[World, History]] = {}
        self._lock = threading.Lock()

    def decide(self, task: Task) -> Made | None:
        """Play one game. Return None if another process has started the game again."""
        game = GameOfRun(self._setup, task, *self._world_of(task))
        try:
            return decide_task(task, game.play, game.judge)
        except GameTakenError:
            return None

    def close(self, *, is_deciding: bool = False) -> None:
        """Close the history, unless a game is still being played."""
        if not is_deciding:
            self._history.close()

    def _world_of(self, task: Task) -> tuple[World, History]:
        """Return the world of a match and the history that numbers the games of the match."""
        match = 0 if task.game is None else task.game.match
        with self._lock:
            if match not in self._worlds:
                numbered = self._history.numbered_from(self._setup.spec.first_number(match))
                self._worlds[match] = (self._setup.world(numbered), numbered)
            return self._worlds[match]


@dataclass
class _Attempt:
    """One attempt at a game.

    Attributes
    ----------
    before
        The decider's record before the attempt; None for a decider that plays a game only once.
    """

    before: Decision | None = None
    played: Played | None = None
    trajectory: Trajectory | None = None


class GameOfRun:
    """A game of a run, from its first move to its record.

    Parameters
    ----------
    setup
        The players.
    task
        The game.
    world, history
        The world of the match, and the history of this world.
    """

    def __init__(self, setup: GameSetup, task: Task, world: World, history: History) -> None:
        if task.game is None:
            raise TypeError(f"{task.key} is not a game")
        self._setup, self._world, self._history = setup, world, history
        self._task, self._game, self._seat = task, task.game, setup.players[0]
        contestants = (self._game.player, self._game.opponent)
        self._called = dict(zip(setup.players, contestants, strict=False))
        # Names that identify model calls in recordings and seed the random choices of programs.
        question, _, *names = task.key.requester
        self._names = (question, *names)
        self._attempts: list[_Attempt] = []
        self._others: list[Decision] = []
        self._counted = 0
        self._is_repeated = False
        self._record: PlayedGame | None = None
        # The reference has random choices of its own, also if the same program plays.
        name, reference = f"reference {setup.spec.reference}", setup.reference
        self._compared = (
            None if reference is None else PolicyDecider(name, reference, setup.spec.seed)
        )

    def play(self) -> Decision:
        """Play the game. A server error or a bug ends it without returns."""
        began, played, failure = time.perf_counter(), None, None
        deciders = self._setup.deciders[self._task.epoch - 1]
        players = {seat: deciders[name] for seat, name in self._called.items()}
        own = players[self._seat]
        if len(players) == 1 and isinstance(own, ByScenario):
            own = own.decider_of(self._task.question)
        try:
            if len(players) > 1 or not isinstance(own, EpisodeDecider):
                played = self._play_once(players)
            elif own.attempts > 1:
                self._is_repeated = True
                played = self._play_attempts(own)
            else:
                player = self._begin_attempt(own) or own
                played = self._play_once({self._seat: player}, self._others.pop())
            failure = None if played is None else played.failure
        except GameTakenError:
            raise
        except Exception as error:  # noqa: BLE001  (a bug of a world or a player ends one game)
            failure = error
        failed = None if failure is None else end_decision(Decision(Ending.CRASHED), failure)
        self._record = self._describe(played or Played((), None))
        return self._join(self._record, failed, time.perf_counter() - began)

    def judge(self, decision: Decision) -> Assessment:
        """Return the assessment of the game, with its value for the player."""
        game = self._record
        if decision.ending is not Ending.ANSWERED or game is None:
            return Assessment.of_ending(decision, game)
        value = game.returns[self._seat]
        return Assessment(Outcome.PLAYED, value=value, goal="maximise", game=game)

    def _play_once(
        self, deciders: Mapping[str, Decider], before: Decision | None = None, *names: str
    ) -> Played:
        attempt = _Attempt(before)
        self._attempts.append(attempt)
        attempt.played = play_episode(
            *(self._world, deciders, self._game.seed),
            mirrored=self._game.mirrored,
            names=(*self._names, *names),
            reference=None if self._compared is None else self._ask_reference,
            keep_moves=True,
        )
        return attempt.played

    def _ask_reference(self, move: Move) -> Candidate | None:
        """Return the action of the reference where the player moves."""
        compared = self._compared
        if compared is None or move.player != self._seat:
            return None
        drawn_from = ("reference", *self._names, str(len(move.position.events)))
        return compared.decide_at(move.question, move.position, drawn_from, move.reveal).choice

    def _play_attempts(self, decider: EpisodeDecider) -> Played | None:
        """Play all attempts. Then replay the attempt that is scored.

        Returns
        -------
        Played
            The scored attempt, or the attempt that did not reach its end; None if the decider did
            not choose an attempt.

        Raises
        ------
        ValueError
            The decider wants no first attempt, chooses an attempt that does not exist, or the world
            is not reproducible.
        """
        while len(self._attempts) < decider.attempts:
            number = len(self._attempts) + 1
            player = self._begin_attempt(decider, number)
            if player is None:
                break
            played = self._play_once({self._seat: player}, self._others.pop(), f"attempt {number}")
            if played.returns is None:
                return played
            self._attempts[-1].trajectory = self._read_trajectory(number, played)
        if not self._attempts:
            raise ValueError(f"{decider.name} must play at least one attempt, but requested none.")
        self._counted = self._choose(decider)
        counted = self._attempts[self._counted - 1].played if self._counted else None
        return None if counted is None else self._play_again(counted)

    @property
    def _trajectories(self) -> tuple[Trajectory, ...]:
        return tuple(one.trajectory for one in self._attempts if one.trajectory is not None)

    def _begin_attempt(self, decider: EpisodeDecider, number: int | None = None) -> Decider | None:
        """Add an attempt, and return its player. The attempt is added even if an error follows.

        Parameters
        ----------
        decider
            The decider.
        number
            The number of the attempt; None if there is only one.
        """
        names = (*self._names, f"before attempt {number}", decider.name)
        with nullcontext() if number is None else attempt_by(*names), collect_recorders() as made:
            try:
                return decider.attempt(self._trajectories)
            finally:
                recorded = [recorder.decision(Ending.ANSWERED) for recorder in made]
                self._others.append(Decision.join(recorded, Ending.ANSWERED))

    def _read_trajectory(self, number: int, played: Played) -> Trajectory:
        """Return an attempt as a trajectory, including the observation after the last action."""
        source = f"{self._game.world} {self._task.question.id}, attempt {number}"
        reward = (played.returns or {}).get(self._seat)
        game = self._history.number_of(self._game.seed, mirrored=False)
        with closing(self._history.open_for(game, self._seat)) as database:
            events = events_of(database, source)
        if events:
            return trajectory_of(played.goal, events, source, reward)
        # Without a history, the descriptions of the positions serve as observations.
        steps = tuple(Step(move.shown, str(move.choice)) for move in played.moves)
        return Trajectory(played.goal, steps, source, reward)

    def _choose(self, decider: EpisodeDecider) -> int:
        """Return the number of the attempt to score; 0 if the decider does not answer."""
        if len(self._attempts) == 1:
            return 1
        name = decider.name
        with attempt_by(*self._names, "which attempt counts", name):
            choose = partial(decider.choose_attempt, self._trajectories)
            decision = decide_or_end(choose, f"the choice of an attempt by {name}")
        self._others.append(decision)
        if decision.ending in UNDECIDED:
            return len(self._attempts)
        if decision.ending is not Ending.ANSWERED:
            return 0
        number = str(decision.choice)
        if not (number.isdecimal() and 1 <= int(number) <= len(self._attempts)):
            raise ValueError(
                f"{name} chose attempt {decision.choice!r}, but only attempts 1 to "
                f"{len(self._attempts)} exist."
            )
        return int(number)

    def _play_again(self, counted: Played) -> Played:
        """Replay the choices of an attempt, so that it is the last game in the history."""
        with closing(self._world.start(self._game.seed)) as episode:
            for move in counted.moves:
                asked, choice = episode.next_move(), move.choice
                if asked is None or choice is None or not asked.position.accepts(choice):
                    break
                episode.choose(choice)
            is_same = episode.next_move() is None and dict(episode.returns()) == counted.returns
        if is_same:
            return counted
        raise ValueError(
            f"Game {self._task.question.id} of '{self._game.world}' had another course when the "
            f"choices of attempt {self._counted} were replayed. A game must depend only on its "
            "seed and the choices."
        )

    def _describe(self, played: Played) -> PlayedGame:
        """Return the record of the game, also if it did not start."""
        seats, moves = self._setup.players, played.moves
        compared = [m for m in moves if m.player == self._seat and m.reference is not None]
        actions: dict[str, Counter[str]] = {seat: Counter() for seat in seats}
        for move in moves:
            if move.choice is not None and not move.fallback:
                actions[move.player][str(move.choice)] += 1
        return PlayedGame(
            **{name: getattr(self._game, name) for name in _OF_GAME},
            seats=seats,
            returns=dict(played.returns or {}),
            moves={seat: sum(move.player == seat for move in moves) for seat in seats},
            fallbacks={seat: played.fallbacks(seat) for seat in seats},
            actions={seat: dict(sorted(taken.items())) for seat, taken in actions.items()},
            reference=self._setup.spec.reference,
            compared=len(compared),
            agreed=sum(move.choice == move.reference and not move.fallback for move in compared),
            facts=dict(played.facts),
            attempts=max(1, len(self._attempts)),
            payoffs=self._world.payoffs,
        )

    def _join(self, game: PlayedGame, failed: Decision | None, seconds: float) -> Decision:
        """Combine all decisions of the game into one decision."""
        decisions, events = self._log()
        last = decisions[-1] if decisions and not game.returns else None
        ended = failed or last
        if failed is not None:
            events += failed.trace
        elif last is not None and not any(isinstance(event, EndingEvent) for event in last.trace):
            events.append(EndingEvent.of(last.ending.value, 0, last.error))
        got = []
        if ended is None:
            returns = game.returns.items()
            got = [f"{self._called[seat]} ({seat}) {value:+g}" for seat, value in returns]
            got += [f"{name}: {value}" for name, value in game.facts.items() if value is not None]
        return Decision.join(
            decisions,
            Ending.ANSWERED if ended is None else ended.ending,
            answer=", ".join(got),
            seconds=seconds,
            error=None if ended is None else ended.error,
            outage=None if ended is None else ended.outage,
            trace=tuple(events),
        )

    def _log(self) -> tuple[list[Decision], list[Event]]:
        """Return the decisions and the events of all attempts, in order."""
        decisions: list[Decision] = []
        events: list[Event] = []

        def add(decision: Decision) -> None:
            decisions.append(decision)
            events.extend(decision.trace)

        for number, one in enumerate(self._attempts, 1):
            moves = () if one.played is None else one.played.moves
            if self._is_repeated:
                reward = None if one.trajectory is None else one.trajectory.reward
                counts = number == self._counted
                events.append(
                    AttemptEvent(number=number, moves=len(moves), reward=reward, counts=counts)
                )
            if one.before is not None:
                add(one.before)
            for move in moves:
                add(move.decision)
                events.append(self._move_event(move, number if self._is_repeated else 0))
        for decision in self._others:
            add(decision)
        return decisions, events

    def _move_event(self, move: PlayedMove, attempt: int) -> MoveEvent:
        decision = move.decision
        return MoveEvent(
            player=move.player,
            decider=self._called[move.player],
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
