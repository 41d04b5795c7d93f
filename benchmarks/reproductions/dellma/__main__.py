"""``python -m benchmarks.reproductions.dellma --release DIR``."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

from benchmarks.reproductions.dellma.printing import show
from dqa.core.errors import UsageError


def main(arguments: list[str] | None = None) -> None:
    """Score the recorded GPT-4 answers of a release, next to the figures of its scripts."""
    parser = ArgumentParser("benchmarks.reproductions.dellma", description=main.__doc__)
    parser.add_argument("--release", type=Path, required=True, help="folder of DeLLMa's release")
    rules = "'released' (default), or 'paper' for one softmax everywhere"
    parser.add_argument("--rule-set", default="released", help=rules)
    parser.add_argument("--verbose", action="store_true", help="print every defect of the files")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    given = parser.parse_args(arguments)
    try:
        show(given.release, given.rule_set, verbose=given.verbose, as_json=given.json)
    except UsageError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
