"""What statements show: what went into their columns, in terms of the scenario's tables."""

from __future__ import annotations

import json

import pytest

from dqa.core.evidence import Evidence
from dqa.evaluation.analysis.statements import Asked, readings_of
from tests.evaluation.analysis.runs import failed, ran
from tests.evaluation.analysis.shown_columns import BUILDING, LOCATING, shown


@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        ("SELECT total_power FROM trade_node", ["=trade_node.total_power"]),
        ("SELECT Total_Power FROM dqa_locating_1.Trade_Node", ["=trade_node.total_power"]),
        ("SELECT `ingoing` FROM trade_node -- total_power", ["=trade_node.ingoing"]),
        ("SELECT 'total_power' /* ingoing */ FROM trade_node", [""]),
        ("SELECT COUNT(*), COUNT(ingoing) FROM trade_node", ["", ""]),
        ("SELECT 1 AS total_power FROM trade_node ORDER BY total_power", [""]),
        (
            "SELECT x.total_power FROM (SELECT local_value AS total_power FROM trade_node) x",
            ["=trade_node.local_value"],
        ),
        ("SELECT 1 FROM trade_node WHERE ingoing > 3 ORDER BY total_power LIMIT 1", [""]),
        (
            "WITH t AS (SELECT * FROM trade_node) SELECT total_power + 1 FROM t",
            ["trade_node.total_power"],
        ),
        ("SELECT x.ingoing FROM (SELECT * FROM trade_node) x", ["=trade_node.ingoing"]),
        (
            "SELECT ingoing FROM trade_node UNION SELECT total_power FROM trade_node",
            ["=trade_node.ingoing", "=trade_node.total_power"],
        ),
        (
            "SELECT u.v FROM (SELECT ingoing AS v FROM trade_node UNION SELECT flow FROM flow) u",
            ["=flow.flow trade_node.ingoing"],
        ),
        (
            "SELECT (SELECT MAX(n.ingoing) FROM trade_node n) FROM country",
            ["max(trade_node.ingoing of all by nothing)"],
        ),
        ("EXPLAIN SELECT total_power FROM trade_node", []),
        (
            "SELECT t.ingoing, t.rowid FROM trade_node t",
            ["=trade_node.ingoing", "=trade_node.rowid"],
        ),
        ("SELECT COALESCE(ROUND(ingoing, 1), 0) FROM trade_node", ["=trade_node.ingoing"]),
        (
            "SELECT CASE WHEN ingoing > 1 THEN total_power ELSE 0 END FROM trade_node",
            ["trade_node.total_power"],
        ),
        ("SELECT ingoing > 3 FROM trade_node", [""]),
        ("SELECT EXISTS (SELECT * FROM trade_node) FROM flow", [""]),
        ("SELECT e.total_power FROM elsewhere e", ["=None.total_power"]),
        (
            (
                "WITH RECURSIVE up(n) AS (SELECT 'a' UNION SELECT f.source FROM flow f JOIN up "
                "ON f.dest = up.n) SELECT up.n, t.ingoing FROM up JOIN trade_node t "
                "ON t.trade_node = up.n"
            ),
            ["=flow.source", "=trade_node.ingoing"],
        ),
        (
            "(SELECT ingoing FROM trade_node) UNION (SELECT total_power FROM trade_node)",
            ["=trade_node.ingoing", "=trade_node.total_power"],
        ),
        (
            "WITH v(a) AS (VALUES (1)) SELECT t.ingoing FROM v, trade_node t",
            ["=trade_node.ingoing"],
        ),
        (
            "SELECT a.ingoing, b.ingoing FROM trade_node a, trade_node b",
            ["=trade_node.ingoing", "=trade_node.ingoing"],
        ),
        (
            (
                "SELECT f.flow, c.development, n.ingoing FROM ((flow f JOIN trade_node n "
                "ON f.dest = n.trade_node) JOIN country c ON c.home_node = n.trade_node)"
            ),
            ["=flow.flow", "=country.development", "=trade_node.ingoing"],
        ),
        ("SELECT nothing FROM flow, trade_node", [""]),
        ("SELECT dest, GROUP_CONCAT(flow) FROM flow GROUP BY dest", ["=flow.dest", "=flow.flow"]),
        (
            "SELECT CASE ingoing WHEN 1 THEN total_power ELSE local_value END FROM trade_node",
            ["trade_node.local_value trade_node.total_power"],
        ),
        ("no statement at all", []),
    ],
)
def test_sql_is_resolved_to_its_tables(statement: str, columns: list[str]) -> None:
    """Aliases, strings and comments show nothing, and neither do conditions."""
    assert shown(statement) == columns


