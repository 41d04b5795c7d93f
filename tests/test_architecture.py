"""The structure that docs/architecture.md promises: who may import whom, and who names whom."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from graphlib import TopologicalSorter
from importlib.metadata import entry_points
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES: Mapping[str, Path] = {
    "dqa": ROOT / "dqa",
    "dqa_planrag": ROOT / "planrag" / "dqa_planrag",
    "dqa_bidder": ROOT / "bidder" / "dqa_bidder",
    "dqa_ldm2": ROOT / "ldm2" / "dqa_ldm2",
    "dqa_dellma": ROOT / "dellma" / "dqa_dellma",
    "dqa_simulators": ROOT / "simulators" / "dqa_simulators",
}
GENERAL = {
    "core",
    "databases",
    "deciders",
    "evaluation",
    "guard",
    "loaders",
    "models",
    "plugins",
    "report",
    "scenarios",
    "worlds",
}
MAY_IMPORT: Mapping[str, set[str]] = {
    "core": set(),
    "guard": {"core"},
    "databases": {"core", "guard"},
    "scenarios": {"core", "databases"},
    "plugins": {"core", "databases", "scenarios"},
    "models": {"core", "plugins", "scenarios"},
    "loaders": {"core", "databases", "guard", "plugins", "scenarios"},
    "deciders": {"core", "databases", "guard", "loaders", "models", "plugins", "scenarios"},
    "worlds": {"core", "databases", "guard", "plugins", "scenarios"},
    "evaluation": GENERAL - {"evaluation", "report"},
    "report": {"core", "evaluation", "models", "plugins"},
    "api": GENERAL,
    "testing": GENERAL | {"api"},
    "dqa": {"cli"},
    "cli": {"api", "core", "evaluation", "guard", "loaders", "plugins", "report", "worlds"},
    "dqa_planrag": GENERAL - {"report"},
    "dqa_dellma": GENERAL,
    "dqa_bidder": GENERAL,
    "dqa_ldm2": GENERAL,
    "dqa_dellma.commands": GENERAL | {"api", "cli", "dqa_dellma"},
    "dqa_ldm2.commands": GENERAL | {"api", "cli", "dqa_ldm2"},
    "dqa_simulators": {"core", "loaders", "models", "plugins", "scenarios", "worlds"},
}
"""By room, the others that it may import when it runs. What only type checkers see is no import.

``dqa`` is the package's own two files: the public API, which imports its modules when they are
used, and ``python -m dqa``.
"""


@dataclass
class Module:
    """A module, its room, and what it imports at any time."""

    path: Path
    room: str
    tree: ast.Module = field(repr=False)

    @cached_property
    def imported(self) -> set[str]:
        """Every absolute name that it imports when it runs."""
        return set(_imported(self.tree))


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                yield from _imported(ast.Module([other], []))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        else:
            yield from _imported(node)


def _room(name: str) -> str | None:
    """Return the room of an absolute name; None for somebody else's."""
    top, _, rest = name.partition(".")
    if top not in PACKAGES:
        return None
    if top == "dqa":
        first = rest.partition(".")[0]
        return first if first in MAY_IMPORT else "dqa"
    commands = f"{top}.commands"
    return commands if f"{name}.".startswith(f"{commands}.") and commands in MAY_IMPORT else top


@cache
def modules() -> tuple[Module, ...]:
    """Every module of every package."""
    found = []
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            name = ".".join([package, *path.relative_to(folder).with_suffix("").parts])
            room = _room(name.removesuffix(".__init__"))
            assert room is not None
            found.append(Module(path, room, ast.parse(path.read_text("utf-8"))))
    return tuple(found)


def test_every_room_is_in_the_table() -> None:
    """Whoever makes a room says who may come in."""
    rooms = {
        path.stem
        for path in (ROOT / "dqa").iterdir()
        if path.name not in {"__init__.py", "__main__.py", "__pycache__"}
        and (path.suffix == ".py" or (path / "__init__.py").is_file())
    }
    assert rooms == {room for room in MAY_IMPORT if "dqa" not in room}
    assert {module.room for module in modules()} == set(MAY_IMPORT)


def test_a_room_imports_those_that_it_may() -> None:
    """However late: an import within a function is one, too."""
    wrong = []
    for module in modules():
        allowed = MAY_IMPORT[module.room] | {module.room, module.room.partition(".")[0]}
        if module.room.startswith("dqa_"):
            # A package of ours, like a stranger's, may use the public API by its own name.
            allowed |= {"dqa"}
        for name in module.imported:
            entered = _room(name)
            if name.startswith("dqa.plugins") or name == "dqa":
                entered = "plugins" if "plugins" in name else None
            if entered not in {None, *allowed}:
                wrong.append(f"{module.path}: {name}")
    assert wrong == []


