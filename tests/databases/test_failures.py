"""What the author of a failed statement is told."""

from __future__ import annotations

import pytest

import dqa
from dqa.core.errors import StatementError
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, TableInfo
from dqa.guard.unknown import unknown_name


def table(name: str, *columns: str, joins: str | None = None) -> TableInfo:
    """A table of integer columns."""
    references = () if joins is None else (("id", joins, "id"),)
    return TableInfo(name, tuple(Field(column, "INTEGER") for column in columns), (), references)


WIDE = DatabaseSchema(
    (
        *(table(f"archive_{n:03}", "id", "box_name", *"abcdefgh") for n in range(245)),
        table("carrier", "code", "carrier_name"),
        table("lane_tariff", "id", "price", joins="carrier"),
        table("vendor", "vendor_name", "blocked_flag"),
    )
)
TARIFFS = "SELECT {} FROM lane_tariff t JOIN carrier c ON c.code = t.id"
IS_CARRIER = "c is carrier, whose columns are code, carrier_name."


@pytest.mark.parametrize(
    ("name", "statement", "told"),
    [
        ("carrier_nam", TARIFFS, " Did you mean 'carrier_name'? Tables: "),
        (
            "c.carrier_nam",
            TARIFFS,
            f" Did you mean 'carrier_name'? {IS_CARRIER} Other tables: lane_tariff(",
        ),
        # The closest one is a column of the other table, and the alias is not that.
        ("t.carrier_nam", TARIFFS, " t is lane_tariff, whose columns are id, price. Other tables:"),
        ("z.carrier_nam", TARIFFS, " Tables: "),
        (
            "c.blocked",
            TARIFFS,
            f" {IS_CARRIER} Other tables: ",
        ),  # the closest is a column of a table that is not asked
        ("c.vendor_name", TARIFFS, f" 'vendor_name' is in vendor. {IS_CARRIER} Other tables: "),
        (
            "box_name",
            TARIFFS,
            " 'box_name' is in archive_000, archive_001, archive_002 and 242 more. Tables: ",
        ),
        ("lane_tarif", "SELECT 1 FROM lane_tarif", " Did you mean 'lane_tariff'? Tables: "),
    ],
)
def test_what_the_statement_names_comes_first(name: str, statement: str, told: str) -> None:
    """Of 248 tables the first of the alphabet were listed, and any column was called close."""
    error = str(unknown_name(f"no such name: {name}", name, WIDE, statement.format(name), "sqlite"))
    assert error.startswith(f"no such name: {name}.{told}")
    assert statement != TARIFFS or error.index("lane_tariff") < error.index("; archive_")
    assert error.endswith(" more.")
    assert len(error) < 2_000


def test_names_are_spelled_as_a_statement_has_to_spell_them() -> None:
    """Files bring columns such as "rent per year", which ran into a second error when copied."""
    schema = DatabaseSchema((table("takings 2025", "rent per year", "order", "town"),))
    error = str(unknown_name("no rent", "rent", schema, "SELECT rent FROM takings", "sqlite"))
    assert '"takings 2025"("rent per year", "order", town).' in error
    edge = EdgeInfo("RUNS TO", "Town", "Big Town", (Field("how far", "INT64"),))
    graph = DatabaseSchema(nodes=(NodeInfo("Big Town", ()),), edges=(edge,))
    told = str(unknown_name("no far", "far", graph, "MATCH ()-[r]->() RETURN r.far", "ladybug"))
    assert "(:Town)-[:`RUNS TO` {`how far`}]->(:`Big Town`)" in told
    assert "(:`Big Town` {})" in told


def test_a_label_that_is_not_there_is_told_with_a_label() -> None:
    """Not with a property whose name is closer."""
    script = "CREATE NODE TABLE Countries (name STRING PRIMARY KEY, country STRING);"
    with dqa.temporary_database(script, "ladybug") as database:
        with pytest.raises(StatementError, match="Did you mean 'Countries'"):
            database.query("MATCH (n:Country) RETURN n.name")
        with pytest.raises(StatementError, match="Did you mean 'country'"):
            database.query("MATCH (n:Countries) RETURN n.contry")
