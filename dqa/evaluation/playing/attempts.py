"""Games that a decider plays several times, before one attempt counts.

Each attempt replaces the one before in the history. The one that counts is then played again by its
recorded choices, without a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from dqa.core.database import Limits
from dqa.core.decider import Decider, EpisodeDecider
from dqa.core.decision import Decision, Ending
from dqa.core.events import AttemptEvent, Event, MoveEvent
from dqa.core.trajectories import Step, Trajectory
from dqa.evaluation.play import UNDECIDED, EventLog, LateError, Played, call_within
from dqa.models.attempts import attempt_by
from dqa.worlds.history import History
from dqa.worlds.observed import trajectory_of
from dqa.worlds.world import GameEvent, World

if TYPE_CHECKING:
    from dqa.evaluation.playing.spec import Game

_EVENTS: Final = "SELECT number, stage, actor, action, detail FROM events ORDER BY number"
_WHOLE: Final = Limits(rows=1_000_000, bytes=1_000_000_000, seconds=60.0, cell=100_000_000)
"""The limits of reading a trajectory: nothing of it may be cut."""
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

    def add(self, decision: Decision | None) -> None:
        """Add a decision with its events."""
        if decision is not None:
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
    number: int
    log: EventLog
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
    seconds
        The time limit of a decision, and of each question about attempts.
    """

    def __init__(
        self,
        decider: EpisodeDecider,
        game: Game,
        seat: str,
        names: tuple[str, ...],
        seconds: float | None,
    ) -> None:
        self._decider = decider
        self._game = game
        self._seat = seat
        self._names = names
        self._seconds = seconds
        self._attempts: list[_Attempt] = []
        self._others: list[Decision | None] = []
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
            attempt = _Attempt(len(self._attempts) + 1, EventLog())
            self._attempts.append(attempt)
            player = self._next_player(attempt)
            if player is None:
                self._attempts.pop()
                break
            attempt.played = play(player, f"attempt {attempt.number}")
            if attempt.played.returns is None:
                return attempt.played
            attempt.trajectory = self._read(history, attempt.number, attempt.played)
        if not self._attempts:
            if any(one and one.ending is Ending.NO_DECISION for one in self._others):
                return None
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
        for one in self._attempts:
            reward = None if one.trajectory is None else one.trajectory.reward
            moves = 0 if one.played is None else len(one.played.moves)
            counts = one.number == self._counted
            log.events.append(
                AttemptEvent(number=one.number, moves=moves, reward=reward, counts=counts)
            )
            log.add(one.log.close())
            log.add_moves(one.played, one.number)
        for decision in self._others:
            log.add(decision)

    @property
    def _trajectories(self) -> tuple[Trajectory, ...]:
        return tuple(one.trajectory for one in self._attempts if one.trajectory is not None)

    def _next_player(self, attempt: _Attempt) -> Decider | None:
        """Return the next player; None for none, or if the decider does not answer."""
        name = self._decider.name
        call = partial(self._decider.attempt, self._trajectories)
        with attempt_by(*self._names, f"before attempt {attempt.number}", name):
            try:
                player = call_within(call, name, self._seconds, attempt.log)
            except LateError as late:
                self._others.append(late.decision)
                return None
        if player is None:
            self._others.append(attempt.log.close())
        return player

    def _read(self, history: History, number: int, played: Played) -> Trajectory:
        """Return an attempt as a trajectory, with the observation after its last action."""
        source = f"{self._game.world} {self._game.id}, attempt {number}"
        reward = (played.returns or {}).get(self._seat)
        game = history.number_of(self._game.seed, mirrored=False)
        with closing(history.open_for(game, self._seat)) as database:
            found = database.query(_EVENTS, _WHOLE)
        events = tuple(
            GameEvent(int(str(place)), str(stage), str(actor), str(action), str(detail or ""))
            for place, stage, actor, action, detail in found.rows
        )
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
        call = partial(self._decider.choose_attempt, self._trajectories)
        with attempt_by(*self._names, "which attempt counts", name):
            try:
                decision = call_within(call, name, self._seconds)
            except LateError as late:
                decision = late.decision
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
            for number, move in enumerate(counted.moves, 1):
                asked, choice = episode.next_move(), move.choice
                if asked is None or choice is None or not asked.position.accepts(choice):
                    raise self._differs(f"move {number}, '{choice}', is not legal")
                episode.choose(choice)
            if episode.next_move() is not None:
                raise self._differs("it has not ended")
            returns, facts = episode.returns(), episode.facts()
        if dict(returns) != dict(counted.returns or {}):
            raise self._differs(f"it brings {dict(returns)} and not {dict(counted.returns or {})}")
        return Played(counted.moves, returns, facts, counted.goal)

    def _differs(self, how: str) -> ValueError:
        return ValueError(
            f"Game {self._game.id} of '{self._game.world}' does not go the same way twice: when "
            f"attempt {self._counted} is played again by its own choices, {how}. A world has to "
            "follow from its seed and the choices alone."
        )
