"""What statements in SQL and Cypher show: what went into their columns (``shown.json``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dqa.core.evidence import Evidence
from dqa.evaluation.analysis.statements import Asked, readings_of
from tests.evaluation.analysis.runs import failed, ran
from tests.evaluation.analysis.shown_columns import BUILDING, LOCATING, shown

CASES: dict[str, dict[str, list[str]]] = json.loads(
    Path(__file__).with_name("shown.json").read_text("utf-8")
)
"""By language: statements, and what their columns are made of."""


@pytest.mark.parametrize("name", CASES)
def test_statements_are_resolved_to_the_columns_of_the_scenario(name: str) -> None:
    """Aliases, strings and comments show nothing; sums say of what they are: whole or in part."""
    found = {}
    for statement in CASES[name]:
        if "Cypher" in name:
            found[statement] = shown(statement, "graph", "neo4j")
            assert shown(statement, "graph", "ladybug") == found[statement]
        else:
            found[statement] = shown(statement)
    assert found == CASES[name]


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


def test_a_statement_that_multiplies_its_tables_is_not_followed() -> None:
    """Each mention of a query in WITH is read anew, up to a bound."""
    steps = ["a0 AS (SELECT flow FROM flow)"]
    steps += [f"a{i} AS (SELECT x.flow FROM a{i - 1} x, a{i - 1} y)" for i in range(1, 24)]
    assert shown(f"WITH {', '.join(steps)} SELECT flow FROM a23") == []
