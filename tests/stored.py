"""Read and change the stored record of a run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from dqa.core.events import StepEvent

_Found = TypeVar("_Found", bound=BaseModel)


def record_of(folder: Path) -> dict[str, Any]:
    """Return the record of a run."""
    with closing(sqlite3.connect(folder / "run.db")) as connection:
        ((record,),) = connection.execute("SELECT record FROM dqa_runs").fetchall()
    found: dict[str, Any] = json.loads(record)
    return found


def change_record(folder: Path, record: dict[str, Any]) -> None:
    """Replace the record of a run."""
    with closing(sqlite3.connect(folder / "run.db")) as connection, connection:
        connection.execute("UPDATE dqa_runs SET record = ?", (json.dumps(record),))


def change_results(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Change each result in the order of the run; None removes a decision."""
    with closing(sqlite3.connect(folder / "run.db")) as connection, connection:
        rows = connection.execute("SELECT rowid, result FROM dqa_results ORDER BY position")
        for row, written in rows.fetchall():
            line = change(json.loads(written))
            connection.execute("DELETE FROM dqa_results WHERE ? AND rowid = ?", (line is None, row))
            if line is not None:
                columns = ("question", "outcome", "input_tokens", "output_tokens", "calls")
                values = [*(line.get(name) for name in columns), json.dumps(line), row]
                assignments = ", ".join(f"{name} = ?" for name in (*columns, "result"))
                statement = f"UPDATE dqa_results SET {assignments} WHERE rowid = ?"
                connection.execute(statement, values)


def find_step(events: Sequence[object], kind: type[_Found], purpose: str) -> _Found | None:
    """Return the last result of a step in a trace; None without one."""
    steps = [one for one in events if isinstance(one, StepEvent) and one.purpose == purpose]
    return kind.model_validate(steps[-1].result) if steps else None
