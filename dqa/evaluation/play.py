"""Play the games of a run. For a decider, every move is a question.

If a decision names no legal action, the fallback of the position is played, and the result contains
the number of such moves. A game has no returns if a server error, a spent budget, a bug or a person
ended it early. A game is stored as one decision, with the events of all its moves.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace

from dqa.core.decider import Decider, EpisodeDecider, Step, Trajectory
from dqa.core.decision import Decision, Ending
from dqa.core.errors import GameTakenError
from dqa.core.events import AttemptEvent, EndingEvent
from dqa.core.question import Candidate
from dqa.core.recorder import collect_recorders
from dqa.deciders.base import ByScenario
from dqa.evaluation.decide import (
    DecisionRecord,
    decide_or_end,
    decide_task,
    end_decision,
    require_decision,
)
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

    def decide(self, task: Task) -> DecisionRecord | None:
        """Play one game. Return None if another process has restarted the game."""
        game = GameOfRun(self._setup, task, *self._world_of(task))
        try:
            return decide_task(task, game.play, game.judge)
        except GameTakenError:
            return None

    def close(self) -> None:
        """Close the history. Do not call this method while a game is being played."""
        self._history.close()

    def _world_of(self, task: Task) -> tuple[World, History]:
        """Return the world and the history of a match, which numbers its own games."""
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
    number
        The number of the attempt (counted from 1). The number is 0 for a decider that plays a game
        only once.
    before
        The events that the decider recorded before the attempt.
    moves
        The moves of the attempt so far.
    trajectory
        The trajectory of the attempt, which the decider receives before later attempts; None if the
        attempt did not reach its end.
    """

    number: int = 0
    before: Decision | None = None
    moves: list[PlayedMove] = field(default_factory=list)
    trajectory: Trajectory | None = None


