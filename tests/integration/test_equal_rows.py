"""Six databases return equal rows for random questions about one world.

Each question is written once in SQL, for SQLite, DuckDB, PostgreSQL and MySQL or MariaDB, and once
in Cypher, for Neo4j and LadybugDB. All statements pass the guard.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random

import pytest

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.loaders.generator.generate import generate
from tests.databases.engines import Target

NODE = ("local_value", "total_power", "outgoing", "ingoing")
LINK = ("base_trading_power", "calculated_trading_power")
AGGREGATES = ("min", "max", "sum", "avg", "count")
LIMITS = Limits(rows=10_000, bytes=10_000_000)
COMPARISONS = ("<", "<=", ">", ">=", "<>")


@dataclass(frozen=True)
class Both:
    """One expression or statement in SQL and in Cypher."""

    sql: str
    cypher: str


@dataclass(frozen=True)
class Writer:
    """Writes random questions about the nodes `n`, the countries `c` and the links `k`."""

    random: Random
    names: Sequence[str]

    def number(self, *, linked: bool) -> Both:
        """Return a numeric expression."""
        pool = [("n", column) for column in NODE]
        if linked:
            pool += [("k", column) for column in LINK] + [("c", "development")]
        first, second = (".".join(self.random.choice(pool)) for _ in range(2))
        constant = self.random.randint(1, 9)
        text = self.random.choice(
            (
                first,
                f"{first} + {second}",
                f"{first} * {constant} - {second}",
                f"abs({first} - {second})",
                f"coalesce({first}, {constant})",
                f"CASE WHEN {first} > {constant} THEN {second} ELSE {constant} END",
            )
        )
        return Both(text, text)

    def text(self) -> Both:
        """Return an expression on a node's name."""
        return self.random.choice(
            (
                Both("n.trade_node", "n.name"),
                Both("upper(n.trade_node)", "upper(n.name)"),
                Both("substring(n.trade_node, 1, 3)", "substring(n.name, {start}, 3)"),
                Both("replace(n.trade_node, 'a', '_')", "replace(n.name, 'a', '_')"),
            )
        )

    def condition(self, *, linked: bool, depth: int = 2) -> Both:
        """Return a condition of at most `depth` levels; only its leaves are negated.

        A list occurs only alone, because Neo4j 5.26.30 merges several lists wrongly. For example,
        `NOT x IN [1, 2] OR NOT (p OR NOT x IN [2, 3])` is true for `x = 1` where `p` is true.
        """
        whole = depth == 2
        if depth and self.random.random() < 0.4:
            left, right = (self.condition(linked=linked, depth=depth - 1) for _ in range(2))
            word = self.random.choice(("AND", "OR"))
            return Both(
                f"({left.sql} {word} {right.sql})", f"({left.cypher} {word} {right.cypher})"
            )
        number = self.number(linked=linked)
        compared = f"{self.random.choice(COMPARISONS)} {self.random.randint(0, 40)}"
        some = self.random.sample(self.names, 3)
        listed = ", ".join(f"'{name}'" for name in some)
        listing = Both(f"n.trade_node IN ({listed})", f"n.name IN [{listed}]")
        comparison = Both(f"{number.sql} {compared}", f"{number.cypher} {compared}")
        leaf = self.random.choice(
            (
                listing if whole else comparison,
                comparison,
                Both(f"n.trade_node LIKE '{some[0][0]}%'", f"n.name STARTS WITH '{some[0][0]}'"),
                Both("n.is_inland", "n.is_inland"),
                Both("n.outgoing IS NOT NULL", "n.outgoing IS NOT NULL"),
            )
        )
        negation = self.random.choice(("", "NOT "))
        return Both(f"{negation}({leaf.sql})", f"{negation}({leaf.cypher})")

    def source(self) -> tuple[Both, bool]:
        """Return where rows come from, and whether that includes countries and links."""
        sources = (
            (Both("trade_node n", "(n:Trade_node)"), False),
            (
                Both(
                    "trade_node n JOIN node_country k ON k.trade_node = n.trade_node "
                    "JOIN country c ON c.country_name = k.country_name",
                    "(n:Trade_node)<-[k:NodeCountry]-(c:Country)",
                ),
                True,
            ),
            (
                Both(
                    "trade_node n JOIN flow f ON f.source = n.trade_node "
                    "JOIN flow g ON g.source = f.dest",
                    "(n:Trade_node)-[f:source]->(:Trade_node)-[g:source]->(:Trade_node)",
                ),
                False,
            ),
        )
        return self.random.choice(sources)

    def statement(self) -> Both:
        """Return a statement."""
        source, linked = self.source()
        where = self.condition(linked=linked)
        number, text = self.number(linked=linked), self.text()
        begin = Both(
            f"FROM {source.sql} WHERE {where.sql}", f"MATCH {source.cypher} WHERE {where.cypher}"
        )
        function = self.random.choice(AGGREGATES)
        # The sum of nothing is NULL in SQL and 0 in Cypher.
        aggregate = Both(
            f"coalesce({function}({number.sql}), 0)", f"coalesce({function}({number.cypher}), 0)"
        )
        kind = self.random.randrange(5)
        if kind == 0:
            return Both(
                f"SELECT {text.sql} AS name, {number.sql} AS x {begin.sql}",
                f"{begin.cypher} RETURN {text.cypher} AS name, {number.cypher} AS x",
            )
        if kind == 1:
            return Both(
                f"SELECT DISTINCT {text.sql} {begin.sql}",
                f"{begin.cypher} RETURN DISTINCT {text.cypher}",
            )
        if kind == 2:
            return Both(
                f"SELECT {aggregate.sql} AS x, count(*) AS y {begin.sql}",
                f"{begin.cypher} RETURN {aggregate.cypher} AS x, count(*) AS y",
            )
        if kind == 3:
            least = self.random.randint(1, 3)
            return Both(
                f"SELECT {text.sql}, {aggregate.sql} {begin.sql} "
                f"GROUP BY {text.sql} HAVING count(*) >= {least}",
                f"{begin.cypher} WITH {text.cypher} AS name, {aggregate.cypher} AS x, "
                f"count(*) AS rows WHERE rows >= {least} RETURN name, x",
            )
        return Both(
            f"SELECT count(*) AS x, count(DISTINCT {text.sql}) AS y {begin.sql}",
            f"{begin.cypher} RETURN count(*) AS x, count(DISTINCT {text.cypher}) AS y",
        )


