"""Statements of SQL that try to get at what is hidden."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

SHAPES: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("guard_cases").joinpath("hiding.json").read_text("ascii")
)
"""By SQL dialect: statements that only that dialect has; all shapes of Cypher statements; and WITH
parts called like a table, which databases look up in different ways."""


class Attacks:
    """Makes statements of one dialect."""

    def __init__(self, dialect: str, seed: int) -> None:
        self._dialect = dialect
        self._rng = random.Random(seed)  # noqa: S311

    def statements(self, count: int) -> Iterator[str]:
        """Yield so many statements, none twice."""
        seen: set[str] = set()
        while len(seen) < count:
            statement = self._statement()
            if statement not in seen:
                seen.add(statement)
                yield statement

    def _statement(self) -> str:
        raise NotImplementedError

    def _pick(self, *choices: str) -> str:
        return self._rng.choice(choices)


class SqlAttacks(Attacks):
    """Makes statements of one dialect."""

    def _statement(self) -> str:
        return self._rng.choice(self._SHAPES)(self)

    def _source(self, alias: str = "c") -> str:
        quote = "`" if self._dialect == "mariadb" else '"'
        forms = [
            f"customer {alias}",
            f"customer AS {alias}",
            f"{quote}customer{quote} AS {alias}",
            f"customer /* its rows */ {alias}",
            f"(SELECT * FROM customer) AS {alias}",
            f"(SELECT k.* FROM customer AS k) {alias}",
            f"(SELECT id, name, email, note, region, salary FROM customer) {alias}",
            f"customer -- all of it\n {alias}",
        ]
        if self._dialect in {"sqlite", "duckdb", "postgres"}:
            forms += [f"CUSTOMER {alias}", f"Customer AS {alias}"]
        if self._dialect in {"sqlite", "duckdb"}:
            forms += [f"main.customer {alias}", f'"main"."customer" AS {alias}']
        return self._rng.choice(forms)

    def _column(self, alias: str = "c") -> str:
        name = self._pick("email", "email", "salary", "name", "note", "id")
        quote = "`" if self._dialect == "mariadb" else '"'
        return self._pick(f"{alias}.{name}", name, f"{alias}.{quote}{name}{quote}")

    def _value(self, alias: str = "c") -> str:
        column = self._column(alias)
        forms = [
            column,
            f"upper({column})" if "salary" not in column and "id" not in column else column,
            f"CASE WHEN {column} IS NULL THEN 0 ELSE 1 END",
            f"coalesce({alias}.email, 'none')",
            f"length({alias}.email)",
            f"replace({alias}.email, '*', 'x')",
            f"substr({alias}.email, 1, 4)",
            f"CASE WHEN {alias}.email LIKE 'kq7%' THEN 1 ELSE 0 END",
            f"CASE WHEN {alias}.salary > 80000 THEN 'high' ELSE 'low' END",
            f"{alias}.salary + 1",
            f"(SELECT max(k.email) FROM {self._source('k')} WHERE k.id = {alias}.id)",
            f"(SELECT count(*) FROM {self._source('k')} WHERE k.email > {alias}.email)",
            f"CAST({alias}.salary AS CHAR(20))",
        ]
        if self._dialect != "mariadb":
            forms.append(f"{alias}.email || '-' || {alias}.name")
        else:
            forms.append(f"concat({alias}.email, '-', {alias}.name)")
        return self._rng.choice(forms)

    def _condition(self, alias: str = "c") -> str:
        return self._rng.choice(
            [
                f"{alias}.email LIKE 'kq7%'",
                f"{alias}.email LIKE '%@x'",
                f"{alias}.salary BETWEEN 770011 AND 880025",
                f"{alias}.name LIKE 'zz8%' OR {alias}.region = 'US'",
                f"{alias}.id > 900",
                f"{alias}.email IN (SELECT email FROM {self._source('k')})",
                f"EXISTS (SELECT 1 FROM {self._source('k')} WHERE k.email <> {alias}.email)",
                f"{alias}.email = '***' AND {alias}.id >= 1",
                f"CAST({alias}.email AS INTEGER) = 1",
                f"CAST({alias}.name AS INTEGER) = 1",
                f"CAST({alias}.note AS INTEGER) > 1",
                f"1 / ({alias}.salary - 770011) > 0",
                f"1 / ({alias}.id - 770014) < 9",
                f"{alias}.region IN ('EU', 'US')",
                "1 = 1",
            ]
        )

    def _plain(self) -> str:
        return (
            f"SELECT {self._pick('', 'DISTINCT ')}{self._value()} AS v, {self._value()} AS w "
            f"FROM {self._source()} WHERE {self._condition()}"
        )

    def _star(self) -> str:
        return f"SELECT {self._pick('*', 'c.*')} FROM {self._source()} WHERE {self._condition()}"

    def _join(self) -> str:
        on = self._pick("o.customer_id = c.id", "c.id < o.total", "o.id = length(c.email)")
        kind = self._pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "CROSS JOIN")
        tail = "" if kind == "CROSS JOIN" else f" ON {on}"
        return (
            f"SELECT o.total, c.*, {self._value()} AS v FROM orders o {kind} {self._source()}{tail}"
        )

    def _using(self) -> str:
        column = self._pick("email", "salary", "id", "name")
        tail = self._pick(f"JOIN {self._source('k')} USING ({column})",
                     f"NATURAL JOIN {self._source('k')}")  # fmt: skip
        return f"SELECT {self._pick('*', 'count(*) AS n', 'k.email')} FROM {self._source()} {tail}"

    def _grouped(self) -> str:
        of = self._column()
        return (
            f"SELECT {of} AS v, count(*) AS n, min(c.email) AS low, max(c.salary) AS high "
            f"FROM {self._source()} GROUP BY {of} HAVING count(*) >= "
            f"{self._pick('1', '2', '(SELECT count(salary) FROM customer)')} ORDER BY 2, 1"
        )

    def _ordered(self) -> str:
        return (
            f"SELECT c.id, {self._value()} AS v FROM {self._source()} ORDER BY {self._column()}, "
            f"c.id LIMIT {self._rng.randint(1, 4)}"
        )

    def _window(self) -> str:
        of = self._pick("first_value(c.email)", "max(c.salary)", "row_number()", "count(*)")
        return (
            f"SELECT c.id, {of} OVER (PARTITION BY {self._column()} ORDER BY c.email, c.id) AS v "
            f"FROM {self._source()}"
        )

    def _with(self) -> str:
        name = self._pick("x", "contacts", "customer", "part")
        return (
            f"WITH {self._pick('', 'RECURSIVE ')}{name} AS (SELECT * FROM {self._source()} "
            f"WHERE {self._condition()}) SELECT {self._pick('*', 'email', 'max(salary) AS m')}"
            f" FROM {name}"
        )

    def _united(self) -> str:
        kind = self._pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
        return (
            f"SELECT c.email AS v FROM {self._source()} {kind} SELECT "
            f"{self._pick('name', 'email', 'region')} FROM {self._source('k')}"
        )

    def _viewed(self) -> str:
        return (
            f"SELECT {self._pick('*', 'email', 'count(*) AS n')} FROM "
            f"{self._pick('contacts', 'deep', 'totals', 'contacts c', 'deep AS d', 'renamed')}"
            f"{self._pick('', ' LIMIT 2', ' ORDER BY 1')}"
        )

    def _nested(self) -> str:
        return (
            f"SELECT y.v FROM (SELECT {self._value('x')} AS v FROM (SELECT * FROM "
            f"{self._source('k')} WHERE {self._condition('k')}) AS x) AS y"
        )

    def _walked(self) -> str:
        return (
            "WITH RECURSIVE r(n, e) AS (SELECT 1, CAST('' AS CHAR(60)) UNION ALL SELECT n + 1, "
            f"(SELECT {self._pick('min', 'max')}(email) FROM {self._source()} WHERE c.id >= n)"
            f" FROM r WHERE n < {self._rng.randint(2, 5)}) SELECT * FROM r"
        )

    def _own(self) -> str:
        """Return what only this dialect has."""
        return self._rng.choice(SHAPES[self._dialect]).format(
            source=self._source(), value=self._value(), condition=self._condition()
        )

    def _described(self) -> str:
        prefix = self._pick("EXPLAIN", "EXPLAIN ANALYZE", "EXPLAIN QUERY PLAN", "DESCRIBE")
        return f"{prefix} SELECT {self._value()} AS v FROM {self._source()}"

    _SHAPES: tuple[Callable[[SqlAttacks], str], ...] = (
        *(_plain, _plain, _plain, _star, _join, _using, _grouped, _ordered, _window, _with),
        *(_united, _viewed, _nested, _walked, _own, _own, _described),
    )