class GameOfRun:
    """Plays and judges one game of a run.

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
        self._scored = 0
        self._record: PlayedGame | None = None
        # Its name gives the reference its own random choices, even if the same program plays.
        name, reference = f"reference {setup.spec.reference}", setup.reference
        self._compared = (
            None if reference is None else PolicyDecider(name, reference, setup.spec.seed)
        )

    def play(self) -> Decision:
        """Play the game. A server error or a bug ends it without returns."""
        began = time.perf_counter()
        try:
            played = self._play()
        except GameTakenError:
            raise
        except Exception as error:  # noqa: BLE001  (a bug of a world or a player ends one game)
            self._others.append(end_decision(Decision(Ending.CRASHED), error))
            played = Played(tuple(self._attempts[-1].moves) if self._attempts else (), None)
        self._record = self._describe(played)
        return self._join(self._record, time.perf_counter() - began)

    def judge(self, decision: Decision) -> Assessment:
        """Return the assessment of the game, whose value is the payoff of the player."""
        game = self._record
        if decision.ending is not Ending.ANSWERED or game is None:
            return Assessment.of_ending(decision, game)
        value = game.returns[self._seat]
        return Assessment(Outcome.PLAYED, value=value, goal="maximise", game=game)

    def _play(self) -> Played:
        deciders = self._setup.deciders[self._task.epoch - 1]
        players = {seat: deciders[name] for seat, name in self._called.items()}
        own = players[self._seat]
        if len(players) == 1 and isinstance(own, ByScenario):
            own = own.decider_of(self._task.question)
        if len(players) > 1 or not isinstance(own, EpisodeDecider):
            self._attempts.append(_Attempt())
            return self._play_once(players)
        if own.attempts > 1:
            return self._play_attempts(own)
        return self._play_once({self._seat: self._begin_attempt(own) or own})

    def _play_once(self, deciders: Mapping[str, Decider], *names: str) -> Played:
        return play_episode(
            *(self._world, deciders, self._game.seed),
            mirrored=self._game.mirrored,
            names=(*self._names, *names),
            reference=None if self._compared is None else self._ask_reference,
            moves=self._attempts[-1].moves,
            called=self._called,
            attempt=self._attempts[-1].number,
        )

    def _ask_reference(self, move: Move) -> Candidate | None:
        """Return the action of the reference. If it is the opponent's turn, return None."""
        compared = self._compared
        if compared is None or move.player != self._seat:
            return None
        drawn_from = ("reference", *self._names, str(len(move.position.events)))
        return compared.decide_at(move.question, move.position, drawn_from, move.reveal).choice

    def _play_attempts(self, decider: EpisodeDecider) -> Played:
        """Play all attempts. Then replay the attempt that is scored.

        Returns
        -------
        Played
            The scored attempt, or the attempt that did not reach its end. The result is empty if
            the decider did not choose an attempt.

        Raises
        ------
        ValueError
            The decider starts no attempt, the decider chooses an attempt that does not exist, or
            the same choices lead to a different game.
        """
        plays: list[Played] = []
        while len(plays) < decider.attempts:
            number = len(plays) + 1
            player = self._begin_attempt(decider, number)
            if player is None:
                break
            plays.append(self._play_once({self._seat: player}, f"attempt {number}"))
            if plays[-1].returns is None:
                return plays[-1]
            self._attempts[-1].trajectory = self._read_trajectory(number, plays[-1])
        if not plays:
            raise ValueError(
                f"{decider.name} must play at least one attempt of a game, but it started no "
                "attempt."
            )
        self._scored = 1 if len(plays) == 1 else self._choose(decider)
        return self._play_again(plays[self._scored - 1]) if self._scored else Played((), None)

    @property
    def _trajectories(self) -> tuple[Trajectory, ...]:
        return tuple(one.trajectory for one in self._attempts if one.trajectory is not None)

    def _begin_attempt(self, decider: EpisodeDecider, number: int = 0) -> Decider | None:
        """Begin an attempt, and return the decider that plays it; None for no further attempt.

        The trace contains the events that the decider recorded, even if the decider raised an
        error.
        """
        names = (*self._names, f"before attempt {number}", decider.name)
        with attempt_by(*names) if number else nullcontext(), collect_recorders() as recorders:
            try:
                player = decider.attempt(self._trajectories)
            finally:
                parts = [recorder.decision(Ending.ANSWERED) for recorder in recorders]
                self._others.append(Decision.join(parts, Ending.ANSWERED))
        if player is not None or not number:
            self._attempts.append(_Attempt(number, self._others.pop()))
        return player

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
        events_of_moves = (move.event for move in played.moves)
        steps = tuple(Step(one.shown, str(one.choice)) for one in events_of_moves)
        return Trajectory(played.goal, steps, source, reward)

    def _choose(self, decider: EpisodeDecider) -> int:
        """Return the number of the attempt to score (counted from 1).

        The result is 0 if the decider does not answer.
        """
        name, most = decider.name, len(self._attempts)
        with attempt_by(*self._names, "which attempt counts", name):
            decision = decide_or_end(
                lambda: require_decision(decider.choose_attempt(self._trajectories), name),
                f"the choice of an attempt by {name}",
            )
        self._others.append(decision)
        if decision.ending is not Ending.ANSWERED:
            return most if decision.ending in UNDECIDED else 0
        number = str(decision.choice)
        if not (number.isdecimal() and 1 <= int(number) <= most):
            raise ValueError(
                f"{name} chose attempt {decision.choice!r}, but only attempts 1 to {most} exist."
            )
        return int(number)

    def _play_again(self, scored: Played) -> Played:
        """Play an attempt again with the same choices.

        The attempt then becomes the last game of the history.
        """
        with closing(self._world.start(self._game.seed)) as episode:
            for move in scored.moves:
                expected, choice = episode.next_move(), move.event.choice
                if expected is None or choice is None or not expected.position.accepts(choice):
                    break
                episode.choose(choice)
            is_same = episode.next_move() is None and dict(episode.returns()) == scored.returns
        if is_same:
            return scored
        raise ValueError(
            f"In game {self._task.question.id} of '{self._game.world}', attempt {self._scored} "
            "went differently when its choices were replayed. A game must depend only on its seed "
            "and the choices."
        )

    def _describe(self, played: Played) -> PlayedGame:
        """Return the record of the game.

        If the game did not start, the record contains no moves.
        """
        events = [move.event for move in played.moves]
        moves = {seat: [one for one in events if one.player == seat] for seat in self._called}
        compared = [move for move in moves[self._seat] if move.reference is not None]
        actions = {
            seat: Counter(str(m.choice) for m in own if m.choice is not None and not m.fallback)
            for seat, own in moves.items()
        }
        return PlayedGame(
            **{name: getattr(self._game, name) for name in _OF_GAME},
            seats=self._setup.players,
            returns=dict(played.returns or {}),
            moves={seat: len(own) for seat, own in moves.items()},
            fallbacks={seat: sum(move.fallback for move in own) for seat, own in moves.items()},
            actions={seat: dict(sorted(taken.items())) for seat, taken in actions.items()},
            reference=self._setup.spec.reference,
            compared=len(compared),
            agreed=sum(move.choice == move.reference and not move.fallback for move in compared),
            facts=dict(played.facts),
            attempts=max(1, len(self._attempts)),
            payoffs=self._world.payoffs,
        )

    def _join(self, game: PlayedGame, seconds: float) -> Decision:
        """Combine all decisions of the game into one decision."""
        parts = [part for one in self._attempts for part in self._parts(one)] + self._others
        if parts and not game.returns:
            last = parts[-1]
            joined = Decision.join(
                parts, last.ending, error=last.error, outage=last.outage, seconds=seconds
            )
            if any(isinstance(event, EndingEvent) for event in last.trace):
                return joined
            end = EndingEvent.of(last.ending.value, 0, last.error)
            return replace(joined, trace=(*joined.trace, end))
        got = [f"{self._called[seat]} ({seat}) {value:+g}" for seat, value in game.returns.items()]
        got += [f"{name}: {value}" for name, value in game.facts.items() if value is not None]
        return Decision.join(parts, Ending.ANSWERED, answer=", ".join(got), seconds=seconds)

    def _parts(self, attempt: _Attempt) -> list[Decision]:
        """Return the decisions of an attempt in order, with the events of the attempt."""
        parts = [] if attempt.before is None else [attempt.before]
        if attempt.number:
            begun = AttemptEvent(
                number=attempt.number,
                moves=len(attempt.moves),
                reward=None if attempt.trajectory is None else attempt.trajectory.reward,
                counts=attempt.number == self._scored,
            )
            parts.insert(0, Decision(Ending.ANSWERED, trace=(begun,)))
        for decision, event in attempt.moves:
            parts.append(replace(decision, trace=(*decision.trace, event)))
        return parts
