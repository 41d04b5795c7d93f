"""A policy's labels, relationship types and properties hold however a statement goes about it."""

from __future__ import annotations

import pytest

from dqa.guard.check import judge as check
from dqa.guard.policy import Policy

DENIED = Policy(denied_properties=frozenset({"Person.secret"}))
LISTED = Policy(
    labels=frozenset({"Person", "City"}),
    relationship_types=frozenset({"KNOWS"}),
    properties=frozenset({"Person.name"}),
)

LEAKS = [
    "MATCH (n:Person) RETURN n.secret",
    "MATCH (n:Person) RETURN n['secret']",
    "MATCH (n:Person) RETURN n[$k]",
    "MATCH (n:Person) RETURN properties(n)",
    "MATCH (n:Person) RETURN n",
    "MATCH (n:Person) RETURN *",
    "MATCH (n:Person) RETURN n {.*}",
    "MATCH (n:Person) RETURN n {.secret}",
    "MATCH (n:Person) RETURN n.name ORDER BY n.secret",
    "MATCH (n:Person {secret: 'x'}) RETURN n.name",
    "MATCH (n) RETURN n.secret",
    "MATCH (n) RETURN n",
    "MATCH (n:Person) WITH n AS m RETURN m.secret",
    "MATCH (n:Person) WITH n AS m RETURN m",
    "MATCH (n:Person) WITH collect(n) AS l UNWIND l AS m RETURN m.secret",
    "MATCH (n:Person) RETURN collect(n)",
    "MATCH (n:Person) RETURN [x IN collect(n) | x.secret]",
    "MATCH p=(:Person)-->(:City) RETURN p",
    "MATCH p=(:Person)-->(:City) RETURN nodes(p)",
    "MATCH p=(:Person)-->(:City) RETURN [x IN nodes(p)|x.secret]",
    "MATCH (n:Person) RETURN {a: n}",
    "MATCH (n:Person) WITH {a: n} AS m RETURN m.a",
    "MATCH (n:Person) WITH {a: n} AS m RETURN m.a.secret",
    "MATCH (n:Person) RETURN CASE WHEN true THEN n END",
    "MATCH (n:Person) CALL { WITH n RETURN n AS m } RETURN m",
    "MATCH (n:Person) CALL (n) { RETURN n AS m } RETURN m.secret",
    "MATCH (n:Person) CALL () { UNWIND [1] AS n FINISH } RETURN n.secret",
    "RETURN COLLECT { MATCH (n:Person) RETURN n }",
    "RETURN [(n:Person)-->() | n]",
    "RETURN [(n:Person)-->() | n.secret]",
    "MATCH (n:Person) WHERE EXISTS { MATCH (n) WHERE n.secret = 'a' } RETURN 1",
    "MATCH (n:Person) RETURN head(collect(n)).secret",
    "MATCH (n:Person) RETURN (n).secret",
    "MATCH (n:Person) RETURN keys(n)",
    "MATCH ()-[r]->() RETURN endNode(r).secret",
    "MATCH ()-[r]->() RETURN endNode(r)",
    "MATCH (a)-[r:R*]->(b:City) RETURN r",
    "MATCH (n:Person WHERE n.secret='x') RETURN 1",
    "MATCH (n:Person) RETURN coalesce(n, null)",
    "MATCH (n:Person) WITH n ORDER BY n.secret RETURN n.name",
    "MATCH (n:Person) RETURN n IS NULL, count(n.secret)",
    "MATCH (n:Person) RETURN reduce(a = null, x IN collect(n) | x)",
    "MATCH (n:Person) RETURN toString(n)",
    "MATCH (n:Person) RETURN [n][0]",
    "MATCH (n:Person) RETURN n['sec\\u0072et']",
    "MATCH (n:Person|City) RETURN n.secret",
    "MATCH (n:Person) RETURN n {x: n.secret}",
    "MATCH (n:Person) RETURN n {.name, n}",
    "MATCH (n:!City) RETURN n.secret",
    "MATCH (n:$($l)) RETURN n.secret",
    "UNWIND [1] AS x MATCH (n:Person) RETURN max(n)",
    "CALL db.index.fulltext.queryNodes('i','x') YIELD node RETURN node",
    "CALL db.index.fulltext.queryNodes('i','x') YIELD node AS m RETURN m.secret",
    "CALL { MATCH (n:Person) RETURN n } RETURN n",
    "CALL { MATCH (n:Person) RETURN n UNION MATCH (n:City) RETURN n } RETURN n.secret",
    "MATCH (n:Person) RETURN n.name UNION MATCH (m:Person) RETURN m.secret AS name",
    "MATCH (n:Person) WITH * RETURN n",
    "MATCH (n:Person $p) RETURN 1",
    "MATCH (n:City) MATCH (n:Person) RETURN n.secret",
    "MATCH (a)-[:R]->(n:Person) WITH DISTINCT n RETURN n",
    "MATCH (n:Person) RETURN any(x IN collect(n) WHERE x.secret='a')",
    "MATCH (a:City) ((x)-->(y:Person))+ (b:City) RETURN [q IN y | q.secret]",
    "CALL db.index.fulltext.queryNodes('i', 'x')",
    "MATCH (n:Person) RETURN [n, 1 = 1]",
    "MATCH (n:Person) WITH n.name AS a, n AS b RETURN {x: [b]}",
    "MATCH (n:Person) RETURN n.name AS x ORDER BY n.secret",
    "MATCH (n:Person) RETURN n ORDER BY n.name",
]
KEPT = [
    "MATCH (n:Person) RETURN n.name",
    "MATCH (n:City) RETURN n",
    "MATCH (n:City) RETURN n.secret",
    "MATCH (n:Person) RETURN count(n), id(n), labels(n), elementId(n)",
    "MATCH (n:Person)-[r:KNOWS]->(m:Person) WHERE n <> m RETURN n.name, type(r), r.since",
    "MATCH (n:Person) WITH n.name AS n RETURN n",
    "MATCH (n:Person) WITH n, count(*) AS c RETURN n.name, c",
    "MATCH (n:Person) RETURN n {.name} AS n",
    "MATCH p=(:Person)-[:KNOWS*]->(:Person) RETURN length(p), [x IN nodes(p) | x.name]",
    "MATCH (n:Person) RETURN collect(n.name) AS names, collect(n)[0].name",
    "MATCH (n:Person) WHERE n IN [] OR n IS NULL RETURN size(collect(n))",
    "MATCH (n) RETURN n.name",
    "MATCH (n:Person) WITH collect(n) AS l UNWIND l AS m RETURN m.name",
    "MATCH (n:Person) WHERE EXISTS { (n)-->(:City) } RETURN n.name",
    "WITH {secret: 1} AS m RETURN m.secret",
    "RETURN date().year",
]
BEYOND = [
    "MATCH (n:Person) RETURN n.age",
    "MATCH (n:Secret) RETURN n.name",
    "MATCH (n) RETURN n.name",
    "MATCH (n:Person)-->(m:City) RETURN m.name",
    "MATCH (n:Person)-[:HATES]->(m:City) RETURN m.name",
    "MATCH (n:Person) WHERE n:Secret RETURN 1",
    "MATCH (n:Person|Secret) RETURN 1",
    "MATCH (n:!Person) RETURN 1",
    "MATCH (n:$($x)) RETURN 1",
    "MATCH (n:Person) RETURN COUNT { (n)-[:KNOWS]->() }",
    "SHOW INDEXES",
    "CALL db.labels()",
    "MATCH (n:Person) WHERE (n)-[:KNOWS]->(:Secret) RETURN 1",
]
WITHIN = [
    "MATCH (n:Person) RETURN n.name",
    "MATCH (n:Person)-[:KNOWS]->(m:City) RETURN m",
    "MATCH (n:City) WHERE n:Person RETURN n.population",
    "MATCH (n:Person) MATCH (n)-[:KNOWS]->(m:Person) RETURN m.name",
]
NAMED_LATER = [
    "MATCH (n) OPTIONAL MATCH (n:City) RETURN n.secret",
    "MATCH (n) OPTIONAL MATCH (n:City) RETURN n",
    "MATCH (n) RETURN n.secret, COUNT { (n:City) }",
    "MATCH (n) WHERE EXISTS { (n:City) } OR true RETURN n.secret",
    "MATCH (n) WHERE NOT (n:City)--(:City) RETURN n.secret",
    "MATCH (n) RETURN n.secret, [(n:City)-->(m:City) | 1]",
    "MATCH (n) CALL (n) { OPTIONAL MATCH (n:City) RETURN 1 AS x } RETURN n.secret",
    "MATCH (n) WITH collect(n) AS l, collect(n.secret) AS s UNWIND l AS m MATCH (m:City) RETURN s",
    "MATCH (:City)-[r]->(:City) OPTIONAL MATCH (:City)-[r:KNOWS]->(:City) RETURN r.secret",
]
LADYBUG_LEAKS = [
    "MATCH (n:CITY) RETURN n.SECRET",
    "MATCH (n:City) RETURN N.*",
    "MATCH (n:City) RETURN struct_extract(n,'secret')",
    "MATCH (n:City) RETURN to_string(n)",
    "MATCH (n:City) RETURN cast(n AS STRING)",
    "MATCH (n:City) RETURN hash(n)",
    "MATCH p=(n:City)-[:R]->(:City) RETURN properties(nodes(p),'secret')",
    "MATCH (n:City) RETURN list_transform(collect(n), x -> x.secret)",
    "MATCH (n:City) WITH n AS m RETURN M",
    "MATCH (a:City)-[r:R* SHORTEST 1..3 (e, n | WHERE n.Secret = 'a')]->(b:City) RETURN length(r)",
    "MATCH (a:City)-[r:R*1..2 (e, n | {e.km}, {n.SECRET})]->(b:City) RETURN length(r)",
    "MATCH (a:City)-[r:R* WSHORTEST(secret)]->(b:City) RETURN length(r)",
    "MATCH (n:City) RETURN concat('a', n)",
    "MATCH (n:City) RETURN n + 'x'",
    "MATCH (n:City) RETURN list_sort(collect(n))",
    "MATCH (n:City) RETURN list_filter(collect(n), x -> x.secret = 'a')",
    "CALL query_fts_index('City', 'i', 'x') RETURN node.secret",
    "CALL query_fts_index('City', 'i', 'x') RETURN node",
]


