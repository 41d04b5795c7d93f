"""What servers' own words become for a statement's author."""

from __future__ import annotations

import re

import pytest

from dqa import plugins
from dqa.core.errors import StatementError
from tests.databases.engines import Target, small_situation

CASES = [
    (
        "postgres",
        "SELECT tn.name FROM trade_node tn JOIN country c ON c.home_node = tn.trade_node",
        r"column tn\.name does not exist\. .*Tables: .*trade_node\(trade_node, local_value",
    ),
    (
        "postgres",
        "SELECT 1 FROM country ORDER BY 1 UNION SELECT 2 UNION SELECT 3",
        r'near "UNION" at character 34\. Statements must be written in SQL \(PostgreSQL\)',
    ),
    (
        "mysql",
        "SELECT tn.name FROM trade_node tn JOIN country c ON c.home_node = tn.trade_node",
        r"Unknown column 'tn\.name' in .*Tables: .*trade_node\(trade_node, local_value",
    ),
    (
        "mysql",
        "SELECT 1 FROM country QUALIFY 1",
        r"\. Statements must be written in SQL \((?:MariaDB|MySQL)\)\.",
    ),
]


@pytest.mark.parametrize(("name", "statement", "told"), CASES)
def test_what_a_server_says_comes_with_what_helps(
    name: str, statement: str, told: str, request: pytest.FixtureRequest
) -> None:
    """The tables of the statement come first; a syntax error names the language."""
    server = Target(plugins.backend(name), request.getfixturevalue(f"{name}_url"))
    try:
        with pytest.raises(StatementError) as caught:
            server.load(small_situation()).query(statement)
    finally:
        server.clean()
    assert re.search(told, str(caught.value)), str(caught.value)
