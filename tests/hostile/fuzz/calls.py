"""Statements of calls with unusual arguments, determined by a seed."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from dqa.guard.lists import lists
from tests.guard.fuzz.mutate import Mutator

_VALUES = Path(__file__).parent / "values"
_MOST_ARGUMENTS = 4
_DEEPEST = 2
"""The depth of nested calls."""
_GRAPHS = frozenset({"neo4j", "ladybug"})
_BACKSLASHES = frozenset({"mariadb", *_GRAPHS})
"""Engines whose texts have backslash escapes."""
_GRAPH_OPERATORS = "+ - * / % ^ = <> < <= > >= AND OR XOR IN CONTAINS =~"
_OPERATORS = {
    "sqlite": "|| * / % + - & | << >> < <= > >= = != IS -> ->> LIKE GLOB REGEXP AND OR",
    "duckdb": "|| * / // % + - ** ^ & | << >> < <= > >= = != -> ->> LIKE ILIKE GLOB ~ !~ ^@ @> <@ "
    "&& <-> <=> AND OR",
    "ladybug": _GRAPH_OPERATORS,
    "mariadb": "|| * / DIV % + - & | ^ << >> < <= > >= = != <=> LIKE REGEXP AND OR XOR",
    "neo4j": _GRAPH_OPERATORS,
    "postgres": "|| * / % + - ^ & | # << >> < <= > >= = <> ~ !~ ~* @> <@ && -> ->> #> ? @@ LIKE",
}
_COLUMNS = {
    "sql": ("goods_name", "base_price", "code", "pop_demand", "current_price"),
    "cypher": ("n.name", "n.code", "n.level", "r.level", "n.base_price", "m.id"),
}
"""Columns of the small world: of goods, and of goods and their neighbours."""
_PLAIN, _ROWS = "SELECT {}", "SELECT {} FROM goods LIMIT 3"
_WITH_ROWS = (
    "SELECT {} OVER (ORDER BY code) FROM goods LIMIT 5",
    "SELECT goods_id, {} FROM supply, goods GROUP BY goods_id LIMIT 5",
    "SELECT {} FROM goods WHERE code < -1",
)
_MATCH = "MATCH p = (n:Goods)-[r]-(m) WITH n, r, p, m LIMIT 3 RETURN {}"


class CallMaker:
    """An endless source of statements with calls that the guard allows on an engine."""

    def __init__(self, engine: str, seed: int) -> None:
        self._is_graph = engine in _GRAPHS
        self._columns = _COLUMNS["cypher" if self._is_graph else "sql"]
        self._operators = _OPERATORS[engine].split()
        self._names = sorted(lists(engine)["functions"])
        self._tables = sorted(lists(engine)["table functions"])
        self._values = _read_values(engine)
        self._types = self._values.pop("types", [])
        self._random = Random(f"calls {engine} {seed}")  # noqa: S311  (no secret)
        self._mutants = Mutator(engine, seed)

    def statement(self) -> str:
        """Return the next statement."""
        draw = self._random.random()
        if draw < 0.05:
            return self._mutants.statement()
        if draw < 0.1 and self._tables:
            return f"SELECT * FROM {self._call(self._random.choice(self._tables), 0)} LIMIT 5"
        if draw < 0.2:
            return self._selected(self._operation(0))
        if draw < 0.27 and self._types:
            return self._selected(self._cast(0))
        return self._selected(self._call(self._random.choice(self._names), 0))

    def _selected(self, expression: str) -> str:
        needs_rows = any(column in expression for column in self._columns) or self._chance(0.1)
        if self._is_graph:
            return _MATCH.format(expression) if needs_rows else f"RETURN {expression}"
        form = _ROWS if needs_rows else _PLAIN
        return (self._random.choice(_WITH_ROWS) if self._chance(0.2) else form).format(expression)

    def _call(self, name: str, depth: int) -> str:
        # Most functions take values of a single kind.
        kind = self._random.choice(sorted(self._values)) if self._chance(0.6) else None
        count = self._random.randint(0, _MOST_ARGUMENTS)
        return f"{name}({', '.join(self._argument(kind, depth) for _ in range(count))})"

    def _argument(self, kind: str | None, depth: int) -> str:
        draw = self._random.random()
        if draw < 0.11 and depth < _DEEPEST:
            if draw < 0.06:
                return self._call(self._random.choice(self._names), depth + 1)
            return self._cast(depth + 1) if self._types and draw < 0.08 else self._operation(depth)
        if draw < 0.2:
            return self._random.choice(self._columns)
        if draw < 0.24:
            return "NULL"
        return self._random.choice(self._values[kind or self._random.choice([*self._values])])

    def _operation(self, depth: int) -> str:
        left, right = self._argument(None, depth + 1), self._argument(None, depth + 1)
        return f"({left}) {self._random.choice(self._operators)} ({right})"

    def _cast(self, depth: int) -> str:
        return f"CAST({self._argument(None, depth)} AS {self._random.choice(self._types)})"

    def _chance(self, share: float) -> bool:
        return self._random.random() < share


def _read_values(engine: str) -> dict[str, list[str]]:
    """Return the unusual values of an engine by kind, and the ``types`` that it casts to."""
    found = _sections("common")
    if engine in _GRAPHS:  # they cannot read the numbers of others
        del found["number"]
    words: list[str] = json.loads((_VALUES / "words.json").read_text("utf-8"))
    quote = ("\\", "\\\\"), ("'", "\\'")
    for old, new in quote if engine in _BACKSLASHES else [("'", "''")]:
        words = [word.replace(old, new) for word in words]
    found["text"] = [f"'{word}'" for word in words]
    for kind, values in _sections(engine).items():
        found[kind] = [*found.get(kind, ()), *values]
    return found


def _sections(name: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    values: list[str] = []
    for line in (_VALUES / f"{name}.txt").read_text("utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and line[1:-1].isalpha() and line.islower():
            values = sections.setdefault(line[1:-1], [])
        elif line and not line.startswith("# "):
            values.append(line)
    return sections
