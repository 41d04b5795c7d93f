"""What statements read, in terms of the scenario's tables."""

from __future__ import annotations

import json

import pytest

from dqa import plugins
from dqa.core.database import Kind
from dqa.core.evidence import Evidence
from dqa.core.situation import Schema
from dqa.evaluation.analysis.statements import Aggregate, Reading, read_statement
from tests.evaluation.analysis.runs import empty, failed, ran

LOCATING: Schema = plugins.scenario("locating").schema
BUILDING: Schema = plugins.scenario("building").schema


def read(evidence: Evidence, kind: Kind, database: str = "", schema: Schema = LOCATING) -> set[str]:
    """Return the columns that a statement read, as table.column."""
    found = read_statement(evidence, schema, kind, database)
    return {".".join(column) for column in found.columns}


def aggregates(statement: str, kind: Kind, schema: Schema = LOCATING) -> set[str]:
    """Return the sums and means of a statement, as function table.columns by columns."""
    found = read_statement(ran(statement), schema, kind)
    return {_shown(aggregate) for aggregate in found.aggregates}


def _shown(aggregate: Aggregate) -> str:
    columns, by = ("+".join(sorted(names)) for names in (aggregate.columns, aggregate.by))
    return f"{aggregate.function} {aggregate.table}.{columns} by {by}"


@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        ("SELECT total_power FROM trade_node", {"trade_node.total_power"}),
        ("SELECT Total_Power FROM dqa_locating_1.Trade_Node", {"trade_node.total_power"}),
        ("SELECT `ingoing` FROM trade_node -- total_power", {"trade_node.ingoing"}),
        ("SELECT 'total_power' /* ingoing */ FROM trade_node", set()),
        ("SELECT COUNT(*) FROM trade_node", set()),
        ("SELECT 1 AS total_power FROM trade_node ORDER BY total_power", set()),
        (
            "SELECT x.total_power FROM (SELECT local_value AS total_power FROM trade_node) x",
            {"trade_node.local_value"},
        ),
        ("SELECT 1 FROM trade_node ORDER BY ingoing LIMIT 1", {"trade_node.ingoing"}),
        (
            "WITH t AS (SELECT * FROM trade_node) SELECT total_power + 1 FROM t",
            {"trade_node.total_power"},
        ),
        (
            "SELECT x.total_power FROM (SELECT * FROM trade_node) x",
            {"trade_node.total_power"},
        ),
        (
            "SELECT ingoing FROM trade_node UNION SELECT total_power FROM trade_node",
            {"trade_node.ingoing", "trade_node.total_power"},
        ),
        (
            "SELECT (SELECT MAX(n.ingoing) FROM trade_node n) FROM country",
            {"trade_node.ingoing"},
        ),
        ("EXPLAIN SELECT total_power FROM trade_node", set()),
        ("SELECT t.ingoing, t.rowid FROM trade_node t", {"trade_node.ingoing"}),
        ("SELECT ingoing, rowid FROM trade_node", {"trade_node.ingoing"}),
        (
            "SELECT n.ingoing FROM trade_node n JOIN flow f ON f.rowid = n.rowid",
            {"trade_node.ingoing"},
        ),
        (
            "SELECT x.nothing, x.ingoing FROM (SELECT ingoing FROM trade_node) x",
            {"trade_node.ingoing"},
        ),
        ("SELECT total_power FROM elsewhere", set()),
        ("no statement at all", set()),
    ],
)
def test_sql_is_resolved_to_its_tables(statement: str, columns: set[str]) -> None:
    """Aliases, strings and comments read nothing; any clause of a query does.

    Nor does a column that no table of the scenario has, and it takes nothing else with it.
    """
    assert read(ran(statement), "relational") == columns


def test_a_star_reads_what_the_result_shows_of_its_tables() -> None:
    """And nothing where it only asks whether there is a row."""
    shown = '["trade_node", "total_power", "flow"]'
    assert read(ran("SELECT n.* FROM trade_node n, flow f", header=shown), "relational") == {
        "trade_node.trade_node",
        "trade_node.total_power",
    }
    asked = "SELECT COUNT(*) AS total_power FROM flow WHERE EXISTS (SELECT * FROM trade_node)"
    assert read(ran(asked, header='["total_power"]'), "relational") == set()


