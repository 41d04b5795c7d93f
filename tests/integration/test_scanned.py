"""How many rows a server went through: where it says so, and a budget of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, make_url, text

import dqa
from dqa.core.database import Limits
from dqa.models.scripted import GivenReplies
from dqa.models.scripted.steps import Answer, Step

TOTAL = "SELECT sum(cost) FROM plant"


@pytest.fixture
def plants(mysql_url: str) -> Iterator[str]:
    """A thousand plants."""
    place = f"dqa_scanned_{uuid4().hex[:8]}"
    url = make_url(mysql_url).set(database=place)
    engine = create_engine(make_url(mysql_url))
    rows = ", ".join(f"({number}, {number % 7})" for number in range(1_000))
    try:
        with engine.begin() as connection:
            connection.execute(text(f"CREATE DATABASE {place}"))
            connection.execute(text(f"CREATE TABLE {place}.plant(id INT PRIMARY KEY, cost INT)"))
            connection.execute(text(f"INSERT INTO {place}.plant VALUES {rows}"))
        yield url.render_as_string(hide_password=False)
    finally:
        with engine.begin() as connection:
            connection.execute(text(f"DROP DATABASE IF EXISTS {place}"))
        engine.dispose()


def test_the_server_says_how_many_rows_it_went_through(plants: str) -> None:
    """Where it is asked; what that costs itself is not counted."""
    with closing(dqa.open_database(plants)) as database:
        assert database.query(TOTAL, Limits(scans=True)).scanned == pytest.approx(1_000, abs=1)
        one = "SELECT cost FROM plant WHERE id = 5"
        assert database.query(one, Limits(scans=True)).scanned == 1
        assert database.query("SELECT 1", Limits(scans=True)).scanned == 0
        assert database.query(TOTAL).scanned is None


def test_a_budget_of_scanned_rows_ends_a_decision(plants: str) -> None:
    """One row came back, and a thousand were gone through."""
    trace = dqa.ask(
        plants,
        dqa.AskedQuestion(question="Which plant?", candidates=("5", "6")),
        model=GivenReplies((Step("All.", TOTAL), Answer("Enough.", "5"))),
        budget=dqa.DecisionBudget(scanned=900),
    )
    assert (trace.choice, trace.ended_by) == ("5", "budget: 900 scanned rows")
