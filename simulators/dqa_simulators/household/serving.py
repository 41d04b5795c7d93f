"""The program that runs TextWorld: a process of its own, which forks another one for each episode.

TextWorld's translator writes to ``sys.argv`` and ``sys.stdout`` and keeps global state, so two
threads cannot use it at once, and its library in C++ prints and can end the process. Here each
episode has a process that nothing else needs. It inherits what is loaded already, so it is there
at once, and whatever it holds is given back when it ends.

Nothing but `dqa_simulators.household.engine` starts this. It imports
no other module of the project, so that nothing but TextWorld has to be loaded.
"""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import socket
import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any, Final

UNKNOWN_GOAL: Final = "UNKNOWN GOAL"
"""What stands in alfworld's grammar where a game's goal belongs."""
_GOAL: Final = re.compile(r'(?<="rhs": "Your task is to: )[^"]*(?=\.")')
_HOLD: Final = "hold"
_WORD: Final = re.compile(r"\w+")
_MIRRORS: Final = ("not_", "new-axiom")
"""How facts begin that only say what others say already."""


class TextWorld:
    """TextWorld as one process loads it: modules, libraries, and the usual grammar, parsed.

    Parameters
    ----------
    domain, grammar
        alfworld's, in which no goal is named; others are parsed when they come.
    """

    def __init__(self, domain: str, grammar: str) -> None:
        import fast_downward
        import textworld
        from alfworld.agents.utils.misc import Demangler
        from textworld.envs.pddl import logic, pddl, textgen

        self._fast_downward: Any = fast_downward
        self._logic: Any = logic
        self._named: Any = textworld.generator.game.EntityInfo
        self._demangler: Any = Demangler
        _keep_what_is_parsed(textgen, textworld.logic.Rule)
        self._environment: Any = _environment_class(pddl, textworld)
        # One library plays and another one plans: each holds one problem at a time.
        self._playing, self._planning = fast_downward.load_lib(), fast_downward.load_lib()
        self._grammar = grammar
        self._parsed = logic.GameLogic(domain=domain, grammar=grammar)

    def name(self, identities: Iterable[str]) -> dict[str, str]:
        """Return by name in PDDL what alfworld calls each thing."""
        infos = {one.lower(): self._named(one.lower(), "") for one in identities}
        demangler = self._demangler(game_infos=infos)
        return {one: str(demangler.demangle_alfred_name(one)).strip() for one in infos}

    def begin(self, data: Mapping[str, Any]) -> Any:  # noqa: ANN401  (TextWorld has no types)
        """Return an environment in which a game has begun."""
        logic = self._parse(data["pddl_domain"], data["grammar"])
        environment = self._environment(logic, self._first_state(data, logic))
        for identity, name in self.name(environment.entity_infos).items():
            environment.entity_infos[identity].name = name
        environment.reset()
        return environment

    def plan(self, problem: str, names: Mapping[str, str]) -> list[str]:
        """Return the commands that solve a problem, by the planner; none where nothing does.

        Parameters
        ----------
        problem
            In PDDL; the domain is alfworld's.
        names
            Things by their names in PDDL.
        """
        state = self._logic.PddlState(self._planning, problem, self._parsed)
        infos = {identity: self._named(identity, "") for identity in names}
        for identity, name in names.items():
            infos[identity].name = name
        return [str(command) for command in state.replan(infos)]

    def _parse(self, domain: str, grammar: str) -> Any:  # noqa: ANN401
        """Return a game's logic; all but the goal is parsed already where it is the usual one."""
        usual = self._parsed
        found = _GOAL.search(grammar)
        if found is None or (usual.domain, self._grammar) != (
            domain,
            _GOAL.sub(UNKNOWN_GOAL, grammar),
        ):
            return self._logic.GameLogic(domain=domain, grammar=grammar)
        told = json.loads(f'"{found.group()}"')
        text = json.dumps({"task": [{"rhs": f"Your task is to: {told}."}]})
        task = self._logic.ContextSensitiveGrammar.parse(text)
        usual.grammar._rules["task"] = task._rules["task"]  # noqa: SLF001  (nothing public does it)
        return usual

    def _first_state(self, data: Mapping[str, Any], logic: Any) -> Any:  # noqa: ANN401
        """Return a game's first state, without the second translation that only a planner needs."""
        translate = self._fast_downward.pddl2sas

        def translate_once(*given: Any, optimize: bool = False, **options: Any) -> Any:  # noqa: ANN401
            return (None, "") if optimize else translate(*given, **options)

        self._fast_downward.pddl2sas = translate_once
        try:
            library = _WithoutPlanner(self._playing)
            return self._logic.PddlState(library, data["pddl_problem"], logic)
        finally:
            self._fast_downward.pddl2sas = translate