@pytest.mark.parametrize("statement", LEAKS)
def test_a_denied_property_cannot_be_read(statement: str) -> None:
    """Not by name, computed name, whole element, map, path, order, pattern, or unknown label."""
    assert check(statement, "neo4j").allowed
    assert not check(statement, "neo4j", DENIED).allowed


@pytest.mark.parametrize("statement", KEPT)
def test_everything_else_can_be_read(statement: str) -> None:
    """Other properties, other labels, counts, identities and comparisons stay allowed."""
    verdict = check(statement, "neo4j", DENIED)
    assert verdict.allowed, verdict.reason


@pytest.mark.parametrize("statement", BEYOND)
def test_what_is_not_listed_cannot_be_read(statement: str) -> None:
    """With lists of labels and types, every element must be known to be of one of them."""
    assert check(statement, "neo4j").allowed
    assert not check(statement, "neo4j", LISTED).allowed


@pytest.mark.parametrize("statement", WITHIN)
def test_what_is_listed_can_be_read(statement: str) -> None:
    """Lists do not get in the way of what they list."""
    verdict = check(statement, "neo4j", LISTED)
    assert verdict.allowed, verdict.reason


@pytest.mark.parametrize("statement", NAMED_LATER)
@pytest.mark.parametrize(
    "policy",
    [
        Policy(denied_properties=frozenset({"Person.secret"})),
        Policy(labels=frozenset({"City"}), relationship_types=frozenset({"KNOWS"})),
    ],
)
def test_what_may_be_any_is_not_known_by_a_label_that_comes_later(
    policy: Policy, statement: str
) -> None:
    """The mention may be optional or denied, and the element is read whatever it is."""
    assert check(statement, "neo4j").allowed
    assert not check(statement, "neo4j", policy).allowed


@pytest.mark.parametrize("statement", LADYBUG_LEAKS)
@pytest.mark.parametrize("denied", ["secret", "city.SECRET"])
def test_ladybug_compares_names_without_capitals(statement: str, denied: str) -> None:
    """As the engine does: `N.SECRET` is `n.secret`."""
    assert check(statement, "ladybug").allowed
    assert not check(statement, "ladybug", Policy(denied_properties=frozenset({denied}))).allowed


def test_a_reason_says_what_to_do() -> None:
    """The author learns which property, label or form it was."""
    refused = {
        "MATCH (n:Person) RETURN n.secret": "the property secret of Person may not be read",
        "MATCH (n) RETURN n.secret": "give the node a label",
        "MATCH (n:Person) RETURN n": "name the properties, as in n.name",
    }
    for statement, reason in refused.items():
        assert reason in check(statement, "neo4j", DENIED).reason
