"""Games that are played several times before one playing counts, by who learns from trials.

Attempts are played on a history of their own, which nobody keeps. The one that counts is then
played once more by its recorded choices, without a model, into the history of the run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, TypeVar

from dqa.core.database import Isolation, Limits
from dqa.core.decider import Decider, EpisodeDecider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.events import Event
from dqa.core.question import Question
from dqa.core.recorder import DecisionWatcher, current_watcher, watched_by
from dqa.core.review import current_reviewing
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.by_scenario import ByScenario
from dqa.evaluation.play import UNDECIDED, Played, Reference, play_episode
from dqa.evaluation.waiting import LateError, call_within
from dqa.models.attempts import attempt_by
from dqa.worlds.history import History
from dqa.worlds.observed import trajectory_of
from dqa.worlds.world import GameEvent, World

if TYPE_CHECKING:
    from dqa.evaluation.playing.plan import Game
    from dqa.evaluation.playing.setup import GameSetup

_Answer = TypeVar("_Answer")

_EVENTS: Final = "SELECT number, stage, actor, action, detail FROM events ORDER BY number"
_WHOLE: Final = Limits(rows=1_000_000, bytes=1_000_000_000, seconds=60.0, cell=100_000_000)
"""What a trajectory is read with: nothing of it may be cut."""


def learning_from_trials(decider: Decider, question: Question) -> EpisodeDecider | None:
    """Return who plays an episode several times; None where a decider plays it once."""
    own = decider.decider_of(question) if isinstance(decider, ByScenario) else decider
    return own if isinstance(own, EpisodeDecider) and own.attempts > 1 else None


def playing_once(decider: Decider, question: Question) -> Decider:
    """Return who decides the moves of one game: what one keeps for an episode is kept in it."""
    own = decider.decider_of(question) if isinstance(decider, ByScenario) else decider
    if not isinstance(own, EpisodeDecider):
        return decider
    return own.attempt(()) or decider


class Trials:
    """The worlds in which attempts are played, on a temporary history. Threads share it.

    Parameters
    ----------
    setup
        What is played.
    isolation
        Where statements of players run, as of the run's own history.
    """

    def __init__(self, setup: GameSetup, isolation: Isolation) -> None:
        self._setup = setup
        self._isolation = isolation
        self._folder: TemporaryDirectory[str] | None = None
        self._history: History | None = None
        self._worlds: dict[int, tuple[World, History]] = {}
        self._making = threading.Lock()

    def of(self, game: Game) -> tuple[World, History]:
        """Return the world of a game's attempts, and their history.

        Games have the numbers there that they have in the run's history, so that a model is asked
        about either in the same words.
        """
        with self._making:
            if self._history is None:
                self._folder = TemporaryDirectory(prefix="dqa-")
                file = Path(self._folder.name) / "attempts.db"
                self._history = History(str(file), isolation=self._isolation)
            if game.match not in self._worlds:
                first = self._setup.spec.first_number(game.match)
                history = self._history.numbered_from(first)
                self._worlds[game.match] = (self._setup.world(history), history)
            return self._worlds[game.match]

    def close(self) -> None:
        """Close the history and remove it."""
        if self._history is not None:
            self._history.close()
        if self._folder is not None:
            self._folder.cleanup()


@dataclass
class Attempt:
    """One attempt at a game.

    Attributes
    ----------
    number
        From 1.
    noted
        What was recorded while it was said who plays it; None where nothing was.
    played
        What happened; None where it did not begin.
    trajectory
        The same as steps, with what it brought; None where it did not come to its end.
    """

    number: int
    noted: Decision | None = None
    played: Played | None = None
    trajectory: Trajectory | None = None


class Attempts:
    """Plays a game until its decider wants no further attempt, and then the one that counts.

    Parameters
    ----------
    decider
        Who plays.
    game
        Which game.
    seat
        What the world calls the player.
    names
        In whose names models are asked.
    seconds, reference
        As `dqa.evaluation.play.play_episode` takes them; saying who plays next, and which attempt
        counts, may take as long as a decision.

    Attributes
    ----------
    made
        The attempts so far.
    declined
        What was recorded while it was said that no further attempt is wanted, or was not said in
        time.
    choosing
        How it was chosen which attempt counts; None where nobody was asked.
    counted
        The number of the attempt that counts; None while that is not known.
    """

    def __init__(  # noqa: PLR0913  (each is a question of its own to the caller)
        self,
        decider: EpisodeDecider,
        game: Game,
        seat: str,
        names: tuple[str, ...],
        *,
        seconds: float | None,
        reference: Reference | None,
    ) -> None:
        self._decider = decider
        self._game = game
        self._seat = seat
        self._names = names
        self._seconds = seconds
        self._reference = reference
        self.made: list[Attempt] = []
        self.declined: Decision | None = None
        self.choosing: Decision | None = None
        self.counted: int | None = None

    def play(self, world: World, trials: Trials) -> Played | None:
        """Play every attempt, and the one that counts into the history of `world`.

        Returns
        -------
        Played
            The attempt that counts, or the one that did not come to its end; None where nobody
            could say who plays, or which one counts, as `declined` and `choosing` tell.

        Raises
        ------
        ValueError
            The decider wants no first attempt or names one that there is not, or the world does not
            go the same way twice.
        """
        trial_world, history = trials.of(self._game)
        while len(self.made) < self._decider.attempts:
            attempt = Attempt(len(self.made) + 1)
            self.made.append(attempt)
            player = self._next_player(attempt)
            if player is None:
                self.declined = self.made.pop().noted
                break
            played = attempt.played = self._play_one(trial_world, attempt, player)
            _leave_out_what_is_told_twice(attempt)
            if played.returns is None:
                return played
            attempt.trajectory = self._read(history, attempt.number, played)
        if not self.made:
            if self.declined is not None and self.declined.ending is Ending.NO_DECISION:
                return None
            raise ValueError(f"{self._decider.name} wants to play no attempt at all.")
        self.counted = self._choose()
        if self.counted is None:
            return None
        counted = self.made[self.counted - 1].played
        return None if counted is None else self._play_again(world, counted)

    @property
    def trajectories(self) -> tuple[Trajectory, ...]:
        """The attempts that came to their end."""
        return tuple(one.trajectory for one in self.made if one.trajectory is not None)

    def _next_player(self, attempt: Attempt) -> Decider | None:
        """Return who plays next, and keep what is recorded meanwhile."""
        noting = _Noting(current_watcher())
        asked_by = (*self._names, f"before attempt {attempt.number}", self._decider.name)
        try:
            with watched_by(noting), attempt_by(*asked_by):
                player = self._within(partial(self._decider.attempt, self.trajectories))
        except LateError as late:
            attempt.noted = late.decision
            return None
        except BaseException:
            attempt.noted = noting.decision
            raise
        attempt.noted = noting.decision
        return player

    def _within(self, call: Callable[[], _Answer]) -> _Answer:
        """Return what the decider is asked; see `call_within`. A person is waited for."""
        if self._seconds is None and current_reviewing() is not None:
            return call()
        return call_within(call, self._decider.name, self._seconds)

    def _play_one(self, world: World, attempt: Attempt, player: Decider) -> Played:
        return play_episode(
            *(world, {self._seat: player}, self._game.seed),
            names=(*self._names, f"attempt {attempt.number}"),
            seconds=self._seconds,
            reference=self._reference,
        )

    def _read(self, history: History, number: int, played: Played) -> Trajectory:
        """Return an attempt as a trajectory, with what was seen after its last action."""
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
        # A world that writes no history is told by what its positions showed.
        steps = tuple(Step(move.shown, str(move.choice)) for move in played.moves)
        return Trajectory(played.goal, steps, source, reward)

    def _choose(self) -> int | None:
        """Return the number of the attempt that counts; None where nobody could say."""
        if len(self.made) == 1:
            return 1
        with attempt_by(*self._names, "which attempt counts", self._decider.name):
            try:
                decision = self._within(partial(self._decider.choose_attempt, self.trajectories))
            except LateError as late:
                decision = late.decision
        self.choosing = decision
        if decision.ending in UNDECIDED:
            return len(self.made)  # what was learnt last
        if decision.ending is not Ending.ANSWERED:
            return None
        number = str(decision.choice)
        if not (number.isdecimal() and 1 <= int(number) <= len(self.made)):
            raise ValueError(
                f"{self._decider.name} lets attempt {decision.choice!r} count, and there are "
                f"{len(self.made)}."
            )
        return int(number)

    def _play_again(self, world: World, counted: Played) -> Played:
        """Play an attempt into the history that is kept, by its choices alone."""
        episode = world.start(self._game.seed)
        try:
            for number, move in enumerate(counted.moves, 1):
                asked = episode.next_move()
                choice = move.choice
                if asked is None or choice is None or not asked.position.accepts(choice):
                    raise self._differs(f"move {number}, '{choice}', is not legal")
                episode.choose(choice)
            if episode.next_move() is not None:
                raise self._differs("it has not ended")
            returns, facts = episode.returns(), episode.facts()
        finally:
            episode.close()
        if dict(returns) != dict(counted.returns or {}):
            raise self._differs(f"it brings {dict(returns)} and not {dict(counted.returns or {})}")
        return Played(counted.moves, returns, facts, counted.goal)

    def _differs(self, how: str) -> ValueError:
        return ValueError(
            f"Game {self._game.id} of '{self._game.world}' does not go the same way twice: when "
            f"attempt {self.counted} is played again by its own choices, {how}. A world has to "
            "follow from its seed and the choices alone."
        )


class _Noting(DecisionWatcher):
    """Keeps what is recorded where no decision holds it, and tells another watcher."""

    def __init__(self, watcher: DecisionWatcher) -> None:
        self._watcher = watcher
        self._events: list[Event] = []
        self._usage = self._before = Usage()

    def asking(self, step: int) -> None:
        """Pass on that a model is asked."""
        self._watcher.asking(step)

    def happened(self, event: Event, usage: Usage) -> None:
        """Keep an event; a recorder tells what was used since it began, so another begins low."""
        if usage.calls < self._usage.calls:
            self._before += self._usage
        self._events.append(event)
        self._usage = usage
        self._watcher.happened(event, usage)

    @property
    def decision(self) -> Decision | None:
        """What was recorded; None where nothing was."""
        if not self._events:
            return None
        return Decision(
            Ending.ANSWERED,
            usage=self._before + self._usage,
            steps=max(event.step for event in self._events),
            trace=tuple(self._events),
        )


def _leave_out_what_is_told_twice(attempt: Attempt) -> None:
    """Forget what was noted where the player's own decisions tell of it, too."""
    if attempt.noted is None or attempt.played is None:
        return
    told = [
        (event.kind, event.data) for move in attempt.played.moves for event in move.decision.trace
    ]
    if any((event.kind, event.data) in told for event in attempt.noted.trace):
        attempt.noted = None
