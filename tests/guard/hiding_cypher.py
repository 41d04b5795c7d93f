"""Statements of Cypher that try to get at what is hidden."""

from __future__ import annotations

from tests.guard.hiding_sql import SHAPES, Attacks


class CypherAttacks(Attacks):
    """Makes statements of one dialect of Cypher."""

    def _node(self, name: str = "n") -> str:
        form = self._pick(
            *(":Person", ":Person", "", ":`Person`", ":Person /* all */"),
            *(":Person {region: 'US'}", ":Person {email: 'kq7ann'}"),
        )
        return f"({name}{form})"

    def _value(self, name: str = "n") -> str:
        whole = f"{self._rng.choice(('to_string', 'tostring'))}({name}.salary)"
        return self._rng.choice(
            [
                *(f"{name}.email", f"{name}.email", f"{name}.salary", f"{name}.name", f"{name}.id"),
                *(f"upper({name}.email)", f"{name}.email + '-'", f"size({name}.email)", whole),
                f"CASE WHEN {name}.email STARTS WITH 'kq7' THEN 1 ELSE 0 END",
                f"CASE WHEN {name}.salary > 80000 THEN 'high' ELSE 'low' END",
                f"coalesce({name}.email, 'none')",
                f"{{e: {name}.email}}",
                f"[{name}.email, {name}.name]",
                f"{name}['email']",
                f"properties({name})",
                f"{name}.`email`",
                f"keys({name})",
                name,
                f"{name} {{.email}}",
                f"{name} {{.*}}",
                "dqa_node_0.email",
            ]
        )

    def _condition(self, name: str = "n") -> str:
        number = "cast({}.name AS INT64)" if self._dialect == "ladybug" else "date({}.name).year"
        return self._rng.choice(
            [
                f"{name}.email STARTS WITH 'kq7'",
                f"{name}.email = '***'",
                f"{name}.salary > 80000",
                f"{name}.name STARTS WITH 'zz8' OR {name}.region = 'US'",
                f"{name}.id > 900",
                f"{name}.region IN ['EU', 'US']",
                f"EXISTS {{ MATCH ({name})-[k:KNOWS]->(o:Person) WHERE o.email <> 'x' }}",
                f"EXISTS {{ MATCH ({name})-[:KNOWS]->(o) WHERE o.name CONTAINS 'zz8' }}",
                f"({name})-[:KNOWS]->(:Person {{region: 'US'}})",
                f"1 / ({name}.id - 770014) < 9",
                f"{number.format(name)} > 1",
                "true",
            ]
        )

    def _statement(self) -> str:
        shape = self._rng.choice(SHAPES["cypher"])
        return shape.format(
            node=self._node(),
            other=self._node("m"),
            value=self._value(),
            more=self._value(),
            of_m=self._value("m"),
            of_x=self._value("x"),
            condition=self._condition(),
            of_other=self._condition("m"),
            plan=self._pick("EXPLAIN", "PROFILE"),
            of_r=self._pick("count(r) AS c", "r", "r.word AS w", "*", "type(r) AS t"),
            of_p=self._pick("p", "nodes(p)", "[x IN nodes(p) | x.email]", "length(p) AS l"),
        )
