"""What a result holds that a limit cut, told column by column."""

from __future__ import annotations

from datetime import date
from time import perf_counter

import pytest

import dqa
from dqa.core.database import Limits
from dqa.core.evidence import Evidence
from dqa.databases.rows import collect
from dqa.deciders.tools import observe

SOLD = [
    *("- id: 1,000 distinct; 1 to 1000, mean 500.5", '- kind: 3 distinct; most often "b" (334), '),
    *("- price: 1,000 distinct; 0.333333 to 333.333, mean 166.833",),
    *("- day: 28 distinct, 100 NULL; 2024-02-01 to 2024-02-28, mean 2024-02-14",),
]
SALES = [
    {
        "id": n,
        "kind": "abc"[n % 3],
        "price": n / 3.0,
        "day": None if n % 10 == 0 else date(2024, 2, n % 28 + 1),
    }
    for n in range(1, 1_001)
]
GRAPH = """
    CREATE NODE TABLE Sale (id INT64, kind STRING, price DOUBLE, day DATE, PRIMARY KEY (id));
    UNWIND range(1, 1000) AS n CREATE (:Sale {id: n, price: n / 3.0,
        kind: CASE n % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b' ELSE 'c' END,
        day: CASE WHEN n % 10 = 0 THEN NULL ELSE date('2024-02-01') +
             to_days(CAST(n % 28 AS INT64)) END});
"""
READING = {
    "ladybug": "MATCH (s:Sale) RETURN s.id AS id, s.kind AS kind, s.price AS price, s.day AS day"
}


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "ladybug"])
def test_a_cut_result_is_summed_up_alike_everywhere(engine: str) -> None:
    """Of all rows, with six digits, below the rows that are shown; a whole one is not."""
    statement = READING.get(engine, "SELECT id, kind, price, day FROM sale")
    content = GRAPH if engine == "ladybug" else {"sale": SALES}
    with dqa.temporary_database(content, engine) as database:
        seen = observe(database, statement, Limits(rows=5))
        whole = observe(database, statement, Limits(rows=1_000, bytes=1_000_000))
    lines = seen.observation.split("\n")
    assert lines[6].startswith("(only the first 5 of 1,000 rows are shown, by the limit on rows;")
    assert lines[7] == "(what all 1,000 rows hold, by column:"
    for line, said in zip(lines[8:], (SOLD[0], SOLD[1], SOLD[2], SOLD[3] + ")"), strict=True):
        assert line.startswith(said) if said.endswith(" ") else line == said
    assert len(seen.rows) == 5  # what reads the rows of a trace reads these alone
    assert whole.observation.endswith("\n(1000 rows)") or whole.observation.endswith("(1,000 rows)")


def test_masked_values_are_masked_in_a_summary() -> None:
    """It is counted from what the guard let through."""
    people = [
        {"id": n, "mail": f"{'x' if n % 2 else 'y'}@secret.org", "pay": 70_000.5 + n}
        for n in range(500)
    ]
    policy = dqa.Policy(masks={"person.mail": "hidden", "person.pay": None})
    with dqa.temporary_database({"person": people}, policy=policy) as database:
        seen = observe(database, "SELECT * FROM person", Limits(rows=3)).observation
    assert '- mail: 1 distinct; most often "hidden" (500)' in seen
    assert "- pay: NULL in every row" in seen
    assert not any(word in seen for word in ("secret", "70000", "70500"))


def summed(
    cells: list[object],
    limits: Limits = Limits(rows=1),  # noqa: B008  (frozen)
) -> str:
    """Return the summary of a column of these cells, without the line above."""
    found = collect(["c"], [(cell,) for cell in cells], limits, perf_counter(), stop=lambda: None)
    text = Evidence.of("s", found).observation
    assert len(text.encode()) <= limits.bytes
    _, _, below = text.partition("by column:\n- ")
    return below


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([True, False, True, None], 'c: 2 distinct, 1 NULL; most often "true" (2))'),
        ([1, "a", 2, "a"], 'c: 3 distinct; most often "a" (2))'),
        (["2024-01-01 10:00:00", "2024-01-03 10:00:00"], None),
        ([[1, 2], [1, 2], {"a": 1}], "c: 2 distinct)"),
        ([None, None], "c: NULL in every row)"),
        ([1e308, 1e308, 1e308], "c: 1 distinct; 1e+308 to 1e+308, mean 1e+308)"),
        (["b", "a", "b", "a"], 'c: 2 distinct; most often "a" (2), "b" (2))'),
    ],
)
def test_a_column_is_told_as_what_it_is(cells: list[object], said: str | None) -> None:
    """Numbers and days by their range, others by what comes often, long ones by their count."""
    least, most = "2024-01-01 10:00:00", "2024-01-03 10:00:00"
    days = f"c: 2 distinct; {least} to {most}, mean 2024-01-02)"
    assert summed(cells) == (said or days)


def test_a_summary_takes_its_room_from_the_last_rows() -> None:
    """All together keeps to the limit on bytes, whatever the columns are called."""
    cells: list[object] = [f"{n:08d}" * 5 for n in range(300)]
    assert summed(cells, Limits(bytes=1_600)) == "c: 300 distinct)"
    names = [f"column {n}" for n in range(200)]
    wide = collect(names, [[1] * 200] * 50, Limits(rows=5), perf_counter(), stop=lambda: None)
    told = wide.to_text()
    assert len(told.encode()) <= 32_000
    assert told.endswith(" columns more)")
