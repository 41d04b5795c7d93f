"""Neo4j: what is loaded is what was meant, once, whole, and as if it were alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa.core.database import Database, Limits
from dqa.core.display import dump_row
from dqa.core.errors import (
    DatabaseUnavailableError,
    RefusedStatementError,
    StatementError,
    UsageError,
)
from dqa.core.situation import Situation, Table
from dqa.databases.namespaces import namespace_for
from dqa.databases.neo4j import namespaces as writer
from dqa.databases.neo4j.server import Address, Server
from dqa.guard import Policy
from tests.databases.engines import Target, read_back, small_situation, world
from tests.integration.conftest import targeted


@pytest.fixture
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    """Return the server."""
    yield from targeted("neo4j", request, tmp_path)


@pytest.fixture(scope="module")
def small(request: pytest.FixtureRequest) -> Iterator[Database]:
    """Give a small world of its own, beside another of the same scenario."""
    other = small_situation(1)
    countries = other["country"].replace(country_name=["NOR", "POL"])
    stakes = other["node_country"].replace(country_name=["NOR", "NOR", "POL"])
    beside = {**other.tables, "country": countries, "node_country": stakes}
    for target in targeted("neo4j", request, Path()):
        target.load(Situation(other.schema, "other", beside))
        yield target.load(other)


def everything(url: str, statement: str, **given: Any) -> list[dict[str, Any]]:
    """Ask the whole database, past every limit to a situation."""
    with closing(Server(Address.parse(url))) as server, server.writing() as session:
        return session.run(statement, given).data()


def test_rows_that_are_alike_and_keys_that_labels_share_are_kept(target: Target) -> None:
    """Two equal relationships stay two, and a country may be called like a trade node."""
    situation = small_situation()
    flow = situation["flow"]
    rows = [*flow.rows(), *flow.rows()]
    country = situation["country"].replace(country_name=["lubeck", "SWE"])
    stakes = situation["node_country"].replace(country_name=["lubeck", "SWE", "SWE"])
    situation = situation.replace(
        flow=Table.from_rows(flow.schema, rows), country=country, node_country=stakes
    )
    database = target.load(situation)
    assert read_back(database, situation) == situation
    assert database.query("MATCH (n {name: 'lubeck'}) RETURN count(*)").rows == ((2,),)


def test_unload_drops_indexes_and_no_other_nodes(target: Target) -> None:
    """Constraints and indexes of the namespace are dropped; a user's own nodes stay."""
    situation = world(3)
    everything(target.url, "CREATE (:Country:Dqa_test_own {name: 'mine'})")
    target.load(situation)
    namespace = namespace_for(situation)
    target.backend.unload(target.url, namespace)
    for kind in ("CONSTRAINTS", "INDEXES"):
        shown = f"SHOW {kind} YIELD labelsOrTypes AS on WHERE $namespace IN on RETURN on"
        assert not everything(target.url, shown, namespace=namespace)
    assert everything(
        target.url, "MATCH (n:Dqa_test_own) WITH n, n.name AS name DELETE n RETURN name"
    ) == [{"name": "mine"}]
    for missing in ("Country", "dqa_situation"):
        with pytest.raises(UsageError, match="does not contain a situation"):
            target.backend.unload(target.url, missing)


