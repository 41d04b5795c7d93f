"""The rules on runs and plans that they were not made for, labelled as ``docs/analysis.md`` says.

The worlds are the golden ones; nodes, goods and the shapes of statements are others.
"""

from __future__ import annotations

import pytest

from dqa.core.database import Limits
from dqa.deciders.tools import observe
from dqa.evaluation.analysis import Asked, found_values, kind_of
from dqa.evaluation.analysis.critical_values import critical
from dqa.evaluation.analysis.statements import readings_of
from tests.evaluation.analysis.golden_runs import Databases, relevance

SHOWN, WORKED, PARTS, SPARED, MISSED = "shown", "worked out", "parts", "not needed", "missed"

LOCATING = [
    pytest.param(
        "straits",
        "Istria",
        "sqlite",
        [
            "SELECT trade_node, ingoing + local_value AS v FROM trade_node WHERE trade_node = 'dovra'"
        ],
        (WORKED, MISSED),
        id="a value inside another number",
    ),
    pytest.param(
        "straits",
        "Nesk",
        "sqlite",
        ["SELECT * FROM trade_node WHERE trade_node IN ('morrow_isle', 'thane_gulf', 'dovra')"],
        (MISSED, MISSED),
        id="three nodes that do not lead to ferris",
    ),
    pytest.param(
        "straits",
        "Nesk",
        "ladybug",
        [
            "MATCH (a:Trade_node)-[x:source]->(b:Trade_node)-[y:source]->(h:Trade_node) "
            "WHERE h.name = 'ferris' RETURN a, x.flow, y.flow"
        ],
        (SHOWN, SHOWN),
        id="a whole node, two steps up",
    ),
    pytest.param(
        "straits",
        "Lomar",
        "sqlite",
        [
            "WITH inflow AS (SELECT dest AS node, SUM(flow) * 1.05 AS amount FROM flow GROUP BY 1) "
            "SELECT n.trade_node, COALESCE(i.amount, 0) AS arrives FROM trade_node n "
            "LEFT JOIN inflow i ON i.node = n.trade_node WHERE n.trade_node = 'corrin'"
        ],
        (WORKED, MISSED),
        id="a sum grouped in WITH by its place",
    ),
    pytest.param(
        "straits",
        "Lomar",
        "ladybug",
        [
            "MATCH (n:Trade_node)<-[f:source]-() WITH n, SUM(f.flow) AS s WHERE n.name = 'corrin' "
            "RETURN s",
            "MATCH (n:Trade_node {name: 'velm'})<-[p:NodeCountry]-() RETURN AVG(p.base_trading_power)",
        ],
        (WORKED, MISSED),
        id="a sum that is filtered later, and a mean of another column",
    ),
    pytest.param(
        "delta",
        "Brask",
        "sqlite",
        [
            "SELECT dest, source, flow FROM flow ORDER BY flow DESC",
            "SELECT MAX(total_power), MIN(total_power) FROM trade_node",
        ],
        (PARTS, MISSED),
        id="all flows of the world, and the extremes of the world's powers",
    ),
    pytest.param(
        "delta",
        "Brask",
        "ladybug",
        [
            "MATCH (c:Country)-[p:NodeCountry]->(n:Trade_node {name: 'farwatch'}) "
            "WHERE p.has_merchant RETURN c.name, p.calculated_trading_power",
            "MATCH (c:Country)-[p:NodeCountry]->(n:Trade_node {name: 'pinegate'}) "
            "RETURN collect(p.calculated_trading_power) AS powers",
        ],
        (MISSED, PARTS),
        id="a list in a cell has the powers of one node, a condition hides those of the other",
    ),
    pytest.param(
        "delta",
        "Tessaly",
        "sqlite",
        [
            "SELECT SUM(flow) AS arriving FROM flow WHERE dest = "
            "(SELECT home_node FROM country WHERE country_name = 'Tessaly')",
            "SELECT n.total_power FROM trade_node n JOIN country c ON c.home_node = n.trade_node "
            "WHERE c.country_name = 'Brask'",
        ],
        (WORKED, MISSED),
        id="the home by a subquery, and somebody else's home by a join",
    ),
    pytest.param(
        "delta",
        "Tessaly",
        "sqlite",
        [
            "SELECT trade_node FROM trade_node WHERE trade_node IN (SELECT source FROM flow "
            "WHERE dest = 'gullhaven') ORDER BY (local_value + ingoing) / total_power DESC LIMIT 1"
        ],
        (WORKED, WORKED),
        id="chosen by a number of both",
    ),
    pytest.param(
        "delta",
        "Tessaly",
        "sqlite",
        [
            "SELECT trade_node, RANK() OVER (ORDER BY ingoing DESC) AS place FROM trade_node",
            "SELECT CASE WHEN total_power > 50 THEN 'strong' ELSE 'weak' END AS kind, trade_node "
            "FROM trade_node",
        ],
        (MISSED, MISSED),
        id="a rank by the bare column, and a case by a bound",
    ),
    pytest.param(
        "delta",
        "Marrow",
        "sqlite",
        [
            "SELECT SUM(flow) FROM flow WHERE dest = 'Stonewell'",
            "SELECT SUM(DISTINCT calculated_trading_power) FROM node_country WHERE trade_node = 'stonewell'",
        ],
        (MISSED, MISSED),
        id="a misspelt spring, and a sum that leaves equal powers out",
    ),
    pytest.param(
        "delta",
        "Marrow",
        "sqlite",
        [
            "SELECT SUM(flow) FROM flow WHERE dest = 'stonewell'",
            "SELECT trade_node, SUM(calculated_trading_power) AS p FROM node_country "
            "GROUP BY trade_node HAVING p > 20",
        ],
        (WORKED, WORKED),
        id="a spring has no flows, and sums of every node of some size",
    ),
    pytest.param(
        "delta",
        "Orvane",
        "ladybug",
        [
            "MATCH (s:Trade_node)-[f:source]->(t:Trade_node) WHERE s.name = 'highmoor' "
            "RETURN t.name, f.flow",
            "MATCH (n:Trade_node) WHERE n.total_power > 60 RETURN n.name, n.is_inland",
        ],
        (MISSED, MISSED),
        id="what leaves a node is no sum of what arrives",
    ),
    pytest.param(
        "straits",
        "Halden",
        "sqlite",
        [
            "SELECT f.source, t.* FROM flow f JOIN trade_node t ON f.source = t.trade_node "
            "JOIN flow g ON g.source = f.dest WHERE g.dest = 'thane_gulf'"
        ],
        (SHOWN, SHOWN),
        id="a star beside a self-join",
    ),
    pytest.param(
        "straits",
        "Halden",
        "sqlite",
        [
            "SELECT AVG(ingoing), AVG(total_power) FROM trade_node WHERE is_inland",
            "SELECT source, SUM(flow) FROM flow GROUP BY source",
        ],
        (MISSED, MISSED),
        id="means over some nodes, and sums over the wrong end",
    ),
]

