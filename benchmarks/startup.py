"""The processor time of commands that do little work, compared with an empty Python process.

Run ``python -m benchmarks.startup``. Each command runs five times in a new process. The shortest
time is printed; it does not include the worker process of a database. The exit code is 1 if a
command exceeds its limit.
"""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measuring import child_seconds, run_command

TIMES = 5
COMMANDS = {
    "--help": 0.3,
    "--version": 0.3,
    "list --json": 0.6,
    "data formats": 0.6,
    "query shop.db VALUES(1)": 0.4,
    "check --dialect sqlite": 0.6,
    "eval --help": 0.6,
    "dellma --help": 0.6,
}
"""Commands, and how many seconds each may take."""


def main() -> int:
    """Print a line for each command."""
    empty = min(child_seconds([sys.executable, "-c", ""]) for _ in range(TIMES))
    slow = False
    with TemporaryDirectory() as folder:
        file = str(Path(folder) / "shop.db")
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE shop (name TEXT)")
        for words, most in COMMANDS.items():
            command = words.replace("shop.db", file).split()
            seconds = min(run_command(*command) for _ in range(TIMES))
            slow |= seconds > most
            times = f"{seconds / empty:.1f} times Python's"
            print(f"dqa {words:<24} {seconds:.3f} s (at most {most:.1f}), {times}")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