def test_double_quotes_are_read_as_the_database_reads_them() -> None:
    """A string in MySQL, a column elsewhere; a translated statement is read as it ran."""
    statement = 'SELECT "total_power" FROM trade_node'
    assert shown(statement, database="mysql") == [""]
    assert shown(statement, database="sqlite") == ["=trade_node.total_power"]
    translated = Evidence(statement, '["x"]\n[1]', 1, translated="SELECT ingoing FROM trade_node")
    (reading,) = readings_of(translated, LOCATING, "relational", "sqlite")
    assert reading.outputs[0].term == (0, "ingoing")


@pytest.mark.parametrize("tool", ["query_database", "compare"])
def test_only_what_ran_is_read(tool: str) -> None:
    """A failed statement and a simulation show no column, nor does a scenario nobody knows."""
    assert readings_of(failed("SELECT flow FROM flow", tool), LOCATING, "relational") == ()
    assert readings_of(ran("SELECT flow FROM flow"), None, "relational") == ()


@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        (
            "SELECT 1.05 * SUM(flow) FROM flow WHERE dest = 'a'",
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            "SELECT dest, SUM(f.flow) FROM flow f GROUP BY dest",
            ["=flow.dest", "sum(flow.flow of dest by dest)"],
        ),
        (
            "SELECT SUM(flow) OVER (PARTITION BY dest) FROM flow",
            ["sum(flow.flow of dest by dest)"],
        ),
        ("SELECT SUM(flow) FROM flow WHERE source = 'a'", ["sum(flow.flow of source by source)"]),
        ("SELECT SUM(flow) FROM flow", ["sum(flow.flow of all by nothing)"]),
        (
            "SELECT (SELECT SUM(o.flow) FROM flow o WHERE o.dest = n.trade_node) FROM trade_node n",
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            (
                "SELECT SUM(calculated_trading_power) FROM node_country WHERE trade_node = 'a' "
                "AND NOT is_home"
            ),
            [
                "sum(node_country.calculated_trading_power of trade_node by is_home+trade_node)",
            ],
        ),
        (
            "SELECT SUM(DISTINCT flow) FROM flow WHERE dest = 'a'",
            ["sum distinct(flow.flow of dest by dest)"],
        ),
        (
            "SELECT SUM(flow) FROM flow WHERE dest = 'a' AND rowid > 5",
            ["sum(flow.flow of dest by dest+rowid)"],
        ),
        (
            (
                "SELECT SUM(f.flow) FROM flow f JOIN trade_node n ON n.trade_node = f.source "
                "WHERE f.dest = 'a'"
            ),
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            (
                "SELECT SUM(f.flow) FROM flow f JOIN trade_node n ON n.trade_node = f.source "
                "WHERE f.dest = 'a' AND n.is_inland"
            ),
            ["sum(flow.flow of dest by dest+source)"],
        ),
        (
            "SELECT dest AS d, SUM(flow) AS total FROM flow GROUP BY d HAVING total > 3",
            ["=flow.dest", "sum(flow.flow of dest by dest)"],
        ),
        (
            "SELECT MAX(t) FROM (SELECT dest, SUM(flow) AS t FROM flow GROUP BY dest) x",
            ["sum(flow.flow of all by dest)"],
        ),
        ("SELECT SUM(flow) OVER (PARTITION BY dest ORDER BY flow) FROM flow", ["flow.flow"]),
        (
            (
                "SELECT SUM(f.flow) FROM flow f JOIN (trade_node n JOIN country c "
                "ON c.home_node = n.trade_node) ON f.dest = n.trade_node WHERE n.trade_node = 'a'"
            ),
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            (
                "SELECT l.s FROM trade_node n CROSS JOIN LATERAL "
                "(SELECT SUM(f.flow) AS s FROM flow f WHERE f.dest = n.trade_node) l"
            ),
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            "SELECT SUM(flow) FROM flow WHERE dest = CAST('a' AS CHAR)",
            ["sum(flow.flow of dest by dest)"],
        ),
        (
            "SELECT SUM(flow) FROM flow WHERE dest IN ('a', source)",
            ["sum(flow.flow of all by nothing)"],
        ),
        (
            "SELECT SUM(flow) FROM flow WHERE dest = source AND source = dest",
            ["sum(flow.flow of all by nothing)"],
        ),
        (
            "SELECT SUM(calculated_trading_power) FROM node_country WHERE is_home = FALSE",
            ["sum(node_country.calculated_trading_power of all by is_home)"],
        ),
    ],
)
def test_sums_in_sql_say_what_they_are_of(statement: str, columns: list[str]) -> None:
    """The columns that choose and group rows tell a whole sum from a part of one."""
    assert shown(statement) == columns


