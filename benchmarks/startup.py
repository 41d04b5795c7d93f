"""How long commands take that do no work: CPU seconds of a fresh process, the best of five.

Run it with ``python benchmarks/startup.py``.
"""

from __future__ import annotations

import resource
import subprocess
import sys

TIMES = 5
COMMANDS = {
    ("--help",): 0.3,
    ("--version",): 0.3,
    ("list",): 0.6,
    ("list", "--json"): 0.6,
    ("formats",): 0.6,
    ("check", "--dialect", "sqlite"): 0.6,
    ("eval", "--help"): 0.6,
    ("dellma", "--help"): 0.6,
}
"""What is called, and how many CPU seconds it may take."""


def main() -> int:
    """Print a line a command; exit code 1 where one takes longer than it may."""
    slow = False
    for arguments, most in COMMANDS.items():
        seconds = min(_cpu_seconds(arguments) for _ in range(TIMES))
        slow |= seconds > most
        print(f"dqa {' '.join(arguments):<24} {seconds:.3f} s CPU (at most {most:.1f})")
    return int(slow)


def _cpu_seconds(arguments: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "dqa", *arguments]
    subprocess.run(command, check=True, capture_output=True, input=b"SELECT 1\n")  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
