"""Statements made of calls with odd arguments; the same seed gives the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.guard.fuzz.mutate import Mutator
from tests.hostile.fuzz.arguments import COLUMNS, kind_of, types_of, values_of
from tests.hostile.fuzz.functions import Function

_MOST_ARGUMENTS = 4
_DEEPEST = 2
"""Calls in one another's arguments."""
_GRAPHS = frozenset({"neo4j", "ladybug"})
_MATCH = "MATCH p = (n:Goods)-[r]-(m) WITH n, r, p, m LIMIT 3 "
_ELEMENTS = ("n.", "r.", "m.", "(n)", "(r)", "(p)", "(n,", "(r,", "(p,", "(m")


class CallMaker:
    """An endless source of statements that call what an engine lists.

    Parameters
    ----------
    engine
        Whose dialect they are written in.
    functions, operators
        What is called.
    seed
        Of the random numbers.
    """

    def __init__(
        self, engine: str, functions: Sequence[Function], operators: Sequence[str], seed: int
    ) -> None:
        self._engine = engine
        self._is_graph = engine in _GRAPHS
        self._values = values_of(engine)
        self._columns = COLUMNS["cypher" if self._is_graph else "sql"]
        self._types = types_of(engine)
        self._names = sorted({function.name for function in functions})
        self._by_name: dict[str, list[Function]] = {}
        for function in functions:
            self._by_name.setdefault(function.name, []).append(function)
        self._operators = operators
        self._random = Random(f"calls {engine} {seed}")  # noqa: S311  (no secret)
        self._mutants = Mutator(engine, seed)

    def statement(self) -> str:
        """Return the next statement."""
        draw = self._random.random()
        if draw < 0.05:  # what the guard's own fuzzer makes, here on a real engine
            return self._mutants.statement()
        if draw < 0.15:
            return self._selected(self._operation(0))
        if draw < 0.22 and self._types:
            return self._selected(self._cast(0))
        function = self._random.choice(self._by_name[self._random.choice(self._names)])
        if function.kind == "table" and not self._is_graph and self._random.random() < 0.7:
            return f"SELECT * FROM {self._call(function, 0)} LIMIT 5"
        return self._selected(self._call(function, 0), aggregates=function.kind == "aggregate")

    def _selected(self, expression: str, *, aggregates: bool = False) -> str:
        if self._is_graph:
            return self._returned(expression, aggregates=aggregates)
        if not aggregates:
            needs_rows = any(column in expression for column in self._columns)
            rows = needs_rows or self._random.random() < 0.1
            return f"SELECT {expression}" + (" FROM goods LIMIT 3" if rows else "")
        draw = self._random.random()
        if draw < 0.2:
            frame = self._random.choice(("", " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"))
            return f"SELECT {expression} OVER (ORDER BY code{frame}) FROM goods LIMIT 5"
        if draw < 0.4:
            return f"SELECT goods_id, {expression} FROM supply, goods GROUP BY goods_id LIMIT 5"
        empty = " WHERE code < -1" if draw < 0.5 else ""
        return f"SELECT {expression} FROM goods{empty}"

    def _returned(self, expression: str, *, aggregates: bool) -> str:
        spaced = f"({expression},".replace(" ", "")
        if aggregates or any(element in spaced for element in _ELEMENTS):
            return f"{_MATCH}RETURN {expression}"
        if self._random.random() < 0.1:
            value = self._value("list")
            return f"UNWIND {value} AS x RETURN {expression}, x LIMIT 5"
        return f"RETURN {expression}"

    def _call(self, function: Function, depth: int) -> str:
        kinds = self._kinds(function)
        arguments = [self._argument(kind, depth) for kind in kinds]
        distinct = "DISTINCT " if function.kind == "aggregate" and self._chance(0.1) else ""
        return f"{function.name}({distinct}{', '.join(arguments)})"

    def _kinds(self, function: Function) -> list[str | None]:
        """Return the kinds of the arguments: mostly as the engine wants them."""
        parameters = function.parameters
        if parameters is None or self._chance(0.1):
            return [None] * self._random.randint(0, _MOST_ARGUMENTS)
        return [None if self._chance(0.3) else kind_of(name) for name in parameters]

    def _argument(self, kind: str | None, depth: int) -> str:
        draw = self._random.random()
        if draw < 0.06 and depth < _DEEPEST:
            name = self._random.choice(self._names)
            function = self._random.choice(self._by_name[name])
            if function.kind == "scalar":
                return self._call(function, depth + 1)
        if draw < 0.09 and depth < _DEEPEST:
            return self._operation(depth + 1)
        if draw < 0.11 and depth < _DEEPEST and self._types:
            return self._cast(depth + 1)
        if draw < 0.2:
            return self._random.choice(self._columns)
        return self._value(kind)

    def _value(self, kind: str | None) -> str:
        if self._chance(0.05):
            return "NULL"
        if kind is None or kind not in self._values:
            kind = self._random.choice(sorted(self._values))
        return self._random.choice(self._values[kind])

    def _operation(self, depth: int) -> str:
        left, right = self._argument(None, depth), self._argument(None, depth)
        return f"({left}) {self._random.choice(self._operators)} ({right})"

    def _cast(self, depth: int) -> str:
        return f"CAST({self._argument(None, depth)} AS {self._random.choice(self._types)})"

    def _chance(self, share: float) -> bool:
        return self._random.random() < share