def test_means_are_found_in_both_languages() -> None:
    """Also where a ratio comes out of another query, and all its columns are told."""
    mean = "avg(demand.{} of building_id by building_id)"
    wanted = [mean.format("current_input"), mean.format("max_demand")]
    sql = (
        "WITH r AS (SELECT building_id AS b, current_input / max_demand AS x FROM demand) "
        "SELECT AVG(r.x) FROM supply s JOIN r ON r.b = s.building_id GROUP BY s.building_id"
    )
    cypher = (
        "MATCH (:Goods)-[d:Demand]->(b:Building {id: 4})-[s:Supply]->(:Goods) "
        "WITH b, d.current_input / d.max_demand AS x RETURN b.id, AVG(x)"
    )
    assert shown(sql, schema=BUILDING) == [" ".join(wanted)]
    assert shown(cypher, "graph", schema=BUILDING)[1] == " ".join(wanted)


def test_negative_constants_say_whose_value_a_mean_is() -> None:
    """In both languages."""
    sql = "SELECT AVG(pop_demand) FROM goods WHERE code = -1"
    assert shown(sql, schema=BUILDING) == ["avg(goods.pop_demand of code by code)"]
    cypher = "MATCH (:Building {id: -1})-[s:Supply]->() RETURN avg(s.current_output)"
    wanted = ["avg(supply.current_output of building_id by building_id)"]
    assert shown(cypher, "graph", schema=BUILDING) == wanted


def test_an_outer_join_says_nothing_of_the_rows_that_it_may_lack() -> None:
    """Of a RIGHT join these are the ones before it, of a LEFT join the ones behind it."""
    for side, lacking in (("RIGHT", "country"), ("LEFT", "flow")):
        statement = f"SELECT f.flow FROM country c {side} JOIN flow f ON f.dest = c.home_node"
        (reading,) = readings_of(ran(statement), LOCATING, "relational")
        assert [reading.tables[i] for i in reading.optional] == [lacking]


def test_a_map_shows_its_parts_and_a_broken_line_nothing() -> None:
    """Text that begins like a list and is none stays text; rows end where lines are no arrays."""
    statement = "MATCH (n:Trade_node) RETURN {a: n.ingoing, b: n.name} AS m, n.name"
    lines = ['[{"a": 1.5, "b": "x"}, "[no list"]', "[broken", '[{"a": 2.5}, "y"]']
    evidence = ran(statement, *lines, header='["m", "n.name"]')
    (reading,) = readings_of(evidence, LOCATING, "graph", "neo4j")
    (row,) = Asked(evidence, (reading,)).rows(reading)
    name = (0, "trade_node")
    assert [(v.term, c) for v, c in row] == [((0, "ingoing"), 1.5), (name, "x"), (name, "[no list")]


@pytest.mark.parametrize("spelt", [False, True])
def test_what_a_cell_holds_is_read_as_columns(*, spelt: bool) -> None:
    """A node, a map and a list of either, as JSON in the row or as its text."""
    nodes = [{"_LABEL": "Trade_node", "name": "a", "total_power": 1.0}, {"name": "b"}]
    cell = json.dumps(nodes) if spelt else nodes
    evidence = ran(
        "MATCH (n:Trade_node) RETURN collect(n) AS l", json.dumps([cell]), header='["l"]'
    )
    (reading,) = readings_of(evidence, LOCATING, "graph", "neo4j")
    rows = [{v.term: c for v, c in row} for row in Asked(evidence, (reading,)).rows(reading)]
    assert rows == [{(0, "trade_node"): "a", (0, "total_power"): 1.0}, {(0, "trade_node"): "b"}]


def test_columns_of_a_star_stand_in_the_order_of_the_result() -> None:
    """Which is not that of the pattern; a row of another length shows nothing."""
    statement = "MATCH (s:Country)-[p:NodeCountry]->(a:Trade_node) RETURN *"
    cells = [{"name": "node"}, {"is_home": True}, {"name": "country"}]
    evidence = ran(statement, json.dumps(cells), "[1]", header='["a", "p", "s"]')
    (reading,) = readings_of(evidence, LOCATING, "graph", "neo4j")
    (row,) = Asked(evidence, (reading,)).rows(reading)
    named = {f"{reading.tables[v.term[0]]}.{v.term[1]}": c for v, c in row if v.term}
    assert named == {
        "trade_node.trade_node": "node",
        "node_country.is_home": True,
        "country.country_name": "country",
    }


def test_a_statement_that_multiplies_its_tables_is_not_followed() -> None:
    """Each mention of a query in WITH is read anew, up to a bound."""
    steps = ["a0 AS (SELECT flow FROM flow)"]
    steps += [f"a{i} AS (SELECT x.flow FROM a{i - 1} x, a{i - 1} y)" for i in range(1, 40)]
    assert shown(f"WITH {', '.join(steps)} SELECT flow FROM a39") == []
