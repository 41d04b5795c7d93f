"""The processor time of commands that do no work, compared with an empty Python process.

Run ``python -m benchmarks.startup``. Each command runs five times in a new process; the shortest
time counts. The exit code is 1 if a command exceeds its limit.
"""

from __future__ import annotations

import sys

from benchmarks.measuring import child_seconds, run_command

TIMES = 5
COMMANDS = {
    "--help": 0.3,
    "--version": 0.3,
    "list --json": 0.6,
    "formats": 0.6,
    "check --dialect sqlite": 0.6,
    "eval --help": 0.6,
    "dellma --help": 0.6,
}
"""Commands, and how many seconds each may take."""


def main() -> int:
    """Print a line for each command."""
    empty = min(child_seconds([sys.executable, "-c", ""]) for _ in range(TIMES))
    slow = False
    for words, most in COMMANDS.items():
        seconds = min(run_command(*words.split()) for _ in range(TIMES))
        slow |= seconds > most
        ratio = seconds / empty
        print(f"dqa {words:<24} {seconds:.3f} s (at most {most:.1f}), {ratio:.1f} times Python's")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