def test_double_quotes_are_read_as_the_database_reads_them() -> None:
    """A string in MySQL, a column elsewhere; a translated statement is read as it ran."""
    statement = 'SELECT "total_power" FROM trade_node'
    assert read(ran(statement), "relational", "mysql") == set()
    assert read(ran(statement), "relational", "sqlite") == {"trade_node.total_power"}
    translated = Evidence(statement, '["x"]\n[1]', 1, translated="SELECT ingoing FROM trade_node")
    assert read(translated, "relational", "sqlite") == {"trade_node.ingoing"}


def test_what_failed_or_brought_nothing_read_nothing() -> None:
    """Only what a run has seen counts."""
    statement = "SELECT total_power FROM trade_node"
    for evidence in (failed(statement), empty(statement), ran(statement, "[null]", "[null]")):
        assert read_statement(evidence, LOCATING, "relational") == Reading()
    assert read(ran(statement, "[null]", "[0.0]"), "relational") == {"trade_node.total_power"}


@pytest.mark.parametrize(
    ("row", "computed"),
    [("[null]", False), ("[0]", False), ("[0.0, null]", False), ("[2.5]", True), ('["a"]', True)],
)
def test_a_sum_over_nothing_is_not_worked_out(row: str, *, computed: bool) -> None:
    """A misspelt name brings a row as well: of null in SQL, of zero in some dialects of Cypher."""
    sql = ran("SELECT SUM(flow) FROM flow WHERE dest = 'typo'", row)
    cypher = ran("MATCH ()-[f:source]->(h {name: 'typo'}) RETURN SUM(f.flow)", row)
    assert bool(read_statement(sql, LOCATING, "relational").aggregates) is computed
    assert bool(read_statement(cypher, LOCATING, "graph").aggregates) is computed


def test_rows_that_nobody_can_read_count_as_data() -> None:
    """What another package wrote down is taken at its word."""
    statement = "SELECT SUM(flow) FROM flow WHERE dest = 'a'"
    for observation in ("2.5", '["x"]\n[2.5', '["x"]'):
        found = read_statement(Evidence(statement, observation, 1), LOCATING, "relational")
        assert found.aggregates


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("SELECT 1.05 * SUM(flow) FROM flow WHERE dest = 'a'", {"sum flow.flow by dest"}),
        ("SELECT dest, SUM(f.flow) FROM flow f GROUP BY dest", {"sum flow.flow by dest"}),
        ("SELECT SUM(flow) FROM flow WHERE source = 'a'", {"sum flow.flow by source"}),
        (
            (
                "SELECT n.trade_node, (SELECT SUM(o.flow) FROM flow o WHERE o.dest = n.trade_node) "
                "FROM trade_node n"
            ),
            {"sum flow.flow by dest"},
        ),
        (
            (
                "SELECT SUM(calculated_trading_power) FROM node_country "
                "WHERE trade_node = 'a' AND NOT is_home"
            ),
            {"sum node_country.calculated_trading_power by is_home+trade_node"},
        ),
        ("SELECT SUM(f.flow + n.ingoing) FROM flow f JOIN trade_node n", set()),
        ("SELECT SUM(DISTINCT flow) FROM flow WHERE dest = 'a'", set()),
        ("SELECT AVG(DISTINCT flow) FROM flow WHERE dest = 'a'", set()),
        (
            "SELECT SUM(flow) FROM flow WHERE dest = 'a' AND rowid > 5",
            {"sum flow.flow by dest+rowid"},
        ),
        (
            "SELECT SUM(f.flow) FROM flow f WHERE f.dest = 'a' AND f.rowid > 5",
            {"sum flow.flow by dest+rowid"},
        ),
        (
            "SELECT dest AS d, SUM(flow) AS total FROM flow GROUP BY d ORDER BY total",
            {"sum flow.flow by dest"},
        ),
    ],
)
def test_sums_in_sql_say_what_they_are_over(statement: str, found: set[str]) -> None:
    """The columns that choose and group rows tell a whole sum from a part of one."""
    assert aggregates(statement, "relational") == found