def plain(row: Sequence[object]) -> tuple[object, ...]:
    """Return a row whose numbers are floats of nine digits: sums differ in the last ones."""
    return tuple(
        float(f"{float(cell):.9g}") + 0.0 if isinstance(cell, int | float) else cell for cell in row
    )


def equal(left: Sequence[Sequence[object]], right: Sequence[Sequence[object]]) -> bool:
    """Whether rows are equal but for their order and the last digits of numbers."""
    rows = [sorted((plain(row) for row in each), key=repr) for each in (left, right)]
    if [len(row) for row in rows[0]] != [len(row) for row in rows[1]]:
        return False
    for one, other in zip(*(sum(each, ()) for each in rows), strict=True):
        if isinstance(one, float) and isinstance(other, float):
            if not math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-7):
                return False
        elif one != other:
            return False
    return True


@pytest.fixture
def databases(mysql_url: str, postgres_url: str, neo4j_url: str) -> Iterator[dict[str, Database]]:
    """Give one world on six databases."""
    urls = {"mysql": mysql_url, "postgres": postgres_url, "neo4j": neo4j_url}
    questions = generate(("locating",), count=1, seed=41)
    (situation,) = questions.situations.values()
    with ExitStack() as stack:
        opened = {}
        for name in ("sqlite", "duckdb", "ladybug", *urls):
            target = Target(plugins.backend(name), urls.get(name, ""))
            stack.callback(target.clean)
            opened[name] = (
                target.load(situation) if name in urls else target.backend.load(situation)
            )
        yield opened


@pytest.mark.parametrize("count", [30, pytest.param(1000, marks=pytest.mark.deep)])
def test_six_databases_return_equal_rows(databases: dict[str, Database], count: int) -> None:
    """Every statement, wherever it runs; the reference is SQLite."""
    nodes = databases["sqlite"].query("SELECT trade_node FROM trade_node ORDER BY trade_node").rows
    names = [str(name) for (name,) in nodes]
    writer = Writer(Random(count), names)  # noqa: S311 - not a secret
    different = []
    for _ in range(count):
        both = writer.statement()
        expected = databases["sqlite"].query(both.sql, LIMITS).rows
        for name, database in databases.items():
            start = "1" if name == "ladybug" else "0"
            statement = both.sql if database.kind == "relational" else both.cypher
            found = database.query(statement.replace("{start}", start), LIMITS).rows
            if not equal(expected, found):
                different.append((name, statement, expected[:3], found[:3]))
    assert not different, different[:5]
