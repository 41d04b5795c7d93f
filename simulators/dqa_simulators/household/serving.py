"""Run TextWorld in a separate process that plays all open games, one request at a time.

TextWorld does not run in the user's process for two reasons. Its translator changes ``sys.argv``,
``sys.stdout`` and global state. Its C++ library prints and can end the process. This module imports
no module of the project.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, TypeAlias

_WORD: Final = re.compile(r"\w+")
_TRANSLATIONS: Final = 16
"""The number of cached translations, a few MB each. Translating is the slowest part of a start."""


_Seen: TypeAlias = tuple[str, tuple[str, ...], bool]
"""An observation, the admissible commands, and whether the game is won."""


class TextWorld:
    """TextWorld with its open games.

    Parameters
    ----------
    domain, grammar
        alfworld's domain, and its grammar without a goal, for the planner.
    """

    def __init__(self, domain: str, grammar: str) -> None:
        import fast_downward
        import textworld
        from alfworld.agents.utils.misc import Demangler
        from textworld.envs.pddl import logic, pddl

        translate = lru_cache(maxsize=_TRANSLATIONS)(fast_downward.pddl2sas)
        fast_downward.pddl2sas = translate
        self._load_library: Any = fast_downward.load_lib
        self._logic: Any = logic
        self._named: Any = textworld.generator.game.EntityInfo
        self._demangler: Any = Demangler
        self._environment_class: Any = _environment_class(pddl, textworld)
        self._planning: Any = fast_downward.load_lib()
        self._parsed = logic.GameLogic(domain=domain, grammar=grammar)
        self._numbers = count(1)
        self._open: dict[int, Any] = {}
        self._libraries: list[Any] = []  # free libraries: each can play one game at a time

    def begin(self, domain: str, grammar: str, problem: str) -> tuple[int, _Seen]:
        """Start a game from the texts of its file. Return its number and first observation."""
        logic = self._logic.GameLogic(domain=domain, grammar=grammar)
        library = self._libraries.pop() if self._libraries else self._load_library()
        state = self._logic.PddlState(_WithoutPlanner(library), problem, logic)
        environment = self._environment_class(logic, state)
        for identity, name in self.name(environment.entity_infos).items():
            environment.entity_infos[identity].name = name
        environment.reset()
        number = next(self._numbers)
        self._open[number] = environment
        return number, environment.seen()

    def step(self, number: int, command: str) -> _Seen:
        """Execute a command. Return the observation."""
        environment = self._open[number]
        if command not in environment.state["_valid_commands"]:
            raise ValueError(f"{command!r} is not admissible")
        environment.step(command)
        seen: _Seen = environment.seen()
        return seen

    def end(self, number: int) -> None:
        """Close a game."""
        environment = self._open.pop(number)
        self._libraries.append(environment.library)

    def name(self, identities: Iterable[str]) -> dict[str, str]:
        """Return the alfworld name of each PDDL name."""
        infos = {one.lower(): self._named(one.lower(), "") for one in identities}
        demangler = self._demangler(game_infos=infos)
        return {one: str(demangler.demangle_alfred_name(one)).strip() for one in infos}

    def plan(self, problem: str, names: Mapping[str, str]) -> list[str]:
        """Return the planner's commands for a problem in PDDL; empty if there is no plan."""
        state = self._logic.PddlState(self._planning, problem, self._parsed)
        infos = {identity: self._named(identity, "") for identity in names}
        for identity, name in names.items():
            infos[identity].name = name
        return [str(command) for command in state.replan(infos)]


class _WithoutPlanner:
    """A stand-in for the planner's library that ignores the problems that TextWorld loads."""

    def __init__(self, library: Any) -> None:  # noqa: ANN401
        self.library = library

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.library, name)

    def load_sas_replan(self, text: bytes) -> None:
        """Do nothing."""


def _environment_class(pddl: Any, textworld: Any) -> Any:  # noqa: ANN401
    class Environment(pddl.PddlEnv):  # type: ignore[misc]
        """TextWorld's environment with cached texts of commands."""

        def __init__(self, logic: Any, state: Any) -> None:  # noqa: ANN401
            textworld.Environment.__init__(self, textworld.EnvInfos())
            self._logic, self._pddl_state = logic, state
            self.library = state.downward_lib.library
            self._entity_infos = self.entity_infos = self._get_entity_infos()
            self._commands: dict[tuple[Any, ...], str] = {}

        def reset(self) -> Any:  # noqa: ANN401
            """Return the initial state."""
            self.prev_state, self.state = None, textworld.GameState()
            self._last_action, self._moves = None, 0
            self.state.feedback = self._logic.grammar.derive("#intro#", self._context({}))
            self._gather_infos()
            return self.state

        def seen(self) -> _Seen:
            """Return the observation, the commands, and whether the game is won."""
            state = self.state
            return state.feedback, tuple(state["admissible_commands"]), bool(state["won"])

        def _gather_infos(self) -> None:
            state, known = self.state, self._pddl_state
            state["won"], state["lost"] = known.check_goal(), False
            state["_valid_actions"] = list(known.all_applicable_actions())
            state["_valid_commands"] = [self._command(one) for one in state["_valid_actions"]]
            state["admissible_commands"] = sorted(set(state["_valid_commands"]))

        def _command(self, action: Any) -> str:  # noqa: ANN401
            """Return the text of an action. Names never change, so texts are cached."""
            template = action.command_template
            named = set(_WORD.findall(template))
            parts = ((part.name, thing.name) for part, thing in action.mapping.items())
            key = (template, *(one for one in parts if one[0] in named))
            if key not in self._commands:
                context = self._context(action.mapping)
                self._commands[key] = self._logic.grammar.derive(template, context)
            return self._commands[key]

        def _context(self, mapping: Any) -> dict[str, Any]:  # noqa: ANN401
            infos = self.entity_infos
            return {
                "state": self._pddl_state,
                "facts": list(self._pddl_state.facts),
                "variables": {part.name: infos[thing.name] for part, thing in mapping.items()},
                "mapping": mapping,
                "entity_infos": infos,
            }

    return Environment


def serve(connection: Connection, domain: str, grammar: str) -> None:
    """Load TextWorld and answer requests. A request is the name of a method with its arguments.

    A reply is a pair: the result and an empty text, or None and the traceback.
    """
    # alfworld creates this folder if it is missing (by default in the user's home), but does not
    # read it. If the variable names an existing folder, alfworld creates none.
    os.environ.setdefault("ALFWORLD_DATA", str(Path(__file__).parent))
    world = None
    while True:
        try:
            method, arguments = connection.recv()
        except (EOFError, OSError):
            return
        try:
            world = world or TextWorld(domain, grammar)
            reply = (getattr(world, method)(**arguments), "")
        except Exception:  # noqa: BLE001  (the other side reports it)
            reply = (None, traceback.format_exc())
        connection.send(reply)
