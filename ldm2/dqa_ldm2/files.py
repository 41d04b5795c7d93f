"""Export a memory to JSON lines.

The first line has the format, its version and the number of tuples; every other line is a tuple.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from dqa.core.errors import UsageError
from dqa.core.files import problem_of_path, require_new_file, write_private
from dqa_ldm2.memory import Memory
from dqa_ldm2.records import Remembered

_VERSION: Final = 1


def line_of(one: Remembered) -> dict[str, Any]:
    """Return a tuple as an export and ``--json`` write it."""
    values = asdict(one)
    del values["id"], values["likeness"]
    return {"batch": values.pop("batch"), "step": values.pop("number"), **values}


def export_memory(memory: Memory, file: Path | str, *, version: int | None = None) -> int:
    """Write tuples as JSON lines to a new file that only its owner may read; return their number.

    Parameters
    ----------
    memory
        The memory.
    file
        The file.
    version
        Which tuples; see `Memory.tuples`.

    Raises
    ------
    UsageError
        There is no such version, or the file exists or cannot be written.
    """
    path = Path(file)
    require_new_file(path)
    tuples = [line_of(one) for one in memory.tuples(version=version)]
    head = {"format": "dqa-memory", "version": _VERSION, "tuples": len(tuples)}
    lines = [json.dumps(one, ensure_ascii=False) for one in (head, *tuples)]
    try:
        write_private(path, "\n".join([*lines, ""]), new=True)
    except OSError as error:
        raise UsageError(f"{problem_of_path(path, error, writing=True)}.") from error
    return len(tuples)