class _WithoutPlanner:
    """A library that does not load a problem for its planner as well."""

    def __init__(self, library: Any) -> None:  # noqa: ANN401
        self._library = library

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._library, name)

    def load_sas_replan(self, text: bytes) -> None:
        """Load nothing."""


def _keep_what_is_parsed(textgen: Any, rule: Any) -> None:  # noqa: ANN401
    """Have TextWorld parse each template once: it does so for every command after every step."""
    parse = lru_cache(maxsize=None)(textgen._parse_and_convert)  # noqa: SLF001

    def parse_once(text: str, **options: Any) -> Any:  # noqa: ANN401
        return deepcopy(parse(text, **options))  # a derivation writes into what it gets

    textgen._parse_and_convert = parse_once  # noqa: SLF001
    rule.parse_conjunctive_query = lru_cache(maxsize=None)(rule.parse_conjunctive_query)
    textgen.copy_context = _copy_context


def _copy_context(context: Mapping[str, Any]) -> dict[str, Any]:
    """Copy what a derivation adds to, and not the names and things in it, which never change."""
    copied = {name: dict(context[name]) for name in ("variables", "mapping")}
    return {**context, **copied}


def _environment_class(pddl: Any, textworld: Any) -> Any:  # noqa: ANN401
    class Environment(pddl.PddlEnv):  # type: ignore[misc]
        """TextWorld's environment, which translates a game once, and writes each command once."""

        def __init__(self, logic: Any, state: Any) -> None:  # noqa: ANN401
            textworld.Environment.__init__(self, textworld.EnvInfos())
            self._logic, self._pddl_state = logic, state
            self._entity_infos = self.entity_infos = self._get_entity_infos()
            self._commands: dict[tuple[Any, ...], str] = {}

        def reset(self) -> Any:  # noqa: ANN401
            """Begin in the state that was handed over."""
            self.prev_state, self.state = None, textworld.GameState()
            self._last_action, self._moves = None, 0
            self.state.feedback = self._logic.grammar.derive("#intro#", self._context({}))
            self._gather_infos()
            return self.state

        def facts(self) -> dict[str, Any]:
            """Return what is true now, and the type of each thing."""
            state = self._pddl_state
            facts = (
                (fact.name, *(argument.name for argument in fact.arguments)) for fact in state.facts
            )
            return {
                "types": dict(sorted(state.name2type.items())),
                "facts": sorted({one for one in facts if not one[0].startswith(_MIRRORS)}),
                "names": {one: info.name for one, info in self.entity_infos.items()},
            }

        def _gather_infos(self) -> None:
            state, known = self.state, self._pddl_state
            state["won"], state["lost"] = known.check_goal(), False
            state["_valid_actions"] = list(known.all_applicable_actions())
            state["_valid_commands"] = [self._command(one) for one in state["_valid_actions"]]
            state["admissible_commands"] = sorted(set(state["_valid_commands"]))

        def _command(self, action: Any) -> str:  # noqa: ANN401
            """Return an action in words, which hang on names and places that never change."""
            template = action.command_template
            named = set(_WORD.findall(template))
            told = ((part.name, thing.name) for part, thing in action.mapping.items())
            said = (template, *(one for one in told if one[0] in named))
            if said not in self._commands:
                context = self._context(action.mapping)
                self._commands[said] = self._logic.grammar.derive(template, context)
            return self._commands[said]

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


