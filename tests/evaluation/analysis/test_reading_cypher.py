"""What statements in Cypher show: the same columns as SQL's."""

from __future__ import annotations

import pytest

from tests.evaluation.analysis.shown_columns import FLOW, NODE, shown


@pytest.mark.parametrize("database", ["neo4j", "ladybug"])
@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        ("MATCH (n:Trade_node) RETURN n.total_power", ["=trade_node.total_power"]),
        ("MATCH (n) RETURN n.total_power", ["=trade_node.total_power"]),
        ("MATCH (n:Country) RETURN n.development", ["=country.development"]),
        ("MATCH (n:Trade_node) RETURN 'n.total_power' // n.ingoing\n", [""]),
        ("MATCH (n:Trade_node) WHERE n.ingoing > 1 RETURN n.name", ["=trade_node.trade_node"]),
        ("MATCH (n:Trade_node) WITH n.ingoing AS x RETURN x", ["=trade_node.ingoing"]),
        ("MATCH (:Trade_node)-[f:source]->() RETURN f.flow", ["=flow.flow"]),
        ("MATCH (n:Trade_node) RETURN count(n)", [""]),
        (
            "MATCH (n:Trade_node) RETURN CASE WHEN n.ingoing > 3 THEN 1 ELSE n.total_power END",
            ["trade_node.total_power"],
        ),
        (
            (
                "MATCH (n:Trade_node) WITH collect({a: n.ingoing, b: n.name}) AS l UNWIND l AS x "
                "RETURN x.a * 2, x.b"
            ),
            ["trade_node.ingoing", "=trade_node.trade_node"],
        ),
        (
            "MATCH (n:Trade_node) RETURN n.ingoing AS a UNION MATCH (c:Country) RETURN c.name AS a",
            ["=trade_node.ingoing", "=country.country_name"],
        ),
        ("MATCH (a:Trade_node), (b:Country) RETURN b.development", ["=country.development"]),
        (
            "MATCH p = ()-[:source]->(n:Trade_node), (c:Country) RETURN p, length(p)",
            [" ".join(sorted((*FLOW, *NODE, *NODE))), ""],
        ),
        (
            "MATCH p = shortestPath((a:Trade_node)-[:source*1..4]->(b)) RETURN b.ingoing, nodes(p)",
            ["=trade_node.ingoing", " ".join(sorted(NODE))],
        ),
        ("MATCH (n:Trade_node) RETURN size(collect(n.ingoing))", [""]),
        ("MATCH (s)-[f:source*1..2]->(h) RETURN f, s.ingoing", ["", "=trade_node.ingoing"]),
        ("MATCH (s)-->(h:Trade_node) RETURN h.ingoing", ["=trade_node.ingoing"]),
        ("MATCH (:Country)-[p]->(n:Trade_node) RETURN p.is_home", ["=node_country.is_home"]),
        ("MATCH (x)-[p]->(n:Trade_node) RETURN p.flow", ["=flow.flow"]),
        ("MATCH (n) MATCH (n:Trade_node) RETURN n.name", ["=trade_node.trade_node"]),
        ("MATCH (n:Trade_node) WITH n.ingoing AS x RETURN x.year", ["trade_node.ingoing"]),
        ("MATCH (n:Trade_node) RETURN count(*), COUNT { (n)<-[:source]-() }", ["", ""]),
        ("MATCH (n:Trade_node) WITH n {.*} AS m RETURN m.ingoing", ["=trade_node.ingoing"]),
        (
            (
                "MATCH (n:Trade_node) WITH n {.ingoing, twice: 2 * n.total_power} AS m "
                "RETURN m.ingoing, m.twice"
            ),
            ["=trade_node.ingoing", "trade_node.total_power"],
        ),
        (
            (
                "MATCH (n:Trade_node) WITH collect(n) AS l "
                "RETURN [x IN l WHERE x.ingoing > 1 | x.total_power]"
            ),
            ["=trade_node.total_power"],
        ),
        (
            (
                "MATCH (n:Trade_node) WITH n, {end: n.ingoing} AS m "
                "RETURN CASE WHEN 1 < m.end AND n.ingoing > 2 THEN 1 ELSE 2 END"
            ),
            [""],
        ),
        ("no statement at all", []),
    ],
)
def test_cypher_is_resolved_to_the_same_columns(
    statement: str, columns: list[str], database: str
) -> None:
    """A property is the column behind it."""
    assert shown(statement, "graph", database) == columns


