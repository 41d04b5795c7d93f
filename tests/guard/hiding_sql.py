"""Statements of SQL that try to get at what is hidden."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator


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
            f"{self._pick('contacts', 'deep', 'totals', 'contacts c', 'deep AS d')}"
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
        return self._rng.choice(OWN[self._dialect]).format(
            source=self._source(), value=self._value(), condition=self._condition()
        )

    def _described(self) -> str:
        prefix = self._pick("EXPLAIN", "EXPLAIN ANALYZE", "EXPLAIN QUERY PLAN", "DESCRIBE")
        return f"{prefix} SELECT {self._value()} AS v FROM {self._source()}"

    _SHAPES: tuple[Callable[[SqlAttacks], str], ...] = (
        *(_plain, _plain, _plain, _star, _join, _using, _grouped, _ordered, _window, _with),
        *(_united, _viewed, _nested, _walked, _own, _own, _described),
    )


OWN = {
    "sqlite": (
        "SELECT rowid, {value} AS v FROM customer c",
        "SELECT _rowid_ FROM {source}",
        "SELECT [email], `salary` FROM customer c WHERE {condition}",
        "SELECT json_object('e', c.email, 's', c.salary) AS j FROM {source}",
        "SELECT json_group_array(c.email) AS j FROM {source} WHERE {condition}",
        "SELECT group_concat(c.email, ';') AS g FROM {source}",
        "SELECT typeof(c.salary) AS t, hex(c.email) AS h, {value} AS v FROM {source}",
        "SELECT * FROM customer c INDEXED BY i WHERE {condition}",
        "SELECT * FROM customer NOT INDEXED WHERE {condition}",
        "SELECT 1 AS one WHERE 'kq7ann@x' IN customer AND {condition}",
        "SELECT m.name, {value} AS v FROM sqlite_master m, {source} WHERE m.type = 'table'",
        "SELECT * FROM sqlite_stat1, {source}",
        "SELECT * FROM pragma_table_info('customer') p, {source}",
        "PRAGMA table_info(customer)",
        "SELECT c.email, json_each.value FROM {source}, json_each('[1]') WHERE {condition}",
        "VALUES ((SELECT max(email) FROM {source}))",
    ),
    "duckdb": (
        "FROM {source} SELECT {value} AS v WHERE {condition}",
        "FROM customer",
        "SELECT COLUMNS('em.*|sal.*') FROM {source} WHERE {condition}",
        "SELECT * EXCLUDE (id) FROM {source} WHERE {condition}",
        "SELECT * REPLACE (c.email AS name) FROM {source}",
        "SELECT c FROM {source} WHERE {condition}",
        "SELECT to_json(c) AS j FROM {source}",
        "SELECT list(c.email ORDER BY c.id) AS l, {value} AS v FROM {source} GROUP BY ALL",
        "SELECT c['email'] AS v FROM {source} WHERE {condition}",
        "SELECT customer.email, customer FROM customer",
        "SELECT main.customer.email FROM main.customer",
        "SUMMARIZE customer",
        "SUMMARIZE SELECT * FROM {source} WHERE {condition}",
        "PIVOT customer ON region USING max(email)",
        "UNPIVOT customer ON email INTO NAME a VALUE b",
        "SELECT * FROM (PIVOT (SELECT * FROM customer) ON region USING max(email))",
        "SELECT #3 FROM customer c WHERE {condition}",
        "SELECT rowid FROM {source}",
        "SELECT stats(c.name) AS s, {value} AS v FROM {source} WHERE {condition}",
        "SELECT v FROM {source}, LATERAL (SELECT {value} AS v) l WHERE {condition}",
        "FROM histogram(customer, email)",
        "FROM query_table('customer')",
        "SELECT * FROM customer TABLESAMPLE 50%",
        "SELECT * FROM orders POSITIONAL JOIN customer",
        "SELECT * FROM orders ASOF JOIN customer c ON orders.id >= c.id",
        "FROM e: customer SELECT e.email",
        "SELECT c.email.upper() AS v FROM {source} WHERE {condition}",
        "SELECT error(c.name) FROM {source} WHERE {condition}",
        "SELECT TRY_CAST(c.email AS INTEGER) AS v, {value} AS w FROM {source} WHERE {condition}",
        "SHOW customer",
        "TABLE customer",
    ),
    "postgres": (
        "SELECT c FROM {source} WHERE {condition}",
        "SELECT row_to_json(c) AS j FROM {source} WHERE {condition}",
        "SELECT to_jsonb(c.*) AS j, {value} AS v FROM {source}",
        "SELECT (c).email, c.quote_literal FROM {source}",
        "SELECT (c.*)::text AS t FROM {source} WHERE {condition}",
        "SELECT c.to_json FROM {source}",
        "SELECT ctid, xmin, {value} AS v FROM customer c",
        "SELECT customer FROM customer WHERE id > 0",
        "TABLE customer",
        "TABLE contacts",
        "SELECT * FROM ONLY customer",
        "SELECT * FROM customer * WHERE id > 0",
        "SELECT * FROM customer TABLESAMPLE SYSTEM (100)",
        "SELECT x.c FROM customer AS x(a, b, c, d, e, f)",
        "SELECT v FROM {source}, LATERAL (SELECT {value} AS v) l WHERE {condition}",
        "SELECT string_agg(c.email, ',' ORDER BY c.id) AS s FROM {source}",
        "SELECT c.email::int AS v FROM {source} WHERE {condition}",
        "SELECT c.name::int AS v FROM {source} WHERE {condition}",
        "SELECT count(*) FILTER (WHERE {condition}) AS n FROM {source}",
        "SELECT public.customer.email FROM public.customer",
        "SELECT * FROM public.contacts WHERE {condition}",
        "SELECT most_common_vals FROM pg_stats WHERE tablename = 'customer'",
        "SELECT DISTINCT ON (c.email) {value} AS v FROM {source} ORDER BY c.email, c.id",
        "SELECT query_to_xml('SELECT * FROM customer', true, true, '')",
        "SELECT xmlforest(c.email) AS x FROM {source} WHERE {condition}",
        "SELECT (SELECT c FROM customer c WHERE c.id = o.customer_id) AS r FROM orders o",
        "SELECT NULL::customer AS v, {value} AS w FROM {source}",
        "EXPLAIN (VERBOSE, FORMAT JSON) SELECT * FROM {source} WHERE {condition}",
    ),
    "mariadb": (
        "TABLE customer",
        "SELECT `email`, {value} AS v FROM customer c WHERE {condition}",
        "SELECT group_concat(c.email ORDER BY c.id SEPARATOR ';') AS g FROM {source}",
        "SELECT JSON_OBJECT('e', c.email, 's', c.salary) AS j FROM {source} WHERE {condition}",
        "SELECT extractvalue(1, concat(0x7e, (SELECT max(email) FROM {source}))) AS v",
        "SELECT extractvalue(1, concat(0x7e, (SELECT max(name) FROM {source}))) AS v",
        "SELECT updatexml(1, concat(0x7e, c.name), 1) AS v FROM {source} WHERE {condition}",
        "SELECT * FROM customer PARTITION (p0)",
        "SELECT * FROM customer USE INDEX (PRIMARY) WHERE id > 0",
        "SELECT hex(c.email) AS h, ord(c.email) AS o, {value} AS v FROM {source}",
        "SELECT * FROM (customer JOIN orders o ON o.customer_id = customer.id)",
        "SELECT c.salary * 9223372036854775807 AS v FROM {source}",
        "SELECT c.id * 9223372036854775807 AS v FROM {source} WHERE {condition}",
        "SELECT (SELECT email FROM customer) AS v, {value} AS w FROM {source}",
        "SHOW COLUMNS FROM orders WHERE (SELECT max(email) FROM customer) LIKE 'kq7%'",
        "SHOW TABLES WHERE (SELECT max(email) FROM customer) LIKE 'kq7%'",
        "SHOW WARNINGS",
        "SHOW TABLE STATUS",
        "DESCRIBE customer",
        "SHOW INDEX FROM customer",
        "ANALYZE SELECT {value} AS v FROM {source}",
        "SELECT STRAIGHT_JOIN c.email, {value} AS v FROM orders o, {source} WHERE {condition}",
    ),
}  # fmt: skip