class Episode:
    """What one process does: one game, one request after the other.

    Parameters
    ----------
    engine
        What is loaded.
    """

    def __init__(self, engine: TextWorld) -> None:
        self._engine = engine
        self._environment: Any = None

    def begin(self, game: Mapping[str, Any]) -> dict[str, Any]:
        """Begin a game, as its file holds it."""
        self._environment = self._engine.begin(game)
        return self._seen()

    def step(self, command: str) -> dict[str, Any]:
        """Carry a command out."""
        if command not in self._environment.state["_valid_commands"]:
            raise ValueError(f"{command!r} is not admissible")
        self._environment.step(command)
        return self._seen()

    def facts(self) -> dict[str, Any]:
        """Return all that is true."""
        facts: dict[str, Any] = self._environment.facts()
        return facts

    def name(self, identities: list[str]) -> dict[str, Any]:
        """Return by name in PDDL what things are called."""
        return self._engine.name(identities)

    def plan(self, problem: str, names: dict[str, str]) -> dict[str, Any]:
        """Return the commands that solve a problem."""
        return {"commands": self._engine.plan(problem, names)}

    def _seen(self) -> dict[str, Any]:
        state = self._environment.state
        return {
            "text": state.feedback,
            "commands": state["admissible_commands"],
            "won": bool(state["won"]),
        }


def serve(connection: socket.socket, episode: Episode) -> None:
    """Answer requests, a line of JSON each, until the other side has gone.

    After the request ``hold`` no other one comes: each connection that is then handed over is
    served by a process of its own, in which the game stands as it does here.
    """
    lines = connection.makefile("rwb")
    for line in lines:
        request = json.loads(line)
        what = request.pop("do")
        reply: dict[str, Any]
        try:
            reply = {"done": None if what == _HOLD else getattr(episode, what)(**request)}
        except Exception as error:  # noqa: BLE001  (told to whoever asked)
            reply = {
                "failed": f"{type(error).__name__}: {error}",
                "traceback": traceback.format_exc(),
            }
        lines.write(json.dumps(reply).encode() + b"\n")
        lines.flush()
        if what == _HOLD:
            fork_for_each(connection, lambda: episode)
            return


def fork_for_each(control: socket.socket, begin: Callable[[], Episode]) -> None:
    """Fork a process for each connection that is handed over, until the other side has gone."""
    gc.collect()
    gc.freeze()  # so that what is shared stays shared
    while True:
        told, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not told:
            return
        if os.fork() == 0:
            try:
                os.close(control.detach())
                serve(socket.socket(fileno=descriptors[0]), begin())
            finally:
                os._exit(0)  # nothing of the process that it was forked from is to be ended
        os.close(descriptors[0])


def _load(rules: Mapping[str, str]) -> TextWorld:
    """Load TextWorld with alfworld's rules."""
    if "ALFWORLD_DATA" in os.environ:
        return TextWorld(**rules)
    with tempfile.TemporaryDirectory() as folder:  # or it makes one in the user's home
        os.environ["ALFWORLD_DATA"] = folder
        return TextWorld(**rules)


def start_serving(connection: Connection, rules: Mapping[str, str]) -> None:
    """Load TextWorld, and fork a process for each connection that is handed over."""
    control = socket.socket(fileno=os.dup(connection.fileno()))
    connection.close()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that have ended
    try:
        engine = _load(rules)
    except Exception:  # noqa: BLE001  (told to whoever asked)
        control.send(traceback.format_exc().encode()[-60_000:])
        return
    control.send(b"ready")
    fork_for_each(control, lambda: Episode(engine))
