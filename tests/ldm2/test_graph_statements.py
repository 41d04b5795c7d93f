"""What a memory in Neo4j is told; a server's own tests are in `tests/integration`."""

from __future__ import annotations

import re
from pathlib import Path

from dqa.core.run_stores import MEMORY_LABELS
from dqa_ldm2.memory import graph_statements as statements

_LABEL = re.compile(r"\(\w*:(\w+)")
"""The label of a node in a pattern, as all statements write it."""


def test_every_label_of_a_memory_is_hidden_from_agents() -> None:
    """A label that is added to the statements has to be among those that the guard hides."""
    written = set(_LABEL.findall(" ".join(statements.MAKE.values())))
    for path in sorted(Path(statements.__file__).parent.glob("graph*.py")):
        written.update(_LABEL.findall(path.read_text(encoding="utf-8")))
    assert written == MEMORY_LABELS
