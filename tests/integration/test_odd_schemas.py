"""Schemas as warehouses have them: types of one's own, composite keys, names that need quoting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dqa
from tests.confirming import confirm
from tests.integration.conftest import scratch

ODD = """
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE DOMAIN amount AS numeric(12, 2);
CREATE TABLE "Sales Region" (land text, "no" integer, "Name" text, mood mood,
    fee money, PRIMARY KEY (land, "no"));
CREATE TABLE "order" (id integer PRIMARY KEY, land text, "no" integer,
    "sum €" amount, FOREIGN KEY (land, "no") REFERENCES "Sales Region");
INSERT INTO "Sales Region" VALUES
    ('de', 1, 'North', 'low', 9), ('de', 2, 'South', 'high', 8), ('fr', 1, 'Nord', NULL, 7);
INSERT INTO "order" VALUES (1, 'de', 1, 10.5), (2, 'de', 2, 20), (3, 'fr', 1, 5);
"""


@pytest.fixture
def odd(postgres_url: str) -> Iterator[str]:
    """The URL of a database of PostgreSQL with types of its own."""
    with scratch("postgres", postgres_url, ODD) as place:
        yield place


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
    asked = dqa.UserQuestion(scenario=str(tmp_path / "s"))
    decision = dqa.ask(odd, asked, decider="oracle")
    assert decision.choice == "South"
    assert decision.asked is not None
    told = {one.candidate: one.outcome for one in decision.asked.alternatives}
    assert told == {"North": 10.5, "South": 20, "Nord": 5}
