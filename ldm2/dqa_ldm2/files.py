"""Export a memory to JSON lines.

The first line contains the format, its version and the number of tuples. Each further line contains
one tuple.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from dqa.core.files import file_errors, require_new_file, write_private
from dqa_ldm2.memory import Memory

_VERSION: Final = 1


def export_memory(memory: Memory, file: Path | str) -> int:
    """Write a memory's tuples to a new JSON Lines file, and return the number of tuples.

    Only the owner of the file can read it.

    Raises
    ------
    UsageError
        The file exists already, or cannot be written.
    """
    path = Path(file)
    require_new_file(path)
    tuples = [one.to_json() for one in memory.tuples()]
    head = {"format": "dqa-memory", "version": _VERSION, "tuples": len(tuples)}
    lines = [json.dumps(one, ensure_ascii=False) for one in (head, *tuples)]
    with file_errors(path, writing=True):
        write_private(path, "\n".join([*lines, ""]), new=True)
    return len(tuples)
