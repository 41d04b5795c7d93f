"""The structure in docs/architecture.md: allowed imports and allowed names."""

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
    *("core", "databases", "deciders", "evaluation", "guard", "loaders", "models", "plugins"),
    *("report", "scenarios", "worlds"),
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
    "cli": (GENERAL | {"api"}) - {"databases", "deciders", "models"},
    "dqa_planrag": GENERAL - {"report"},
    "dqa_dellma": GENERAL,
    "dqa_bidder": GENERAL,
    "dqa_ldm2": GENERAL,
    "dqa_dellma.commands": GENERAL | {"api", "cli", "dqa_dellma"},
    "dqa_ldm2.commands": GENERAL | {"api", "cli", "dqa_ldm2"},
    "dqa_simulators": {"core", "loaders", "models", "plugins", "scenarios", "worlds"},
}
"""The packages that each package may import at run time, without imports for type checkers.

``dqa`` stands for two files: the public API, which imports its modules at first use, and
``python -m dqa``.
"""


@dataclass
class Module:
    """A module, its package, and all its imports."""

    path: Path
    package: str
    tree: ast.Module = field(repr=False)

    @cached_property
    def imported(self) -> set[str]:
        """Return every absolute name that it imports at run time."""
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


def package_of(name: str) -> str | None:
    """Return the package of an absolute name, or None for another project's."""
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
    """Return every module of every package."""
    found = []
    for top, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            name = ".".join([top, *path.relative_to(folder).with_suffix("").parts])
            package = package_of(name.removesuffix(".__init__"))
            assert package is not None
            found.append(Module(path, package, ast.parse(path.read_text("utf-8"))))
    return tuple(found)


def test_every_package_is_in_the_table() -> None:
    packages = {
        path.stem
        for path in (ROOT / "dqa").iterdir()
        if path.name not in {"__init__.py", "__main__.py", "__pycache__"}
        and (path.suffix == ".py" or (path / "__init__.py").is_file())
    }
    assert packages == {package for package in MAY_IMPORT if "dqa" not in package}
    assert {module.package for module in modules()} == set(MAY_IMPORT)


def test_a_package_imports_only_allowed_ones() -> None:
    """Imports within functions count. No method imports another one."""
    wrong = []
    for module in modules():
        allowed = MAY_IMPORT[module.package] | {module.package, module.package.partition(".")[0]}
        if module.package.startswith("dqa_"):
            # Method packages, like other plug-ins, may use the public API.
            allowed |= {"dqa"}
        for name in module.imported:
            imported = package_of(name)
            if name.startswith("dqa.plugins") or name == "dqa":
                imported = "plugins" if "plugins" in name else None
            if imported not in {None, *allowed}:
                wrong.append(f"{module.path}: {name}")
    assert wrong == []


def test_imports_have_no_cycle() -> None:
    """Neither in the table nor in the code."""
    code: dict[str, set[str]] = {}
    for module in modules():
        imported = {package_of(name) for name in module.imported} - {None, module.package, "dqa"}
        code.setdefault(module.package, set()).update(package for package in imported if package)
    for graph in (MAY_IMPORT, code):
        # A method's public names include its commands, which import the whole method.
        apart = {"dqa_dellma": {"dqa_dellma.commands"}}
        below = {
            package: graph[package] - {package} - apart.get(package, set()) for package in graph
        }
        assert list(TopologicalSorter(below).static_order())


def test_only_the_query_layer_imports_drivers() -> None:
    """All other code reads through `Database`."""
    drivers = {"sqlite3", "sqlalchemy", "ladybug", "pymysql", "psycopg", "duckdb", "neo4j"}
    # Databases without questions (runs, memories, the shop's catalogue), the history of worlds, and
    # the database in memory that executes a released script.
    runs = ("store.py", "stored_runs.py", "copying.py")
    parts = ("databases", "worlds/history.py", "loaders/release_scripts.py")
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
    """Return the names of methods, deciders, scenarios and simulators outside the core."""
    folders = {path.parent.name for path in (ROOT / "schemas").glob("*/scenario.toml")}
    methods = {path.parent.name for path in PACKAGES.values()} - {ROOT.name, "simulators"}
    deciders = {
        point.name
        for point in entry_points(group="dqa.deciders")
        if not point.module.startswith("dqa.")
    }
    # In the core these are ordinary words, the cotangent and a protocol.
    other = {"dqa", "direct", "cot", "standard", "react"}
    return frozenset(folders | methods | deciders | set(PACKAGES)) - other


def _texts(module: Module) -> Iterator[tuple[int, str, bool]]:
    """Yield identifiers and texts with their lines, and whether a text is prose.

    Skip docstrings.
    """
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


def foreign_in(text: str, *, prose: bool) -> list[str]:
    words = set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower()))
    whole = text.lower()
    found = [name for name in foreign_names() if name in words or ("-" in name and name in whole)]
    # In prose, "building" is a verb.
    return [name for name in found if not (prose and name == "building")]


def test_the_core_names_no_method_scenario_or_simulator() -> None:
    """Identifiers, texts and file names; docstrings may cite a source."""
    assert {"planrag", "iterrag", "zero-shot", "dellma", "locating", "stocks"} <= foreign_names()
    found = []
    for module in modules():
        if module.path.is_relative_to(PACKAGES["dqa"]):
            found += [
                f"{module.path.relative_to(ROOT)}:{line}: {name}"
                for line, text, prose in [*_texts(module), (0, module.path.stem, False)]
                for name in foreign_in(text, prose=prose)
            ]
    for path in PACKAGES["dqa"].rglob("*"):
        if path.suffix in {".html", ".css", ".md", ".txt", ".toml", ".json"}:
            named = foreign_in(path.read_text("utf-8"), prose=True)
            found += [f"{path.relative_to(ROOT)}: {name}" for name in named]
    assert found == []