@pytest.mark.parametrize("database", ["neo4j", "ladybug"])
@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        (
            "MATCH (s)-[f:source]->(h:Trade_node {name: 'a'}) RETURN 1.05 * SUM(f.flow)",
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            "MATCH (h:Trade_node)<-[f:source]-(s) WHERE h.name = 'a' RETURN sum(f.flow)",
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            "MATCH (h:Trade_node {name: 'a'}) MATCH (s)-[f:source]->(h) RETURN SUM(f.flow)",
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            "MATCH (s {name: 'a'})-[f:source]->(h) RETURN SUM(f.flow)",
            ["sum(flow.flow of source by source)"],
        ),
        (
            "MATCH (s)-[f:source]->(h {name: 'a'}) RETURN s.name, SUM(f.flow)",
            ["=trade_node.trade_node", "sum(flow.flow of dest+source by dest+source)"],
        ),
        (
            "MATCH (s)-[f:source]-(h {name: 'a'}) RETURN SUM(f.flow)",
            ["sum(flow.flow of all by nothing)"],
        ),
        (
            (
                "MATCH (h:Trade_node {name: 'a'})-[p:NodeCountry]-(:Country) "
                "RETURN SUM(p.calculated_trading_power)"
            ),
            ["sum(node_country.calculated_trading_power of trade_node by trade_node)"],
        ),
        (
            (
                "MATCH (c:Country)-[p:NodeCountry]->(n) WHERE n.name = 'a' AND NOT p.is_home "
                "RETURN SUM(p.calculated_trading_power)"
            ),
            ["sum(node_country.calculated_trading_power of trade_node by is_home+trade_node)"],
        ),
        (
            "MATCH (h:Trade_node)<-[f:source]-() WHERE (h.name = 'a') RETURN sum(f.flow)",
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            "MATCH (h:Trade_node)<-[f:source]-() WHERE 'a' = h.name RETURN sum(f.flow)",
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            "MATCH (h)<-[f:source]-() WHERE h.name = 'a' OR h.is_inland RETURN sum(f.flow)",
            ["sum(flow.flow of all by dest)"],
        ),
        (
            "MATCH (h:Trade_node)<-[f:source]-() WHERE h.name IN ['a'] RETURN sum(f.flow)",
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            "MATCH (h)<-[f:source]-() WHERE h.name = 'a' AND f.flow > -1 RETURN sum(f.flow)",
            ["sum(flow.flow of dest by dest+flow)"],
        ),
        (
            (
                "MATCH (h:Trade_node)<-[f:source]-(), (g:Trade_node {name: 'a'}) WHERE h = g "
                "RETURN sum(f.flow)"
            ),
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            (
                "MATCH (h)<-[f:source]-(), (g:Trade_node {name: 'a'}) WHERE h.name = g.name "
                "RETURN sum(f.flow)"
            ),
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            "MATCH (h:Trade_node WHERE h.name = 'a')<-[f:source]-() RETURN sum(f.flow)",
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            (
                "MATCH (c:Country {name: 'b'}) MATCH (h {name: c.home_node})<-[f:source]-() "
                "RETURN sum(f.flow)"
            ),
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            "MATCH (h)<-[f:source]-() WHERE h.name = trim('a ') RETURN sum(f.flow)",
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            "MATCH (h)<-[f:source]-() WHERE h.name IN split('a,b', ',') RETURN sum(f.flow)",
            ["sum(flow.flow of all by nothing)"],
        ),
        (
            (
                "MATCH (:Country)-[p:NodeCountry]-(n:Trade_node {name: 'a'}) "
                "RETURN sum(p.calculated_trading_power)"
            ),
            ["sum(node_country.calculated_trading_power of trade_node by trade_node)"],
        ),
        (
            (
                "MATCH (c:Country) WITH collect(c.home_node) AS homes "
                "MATCH (h)<-[f:source]-() WHERE h.name IN homes RETURN h.name, sum(f.flow)"
            ),
            ["=trade_node.trade_node", "sum(flow.flow of dest by dest)"],
        ),
        (
            (
                "MATCH (n:Trade_node) "
                "CALL { WITH n MATCH ()-[f:source]->(n) RETURN sum(f.flow) AS s } "
                "RETURN n.name, s"
            ),
            ["=trade_node.trade_node", "sum(flow.flow of dest by dest)"],
        ),
        (
            (
                "MATCH (n:Trade_node) "
                "CALL (n) { MATCH ()-[f:source]->(n) RETURN sum(f.flow) AS s } "
                "RETURN n.name, s"
            ),
            ["=trade_node.trade_node", "sum(flow.flow of dest by dest)"],
        ),
        (
            "MATCH ()-[f:source]->(h {name: 'a'}) RETURN sum( distinct f.flow)",
            ["sum distinct(flow.flow of dest by dest)"],
        ),
    ],
)
def test_sums_in_cypher_say_what_they_are_of(
    statement: str, columns: list[str], database: str
) -> None:
    """Direction, maps, conditions and grouping tell what flows in from what flows out."""
    assert shown(statement, "graph", database) == columns
