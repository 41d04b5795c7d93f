"""Play games in TextWorld, in one separate process for all open games."""

from __future__ import annotations

import os
from collections.abc import Mapping
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock
from typing import Any, Final, NamedTuple

from dqa.core.errors import WorldUnavailableError
from dqa.core.interpreters import describe_exit, minimal_environment, start_process
from dqa_simulators.household.problems import Problem
from dqa_simulators.household.serving import serve
from dqa_simulators.household.tables import load_tables

_SECONDS: Final = 180.0
"""The maximum time of a reply. Even translating the largest room takes much less time."""
_NOT_SCORED: Final = "The game has no result, and is played again when the run resumes."
_WORDS: Final = (
    ("move {o} to {r}", "put {o} in/on {r}"),
    ("You move the {o.name} to the {r.name}.", "You put the {o.name} in/on the {r.name}."),
    ("You arrive at {r.name}.", "You arrive at {lend.name}."),
    (
        "  move (object) to (receptacle):  place an object in or on a receptacle",
        "  put (object) in/on (receptacle): place an object in or on a receptacle",
    ),
)
"""Pairs of equivalent texts: in alfworld's current grammar, and in the games of the papers."""


def as_in_the_papers(grammar: str) -> str:
    """Return a grammar with the texts of the papers: ``put X in/on Y``, ``You arrive at loc 3``."""
    for now, then in _WORDS:
        grammar = grammar.replace(now, then)
    return grammar


class Seen(NamedTuple):
    """The observation after an action, or in the initial state.

    Attributes
    ----------
    text
        The observation.
    commands
        The admissible commands, in alphabetical order.
    won
        Whether the goal is reached.
    """

    text: str
    commands: tuple[str, ...]
    won: bool


class Engine:
    """The process in which TextWorld runs.

    If several threads use the process, their requests run one after another.

    Raises
    ------
    MissingKeyError
        alfworld is not installed.
    WorldUnavailableError
        The process cannot be started.
    """

    def __init__(self) -> None:
        tables = load_tables()
        environment = minimal_environment() | {
            "PYTHONHASHSEED": "0",  # so the order of a set is the same in every process
            "PYTHONWARNINGS": "ignore",
        }
        if "ALFWORLD_DATA" in os.environ:
            environment["ALFWORLD_DATA"] = os.environ["ALFWORLD_DATA"]
        started: tuple[BaseProcess, Connection] = start_process(
            serve,
            *(tables.domain, as_in_the_papers(tables.grammar)),
            environment=environment,
            preload=None,
        )
        self.process, self._connection = started
        self._owner = os.getpid()
        self._lock = Lock()

    @property
    def is_usable(self) -> bool:
        """Whether the TextWorld process is running and was started by the current process."""
        is_own = self._owner == os.getpid() and not self._connection.closed
        return is_own and self.process.is_alive()

    def ask(self, method: str, **arguments: object) -> Any:  # noqa: ANN401  (any value)
        """Call a method of `serving.TextWorld` in the process, and return its result.

        If the method or the process fails, `WorldUnavailableError` is raised.
        """
        try:
            with self._lock:
                result, problem = self._exchange((method, arguments))
        except (OSError, EOFError) as error:
            self.process.join(1.0)
            raise WorldUnavailableError(
                f"The process of TextWorld did not reply to '{method}' "
                f"({describe_exit(self.process.exitcode)}). {_NOT_SCORED}"
            ) from error
        if problem:
            last = problem.strip().splitlines()[-1]
            failure = WorldUnavailableError(
                f"TextWorld failed at '{method}' ({last}), so the game ends. {_NOT_SCORED}"
            )
            failure.add_note(problem)
            raise failure
        return result

    def _exchange(self, request: tuple[str, Mapping[str, object]]) -> tuple[Any, str]:
        """Send a request and return its reply. Kill the process if no reply arrives."""
        try:
            self._connection.send(request)
            if not self._connection.poll(_SECONDS):
                self.process.kill()
            reply: tuple[Any, str] = self._connection.recv()
        except BaseException:  # also after Ctrl-C: otherwise the next request would read this reply
            self._connection.close()
            self.process.kill()
            raise
        return reply


_engines: Final[list[Engine]] = []
_starting: Final = Lock()


def engine() -> Engine:
    """Return the process of TextWorld. Start it if it is not running."""
    with _starting:
        if not _engines or not _engines[-1].is_usable:
            _engines[:] = [Engine()]
        return _engines[-1]


class RunningGame:
    """A game that runs in TextWorld.

    Parameters
    ----------
    domain, grammar, problem
        The texts of the game's file.

    Attributes
    ----------
    seen
        The latest observation.

    Raises
    ------
    WorldUnavailableError
        TextWorld cannot play the game, or failed.
    """

    def __init__(self, domain: str, grammar: str, problem: str) -> None:
        self.engine = engine()
        self._number, seen = self.engine.ask(
            "begin", domain=domain, grammar=as_in_the_papers(grammar), problem=problem
        )
        self.seen = Seen(*seen)

    def step(self, command: str) -> None:
        """Execute a command."""
        self.seen = Seen(*self.engine.ask("step", number=self._number, command=command))

    def close(self) -> None:
        """End the game if its process is still running."""
        if self._number and self.engine.is_usable:
            self.engine.ask("end", number=self._number)
        self._number = 0


def plan(problem: Problem) -> tuple[str, ...]:
    """Return the planner's commands that solve a problem; empty if the planner finds no plan."""
    named = sorted({name for fact in problem.facts for name in fact[1:]})
    names, reduced = engine().ask("name", identities=named), problem.reduced()
    called = {one.lower(): names.get(one.lower(), one.lower()) for one in reduced.types}
    return tuple(engine().ask("plan", problem=reduced.write(), names=called))
