"""The referee: TextWorld in processes of its own, one for each episode."""

from __future__ import annotations

import atexit
import json
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from typing import Any, Final

from dqa.core.errors import WorldUnavailableError
from dqa.core.interpreters import describe_exit, start_process
from dqa_simulators.household.problems import Problem
from dqa_simulators.household.serving import UNKNOWN_GOAL, start_serving
from dqa_simulators.household.tables import load_tables

_SECONDS: Final = 180.0
"""How long one reply may take: far longer than the largest room takes to be translated."""
_PLAYED: Final = ("pddl_domain", "grammar", "pddl_problem")
"""What of a game's file TextWorld needs."""
_NOT_SCORED: Final = "It counts for nobody, and is played again when the run goes on."
_INHERITED: Final = (
    "ALFWORLD_DATA",
    "HOME",
    "LD_LIBRARY_PATH",
    "PATH",
    "PYTHONPATH",
    "TMPDIR",
    "VIRTUAL_ENV",
)
"""What of the environment the processes need; keys and passwords are none of their business."""
_WORDS: Final = (
    ("move {o} to {r}", "put {o} in/on {r}"),
    ("You move the {o.name} to the {r.name}.", "You put the {o.name} in/on the {r.name}."),
    ("You arrive at {r.name}.", "You arrive at {lend.name}."),
    (
        "  move (object) to (receptacle):  place an object in or on a receptacle",
        "  put (object) in/on (receptacle): place an object in or on a receptacle",
    ),
)
"""What alfworld's present grammar says otherwise than the papers' games did."""


def as_in_the_papers(grammar: str) -> str:
    """Return a grammar that says what the papers show: ``put X in/on Y``, ``You arrive at loc 3``.

    What is so already stays as it is.
    """
    for now, then in _WORDS:
        grammar = grammar.replace(now, then)
    return grammar


@dataclass(frozen=True, slots=True)
class Seen:
    """What an action, or the beginning, shows.

    Attributes
    ----------
    text
        What is seen.
    commands
        What can be done next, in alphabetical order.
    won
        Whether the goal is reached.
    """

    text: str
    commands: tuple[str, ...]
    won: bool


class Engine:
    """A process of TextWorld: for one episode, or for plans. Used by one thread at a time.

    Parameters
    ----------
    connection
        To a process in which a game has begun; None for a new one.
    """

    def __init__(self, connection: socket.socket | None = None) -> None:
        self._connection = _starter().connect() if connection is None else connection
        self._lines = self._connection.makefile("rwb")

    def begin(self, game: Mapping[str, Any]) -> Seen:
        """Begin a game.

        Parameters
        ----------
        game
            As its file holds it: ``pddl_domain``, ``grammar``, ``pddl_problem``.

        Raises
        ------
        WorldUnavailableError
            TextWorld cannot play it, or has failed.
        """
        given = {key: game[key] for key in _PLAYED}
        given["grammar"] = as_in_the_papers(str(given["grammar"]))
        return _seen(self._ask("begin", game=given))

    def hold(self) -> None:
        """Have the game stay as it is: from now on there is only `fork`."""
        self._ask("hold")

    def fork(self) -> Engine:
        """Return another process, in which the game stands as in this one; raises as `begin`."""
        return Engine(_hand_over(self._connection))

    def step(self, command: str) -> Seen:
        """Carry a command out; raises as `begin`."""
        return _seen(self._ask("step", command=command))

    def plan_on(self, goal: str) -> tuple[str, ...]:
        """Return the commands that lead from here to a goal in PDDL, by the planner."""
        now = self._ask("facts")
        facts = tuple(tuple(map(str, fact)) for fact in now["facts"])
        return self._plan(Problem(now["types"], facts, goal), now["names"])

    def plan(self, problem: Problem) -> tuple[str, ...]:
        """Return the commands that solve a problem; none where the planner finds no way."""
        return self._plan(problem, self._ask("name", identities=_mentioned(problem)))

    def close(self) -> None:
        """End the process."""
        for opened in (self._lines, self._connection):
            with suppress(OSError):  # it may have ended by itself
                opened.close()

    def _plan(self, problem: Problem, names: Mapping[str, str]) -> tuple[str, ...]:
        reduced = problem.reduced()
        told = {one.lower(): names.get(one.lower(), one.lower()) for one in reduced.types}
        return tuple(self._ask("plan", problem=reduced.write(), names=told)["commands"])

    def _ask(self, what: str, **given: object) -> Any:  # noqa: ANN401  (any JSON)
        try:
            self._lines.write(json.dumps({"do": what, **given}).encode() + b"\n")
            self._lines.flush()
            line = self._lines.readline()
        except TimeoutError as error:
            self.close()
            raise WorldUnavailableError(
                f"TextWorld did not reply to '{what}' within {_SECONDS:g} s, so the game ends. "
                f"{_NOT_SCORED}"
            ) from error
        except (OSError, ValueError) as error:
            raise _gone(what) from error
        if not line:
            raise _gone(what)
        reply = json.loads(line)
        if "failed" in reply:
            failure = WorldUnavailableError(
                f"TextWorld failed at '{what}' ({reply['failed']}), so the game ends. {_NOT_SCORED}"
            )
            failure.add_note(reply["traceback"])
            raise failure
        return reply["done"]