BUILDING = [
    pytest.param(
        "harbour",
        "salt",
        "sqlite",
        [
            "SELECT g.goods_name, g.pop_demand, s.building_id, s.current_output FROM goods g "
            "JOIN supply s ON s.goods_id = g.code ORDER BY g.code LIMIT 3"
        ],
        (MISSED, MISSED),
        id="the first three rows are of other goods",
    ),
    pytest.param(
        "harbour",
        "ships",
        "ladybug",
        [
            "MATCH (b:Building)-[s:Supply]->(g:Goods) WHERE g.name IN ['ships', 'sails'] "
            "RETURN b.id, g.name, s.current_output / b.level AS each_level"
        ],
        (WORKED, SPARED),
        id="output by level",
    ),
    pytest.param(
        "harbour",
        "ships",
        "sqlite",
        [
            "SELECT g.goods_name, s.building_id, s.current_output, s.level FROM supply s "
            "JOIN goods g ON g.code = s.goods_id WHERE g.goods_name = 'rope'"
        ],
        (SHOWN, MISSED),
        id="output and level side by side of what goes into it",
    ),
    pytest.param(
        "harbour",
        "planks",
        "sqlite",
        [
            "SELECT code, base_price, current_price FROM goods WHERE goods_name = 'planks'",
            "SELECT building_id, max_supply / level AS per_level FROM supply WHERE goods_id = 14",
        ],
        (MISSED, MISSED),
        id="prices alone hold no demand, capacity no output",
    ),
    pytest.param(
        "harbour",
        "fish",
        "sqlite",
        [
            "SELECT pop_demand + (SELECT SUM(max_demand) FROM demand d WHERE d.goods_id = goods.code) "
            "AS wanted FROM goods WHERE goods_name = 'rope'",
            "SELECT building_id, max_supply FROM supply WHERE goods_id = 18",
            "SELECT goods_id, current_input, max_demand FROM demand WHERE building_id = 313",
        ],
        (PARTS, WORKED),
        id="all inputs of one maker, and the demand for what another needs",
    ),
    pytest.param(
        "harbour",
        "fish",
        "sqlite",
        ["SELECT SUM(pop_demand) FROM goods", "SELECT AVG(current_output) FROM supply"],
        (MISSED, MISSED),
        id="a sum and a mean over the whole country",
    ),
    pytest.param(
        "harbour",
        "sails",
        "ladybug",
        [
            "MATCH (b:Building)-[s:Supply]->(:Goods {name: 'Sails'}) RETURN b.id, s.current_output",
            "MATCH (g:Goods) WHERE g.name STARTS WITH 'sail' RETURN g.pop_demand AS wanted",
        ],
        (MISSED, SHOWN),
        id="a capital letter, and a beginning that fits",
    ),
    pytest.param(
        "harbour",
        "rope",
        "ladybug",
        [
            "MATCH (n:Goods)-[d:Demand]->(b:Building)-[s:Supply]->(g:Goods {name: 'rope'}) "
            "WITH b, s, AVG(d.current_input / d.max_demand) AS share RETURN b.id, share, s.max_supply"
        ],
        (WORKED, MISSED),
        id="the mean share beside the capacity",
    ),
    pytest.param(
        "valley",
        "tools",
        "sqlite",
        [
            "SELECT s.building_id FROM supply s JOIN goods g ON g.code = s.goods_id "
            "WHERE g.goods_name = 'tools' ORDER BY s.current_output / s.level DESC"
        ],
        (WORKED, SPARED),
        id="ids in the order of the output by level",
    ),
    pytest.param(
        "valley",
        "tools",
        "sqlite",
        [
            "SELECT s.building_id FROM supply s WHERE s.goods_id = 5 ORDER BY s.current_output DESC",
            "SELECT goods_name FROM goods ORDER BY pop_demand DESC LIMIT 3",
        ],
        (MISSED, MISSED),
        id="ids and names in the order of bare columns",
    ),
    pytest.param(
        "valley",
        "bread",
        "sqlite",
        ["SELECT * FROM goods", "SELECT * FROM supply WHERE building_id > 100"],
        (SHOWN, SHOWN),
        id="whole tables",
    ),
    pytest.param(
        "valley",
        "bread",
        "ladybug",
        ["MATCH (g:Goods {name: 'glass'})<-[s:Supply]-(b:Building) RETURN g, b, s"],
        (MISSED, MISSED),
        id="everything about other goods",
    ),
    pytest.param(
        "valley",
        "bread",
        "ladybug",
        ["MATCH (g:Goods {name: 'bread'})<-[s:Supply]-(b:Building) RETURN g, b, s"],
        (SHOWN, SHOWN),
        id="everything about the goods asked for",
    ),
    pytest.param(
        "valley",
        "flour",
        "sqlite",
        [
            "SELECT SUM(current_output) OVER (PARTITION BY goods_id) - current_output AS others, "
            "goods_id FROM supply WHERE goods_id IN (SELECT code FROM goods WHERE goods_name = 'flour')"
        ],
        (WORKED, MISSED),
        id="what the others make, by a window",
    ),
    pytest.param(
        "valley",
        "flour",
        "sqlite",
        [
            "SELECT g.base_price * (1 + 0.75 * (g.pop_demand - t.made) / g.pop_demand) AS price "
            "FROM goods g JOIN (SELECT goods_id, SUM(current_output) AS made FROM supply "
            "GROUP BY goods_id) t ON t.goods_id = g.code WHERE g.goods_name = 'flour'"
        ],
        (WORKED, WORKED),
        id="a wrong price, of the right numbers",
    ),
]


