"""Neo4j: what goes wrong says so in one line, shows no password, and leaves nothing half done."""

from __future__ import annotations

import traceback
from urllib.parse import urlsplit

import pytest

from dqa import plugins
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    StatementError,
    UsageError,
)
from dqa.databases.base import Backend
from dqa.databases.namespaces import namespace_for
from dqa.databases.neo4j.server import Address
from tests.databases.conftest import small_situation

BACKEND: Backend = plugins.backend("neo4j")
SECRET = "s3cret-w0rd"  # noqa: S105  (nobody's)


def said(url: str, kind: type[DqaError]) -> str:
    """Fail to open, and return the line; the password is nowhere in what could be shown."""
    with pytest.raises(kind) as caught:
        BACKEND.examine(url)
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    message = str(caught.value)
    assert "\n" not in message
    return message


def with_user(url: str, user: str, password: str = SECRET) -> str:
    """Return the URL with another user."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{user}:{password}@{parts.hostname}:{parts.port}"


def test_a_wrong_password_is_said_and_not_shown(neo4j_url: str) -> None:
    """Who was not let in, and where; as an error of the user's."""
    assert "user 'nobody'" in said(with_user(neo4j_url, "nobody"), UsageError)
    parts = urlsplit(neo4j_url)
    bare = f"bolt://{parts.hostname}:{parts.port}"
    assert "a user without a name" in said(bare, UsageError)


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid:7687"])
def test_an_unreachable_host_is_an_infrastructure_error(host: str) -> None:
    """It says where nobody answered."""
    line = said(f"bolt://neo4j:{SECRET}@{host}", DatabaseUnavailableError)
    assert f"bolt://{host} cannot be reached" in line


@pytest.mark.parametrize(
    "url",
    [
        f"bolt://neo4j:{SECRET}@",
        f"bolt://neo4j:{SECRET}@host:port",
        f"bolt://neo4j:{SECRET}@host:7687?policy=x",
        f"http://neo4j:{SECRET}@host",
    ],
)
def test_a_url_that_cannot_be_read_is_not_quoted(url: str) -> None:
    """The text may hold a password where nobody looks for it."""
    assert url not in said(url, UsageError)


def test_a_url_is_taken_apart() -> None:
    """Escapes, ports, databases, namespaces and routing; the name has none of the secret."""
    address = Address.parse("neo4j+s://us%40er:p%2Fw@[::1]:7687/db?namespace=dqa_x&policy=eu")
    assert address.uri == "neo4j+s://[::1]:7687?policy=eu"
    assert (address.user, address.password) == ("us@er", "p/w")
    assert (address.database, address.namespace) == ("db", "dqa_x")
    assert "p/w" not in repr(address) + address.name
    assert BACKEND.accepts("bolt+ssc://host")
    assert not BACKEND.accepts("bolt")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("MATCH (c:Country) RETURN c.hom_node", "Did you mean 'home_node'"),
        ("MATCH (c:Contry) RETURN c", "Did you mean 'Country'"),
        ("MATCH (c:Country) RETURN d", r"^Variable `d` not defined\.$"),
        ("RETURN 1 / 0", "by zero"),
        ("RETURN 1 + true", r"^Type mismatch: .* was Boolean\.$"),
        ("RETURN $x", "Expected parameter"),
    ],
)
def test_statement_errors_are_for_the_model(neo4j_url: str, statement: str, message: str) -> None:
    """The server's words, or the closest name; never the statement as it was rewritten."""
    database = BACKEND.load(small_situation(), neo4j_url)
    try:
        with pytest.raises(StatementError, match=message) as caught:
            database.query(statement)
        assert "dqa_" not in str(caught.value)
        assert database.query("RETURN 1").rows == ((1,),)
    finally:
        database.close()
        BACKEND.unload(neo4j_url, namespace_for(small_situation()))
