"""Whatever is made of statements, the Cypher guard neither fails nor lets a write through."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import ladybug
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dqa.guard.check import judge as check
from dqa.guard.cypher import judge
from dqa.guard.policy import Policy
from dqa.guard.verdict import Refusal

CASES = Path(__file__).parent / "guard_cases"
STATEMENTS = {
    dialect: [
        json.loads(line)["statement"]
        for line in (CASES / f"{dialect}.jsonl").read_text("ascii").splitlines()
    ]
    for dialect in ("neo4j", "ladybug")
}
PIECES = sorted(
    {
        piece
        for statements in STATEMENTS.values()
        for statement in statements
        for piece in re.findall(r"\w+|'[^']*'|\s+|.", statement, re.DOTALL)
    }
)
SOUP = st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join)

HIDDEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|//[^\n]*|/\*.*?\*/", re.DOTALL)
WRITES = re.compile(
    r"(?:^|(?P<before>[\w$]+)|[)\]}0-9])\s*"
    r"(?<![\w$.:|&!$@])\b(?:CREATE|MERGE|DELETE|DETACH|SET|REMOVE|FOREACH|LOAD|COPY|DROP|INSERT)\b"
    r"(?=\s*[\w($])",
    re.IGNORECASE,
)
EXPECTS_A_VALUE = re.compile(
    "(?i:AND|OR|XOR|NOT|AS|IN|BY|WHERE|RETURN|WITH|DISTINCT|UNWIND|WHEN|THEN|ELSE|CASE|SKIP|LIMIT|"
    "OFFSET|CONTAINS|YIELD|IS|FROM|OR|ON|JOIN|CALL|ALL|HINT|INDEX|SCAN|SEEK)"
)


def writes(statement: str) -> bool:
    """Whether a word that writes follows a value: a second opinion, without any parsing."""
    bare = HIDDEN.sub(" 0 ", statement)
    for match in WRITES.finditer(bare):
        before = match["before"]
        if before is None or not EXPECTS_A_VALUE.fullmatch(before):
            following = bare[match.end() :].split(maxsplit=1)[:1]
            if following and not EXPECTS_A_VALUE.match(following[0]):
                return True
    return False


@st.composite
def mutated(draw: st.DrawFn, dialect: str) -> str:
    """Return a statement of the sets in which some pieces are replaced, added or left out."""
    statement = draw(st.sampled_from(STATEMENTS[dialect]))
    pieces = re.findall(r"\w+|\s+|.", statement, re.DOTALL)
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(pieces)))
        removed = draw(st.integers(0, 3))
        added = draw(st.lists(st.sampled_from(PIECES), max_size=3))
        pieces[place : place + removed] = [" ", *added, " "] if added else []
    return "".join(pieces)


@given(st.one_of(st.text(max_size=200), SOUP, mutated("neo4j"), mutated("ladybug")))
@settings(max_examples=500)
def test_any_text_gets_a_verdict_and_no_write_is_allowed(statement: str) -> None:
    """No text makes the guard fail, and none with a clause that writes passes."""
    for dialect in STATEMENTS:
        verdict = check(statement, dialect)
        assert verdict.allowed or verdict.reason
        assert not (verdict.allowed and writes(statement)), statement


@given(mutated("neo4j"))
@settings(max_examples=300)
def test_what_runs_in_place_of_a_statement_is_allowed_again(statement: str) -> None:
    """The text that is put together reads as what it was put together from."""
    policy = Policy(inside="only here")
    with suppress(Refusal):
        once = judge(statement, "neo4j", policy)
        assert judge(once, "neo4j", policy).count("`only here`") == 2 * once.count("`only here`")
        plain = judge(statement, "neo4j")
        assert judge(plain, "neo4j") == plain


@pytest.fixture(scope="module")
def connection() -> Iterator[ladybug.Connection]:
    """A small database that may be written to: here the guard is the only line."""
    database = ladybug.Database(":memory:", buffer_pool_size=1 << 28, max_db_size=1 << 32)
    connection = ladybug.Connection(database)
    for statement in (
        "CREATE NODE TABLE City(name STRING PRIMARY KEY, population INT64)",
        "CREATE NODE TABLE Person(name STRING PRIMARY KEY, age INT64)",
        "CREATE REL TABLE Road(FROM City TO City, km DOUBLE)",
        "CREATE REL TABLE LivesIn(FROM Person TO City)",
        "CREATE (:City {name: 'Oslo', population: 7})-[:Road {km: 1.0}]->(:City {name: 'Rome'})",
        "MATCH (c:City {name: 'Oslo'}) CREATE (:Person {name: 'Ann', age: 3})-[:LivesIn]->(c)",
    ):
        connection.execute(statement)
    connection.set_query_timeout(500)
    yield connection
    connection.close()
    database.close()


def content(connection: ladybug.Connection) -> str:
    """Return a hash of everything the database holds."""
    digest = hashlib.sha256()
    for statement in (
        "CALL show_tables() RETURN name, type ORDER BY name",
        "CALL show_macros() RETURN *",
        "CALL show_sequences() RETURN *",
        "MATCH (n) RETURN n ORDER BY label(n), n.name",
        "MATCH (a)-[r]->(b) RETURN a.name, r, b.name ORDER BY label(r), a.name, b.name",
    ):
        result = connection.execute(statement)
        assert isinstance(result, ladybug.QueryResult)
        digest.update(repr(result.get_all()).encode())
    return digest.hexdigest()


@given(mutated("ladybug"))
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_allowed_statement_changes_a_database(
    connection: ladybug.Connection, statement: str
) -> None:
    """With the second line switched off, what the guard allows leaves the content as it is."""
    if not check(statement, "ladybug").allowed:
        return
    before = content(connection)
    with suppress(RuntimeError):  # the engine need not like it
        connection.execute(ladybug.PreparedStatement(connection, statement))
    assert content(connection) == before