@pytest.mark.parametrize("database", ["neo4j", "ladybug"])
@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        ("MATCH (n:Trade_node) RETURN n.total_power", {"trade_node.total_power"}),
        ("MATCH (n) RETURN n.total_power", {"trade_node.total_power"}),
        ("MATCH (n:Country) RETURN n.development", {"country.development"}),
        ("MATCH (n:Trade_node) RETURN 'n.total_power' // n.ingoing\n", set()),
        (
            "MATCH (n:Trade_node) WHERE n.ingoing > 1 RETURN n.name",
            {"trade_node.ingoing", "trade_node.trade_node"},
        ),
        ("MATCH (n:Trade_node) WITH n.ingoing AS x RETURN x", {"trade_node.ingoing"}),
        ("MATCH (:Trade_node)-[f:source]->() RETURN f.flow", {"flow.flow"}),
        ("MATCH (n:Trade_node) RETURN count(n)", set()),
        ("MATCH (n:Trade_node) RETURN n.ingoing, n.rowid", {"trade_node.ingoing"}),
        ("no statement at all", set()),
    ],
)
def test_cypher_is_resolved_to_the_same_columns(
    statement: str, columns: set[str], database: str
) -> None:
    """A property is the column behind it."""
    assert read(ran(statement), "graph", database) == columns


@pytest.mark.parametrize("database", ["neo4j", "ladybug"])
@pytest.mark.parametrize("what", ["n", "collect(n)", "properties(n)"])
def test_a_whole_node_reads_what_the_result_shows_of_it(what: str, database: str) -> None:
    """A property without a value was not read."""
    node = json.dumps({"_LABEL": "Trade_node", "total_power": 1.0, "ingoing": None})
    evidence = ran(f"MATCH (n) RETURN {what}", json.dumps([node]))
    assert read(evidence, "graph", database) == {"trade_node.total_power"}


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (
            "MATCH (s)-[f:source]->(h:Trade_node {name: 'a'}) RETURN 1.05 * SUM(f.flow)",
            {"sum flow.flow by dest"},
        ),
        (
            "MATCH (h:Trade_node)<-[f:source]-(s) WHERE h.name = 'a' RETURN sum(f.flow)",
            {"sum flow.flow by dest"},
        ),
        (
            "MATCH (s:Trade_node)-[f:source]->(h:Trade_node) RETURN h.name, SUM(f.flow)",
            {"sum flow.flow by dest"},
        ),
        (
            "MATCH (h:Trade_node {name: 'a'}) MATCH (s)-[f:source]->(h) RETURN SUM(f.flow)",
            {"sum flow.flow by dest"},
        ),
        (
            "MATCH (s {name: 'a'})-[f:source]->(h) RETURN SUM(f.flow)",
            {"sum flow.flow by source"},
        ),
        (
            "MATCH (s)-[f:source]->(h {name: 'a'}) RETURN s.name, SUM(f.flow)",
            {"sum flow.flow by dest+source"},
        ),
        ("MATCH (s)-[f:source]-(h {name: 'a'}) RETURN SUM(f.flow)", set()),
        (
            (
                "MATCH (c:Country)-[p:NodeCountry]->(n) WHERE n.name = 'a' AND NOT p.is_home "
                "RETURN SUM(p.calculated_trading_power)"
            ),
            set(),
        ),
        ("MATCH (n:Trade_node) RETURN SUM(n.total_power)", set()),
        ("MATCH ()-[f:source]->(h {name: 'a'}) RETURN SUM(DISTINCT f.flow)", set()),
        ("MATCH ()-[f:source]->(h {name: 'a'}) RETURN sum( distinct f.flow)", set()),
    ],
)
def test_sums_in_cypher_say_at_which_end_they_are_grouped(statement: str, found: set[str]) -> None:
    """Direction, maps, conditions and grouping tell what flows in from what flows out."""
    assert aggregates(statement, "graph") == found


def test_means_are_found_in_both_languages() -> None:
    """What the current output is worked out from."""
    wanted = {"avg demand.current_input+max_demand by building_id"}
    sql = (
        "SELECT s.max_supply * AVG(d.current_input / d.max_demand) FROM supply s JOIN demand d "
        "ON d.building_id = s.building_id GROUP BY s.building_id, s.max_supply"
    )
    cypher = (
        "MATCH (:Goods)-[d:Demand]->(b:Building {id: 4})-[s:Supply]->(:Goods) "
        "RETURN s.max_supply * AVG(d.current_input / d.max_demand)"
    )
    assert aggregates(sql, "relational", BUILDING) == wanted
    assert aggregates(cypher, "graph", BUILDING) == wanted
