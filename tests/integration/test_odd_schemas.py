"""Schemas as warehouses have them: types of one's own, composite keys, names that need quoting."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

import dqa
from tests.confirming import confirm

ODD = """
CREATE TYPE {schema}.mood AS ENUM ('low', 'high');
CREATE DOMAIN {schema}.amount AS numeric(12, 2);
CREATE TABLE {schema}."Sales Region" (land text, "no" integer, "Name" text, mood {schema}.mood,
    fee money, PRIMARY KEY (land, "no"));
CREATE TABLE {schema}."order" (id integer PRIMARY KEY, land text, "no" integer,
    "sum €" {schema}.amount, FOREIGN KEY (land, "no") REFERENCES {schema}."Sales Region");
INSERT INTO {schema}."Sales Region" VALUES
    ('de', 1, 'North', 'low', 9), ('de', 2, 'South', 'high', 8), ('fr', 1, 'Nord', NULL, 7);
INSERT INTO {schema}."order" VALUES (1, 'de', 1, 10.5), (2, 'de', 2, 20), (3, 'fr', 1, 5);
"""


@pytest.fixture
def odd(postgres_url: str) -> Iterator[str]:
    """The URL of a schema of PostgreSQL with types of its own."""
    schema = f"odd_{secrets.token_hex(4)}"
    engine = sa.create_engine(postgres_url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
        connection.exec_driver_sql(ODD.format(schema=schema))
    yield f"{postgres_url}?schema={schema}"
    with engine.begin() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
    engine.dispose()


def test_a_proposal_for_such_a_schema_is_decided_at_once(odd: str, tmp_path: Path) -> None:
    """Rows are joined by the whole of a composite key, so nothing counts twice."""
    tables = ["Sales Region", "order"]
    made = dqa.propose_scenario(odd, tmp_path / "s", question="Which sales region?", tables=tables)
    assert made.column == "Name"
    confirm(tmp_path / "s")
    checked = dqa.check_scenario(tmp_path / "s", odd)
    assert checked.is_good, checked.to_text()
    outcomes = (tmp_path / "s" / "outcomes.sql").read_text("utf-8")
    assert "f.land = c.land AND f.no = c.no" in outcomes
    asked = dqa.AskedQuestion(scenario=str(tmp_path / "s"))
    decision = dqa.ask(odd, asked, decider="oracle")
    assert decision.choice == "South"
    assert decision.asked is not None
    told = {one.candidate: one.outcome for one in decision.asked.alternatives}
    assert told == {"North": 10.5, "South": 20, "Nord": 5}
