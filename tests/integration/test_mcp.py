"""``dqa mcp`` over a PostgreSQL server, driven by the official client."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from mcp import Client

from tests.agents.conftest import attacks, command, entries, over_stdio, text_of
from tests.agents.test_mcp import HELLO, lines

SECRET = "much-too-" + uuid.uuid4().hex
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="starts servers as POSIX does")


@pytest.fixture
def shop(postgres_url: str) -> Iterator[tuple[str, sa.Engine]]:
    """A schema of its own: the URL that opens it, and an engine that may do everything."""
    schema = f"shop_{uuid.uuid4().hex[:12]}"
    engine = sa.create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in (
            f"CREATE SCHEMA {schema}",
            f"CREATE TABLE {schema}.supplier (id INT PRIMARY KEY, name TEXT, price NUMERIC(9, 2))",
            f"INSERT INTO {schema}.supplier VALUES (1, 'Ada', 1.25), (2, 'Bo', 2.5)",
        ):
            connection.exec_driver_sql(statement)
    joined = "&" if "?" in postgres_url else "?"
    yield f"{postgres_url}{joined}schema={schema}", engine
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
    engine.dispose()


def content(shop: tuple[str, sa.Engine]) -> tuple[object, ...]:
    """Return all that there is in the schema, and which schemas there are."""
    url, engine = shop
    schema = url.rpartition("=")[2]
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(f"SELECT * FROM {schema}.supplier ORDER BY id").all()
        tables = connection.exec_driver_sql(
            f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{schema}'"
        ).all()
    return tuple(rows), tuple(tables)


def test_an_agent_reads_a_server_and_fifty_attacks_are_refused(
    shop: tuple[str, sa.Engine], tmp_path: Path
) -> None:
    """Nothing is changed, every statement is audited; the password comes by the environment."""
    url, engine = shop
    audit, before, tried = tmp_path / "audit.jsonl", content(shop), attacks("postgres")
    assert len(set(tried)) == 50
    password = str(engine.url.password)

    async def walk(client: Client) -> None:
        described = await client.call_tool("describe_table", {"name": "supplier"})
        assert "price: NUMERIC(9, 2)" in text_of(described)
        sampled = await client.call_tool("sample_rows", {"name": "supplier"})
        assert [row[1] for row in sampled.structured_content["rows"]] == ["Ada", "Bo"]
        nothing = {"statement": "SELECT nothing FROM supplier"}
        wrong = await client.call_tool("query_database", nothing)
        assert wrong.is_error
        for statement in tried:
            refused = await client.call_tool("query_database", {"statement": statement})
            assert refused.is_error, statement
            assert f":{password}@" not in refused.model_dump_json()

    masked = url.replace(f":{password}@", ":***@")
    over_stdio("--database", masked, "--audit", audit, env={"DQA_POSTGRES_URL": url}).run(walk)
    assert content(shop) == before
    written = entries(audit)
    refused = [one["statement"] for one in written if not one["allowed"]]
    assert refused == [one.strip() for one in tried]
    assert f":{password}@" not in audit.read_text("utf-8")


def test_a_server_that_is_not_there_is_one_line(postgres_url: str) -> None:
    """Before any client comes, and without its password."""
    there = sa.make_url(postgres_url).set(port=1, password=SECRET)
    done = subprocess.run(
        command("--database", there.render_as_string(hide_password=False)),
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert SECRET not in done.stderr


def test_what_a_client_leaves_running_is_ended_on_the_server(shop: tuple[str, sa.Engine]) -> None:
    """At its limit, whoever is there to wait for it."""
    url, engine = shop
    mark = f"mark_{uuid.uuid4().hex}"
    endless = (
        f"WITH RECURSIVE {mark}(n) AS (SELECT 1 UNION ALL SELECT n FROM {mark}) "
        f"SELECT count(*) FROM {mark}"
    )
    call = {"name": "query_database", "arguments": {"statement": endless}}
    hang = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}

    def running() -> int:
        with engine.connect() as connection:
            return int(
                connection.exec_driver_sql(
                    "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' "
                    f"AND query LIKE '%%{mark}%%' AND pid <> pg_backend_pid()"
                ).scalar_one()
            )

    def until(count: int) -> None:
        for _ in range(300):
            if running() == count:
                return
            time.sleep(0.1)
        pytest.fail(f"{running()} statements run, and not {count}")

    with subprocess.Popen(
        command("--database", url, "--seconds", 5),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(lines(*HELLO, hang))
        process.stdin.flush()
        until(1)
        out, _ = process.communicate(timeout=60)  # which closes its input
        assert process.returncode == 0
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    until(0)
