"""A policy's labels, relationship types and properties hold however a statement goes about it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ladybug
import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import QueryError, RefusedStatementError, UsageError
from dqa.core.schema import DatabaseSchema, Field, NodeInfo
from dqa.guard import Policy, check
from dqa.guard.check import Refusal
from dqa.guard.cypher import judge
from dqa.guard.visible import visible_schema

DENIED = Policy(denied_properties=frozenset({"Person.secret"}))
LISTED = Policy(
    labels=frozenset({"Person", "City"}),
    relationship_types=frozenset({"KNOWS"}),
    properties=frozenset({"Person.name"}),
)
POLICIES = {
    "a property": Policy(denied_properties=frozenset({"secret"})),
    "a label's property": DENIED,
    "labels": Policy(labels=frozenset({"Person", "City"})),
    "all but": LISTED,
}

WHOLE = [
    "MATCH (n:Person) RETURN n",
    "MATCH (n:Person) RETURN *",
    "MATCH (n:Person) RETURN n {.*}",
    "MATCH (n:Person) RETURN n[$k]",
    "MATCH (n:Person) RETURN n['secret']",
    "MATCH (n:Person) RETURN n['sec\\u0072et']",
    "MATCH (n:Person) RETURN properties(n)",
    "MATCH (n:Person) RETURN keys(n)",
    "MATCH (n:Person) RETURN toString(n)",
    "MATCH (n:Person) RETURN collect(n)",
    "MATCH (n:Person) RETURN [x IN collect(n) | x.secret]",
    "MATCH (n:Person) RETURN any(x IN collect(n) WHERE x.secret = 'a')",
    "MATCH (n:Person) RETURN head(collect(n)).secret",
    "MATCH (n:Person) RETURN (n).secret",
    "MATCH (n:Person) RETURN [n][0]",
    "MATCH (n:Person) RETURN {a: n}",
    "MATCH (n:Person) WITH {a: n} AS m RETURN m.a.secret",
    "MATCH (n:Person) WITH n AS m RETURN m",
    "MATCH (n:Person) WITH collect(n) AS l UNWIND l AS m RETURN m.secret",
    "MATCH (n:Person) RETURN CASE WHEN true THEN n END",
    "MATCH (n:Person) RETURN coalesce(n, null)",
    "MATCH (n:Person) RETURN max(n)",
    "MATCH (n:Person) RETURN reduce(a = null, x IN collect(n) | x)",
    "MATCH (n:Person) RETURN reduce(a = n, x IN [] | head(x))",
    "MATCH (n:Person) RETURN n {.name, n}",
    "MATCH (a:City) ((leading:Person)-->(y))+ (b:City) RETURN collect(leading[0])",
    "MATCH (where:Person) RETURN collect(where)",
    "MATCH (distinct:Person) RETURN distinct['secret']",
    "MATCH (n:Person) WITH n AS not RETURN not['secret']",
    "MATCH (n:Person) RETURN [n, 1 = 1]",
    "MATCH (n:Person) CALL { WITH n RETURN n AS m } RETURN m",
    "MATCH (n:Person) RETURN COLLECT { MATCH (m:Person) RETURN m }",
    "RETURN [(n:Person)-->() | n]",
    "MATCH p = (:Person)-->(:City) RETURN p",
    "MATCH p = (:Person)-->(:City) RETURN [x IN nodes(p) | x.secret]",
    "RETURN shortestPath((:Person)-[*]-(:City))",
    "MATCH ()-[r]->() RETURN endNode(r).secret",
    "MATCH (a:City) ((x)-->(y:Person))+ (b:City) RETURN [q IN y | q.secret]",
    "MATCH (n:Person) RETURN n ORDER BY n.name",
    "MATCH (n:Person) RETURN apoc.convert.toJson(n)",
    "CALL db.index.fulltext.queryNodes('i', 'x') YIELD node RETURN node.name",
    "CALL db.index.vector.queryNodes('i', 1, [1.0]) YIELD score RETURN score",
    "MATCH (n:Person) SEARCH n IN (VECTOR INDEX i FOR [0.1] LIMIT 1) RETURN n.name",
    "CALL db.propertyKeys()",
    "CALL db.schema.nodeTypeProperties()",
    "SHOW INDEXES",
    "EXPLAIN MATCH (n:Person) RETURN n.name",
]
BY_NAME = [
    "MATCH (n:Person) RETURN n.secret",
    "MATCH (n:Person) RETURN n {.secret}",
    "MATCH (n:Person) RETURN n {x: n.secret}",
    "MATCH (n:Person) RETURN n.name ORDER BY n.secret",
    "MATCH (n:Person {secret: 'x'}) RETURN n.name",
    "MATCH (n:Person WHERE n.secret = 'x') RETURN 1",
    "MATCH (n:Person) WITH n AS m RETURN m.secret",
    "MATCH (n:Person) WHERE EXISTS { MATCH (n) WHERE n.secret = 'a' } RETURN 1",
]
KEPT = [
    "MATCH (n:Person) RETURN n.name",
    "MATCH (n:City) RETURN n.secret",
    "MATCH (n:City {secret: 'x'}) RETURN n.name",
    "MATCH (n) RETURN n.name",
    "MATCH (n:Person) RETURN count(n), id(n), labels(n), elementId(n)",
    "MATCH (n:Person)-[r:KNOWS]->(m:Person) WHERE n <> m RETURN n.name, type(r), r.since",
    "MATCH (n:Person) WITH n, count(*) AS c RETURN n.name, c",
    "MATCH (n:Person) RETURN n {.name} AS n",
    "MATCH p = (:Person)-[:KNOWS*]->(:Person) RETURN length(p)",
    "MATCH (n:Person) RETURN collect(n.name) AS names",
    "MATCH (n:Person) WHERE EXISTS { (n)-->(:City) } RETURN n.name",
    "WITH {secret: 1} AS m RETURN m.secret",
    "RETURN date().year",
]
HIDDEN = [
    "MATCH (n:Secret) RETURN n.name",
    "MATCH (n:Person)-[:HATES]->(m:City) RETURN m.name",
    "MATCH (n:Person) WHERE n:Secret RETURN 1",
    "MATCH (n:Person|Secret) RETURN 1",
    "MATCH (n:Person)-[:KNOWS*1..3]->(m:City) RETURN m.name",
    "MATCH p = shortestPath((:Person)-[*]-(:City)) RETURN length(p)",
    "SHOW INDEXES",
    "CALL db.labels()",
    "MATCH (n:Person) WHERE (n)-[:KNOWS]->(:Secret) RETURN 1",
    "MATCH (n:Person&$('Secret')) RETURN n.name",
    "MATCH (n:!$(['Secret'])) RETURN n.name",
    "MATCH (n:Person) WHERE n:$any(['Secret']) RETURN n.name",
]
LADYBUG = [
    "MATCH (n:City) RETURN N.*",
    "MATCH (n:City) RETURN struct_extract(n, 'secret')",
    "MATCH (n:City) RETURN to_string(n)",
    "MATCH (n:City) RETURN cast(n AS STRING)",
    "MATCH (n:City) RETURN hash(n)",
    "MATCH (n:City) RETURN concat('a', n)",
    "MATCH (n:City) RETURN n + 'x'",
    "MATCH (n:City) RETURN list_transform(collect(n), x -> x.secret)",
    "MATCH p = (n:City)-[:ROAD]->(:City) RETURN properties(nodes(p), 'secret')",
    "MATCH (n:City) WITH n AS m RETURN M",
    "CALL query_fts_index('City', 'i', 'x') RETURN score",
    "CALL show_tables() RETURN *",
    "CALL table_info('City') RETURN *",
    "CALL stats_info('City') RETURN *",
]
TWINS = [
    "MATCH (n) RETURN n.name, n.secret ORDER BY n.name",
    "MATCH (n) RETURN count(*), count(n.secret), min(n.secret)",
    "MATCH (n) WHERE n.secret = 's1' RETURN count(*)",
    "MATCH (n:Person) RETURN n.name ORDER BY n.secret, n.name",
    "MATCH (n:Person|City) RETURN n.secret",
    "MATCH (n:Person)-[r]->(m) RETURN n.name, label(r), m.name, m.secret ORDER BY n.name, m.name",
    "MATCH (n)-[r]-(m) RETURN count(*)",
    "MATCH (n)--(m) RETURN count(*)",
    "MATCH (n:Person)-[r:KNOWS*1..2]->(m) RETURN count(*), max(length(r))",
    "MATCH (n:Person) WITH n AS m WHERE m.secret <> 's1' RETURN m.name",
    "MATCH (n:Person) WHERE EXISTS { MATCH (n)-->(m) WHERE m.secret = 's2' } RETURN n.name",
    "MATCH (n:Person) RETURN n.name, COUNT { MATCH (n)--() } AS c ORDER BY n.name",
    "MATCH (n) RETURN n ORDER BY n.name",
    "MATCH (n) RETURN label(n), count(*) ORDER BY label(n)",
    *WHOLE,
    *BY_NAME,
    *LADYBUG,
]


def is_allowed(statement: str, dialect: str, policy: Policy) -> bool:
    """Return whether the guard lets a statement run."""
    return check(statement, dialect, policy).allowed


@pytest.mark.parametrize("statement", [*WHOLE, *BY_NAME])
def test_a_denied_property_cannot_be_read(statement: str) -> None:
    """Not by name, computed name, whole element, map, path, order, pattern, index or plan."""
    assert is_allowed(statement, "neo4j", Policy())
    assert not is_allowed(statement, "neo4j", DENIED)


@pytest.mark.parametrize("statement", KEPT)
def test_everything_else_can_be_read(statement: str) -> None:
    """Other properties, other labels, counts, identities and comparisons stay allowed."""
    verdict = check(statement, "neo4j", DENIED)
    assert verdict.allowed, verdict.reason


@pytest.mark.parametrize("statement", HIDDEN)
def test_what_is_not_listed_cannot_be_named(statement: str) -> None:
    """Nor reached by paths of any length, nor told of by what describes the database."""
    assert is_allowed(statement, "neo4j", Policy())
    assert not is_allowed(statement, "neo4j", LISTED)


@pytest.mark.parametrize("statement", LADYBUG)
@pytest.mark.parametrize("denied", ["secret", "city.SECRET"])
def test_ladybug_compares_names_without_capitals(statement: str, denied: str) -> None:
    """As the engine does: `N.SECRET` is `n.secret`."""
    assert is_allowed(statement, "ladybug", Policy())
    assert not is_allowed(statement, "ladybug", Policy(denied_properties=frozenset({denied})))


@pytest.mark.parametrize(
    ("statement", "runs"),
    [
        ("MATCH (n) RETURN n.x", "MATCH (n:`City`|`Person`) RETURN n.x"),
        ("MATCH (n:!City) RETURN 1", "MATCH (n:!City&(`City`|`Person`)) RETURN 1"),
        ("MATCH (n:City)--(:Person) RETURN 1", "MATCH (n:City)-[:`KNOWS`]-(:Person) RETURN 1"),
        ("MATCH ()-[r]->() RETURN 1", None),
    ],
)
def test_a_pattern_asks_for_what_may_be_read(statement: str, runs: str | None) -> None:
    """What names no label or type finds those of the policy."""
    policy = Policy(labels=frozenset({"Person", "City"}), relationship_types=frozenset({"KNOWS"}))
    both = ":`City`|`Person`"
    assert judge(statement, "neo4j", policy) == (
        runs or f"MATCH ({both})-[r:`KNOWS`]->({both}) RETURN 1"
    )


def test_a_denied_property_is_null_where_another_label_has_it() -> None:
    """A node may have several labels, so that is told by the server, for each node."""
    runs = judge("MATCH (n) RETURN n.secret", "neo4j", DENIED)
    assert runs == (
        "MATCH (n) RETURN (CASE WHEN n:`Person` THEN null ELSE n.secret END) AS `n.secret`"
    )
    with pytest.raises(Refusal, match="of Person may not be read"):
        judge("MATCH (n:Person) RETURN n.secret", "neo4j", DENIED)


def test_a_path_by_the_weight_of_a_denied_property_is_refused() -> None:
    """The number of shortest paths, or their steps, would depend on it."""
    for denied in ("since", "KNOWS.since"):
        policy = Policy(denied_properties=frozenset({denied}))
        for relationship in ("r:KNOWS* ALL WSHORTEST(SINCE)", "* WSHORTEST(since)"):
            statement = f"MATCH (a:Person)-[{relationship}]->(b:Person) RETURN count(*)"
            assert is_allowed(statement, "ladybug", Policy())
            assert not is_allowed(statement, "ladybug", policy)


def built(path: Path, policy: Policy, other: str) -> Database:
    """Return a graph whose hidden parts are as `other` says."""
    database = ladybug.Database(str(path), buffer_pool_size=1 << 27, max_db_size=1 << 30)
    connection = ladybug.Connection(database)
    seen = "City.secret" if policy is not POLICIES["a property"] else ""
    secrets = {"Person": f"'{other}'", "City": "'s2'" if seen else f"'{other}'"}
    if policy is POLICIES["labels"]:
        secrets["Person"] = "'s1'"
    for statement in (
        "CREATE NODE TABLE Person(name STRING PRIMARY KEY, secret STRING)",
        "CREATE NODE TABLE City(name STRING PRIMARY KEY, secret STRING)",
        "CREATE NODE TABLE Secret(name STRING PRIMARY KEY)",
        "CREATE REL TABLE KNOWS(FROM Person TO Person, since INT64)",
        "CREATE REL TABLE LIVES(FROM Person TO City)",
        "CREATE REL TABLE HATES(FROM Person TO Secret)",
        f"CREATE (:Person {{name: 'Ann', secret: {secrets['Person']}}})",
        "CREATE (:Person {name: 'Bob', secret: 's1'})"
        if other == "s1" or policy is POLICIES["labels"]
        else "CREATE (:Person {name: 'Bob'})",
        f"CREATE (:City {{name: 'Oslo', secret: {secrets['City']}}})",
        "MATCH (a:Person), (b:Person) WHERE a.name < b.name CREATE (a)-[:KNOWS {since: 1}]->(b)",
        "MATCH (a:Person), (b:City) CREATE (a)-[:LIVES]->(b)",
    ):
        connection.execute(statement)
    if policy.labels is not None and other == "s1":
        connection.execute("CREATE (:Secret {name: 'x'})")
        connection.execute("MATCH (a:Person), (b:Secret) CREATE (a)-[:HATES]->(b)")
    connection.close()
    database.close()
    return plugins.backend("ladybug").open(str(path), policy=policy)


def outcome(database: Database, statement: str) -> object:
    """Return what whoever asks a statement is given."""
    try:
        rows = database.query(statement)
    except QueryError as error:
        return str(error)
    return rows.columns, rows.rows if "ORDER BY" in statement else sorted(rows.rows, key=repr)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_what_is_hidden_changes_no_result(tmp_path: Path, policy: Policy) -> None:
    """Two graphs that differ in what is hidden alone answer every statement alike."""
    one, other = (built(tmp_path / name, policy, name) for name in ("s1", "s3"))
    ran = 0
    for statement in TWINS:
        found = outcome(one, statement)
        assert found == outcome(other, statement), statement
        ran += not isinstance(found, str)
    assert ran >= 3
    assert one.schema() == other.schema()
    assert "Secret" not in one.schema().to_text() or policy.labels is None
    one.close()
    other.close()


def test_a_hidden_property_is_in_no_key_and_no_comment() -> None:
    """The schema shows a label without its hidden key, and without a comment that names it."""
    person = NodeInfo(
        "Person", (Field("name", "STRING"), Field("secret", "STRING")), "secret", "secret is unique"
    )
    (seen,) = visible_schema(DatabaseSchema(nodes=(person,)), "neo4j", DENIED).nodes
    assert (seen.properties, seen.key, seen.comment) == (person.properties[:1], None, "")


def test_masks_and_row_filters_are_for_tables(tmp_path: Path) -> None:
    """A graph is not opened with them, and the error says what to use."""
    for policy in (
        Policy(masks={"Person.secret": None}),
        Policy(row_filters={"Person": "x.name = 'Ann'"}),
    ):
        with pytest.raises(UsageError, match="denied_properties"):
            built(tmp_path / f"{len(policy.masks)}", policy, "s1")


@pytest.fixture(scope="module")
def neo4j_session() -> Iterator[Any]:
    """Give a session of the server that `DQA_TEST_NEO4J_URL` names."""
    url = os.environ.get("DQA_TEST_NEO4J_URL")
    if not url:
        pytest.skip("DQA_TEST_NEO4J_URL is not set")
    neo4j = pytest.importorskip("neo4j")
    credentials, _, host = url.removeprefix("bolt://").rpartition("@")
    user, _, password = credentials.partition(":")
    with (
        neo4j.GraphDatabase.driver(f"bolt://{host}", auth=(user, password)) as driver,
        driver.session() as session,
    ):
        for label, secret in (("dqa_twin_x", "s1"), ("dqa_twin_y", "other")):
            session.run(
                f"CREATE (a:Person:{label} {{name: 'Ann', secret: $s}})-[:KNOWS {{since: 1}}]->"
                f"(b:Person:City:{label} {{name: 'Bob', secret: $s}})-[:LIVES]->"
                f"(c:City:{label} {{name: 'Oslo', secret: 's2'}})",
                s=secret,
            ).consume()
        session.run(
            "MATCH (a:Person:dqa_twin_x {name: 'Ann'}), (c:City:dqa_twin_x {name: 'Oslo'}) "
            "CREATE (a)-[:HATES]->(:Secret:dqa_twin_x {name: 'x'})-[:KNOWS]->(c)"
        ).consume()
        yield session
        session.run("MATCH (n:dqa_twin_x|dqa_twin_y) DETACH DELETE n").consume()


@pytest.mark.integration
@pytest.mark.parametrize("statement", [*TWINS, *KEPT])
def test_what_is_hidden_changes_no_result_of_a_server(neo4j_session: Any, statement: str) -> None:
    """On Neo4j, whose nodes may have several labels, too."""
    neo4j = pytest.importorskip("neo4j")
    policy = Policy(
        labels=frozenset({"Person", "City"}), denied_properties=frozenset({"Person.secret"})
    )
    found: list[object] = []
    for label in ("dqa_twin_x", "dqa_twin_y"):
        inside = Policy(
            labels=policy.labels, denied_properties=policy.denied_properties, inside=label
        )
        try:
            runs = judge(statement.replace("label(", "labels("), "neo4j", inside)
            records = [record.values() for record in neo4j_session.run(runs)]
            found.append(sorted(map(repr, records)) if "Id(" not in statement else len(records))
        except Refusal:
            found.append("refused")
        except neo4j.exceptions.Neo4jError as error:
            found.append(error.code)
    assert found[0] == found[1]


def test_an_index_search_is_refused_whatever_it_yields(tmp_path: Path) -> None:
    """Its score alone would tell what a hidden property holds."""
    database = built(tmp_path / "x", DENIED, "s1")
    with pytest.raises(RefusedStatementError, match="whole database"):
        database.query("CALL query_fts_index('Person', 'i', 's1') RETURN count(*)")
    database.close()
