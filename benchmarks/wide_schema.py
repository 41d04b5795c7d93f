"""The share of questions whose tables are shown to a model, in a schema with 5,000 tables.

Run ``python -m benchmarks.wide_schema`` (``--tables``, ``--questions``, ``--seed``, ``--tokens``).
The program also prints the time to read the schema from files of SQLite and DuckDB.
`benchmarks.wide_generator` describes the schema.

"shown" is the share of questions whose tables are all in the text for the model, completely or with
their keys, joins and comments. "whole" is the share with complete tables. "name", "comment" and
"any" are the shares by the source of a question's words.
"""

from __future__ import annotations

import argparse
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import dqa
from benchmarks.measuring import taken
from benchmarks.needs import require
from benchmarks.wide_generator import WideSchema, make_wide_schema, statements
from dqa.core.display import MOST_TOKENS
from dqa.core.fitting import fit_schema
from dqa.core.schema import DatabaseSchema
from dqa.core.text import estimate_tokens


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of questions whose tables are all in the text.

    Attributes
    ----------
    shown
        The share for all questions. `by_wording` has the shares by the source of the words.
    whole
        The share of questions whose tables are described completely.
    tokens
        Number of tokens of the longest text.
    """

    shown: float
    by_wording: Mapping[str, float]
    whole: float
    tokens: int


def measure_recall(wide: WideSchema, tokens: int = MOST_TOKENS) -> Recall:
    """Return the share of questions whose tables are in the text for the model."""
    shown: dict[str, list[bool]] = {}
    whole: list[bool] = []
    longest = 0
    for question in wide.questions:
        fitted = fit_schema(wide.schema, question.text, tokens)
        described = {table.name: not table.omitted for table in fitted.schema.tables}
        found = described.keys() >= set(question.needed)
        shown.setdefault(question.wording, []).append(found)
        whole.append(found and all(described[name] for name in question.needed))
        longest = max(longest, estimate_tokens(fitted.to_text()))
    every = [found for each in shown.values() for found in each]
    return Recall(
        _share(every), {name: _share(each) for name, each in shown.items()}, _share(whole), longest
    )


def _share(found: list[bool]) -> float:
    return sum(found) / len(found) if found else 0.0


def main() -> None:
    """Measure and print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=5_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--tokens", type=int, default=MOST_TOKENS, help="of the schema's text")
    given = parser.parse_args()
    require("duckdb")
    wide = make_wide_schema(given.tables, given.questions, given.seed)
    with TemporaryDirectory() as folder:
        for name, make in (("sqlite", make_sqlite), ("duckdb", make_duckdb)):
            file = Path(folder) / f"wide.{name}"
            make(file, wide.schema)
            with closing(dqa.open_database(file)) as database:
                first, again = taken(database.schema).wall, taken(database.schema).wall
            print(f"{name:7} reads its schema in {first:.2f} s, and again in {1e3 * again:.2f} ms")
    print(f"\n{'shown':>6} {'whole':>6} {'name':>6} {'comment':>8} {'any':>6} tokens")
    found = measure_recall(wide, given.tokens)
    by = found.by_wording
    print(
        f"{found.shown:6.1%} {found.whole:6.1%} {by['name']:6.1%} "
        f"{by['comment']:8.1%} {by['any']:6.1%} {found.tokens:6,}"
    )


def make_sqlite(file: Path, schema: DatabaseSchema) -> None:
    """Create the tables in a file of SQLite, which stores no comments."""
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements(schema, "sqlite"):
            connection.execute(statement)


def make_duckdb(file: Path, schema: DatabaseSchema) -> None:
    """Create the tables in a file of DuckDB."""
    import duckdb

    with duckdb.connect(str(file)) as connection:
        connection.execute("BEGIN")
        for statement in statements(schema, "postgresql"):
            connection.execute(statement)
        connection.execute("COMMIT")
        connection.execute("CHECKPOINT")


if __name__ == "__main__":
    main()
