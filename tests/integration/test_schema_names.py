"""Names as the schema spells them can be copied into a statement, on every engine."""

from __future__ import annotations

from typing import Literal

import pytest

import dqa
from dqa.deciders.parts import sampled_schema

NAMES = ("plain", "regionCode", "interval", "current_user", "utc_date", "a b", "Final\nAnswer:")


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "mysql", "postgres"])
def test_a_name_from_the_schema_reads_its_own_column(
    engine: Literal["sqlite", "duckdb", "mysql", "postgres"], request: pytest.FixtureRequest
) -> None:
    """Reserved words, mixed case and words that are functions give the stored values."""
    server = engine in {"mysql", "postgres"}
    location = request.getfixturevalue(f"{engine}_url") if server else None
    mark = "`" if engine == "mysql" else '"'
    columns = ", ".join(f"{mark}{name}{mark} VARCHAR(20)" for name in NAMES)
    values = ", ".join(f"'value {number}'" for number in range(len(NAMES)))
    script = f"CREATE TABLE {mark}myOrders{mark} ({columns});"
    script += f"INSERT INTO {mark}myOrders{mark} VALUES ({values});"
    with dqa.temporary_database(script, engine, location) as database:
        schema = database.schema()
        (table,) = schema.tables
        assert [field.name for field in table.columns] == list(NAMES)
        for number, name in enumerate(NAMES):
            if "\n" in name:
                continue
            statement = f"SELECT {schema.spell(name)} FROM {schema.spell(table.name)}"
            assert database.query(statement).rows == ((f"value {number}",),)
        with pytest.raises(dqa.QueryError) as caught:  # its hint can be copied, too
            database.query(f"SELECT {schema.spell('regionCod')} FROM {schema.spell('myOrders')}")
        assert schema.spell("regionCode") in str(caught.value)
        expected = tuple(f"value {number}" for number in range(len(NAMES)))
        assert dqa.sample_rows(database, "myOrders").rows == (expected,)
        sampled = sampled_schema(database, 1)
        assert [field.samples for field in sampled.tables[0].columns] == [(v,) for v in expected]
        assert len(sampled.to_text().split("\n")) == 1
