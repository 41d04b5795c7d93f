"""List the benchmarks with their subjects and needs.

Run ``python -m benchmarks``, and then ``python -m benchmarks.NAME``.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

from benchmarks.needs import find_need


class Benchmark(NamedTuple):
    """A benchmark: its name, summary, needs and optional needs."""

    name: str
    summary: str
    needs: tuple[str, ...]
    optional: tuple[str, ...]


def list_benchmarks(folder: Path = Path(__file__).parent) -> list[Benchmark]:
    """Return the benchmarks without importing them."""
    found = []
    for file in sorted(folder.glob("*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        values = {
            node.targets[0].id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        if "NEEDS" in values:
            summary = (ast.get_docstring(tree) or "").partition("\n")[0]
            needs, optional = (
                ast.literal_eval(values[name]) if name in values else ()
                for name in ("NEEDS", "OPTIONAL")
            )
            found.append(Benchmark(file.stem, summary, needs, optional))
    return found


def main() -> None:
    """Print a line for each benchmark."""
    for benchmark in list_benchmarks():
        needs = [find_need(name) for name in benchmark.needs]
        texts = [f"{need.description}{'' if need.is_met else ' (missing)'}" for need in needs]
        line = f"{benchmark.name:16} {benchmark.summary} Needs: {', '.join(texts) or 'nothing'}."
        if benchmark.optional:
            line += f" Optional: {', '.join(find_need(name)[0] for name in benchmark.optional)}."
        print(line)


if __name__ == "__main__":
    main()
