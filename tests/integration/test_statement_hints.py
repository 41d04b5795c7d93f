"""What servers' own words become for a statement's author."""

from __future__ import annotations

import re

import pytest

from dqa import plugins
from dqa.core.errors import StatementError
from tests.databases.conftest import small_situation
from tests.integration.conftest import Target

CASES = [
    (
        "postgres",
        "SELECT tn.name FROM trade_node tn JOIN country c ON c.home_node = tn.trade_node",
        r"column tn\.name does not exist\. tn is trade_node, whose columns are trade_node, ",
    ),
    (
        "postgres",
        "SELECT 1 FROM country ORDER BY 1 UNION SELECT 2 UNION SELECT 3",
        r'near "UNION" at character 34; this is PostgreSQL \d+\.\d+\. It is in: .*ORDER BY 1 UNION',
    ),
    (
        "postgres",
        "SELECT country_name FROM country c, node_country",
        r"'country_name' is in c \(country\) and node_country: write which one is meant",
    ),
    (
        "mysql",
        "SELECT tn.name FROM trade_node tn JOIN country c ON c.home_node = tn.trade_node",
        r"Unknown column 'tn\.name' in .*\. tn is trade_node, whose columns are trade_node, ",
    ),
    ("mysql", "SELECT 1 FROM country QUALIFY 1", r"; this is (?:MariaDB|MySQL) \d+\.\d+\.\d+\."),
    (
        "mysql",
        "SELECT country_name FROM country c, node_country",
        r"'country_name' is in c \(country\) and node_country: write which one is meant",
    ),
]


@pytest.mark.parametrize(("name", "statement", "told"), CASES)
def test_what_a_server_says_comes_with_what_helps(
    name: str, statement: str, told: str, request: pytest.FixtureRequest
) -> None:
    """As of the embedded ones: aliases, ambiguous columns, places and versions."""
    server = Target(plugins.backend(name), request.getfixturevalue(f"{name}_url"))
    try:
        with pytest.raises(StatementError) as caught:
            server.load(small_situation()).query(statement)
    finally:
        server.clean()
    assert re.search(told, str(caught.value)), str(caught.value)
