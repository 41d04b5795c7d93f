"""Play an episode of a world: every move is decided like any question.

A decision that names no legal action is replaced by the position's fallback, and counted. A failing
server, a spent budget, a person or a bug ends the episode without returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field
from threading import Lock, Thread
from time import monotonic
from typing import TypeVar

from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.errors import UnknownNameError
from dqa.core.events import Event
from dqa.core.question import Candidate
from dqa.core.recorder import DecisionWatcher, current_watcher, watched_by
from dqa.core.review import current_reviewing
from dqa.evaluation.crashes import ended_by
from dqa.models.attempts import attempt_by
from dqa.worlds.base import PolicyDecider
from dqa.worlds.observed import GOAL
from dqa.worlds.world import Episode, Move, World

_Answer = TypeVar("_Answer")

UNDECIDED = frozenset({Ending.UNPARSABLE, Ending.STEP_LIMIT, Ending.NO_DECISION})
"""Endings of a decision after which the position's fallback counts."""
LONGEST_SILENCE = 600.0
"""Seconds without a request or an event after which a decider without a time limit is given up."""
_LENIENCE = 2.0
"""How much longer than its budget a decision may take: most deciders keep to it themselves."""


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """A move that was decided.

    Attributes
    ----------
    player
        The player who moved.
    actions
        The legal actions.
    decision
        The decision.
    choice
        The action that was carried out; None if the episode ended here.
    fallback
        Whether that is the position's fallback, as the decision named no legal action.
    reference
        The action of the reference in the same position; None without one.
    shown
        What the player knew in addition to the events.
    """

    player: str
    actions: tuple[Candidate, ...]
    decision: Decision
    choice: Candidate | None
    fallback: bool = False
    reference: Candidate | None = None
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Played:
    """An episode that was played.

    Attributes
    ----------
    moves
        The moves in order.
    returns
        By player, the result of the episode; None if it did not reach its end.
    facts
        The other facts of the world; see `dqa.worlds.world.Episode.facts`.
    goal
        The goal in the target of the first question, or else the text of that question.
    """

    moves: tuple[PlayedMove, ...]
    returns: Mapping[str, float] | None
    facts: Mapping[str, Candidate | float | bool | None] = field(default_factory=dict)
    goal: str = ""

    @property
    def decisions(self) -> tuple[tuple[str, Decision], ...]:
        """The decisions in order, each with its player."""
        return tuple((move.player, move.decision) for move in self.moves)

    def fallbacks(self, player: str) -> int:
        """Return how many of a player's moves were the position's fallback."""
        return sum(move.fallback for move in self.moves if move.player == player)


Reference = Callable[[Move], Candidate | None]
"""Returns the action of a reference for a move; None where it is not compared."""


def play_episode(  # noqa: PLR0913  (each is a question of its own to the caller)
    world: World,
    deciders: Mapping[str, Decider],
    seed: int,
    *,
    mirrored: bool = False,
    names: tuple[str, ...] | None = None,
    seconds: float | None = None,
    reference: Reference | None = None,
) -> Played:
    """Play one episode to its end, or to the first decision that was not made.

    Parameters
    ----------
    world
        The world.
    deciders
        The decider of each player.
    seed
        The seed of the episode.
    mirrored
        Whether the players have each other's hidden things.
    names
        The names in which models are asked, so that a recording separates two episodes; None for
        the world and the seed.
    seconds
        The time limit of one decision; see `call_within`. Programs have no limit by default.
    reference
        Is asked before each move.

    Raises
    ------
    UnknownNameError
        A player has no decider.
    """
    for player in world.players:
        if player not in deciders:
            raise UnknownNameError("decider of the player", player, deciders)
    named = (world.name, str(seed)) if names is None else names
    episode = world.start(seed, mirrored=mirrored)
    moves: list[PlayedMove] = []
    goal = ""
    try:
        while (move := episode.next_move()) is not None:
            goal = goal or move.question.target.get(GOAL, move.question.text)
            decider, number = deciders[move.player], str(len(moves))
            # Two moves may have the same question: a recording separates them by their number.
            with attempt_by(*named, number, move.player, decider.name):
                expected = None if reference is None else reference(move)
                decision = _decide(decider, move, (*named, number), seconds)
            moves.append(_carry_out(episode, move, decision, expected))
            if moves[-1].choice is None:
                return Played(tuple(moves), None, goal=goal)
        return Played(tuple(moves), episode.returns(), episode.facts(), goal)
    finally:
        episode.close()


