"""List the benchmarks with their subjects.

Run ``python -m benchmarks``, and then ``python -m benchmarks.NAME``.
"""

from __future__ import annotations

import ast
from pathlib import Path


def main() -> None:
    """Print a line for each program. The modules are not imported."""
    for file in sorted(Path(__file__).parent.glob("*.py")):
        text = file.read_text("utf-8")
        if file.name != "__main__.py" and "__main__" in text:
            summary = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
            print(f"{file.stem:16} {summary}")


if __name__ == "__main__":
    main()
