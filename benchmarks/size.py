"""The lines of code of each package, compared with its budget.

Run ``python -m benchmarks.size`` (``FOLDER`` for another checkout).

Blank lines, comments, docstrings and the descriptions below attributes are not lines of code.
Folders whose names begin with a dot are ignored.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
BUDGETS = {
    "dqa/core": 1_700,
    "dqa/guard": 1_700,
    "dqa/databases": 2_800,
    "dqa/scenarios": 1_300,
    "dqa/models": 1_000,
    "dqa/loaders": 3_200,
    "dqa/deciders": 1_200,
    "dqa/worlds": 650,
    "dqa/evaluation": 3_500,
    "dqa/report": 1_600,
    "dqa/api": 1_800,
    "dqa/cli": 1_800,
    "dqa/testing": 450,
    "dqa/plugins.py": 150,
    "dqa/__init__.py": 130,
    "planrag": 2_000,
    "dellma": 2_200,
    "bidder": 1_200,
    "ldm2": 2_500,
    "simulators": 5_600,
    "docker": 600,
    "start.py": 120,
    "tests": 28_000,
    "benchmarks": 2_500,
}
"""Maximum number of code lines of each folder or file."""
NOT_PRODUCT = frozenset({"tests", "benchmarks"})
_LAYOUT = frozenset(
    getattr(tokenize, name)
    for name in ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")
)


class Size(NamedTuple):
    """The size of a package."""

    files: int
    lines: int
    budget: int


def count_lines(source: str) -> int:
    """Return the number of code lines in the text of a Python file."""
    coded: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT:
            coded.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                coded.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(coded)


def measure(root: Path, package: str, budget: int) -> Size:
    """Return the size of a folder or file below `root`."""
    place = root / package
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    shown = [
        file
        for file in files
        if not any(part.startswith(".") for part in file.relative_to(root).parts)
    ]
    lines = sum(count_lines(file.read_text("utf-8", errors="replace")) for file in shown)
    return Size(len(shown), lines, budget)


def report(root: Path) -> list[str]:
    """Return a line for each package, and one each for the product, tests and benchmarks."""
    sizes = {name: measure(root, name, budget) for name, budget in BUDGETS.items()}
    product = [size for name, size in sizes.items() if name not in NOT_PRODUCT]
    rows = {name: size for name, size in sizes.items() if name not in NOT_PRODUCT}
    rows["product"] = Size(*map(sum, zip(*product, strict=True)))
    rows |= {name: sizes[name] for name in sorted(NOT_PRODUCT, reverse=True)}
    return [_row(name, size) for name, size in rows.items()]


def _row(name: str, size: Size) -> str:
    over = size.lines - size.budget
    told = f"  over by {over:,}" if over > 0 else ""
    return f"{name:16} {size.files:5} files {size.lines:7,} lines, budget {size.budget:7,}{told}"


def main() -> None:
    """Print the report of this checkout, or of another checkout."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT, help="a checkout")
    print("\n".join(report(parser.parse_args().folder)))


if __name__ == "__main__":
    main()