def test_a_load_that_fails_leaves_nothing(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes, tag and indexes."""

    def failing(*given: Any) -> None:
        fill(*given)
        raise ConnectionResetError

    situation, fill = world(3), writer._fill
    namespace = namespace_for(situation)
    monkeypatch.setattr(writer, "_fill", failing)
    with pytest.raises(DatabaseUnavailableError):
        target.load(situation)
    tags = f"MATCH (t:dqa_situation {{place: '{namespace}'}}) RETURN t"
    shown = f"SHOW INDEXES YIELD labelsOrTypes AS on WHERE '{namespace}' IN on RETURN on"
    for statement in (f"MATCH (n:{namespace}) RETURN n", tags, shown):
        assert not everything(target.url, statement)


def test_another_situation_is_replaced_only_after_it_is_dropped(target: Target) -> None:
    """The tag has another content hash."""
    situation = small_situation()
    namespace = namespace_for(situation)
    target.load(situation)
    everything(
        target.url, f"MATCH (t:dqa_situation {{place: '{namespace}'}}) SET t.content_hash = 'x'"
    )
    with pytest.raises(UsageError):
        target.load(situation)
    target.backend.unload(target.location(situation), namespace)
    assert read_back(target.load(situation), situation) == situation


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("MATCH (n) RETURN count(*)", ((5,),)),
        (
            "MATCH (n) RETURN DISTINCT labels(n) AS l, size(labels(n))",
            ((["Trade_node"], 1), (["Country"], 1)),
        ),
        ("MATCH ()-[r]-() RETURN count(DISTINCT r)", ((5,),)),
        ("MATCH p = (a)-[*1..4]-(b) WHERE any(n IN nodes(p) WHERE n.name = 'NOR') RETURN p", ()),
        (
            "RETURN COLLECT { MATCH (c:Country) RETURN c.name ORDER BY c.name }",
            ((["DAN", "SWE"],),),
        ),
        ("CALL { MATCH (n) RETURN n } RETURN count(n)", ((5,),)),
        ("MATCH (n) WHERE EXISTS { (:Country {name: 'NOR'}) } RETURN n", ()),
        ("MATCH (t:Trade_node {name: 'kiev'}) RETURN size([(t)--(x) | x.name])", ((4,),)),
        ("MATCH (n) WHERE n.place IS NOT NULL RETURN n", "Cannot find property place"),
        ("MATCH (n:dqa_situation) RETURN n", "no label or type dqa_situation"),
        ("MATCH (n:Contry) RETURN n", "Did you mean 'Country'"),
        ("CALL { USE neo4j MATCH (n) RETURN n } RETURN n", "USE"),
        ("MATCH (n:$any(['dqa_situation'])) RETURN n", ()),
        ("CALL db.labels()", "whole database"),
        ("SHOW INDEXES", "whole database"),
    ],
)
def test_a_situation_looks_as_if_it_were_alone(
    small: Database, statement: str, rows: tuple[Any, ...] | str
) -> None:
    """No pattern, path or subquery reaches another's nodes or the tags, and no label shows."""
    if isinstance(rows, str):
        with pytest.raises((StatementError, RefusedStatementError), match=rows):
            small.query(statement)
    else:
        found = small.query(statement)
        assert found.rows == rows
        assert "dqa_" not in found.to_text()


def test_the_schema_reads_as_every_graph_does(small: Database) -> None:
    """What holds no value is there too, and nothing that was added for the loader."""
    assert small.schema().to_text().splitlines() == [
        (
            "(:Trade_node {name: STRING key, local_value: FLOAT, is_inland: BOOLEAN, "
            "total_power: FLOAT, outgoing: FLOAT, ingoing: FLOAT})"
        ),
        "(:Country {name: STRING key, home_node: STRING, development: FLOAT})",
        "(:Trade_node)-[:source {flow: FLOAT}]->(:Trade_node)",
        (
            "(:Country)-[:NodeCountry {is_home: BOOLEAN, has_merchant: BOOLEAN, "
            "base_trading_power: FLOAT, calculated_trading_power: FLOAT}]->(:Trade_node)"
        ),
    ]


def test_values_are_plain(small: Database) -> None:
    """Nodes, relationships, paths, times and points as JSON or ISO 8601; names as written."""
    node = {"_LABEL": "Country", "development": 10.5, "home_node": "lubeck", "name": "SWE"}
    found = small.query(
        "MATCH (n:Country {name: 'SWE'}) RETURN n, labels(n), exists { (n)--() }, "
        "date('2020-01-02'), duration('P1D'), point({x: 1, y: 2}), [1, null], {a: 0.5}, 1 / 3.0, "
        "datetime('2024-07-01T10:00[Europe/Berlin]')"
    )
    assert found.columns[:3] == ("n", "labels(n)", "exists { (n)--() }")
    assert found.rows == (
        (
            *(node, ["Country"], True, "2020-01-02", "P1D"),
            *({"srid": 7203, "x": 1.0, "y": 2.0}, [1, None], {"a": 0.5}, 1 / 3.0),
            "2024-07-01T10:00:00.000000000+02:00[Europe/Berlin]",
        ),
    )
    path = small.query("MATCH p = (:Country {name: 'SWE'})-[{is_home: true}]->() RETURN p").rows
    assert isinstance(path[0][0], dict)
    assert '[{"_LABEL": "NodeCountry", "base_trading_power": 8.0' in dump_row([path[0][0]["_RELS"]])


def test_a_whole_database_is_described_from_its_data(target: Target) -> None:
    """Labels and types with what they have, and none that this project made for itself."""
    target.load(small_situation())
    everything(
        target.url, "CREATE (:Dqa_test_own {a: 1, b: ['x']})-[:Dqa_test_by]->(:Dqa_test_end)"
    )
    try:
        database = target.backend.open(target.url)
        text = database.schema().to_text()
        database.close()
    finally:
        everything(target.url, "MATCH (n:Dqa_test_own|Dqa_test_end) DETACH DELETE n")
    assert "(:Dqa_test_own {a: INTEGER, b: LIST<STRING>})" in text
    assert "(:Dqa_test_own)-[:Dqa_test_by {}]->(:Dqa_test_end)" in text
    assert "(:Country)-[:NodeCountry {base_trading_power: FLOAT" in text
    assert "dqa_" not in text


def test_a_schema_omits_no_type_and_no_pair(target: Target) -> None:
    """Nodes without a label, and labels that a graph builder gives to every node."""
    everything(
        target.url,
        "CREATE (:__Entity__:__KGBuilder__:Dqa_test_a {x: 1})"
        "-[:Dqa_test_r {w: 1}]->(:Dqa_test_none)"
        ", (:__Entity__:Dqa_test_a)-[:Dqa_test_r]->(:__Entity__:Dqa_test_b)",
    )
    everything(target.url, "MATCH (n:Dqa_test_none) REMOVE n:Dqa_test_none")
    try:
        database = target.backend.open(target.url)
        lines = [line for line in database.schema().lines() if "Dqa_test" in line or "__" in line]
        misspelt = dqa.query(database, "MATCH (n:Dqa_test_aa)-[:Dqa_test_rr]->() RETURN n.xx")
        shown = database.query("SHOW DATABASES YIELD name RETURN name")
        database.close()
    finally:
        everything(
            target.url,
            "MATCH (n:Dqa_test_a|Dqa_test_b) OPTIONAL MATCH (n)-[:Dqa_test_r]->(m) "
            "DETACH DELETE n, m",
        )
    assert "(:Dqa_test_a)-[:Dqa_test_r {w: INTEGER}]->()" in lines
    assert "(:Dqa_test_a)-[:Dqa_test_r {}]->(:Dqa_test_b)" in lines  # a policy may hide the other
    assert len(lines) == 6
    assert "(:__Entity__ {}) /* on nodes that have other labels, too */" in lines
    for name in ("label Dqa_test_aa", "relationship type Dqa_test_rr", "property xx"):
        assert f"there is no {name}" in misspelt.warning
    assert ("system",) in shown.rows


def test_a_sample_is_called_one_and_the_own_database_may_be_used(target: Target) -> None:
    """A schema of more nodes than are read says so; USE may name the opened database only."""
    everything(target.url, "UNWIND range(1, 10001) AS i CREATE (:Dqa_test_many {i: i})")
    try:
        database = target.backend.open(target.url)
        (node,) = (n for n in database.schema().nodes if n.label == "Dqa_test_many")
        ((name,),) = database.query("CALL db.info() YIELD name RETURN name").rows
        assert database.query(f"USE {name} RETURN 1").rows == ((1,),)
        with pytest.raises(RefusedStatementError):
            database.query("USE system RETURN 1")
        database.close()
    finally:
        everything(target.url, "MATCH (n:Dqa_test_many) DELETE n")
    assert (node.comment, [(f.name, f.type) for f in node.properties]) == (
        "a sample of 10,000 of 10,001",
        [("i", "INTEGER")],
    )


def test_statements_that_change_the_server_fail_without_the_guard(small: Any) -> None:
    """The plan shows that they do more than read."""
    for statement in (
        "CREATE USER x SET PASSWORD 'abcdefgh'",
        "CALL db.createLabel('X')",
        "CALL db.clearQueryCaches()",
        "CALL dbms.killConnection('bolt-1')",
        "CALL tx.setMetaData({a: 1})",
        "CALL { CREATE (:X) } IN TRANSACTIONS",
    ):
        with pytest.raises((RefusedStatementError, StatementError)):
            small._session.run(statement, Limits())


def test_a_missing_namespace_is_an_error(target: Target) -> None:
    """It is named in the URL."""
    with pytest.raises(UsageError, match="does not contain a situation"):
        target.backend.open(f"{target.url}?namespace=dqa_missing")


def test_a_policy_holds_on_a_whole_database(target: Target) -> None:
    """Labels, types, properties and procedures."""
    policy = Policy(
        labels=frozenset({"Country"}),
        relationship_types=frozenset({"NodeCountry"}),
        denied_properties=frozenset({"development"}),
        procedures=frozenset({"db.ping"}),
    )
    target.load(small_situation())
    with closing(target.backend.open(target.url, policy=policy)) as database:
        found = database.query("MATCH (c:Country {name: 'SWE'}) RETURN DISTINCT c.home_node")
        assert found.rows == (("lubeck",),)
        for statement in (
            "MATCH (t:Trade_node) RETURN t.name",
            "MATCH (c:Country) RETURN c.development",
            "RETURN {_LABEL: ['Country', 'Town']}",
            "CALL db.labels()",
        ):
            with pytest.raises(RefusedStatementError):
                database.query(statement)
        schema = database.schema()
    assert [node.label for node in schema.nodes] == ["Country"]
    assert "development" not in schema.to_text()
    assert schema.edges == ()
