"""A policy's labels, relationship types and properties hold for every form of a statement."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ladybug
import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import QueryError, RefusedStatementError, UsageError
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo
from dqa.guard import Policy, check
from dqa.guard.check import Refusal
from dqa.guard.cypher import judge
from dqa.guard.visible import visible_schema
from tests.guard.case_files import read_cases

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

CASES = read_cases("graph_policies")
"""Statements that read a ``whole`` element or a property ``by_name``, name ``hidden`` parts, are
allowed (``kept``) or are of ``ladybug``; and ``twins``, which two graphs must answer alike."""
TWINS = [s for kind in ("twins", "whole", "by_name", "ladybug") for s in CASES[kind]]


def is_allowed(statement: str, dialect: str, policy: Policy) -> bool:
    """Return whether the guard lets a statement run."""
    return check(statement, dialect, policy).allowed


@pytest.mark.parametrize(
    ("kinds", "dialect", "policy"),
    [
        # By name, computed name, whole element, map, path, order, pattern, index or plan.
        (("whole", "by_name"), "neo4j", DENIED),
        # Neither by paths of any length, nor by describing statements.
        (("hidden",), "neo4j", LISTED),
        # The engine compares names without capitals: `N.SECRET` is `n.secret`.
        (("ladybug",), "ladybug", Policy(denied_properties=frozenset({"secret"}))),
        (("ladybug",), "ladybug", Policy(denied_properties=frozenset({"city.SECRET"}))),
    ],
)
def test_denied_data_cannot_be_read(kinds: tuple[str, ...], dialect: str, policy: Policy) -> None:
    """Without the policy the statements are allowed."""
    for statement in (statement for kind in kinds for statement in CASES[kind]):
        assert is_allowed(statement, dialect, Policy()), statement
        assert not is_allowed(statement, dialect, policy), statement


def test_everything_else_can_be_read() -> None:
    """Other properties, other labels, counts, identities and comparisons."""
    for statement in CASES["kept"]:
        verdict = check(statement, "neo4j", DENIED)
        assert verdict.allowed, verdict.reason


@pytest.mark.parametrize(
    ("statement", "runs"),
    [
        ("MATCH (n) RETURN n.x", "MATCH (n:`City`|`Person`) RETURN n.x"),
        ("MATCH (n:!City) RETURN 1", "MATCH (n:!City&(`City`|`Person`)) RETURN 1"),
        ("MATCH (n:City)--(:Person) RETURN 1", "MATCH (n:City)-[:`KNOWS`]-(:Person) RETURN 1"),
        ("MATCH ()-[r]->() RETURN 1", None),
    ],
)
def test_a_pattern_without_a_label_matches_the_allowed_ones(
    statement: str, runs: str | None
) -> None:
    policy = Policy(labels=frozenset({"Person", "City"}), relationship_types=frozenset({"KNOWS"}))
    both = ":`City`|`Person`"
    assert judge(statement, "neo4j", policy).statement == (
        runs or f"MATCH ({both})-[r:`KNOWS`]->({both}) RETURN 1"
    )


def test_a_denied_property_is_null_where_another_label_has_it() -> None:
    """A node may have several labels, so the server decides for each node."""
    runs = judge("MATCH (n) RETURN n.secret", "neo4j", DENIED).statement
    assert runs == (
        "MATCH (n) RETURN (CASE WHEN n:`Person` THEN null ELSE n.secret END) AS `n.secret`"
    )
    with pytest.raises(Refusal, match="of Person may not be read"):
        judge("MATCH (n:Person) RETURN n.secret", "neo4j", DENIED)


def test_a_path_by_the_weight_of_a_denied_property_is_refused() -> None:
    """The number or the steps of shortest paths would depend on it."""
    for denied in ("since", "KNOWS.since"):
        policy = Policy(denied_properties=frozenset({denied}))
        for relationship in ("r:KNOWS* ALL WSHORTEST(SINCE)", "* WSHORTEST(since)"):
            statement = f"MATCH (a:Person)-[{relationship}]->(b:Person) RETURN count(*)"
            assert is_allowed(statement, "ladybug", Policy())
            assert not is_allowed(statement, "ladybug", policy)


def build_graph(path: Path, policy: Policy, other: str) -> Database:
    """Create a graph whose hidden values are `other`."""
    database = ladybug.Database(str(path), buffer_pool_size=1 << 27, max_db_size=1 << 30)
    connection = ladybug.Connection(database)
    seen = "City.secret" if policy is not POLICIES["a property"] else ""
    secrets = {"Person": f"'{other}'", "City": "'s2'" if seen else f"'{other}'"}
    if policy is POLICIES["labels"]:
        secrets["Person"] = "'s1'"
    bob = "" if other != "s1" and policy is not POLICIES["labels"] else ", secret: 's1'"
    for statement in CASES["graph"]:
        connection.execute(statement.format(**secrets, bob=bob))
    if policy.labels is not None and other == "s1":
        connection.execute("CREATE (:Secret {name: 'x'})")
        connection.execute("MATCH (a:Person), (b:Secret) CREATE (a)-[:HATES]->(b)")
    connection.close()
    database.close()
    return plugins.backend("ladybug").open(str(path), policy=policy)


def outcome(database: Database, statement: str) -> object:
    """Return the answer to a statement: rows or an error."""
    try:
        rows = database.query(statement)
    except QueryError as error:
        return str(error)
    return rows.columns, rows.rows if "ORDER BY" in statement else sorted(rows.rows, key=repr)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_hidden_data_changes_no_result(tmp_path: Path, policy: Policy) -> None:
    """Two graphs that differ only in hidden data answer every statement alike."""
    one, other = (build_graph(tmp_path / name, policy, name) for name in ("s1", "s3"))
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


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("MATCH (n:Person) WHERE (n)-[:LIVES]->() RETURN n.name", "Ann Bob"),
        ("MATCH (n:Person) WITH n AS m WHERE (m)-[:LIVES]->() RETURN m.name", "Ann Bob"),
        ("MATCH (n:Person) WHERE EXISTS { MATCH (n)-[:KNOWS]->() } RETURN n.name", "Ann"),
        # Other variables of the same name.
        ("MATCH (n:City) WITH count(*) AS c MATCH (n) RETURN n.name", "Ann Bob Oslo"),
        ("MATCH (c:City) WHERE EXISTS { MATCH (n) } MATCH (n) RETURN n.name", "Ann Bob Oslo"),
        ("MATCH (c:City) WHERE (c)<--(n) MATCH (n) RETURN n.name", "Ann Bob Oslo"),
        ("MATCH (n:City) RETURN n.name UNION MATCH (n) RETURN n.name", "Ann Bob Oslo"),
        ("MATCH (é:City) MATCH (É) RETURN É.name", "Ann Bob Oslo"),
    ],
)
def test_a_variable_keeps_its_labels(tmp_path: Path, statement: str, names: str) -> None:
    """Only the first pattern of a variable gets the visible labels."""
    database = build_graph(tmp_path / "x", POLICIES["labels"], "s1")
    assert sorted(str(row[0]) for row in database.query(statement).rows) == names.split()
    database.close()


def test_hidden_and_unknown_properties_are_refused_alike(tmp_path: Path) -> None:
    """The engine reports an unknown property, so a hidden one is not null."""
    policy = Policy(properties=frozenset({"Person.name", "City.name"}))
    database = build_graph(tmp_path / "x", policy, "s1")
    for statement in ("MATCH (n) RETURN n.secret", "MATCH (n:City) RETURN n.secret"):
        with pytest.raises(RefusedStatementError) as hidden:
            database.query(statement)
        with pytest.raises(RefusedStatementError) as unknown:
            database.query(statement.replace("secret", "sekret"))
        assert str(unknown.value).replace("sekret", "secret") == str(hidden.value)
    database.close()


def test_only_the_case_of_ascii_letters_is_ignored(tmp_path: Path) -> None:
    """LadybugDB distinguishes `É` and `é`, and lower() may change the last sigma of a word."""
    with ladybug.Database(str(tmp_path / "x"), max_db_size=1 << 30) as written:
        connection = ladybug.Connection(written)
        for label in ("ÉTÉ", "ΟΔΟΣ"):
            connection.execute(f"CREATE NODE TABLE `{label}`(id STRING PRIMARY KEY, s STRING)")
            connection.execute(f"CREATE (:`{label}` {{id: 'x', s: '{label}'}})")
        connection.close()
    for policy, rows in (
        (Policy(labels=frozenset({"ÉTÉ"})), (("ÉTÉ",),)),
        (Policy(denied_properties=frozenset({"ΟΔΟΣ.s"})), (("ÉTÉ",), (None,))),
    ):
        database = plugins.backend("ladybug").open(str(tmp_path / "x"), policy=policy)
        assert set(database.query("MATCH (n) RETURN n.s").rows) == set(rows)
        database.close()


def test_a_hidden_property_is_in_no_key_and_no_comment() -> None:
    person = NodeInfo(
        "Person", (Field("name", "STRING"), Field("secret", "STRING")), "secret", "secret is unique"
    )
    (seen,) = visible_schema(DatabaseSchema(nodes=(person,)), "neo4j", DENIED).nodes
    assert (seen.properties, seen.key, seen.comment) == (person.properties[:1], None, "")
    counted = "a sample of 10,000 of 10,007"
    edges = tuple(EdgeInfo("KNOWS", "Person", end, (), counted) for end in ("Person", "Secret"))
    (edge,) = visible_schema(DatabaseSchema(nodes=(person,), edges=edges), "neo4j", LISTED).edges
    assert (edge.target, edge.comment) == ("Person", "")


def test_masks_and_row_filters_are_for_tables(tmp_path: Path) -> None:
    """A graph is not opened with them, and the error names the alternative."""
    for policy in (
        Policy(masks={"Person.secret": None}),
        Policy(row_filters={"Person": "x.name = 'Ann'"}),
    ):
        with pytest.raises(UsageError, match="denied_properties"):
            build_graph(tmp_path / f"{len(policy.masks)}", policy, "s1")


@pytest.fixture(scope="module")
def twins(neo4j_session: Any) -> Iterator[Any]:
    """Create two graphs on a Neo4j server that differ only in hidden data."""
    for label, secret in (("dqa_twin_x", "s1"), ("dqa_twin_y", "other")):
        neo4j_session.run(
            f"CREATE (a:Person:{label} {{name: 'Ann', secret: $s}})-[:KNOWS {{since: 1}}]->"
            f"(b:Person:City:{label} {{name: 'Bob', secret: $s}})-[:LIVES]->"
            f"(c:City:{label} {{name: 'Oslo', secret: 's2'}})",
            s=secret,
        ).consume()
    neo4j_session.run(
        "MATCH (a:Person:dqa_twin_x {name: 'Ann'}), (c:City:dqa_twin_x {name: 'Oslo'}) "
        "CREATE (a)-[:HATES]->(:Secret:dqa_twin_x {name: 'x'})-[:KNOWS]->(c)"
    ).consume()
    yield neo4j_session
    neo4j_session.run("MATCH (n:dqa_twin_x|dqa_twin_y) DETACH DELETE n").consume()


@pytest.mark.integration
@pytest.mark.parametrize("statement", [*TWINS, *CASES["kept"]])
def test_hidden_data_changes_no_result_of_a_server(twins: Any, statement: str) -> None:
    """Nodes of Neo4j may have several labels."""
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
            runs = judge(statement.replace("label(", "labels("), "neo4j", inside).statement
            records = [record.values() for record in twins.run(runs)]
            found.append(sorted(map(repr, records)) if "Id(" not in statement else len(records))
        except Refusal:
            found.append("refused")
        except neo4j.exceptions.Neo4jError as error:
            found.append(error.code)
    assert found[0] == found[1]


def test_an_index_search_is_refused(tmp_path: Path) -> None:
    """Its score would reveal a hidden property."""
    database = build_graph(tmp_path / "x", DENIED, "s1")
    with pytest.raises(RefusedStatementError, match="whole database"):
        database.query("CALL query_fts_index('Person', 'i', 's1') RETURN count(*)")
    database.close()