def test_no_two_rooms_need_each_other() -> None:
    """Neither in the table nor in the code; a circle would be named."""
    code: dict[str, set[str]] = {}
    for module in modules():
        entered = {_room(name) for name in module.imported} - {None, module.room, "dqa"}
        code.setdefault(module.room, set()).update(room for room in entered if room)
    for graph in (MAY_IMPORT, code):
        # A method's public names lead to its commands, and its commands use all of it.
        apart = {"dqa_dellma": {"dqa_dellma.commands"}}
        below = {room: graph[room] - {room} - apart.get(room, set()) for room in graph}
        assert list(TopologicalSorter(below).static_order())


def test_nothing_but_the_query_layer_talks_to_a_driver() -> None:
    """Everything else reads through `Database`; a run store is no such database."""
    drivers = {"sqlite3", "sqlalchemy", "ladybug", "pymysql", "psycopg", "duckdb", "neo4j"}
    # Databases of their own: those that no question is about (runs, what a shop sells), and what is
    # written as a world plays.
    runs = ("store.py", "stored_runs.py", "copying.py")
    parts = ("databases", "worlds/history.py")
    memories = ("memory.py", "tables.py")
    own = [ROOT / "dqa" / part for part in parts]
    own += [ROOT / "dqa" / "evaluation" / name for name in runs]
    own.append(ROOT / "simulators" / "dqa_simulators" / "shop" / "catalogue.py")
    own += [PACKAGES["dqa_ldm2"] / part for part in memories]
    for module in modules():
        if not any(module.path.is_relative_to(one) for one in own):
            assert not {n.split(".")[0] for n in module.imported} & drivers, module.path


@cache
def foreign_names() -> frozenset[str]:
    """Names of methods, deciders, scenarios and simulators, none of which is the core's own."""
    folders = {path.parent.name for path in (ROOT / "schemas").glob("*/scenario.toml")}
    methods = {path.parent.name for path in PACKAGES.values()} - {ROOT.name, "simulators"}
    deciders = {
        point.name
        for point in entry_points(group="dqa.deciders")
        if not point.module.startswith("dqa.")
    }
    # Words, the cotangent and a protocol: where these stand in the core, no decider is meant.
    other = {"dqa", "direct", "cot", "standard", "react"}
    return frozenset(folders | methods | deciders | set(PACKAGES)) - other


def test_the_names_that_are_looked_for_are_there() -> None:
    """Else finding none of them would say nothing."""
    assert {"planrag", "iterrag", "zero-shot", "dellma", "locating", "stocks"} <= foreign_names()


def _texts(module: Module) -> Iterator[tuple[int, str, bool]]:
    """Yield identifiers and texts with their lines; whether one is prose, which docstrings are."""
    docstrings = {
        id(node.value)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(module.tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in docstrings:
                yield line, node.value, " " in node.value.strip()
            continue
        for name in ("id", "attr", "arg", "name", "asname", "module"):
            value = getattr(node, name, None)
            if isinstance(value, str):
                yield line, value, False


def _named(text: str, *, prose: bool) -> list[str]:
    words = set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower()))
    whole = text.lower()
    found = [name for name in foreign_names() if name in words or ("-" in name and name in whole)]
    # "building" is also what one does with a run: a verb where it stands among other words.
    return [name for name in found if not (prose and name == "building")]


def test_nothing_in_the_core_names_a_method_a_scenario_or_a_simulator() -> None:
    """Identifiers, texts and file names; docstrings may cite where something comes from."""
    found = []
    for module in modules():
        if module.path.is_relative_to(PACKAGES["dqa"]):
            found += [
                f"{module.path.relative_to(ROOT)}:{line}: {name}"
                for line, text, prose in [*_texts(module), (0, module.path.stem, False)]
                for name in _named(text, prose=prose)
            ]
    for path in PACKAGES["dqa"].rglob("*"):
        if path.suffix in {".html", ".css", ".md", ".txt", ".toml", ".json"}:
            named = _named(path.read_text("utf-8"), prose=True)
            found += [f"{path.relative_to(ROOT)}: {name}" for name in named]
    assert found == []


def test_methods_do_not_name_each_other() -> None:
    """Nor does one know a scenario: what differs there, its folder says."""
    methods = ("dqa_planrag", "dqa_dellma", "dqa_bidder", "dqa_ldm2")
    for module in modules():
        mine = module.room.partition(".")[0]
        if mine in methods:
            others = tuple(other for other in methods if other != mine)
            assert not [name for name in module.imported if name.startswith(others)], module.path