@pytest.mark.parametrize(("world", "country", "database", "statements", "values"), LOCATING)
def test_locating(  # noqa: PLR0913  (a case)
    databases: Databases,
    world: str,
    country: str,
    database: str,
    statements: list[str],
    values: tuple[str, str],
) -> None:
    """IV and TP_total."""
    assert looked_at(databases, "locating", world, country, database, statements) == values


@pytest.mark.parametrize(("world", "goods", "database", "statements", "values"), BUILDING)
def test_building(  # noqa: PLR0913  (a case)
    databases: Databases,
    world: str,
    goods: str,
    database: str,
    statements: list[str],
    values: tuple[str, str],
) -> None:
    """CO and PD."""
    assert looked_at(databases, "building", world, goods, database, statements) == values


def looked_at(  # noqa: PLR0913  (a case)
    databases: Databases,
    scenario: str,
    world: str,
    about: str,
    database: str,
    statements: list[str],
) -> tuple[str, ...]:
    """Return how a run of these statements came by its critical values."""
    opened = databases[world, database]
    turning = relevance(scenario, world, about)
    kind = "graph" if database == "ladybug" else "relational"
    asked = []
    for statement in statements:
        evidence = observe(opened, statement, Limits())
        assert evidence.error is None, evidence.observation
        schema = None if turning.data is None else turning.data.schema
        asked.append(Asked(evidence, readings_of(evidence, schema, kind, database)))
    return tuple(how.value for how in found_values(asked, critical(scenario), turning).values())


