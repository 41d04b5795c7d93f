"""A warehouse with 30,000 candidates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dqa
from dqa.core.database import Database
from tests.sqlite_files import run_script

COUNT = 30_000
BEST = "SKU-012347"
_ITEMS = """
CREATE TABLE item AS
WITH RECURSIVE numbered(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbered WHERE n < 30000)
SELECT printf('SKU-%06d', n) AS sku, n AS id, n % 7 AS shelf,
  CASE WHEN n = 12347 THEN 5000.5 WHEN n % 10 = 0 THEN 0.0 ELSE (n * 7919) % 4999 END AS margin
FROM numbered
"""
MARGINS = sorted(
    5000.5 if n == 12_347 else 0.0 if n % 10 == 0 else n * 7919 % 4999 for n in range(1, COUNT + 1)
)
UNMOVED = MARGINS.count(0.0)
_FOLDER = {
    "scenario.toml": """name = "promote-item"

[candidates]
noun = "item"
table = "item"
column = "sku"

[outcomes]
unit = "margin"
goal = "maximise"
source = "query"
baseline = 0.0

[[tables]]
name = "item"
key = ["sku"]
columns = [
  { name = "sku", type = "text" },
  { name = "id", type = "integer" },
  { name = "shelf", type = "integer" },
  { name = "margin", type = "float" },
]

[[heuristics]]
name = "item-newest"
description = "the item with the highest number"
""",
    "question.txt": "Which item should be promoted?\n",
    "rules.md": "1. What counts is an item's margin.\n",
    "outcomes.sql": "SELECT sku, margin FROM item;\n",
    "context.sql": "SELECT sku, margin FROM item ORDER BY margin DESC, sku LIMIT 12;\n",
    "heuristics/item-newest.sql": "SELECT sku FROM item ORDER BY id DESC LIMIT 1;\n",
}


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Create the warehouse in SQLite."""
    file = run_script(tmp_path_factory.mktemp("large") / "items.db", _ITEMS)
    return str(file)


@pytest.fixture
def database(warehouse: str) -> Iterator[Database]:
    """Open the warehouse."""
    opened = dqa.open_database(warehouse)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the folder of a scenario whose candidates are all items."""
    folder = tmp_path_factory.mktemp("scenario") / "promote-item"
    for name, text in _FOLDER.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return str(folder)