def _gone(what: str) -> WorldUnavailableError:
    return WorldUnavailableError(
        f"The process in which TextWorld played ended before it replied to '{what}'. {_NOT_SCORED}"
    )


def _seen(reply: Mapping[str, Any]) -> Seen:
    return Seen(str(reply["text"]), tuple(reply["commands"]), bool(reply["won"]))


def _mentioned(problem: Problem) -> list[str]:
    """Return what facts are about: what alfworld numbers."""
    return sorted({name for fact in problem.facts for name in fact[1:]})


def _hand_over(control: socket.socket) -> socket.socket:
    """Return a connection to a process that another one forks for it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with theirs:
            socket.send_fds(control, [b"+"], [theirs.fileno()])
    except OSError as error:
        ours.close()
        raise WorldUnavailableError(f"No process for a game could be started: {error}.") from error
    ours.settimeout(_SECONDS)
    return ours


def begin_game(game: Mapping[str, Any]) -> tuple[Engine, Seen]:
    """Begin a game as `Engine.begin` does; return its process as well, for the caller to close.

    A game that was begun lately stays in a process as it was then, and is begun again by forking
    that: translating it takes a hundred times as long.
    """
    key = blake2b(json.dumps([str(game[key]) for key in _PLAYED]).encode()).digest()
    with _beginning:
        held = _held.pop(key, None)
        if held is not None:
            _held[key] = held  # the last one that was used is the last one to go
            with suppress(WorldUnavailableError):  # its process may have been ended: begin anew
                return held.engine.fork(), held.seen
    first = Engine()
    try:
        seen = first.begin(game)
        first.hold()
        engine = first.fork()
    except BaseException:
        first.close()
        raise
    with _beginning:
        old = [_held.pop(key)] if key in _held else []
        _held[key] = _Held(first, seen)
        while len(_held) > _MOST_HELD:
            old.append(_held.pop(next(iter(_held))))
        for one in old:
            one.engine.close()
    return engine, seen


@dataclass(frozen=True, slots=True)
class _Held:
    """A process in which a game has begun, and what is seen there."""

    engine: Engine
    seen: Seen


_MOST_HELD: Final = 8
"""Games that stay begun, at some 20 MB each."""
_held: dict[bytes, _Held] = {}
_beginning = Lock()


class _Starter:
    """The process that has TextWorld loaded, and forks the others."""

    def __init__(self) -> None:
        tables = load_tables()
        rules = {"domain": tables.domain, "grammar": as_in_the_papers(tables.grammar)}
        _require_open_goal(rules["grammar"])
        self._lock = Lock()
        self._process, connection = start_process(
            start_serving, rules, environment=_environment(), preload=None
        )
        with connection:
            self._control = socket.socket(fileno=os.dup(connection.fileno()))
        self._control.settimeout(_SECONDS)
        try:
            told = self._control.recv(65_536)
        except OSError as error:
            self.stop()
            raise WorldUnavailableError(
                f"The process for TextWorld could not be started: {error}."
            ) from error
        if told != b"ready":
            self.stop()
            raise WorldUnavailableError(
                "TextWorld cannot be loaded: "
                f"{told.decode(errors='replace').strip() or describe_exit(self._process.exitcode)}"
            )

    @property
    def is_usable(self) -> bool:
        """Whether it runs."""
        return self._process.is_alive()

    def connect(self) -> socket.socket:
        """Return a connection to a new process."""
        with self._lock:
            return _hand_over(self._control)

    def stop(self) -> None:
        """End it; games that are being played go on."""
        self._control.close()
        self._process.join(_ENDING)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


_ENDING: Final = 10.0
"""Seconds that it may take to end."""
_started: list[_Starter] = []
_starting = Lock()


def _starter() -> _Starter:
    """Return the process that forks others, started where there is none."""
    with _starting:
        while _started and not _started[-1].is_usable:
            _started.pop().stop()
        if not _started:
            _started.append(_Starter())
        return _started[-1]


@atexit.register
def _stop() -> None:
    for held in _held.values():
        held.engine.close()
    _held.clear()
    while _started:
        _started.pop().stop()


def _forget_all() -> None:
    """Leave the processes to the one that this process was forked from."""
    global _beginning, _starting  # a thread that is not there may hold them
    _beginning, _starting = Lock(), Lock()
    _held.clear()
    _parents.extend(_started)
    _started.clear()


_parents: Final[list[_Starter]] = []
"""Processes of the one that this process was forked from: ending them is not ours."""
os.register_at_fork(after_in_child=_forget_all)


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    # Sets of texts are in the same order everywhere, should anything hang on it.
    own = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}
    return kept | own


def _require_open_goal(grammar: str) -> None:
    """Raise `WorldUnavailableError` where a grammar has no place for a goal."""
    if UNKNOWN_GOAL not in grammar:
        raise WorldUnavailableError(
            f"alfworld's grammar has no place for a goal ('{UNKNOWN_GOAL}')."
        )