PLANS = [
    (
        "1. Fetch the mills.\n2. Choose.",
        "1. Fetch all of the mills\n2. Choose",
        "Same",
        "unchanged",
    ),
    (
        "- read demand for coal\n- read supply of coal\n- decide",
        "- read the supply of coal\n- read demand for coal\n- decide",
        "Same",
        "re-order",
    ),
    (
        "[Step 1: Query the flows, Step 2: Decide]",
        "[Step 1: Query the flows, Step 2: View the powers, Step 3: Decide]",
        "Increase",
        "add look-up",
    ),
    (
        "1. Get the sources of velm\n2. Answer",
        "1. Get the sources of velm\n2. Solve the price formula for the demand\n3. Answer",
        "Increase",
        "add calculation",
    ),
    (
        "1. Get the sources of velm\n2. Answer",
        "1. Get the sources of velm\n2. Determine the mean ratio of inputs\n3. Answer",
        "Increase",
        "add calculation",
    ),
    (
        "I read the makers, then I decide.",
        "I read the makers, then I work the extra output out, then I decide.",
        "Increase",
        "add calculation",
    ),
    (
        "1. Find makers\n2. Decide",
        "1. Find makers\n2. Show their levels\n3. Multiply both\n4. Decide",
        "Increase",
        "add both actions",
    ),
    (
        "1. Look up power of dovra\n2. Decide",
        "1. Look up power of corrin\n2. Decide",
        "Same",
        "change target",
    ),
    (
        "1. Look up power of dovra\n2. Decide",
        "1. Calculate power of dovra\n2. Decide",
        "Same",
        "replace",
    ),
    (
        "1. 查询出生产工具的建筑。\n2. 计算价格。",
        "1. 计算价格。\n2. 查询出生产工具的建筑。",
        "Same",
        "re-order",
    ),
    (
        "1. 查询面粉的需求和供给。\n2. 选择。",
        "1. 查询面粉的需求。\n2. 查询面粉的供给。\n3. 选择。",
        "Increase",
        "divide to sub-steps",
    ),
    (
        "1. Get coal's price\n2. Get iron's price\n3. Decide",
        "1. Get the prices of coal and iron\n2. Decide",
        "Decrease",
        "merge",
    ),
    (
        "[1. Query a; 2. Query the history of b; 3. Decide]",
        "[1. Query a; 2. Decide]",
        "Decrease",
        "delete",
    ),
    (
        "Step 1: Get factories' outputs\nStep 2: Compare",
        "Step 1: Get the output of each factory\nStep 2: Compare",
        "Same",
        "unchanged",
    ),
    (
        "1. Read the flows\n2. Decide",
        "1. Sort the countries by size\n2. Ask nobody",
        "Same",
        "rewritten",
    ),
]


@pytest.mark.parametrize(("old", "new", "group", "kind"), PLANS)
def test_plans(old: str, new: str, group: str, kind: str) -> None:
    """Groups and kinds."""
    found = kind_of(old, new)
    assert (found.group, found.kind.value) == (group, kind)
