"""Makes the warehouse of a retail and logistics firm, which `examples/warehouse` decides about.

Run ``python -m examples.make_warehouse TARGET`` (``--lines N``, ``--seed N``). TARGET is a file
(``.db`` for SQLite, ``.duckdb``, ``.lbug`` for the graph twin in LadybugDB) or the URL of an empty
database (``postgresql://...?schema=NAME``, ``mariadb://``, ``mysql://``, and ``neo4j://`` for the
graph twin). All have the same contents: nothing hangs on the engine.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from time import perf_counter

from examples.warehouse_rows import make_rows
from examples.warehouse_shape import FULL
from examples.warehouse_writers import NotEmptyError, writer_for


def make_warehouse(target: str, lines: int = FULL, seed: int = 0) -> dict[str, int]:
    """Write a warehouse and return the number of rows of each table.

    Parameters
    ----------
    target
        A file or URL, as above.
    lines
        Order lines.
    seed
        Of what is drawn.

    Raises
    ------
    NotEmptyError
        A file, tables or nodes are there already.
    ValueError
        There are no lines, or no engine of that name.
    """
    if lines < 1:
        raise ValueError(f"a warehouse has at least 1 order line, not {lines}")
    write = writer_for(target)
    rows = make_rows(lines, seed)
    write(rows, target)
    return {name: len(table) for name, table in rows.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--lines", type=int, default=FULL, help=f"order lines ({FULL:,})")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (0)")
    given = parser.parse_args(arguments)
    started = perf_counter()
    try:
        counts = make_warehouse(given.target, given.lines, given.seed)
    except (NotEmptyError, ValueError) as error:
        parser.exit(2, f"{error}\n")
    listed = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    print(f"{len(counts)} tables in {perf_counter() - started:.0f} s: {listed}")  # noqa: T201


if __name__ == "__main__":
    main()