def _decide(
    decider: Decider, move: Move, names: tuple[str, ...], seconds: float | None
) -> Decision:
    def decide() -> Decision:
        if isinstance(decider, PolicyDecider):  # needs no database: it knows the position
            return decider.decide_at(move.question, move.position, names, move.reveal)
        return decider.decide(move.question, move.database)

    try:
        if isinstance(decider, PolicyDecider):
            return decide() if seconds is None else call_within(decide, decider.name, seconds)
        _ = move.database  # opening it takes none of the player's time
        return call_within(decide, decider.name, seconds)
    except LateError as late:
        return late.decision
    except Exception as error:  # noqa: BLE001  (one bug ends one decision)
        error.add_note(f"It was raised at move {int(names[-1]) + 1} of {' '.join(names[:-1])}.")
        return ended_by(error)


def _carry_out(
    episode: Episode, move: Move, decision: Decision, expected: Candidate | None
) -> PlayedMove:
    """Carry a decision out, or the fallback if it names no legal action."""
    choice = decision.choice if decision.ending is Ending.ANSWERED else None
    is_fallback = choice is None or not move.position.accepts(choice)
    if is_fallback:
        is_move = decision.ending in {Ending.ANSWERED, *UNDECIDED}
        choice = move.position.fallback if is_move else None
    if choice is not None:
        episode.choose(choice)
    return PlayedMove(
        *(move.player, move.position.actions, decision, choice),
        fallback=is_fallback and choice is not None,
        reference=expected,
        shown=move.position.describe(),
    )


class LateError(Exception):
    """A call did not return in time; its result is dropped.

    Parameters
    ----------
    decision
        The decision that was not made, with everything that was recorded until then.
    """

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.error)
        self.decision = decision


class EventLog(DecisionWatcher):
    """Stores the events of a call, and passes them on to the current watcher, until it is closed.

    Attributes
    ----------
    heard
        When the last event or request happened.
    """

    def __init__(self) -> None:
        self._watcher = current_watcher()
        self._lock = Lock()
        self._is_closed = False
        self._events: list[Event] = []
        self._usage = self._before = Usage()
        self._steps = 0
        self.heard = monotonic()

    def asking(self, step: int) -> None:
        """Note that a model is asked."""
        with self._lock:
            if not self._is_closed:
                self.heard, self._steps = monotonic(), step - 1
                self._watcher.asking(step)

    def happened(self, event: Event, usage: Usage) -> None:
        """Store an event."""
        with self._lock:
            if self._is_closed:
                return
            if usage.calls < self._usage.calls:  # another recorder, which begins at 0
                self._before += self._usage
            self.heard, self._usage = monotonic(), usage
            self._events.append(event)
            self._watcher.happened(event, usage)

    def close(self, problem: str | None = None, seconds: float = 0.0) -> Decision | None:
        """Ignore what comes later; return what happened as a decision, or None for nothing.

        With a problem it is a decision that was not made in time.
        """
        with self._lock:
            self._is_closed = True
            events, usage = tuple(self._events), self._before + self._usage
        if problem is None and not events:
            return None
        return Decision(
            Ending.ANSWERED if problem is None else Ending.NO_DECISION,
            usage=usage,
            steps=max((event.step for event in events), default=0) or self._steps,
            seconds=seconds,
            error=problem,
            trace=events,
            ended_by=None if problem is None else "budget: seconds",
        )


def call_within(
    call: Callable[[], _Answer], name: str, seconds: float | None, log: EventLog | None = None
) -> _Answer:
    """Return the result of a decider's call.

    The call runs in its own thread, because a call that hangs cannot be stopped. With a person who
    reviews and no time limit, it runs here.

    Parameters
    ----------
    call
        The call.
    name
        The decider's name.
    seconds
        Its time limit, of which it may use twice as much. Without a limit it is given up when
        nothing has been recorded for `LONGEST_SILENCE` seconds.
    log
        Stores the events; None for a new one.

    Raises
    ------
    LateError
        It did not return in time.
    """
    log = log or EventLog()
    found: list[_Answer] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            with watched_by(log):
                found.append(call())
        except BaseException as error:  # noqa: BLE001  (raised again by the caller)
            failed.append(error)

    began = monotonic()
    if seconds is None and current_reviewing() is not None:
        run()
        problem = ""
    else:
        thread = Thread(target=copy_context().run, args=(run,), daemon=True)
        thread.start()
        problem = _wait_for(thread, log, seconds)
    if failed:
        raise failed[0]
    if not found:
        late = log.close(f"{name} {problem}", monotonic() - began)
        raise LateError(late or Decision(Ending.NO_DECISION))
    return found[0]


def _wait_for(thread: Thread, log: EventLog, seconds: float | None) -> str:
    """Wait for a call; return what is wrong if it is still running."""
    if seconds is not None:
        thread.join(_LENIENCE * seconds)
        return f"did not decide within {_LENIENCE * seconds:g} s"
    while thread.is_alive() and (left := log.heard + LONGEST_SILENCE - monotonic()) > 0:
        thread.join(left)
    return f"did not decide, and nothing was heard of it for {LONGEST_SILENCE:g} s"
