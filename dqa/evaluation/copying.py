"""Copy runs, including runs of versions before 0.5."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, MetaData, Table, select

from dqa.core.decision import Usage
from dqa.core.errors import DataError, UsageError
from dqa.core.files import parse_json_of, read_json, whole_lines
from dqa.core.records import dump_line
from dqa.core.run_stores import TABLE_PREFIX
from dqa.evaluation.location import DATABASE, RunLocation
from dqa.evaluation.record import RunRecord
from dqa.evaluation.results import Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.spec import SPEC_VERSION
from dqa.evaluation.store import RunStore
from dqa.evaluation.stored_runs import (
    IMPORTED,
    RESULTS_FILE,
    TRACES_FILE,
    USAGE,
    RunReader,
    connected,
    is_store,
    run_names,
    version_of,
)
from dqa.evaluation.traces import Trace


class RunContent(NamedTuple):
    """The whole content of a run.

    Attributes
    ----------
    record, shortcuts
        See `RunReader`.
    decisions
        Each result with its trace, in the order of the run.
    lost
        For each attempt whose decision was not stored, its usage and its compressed trace (None if
        it has no trace).
    """

    record: RunRecord
    decisions: Iterable[tuple[Result, Trace]]
    shortcuts: Sequence[ShortcutChoices]
    lost: Sequence[tuple[Usage, bytes | None]]


def read_content(location: RunLocation) -> RunContent:
    """Read a run whose store this version of dqa can read."""
    run = RunReader(location)
    decisions = zip(run.results(), run.traces(), strict=True)
    return RunContent(run.record, decisions, run.shortcuts(), run.lost_rows())


def copy(run: RunContent, location: RunLocation) -> RunLocation:
    """Copy a run to a new location, and return the location.

    Raises
    ------
    UsageError
        The new location already contains a run.
    """
    exists = location.file is None or location.file.exists()
    if exists and is_store(location) and location.name in run_names(location):
        raise UsageError(f"{location} already exists: choose another location for the copy.")
    store = RunStore(location, run.record)
    try:
        store.add_all(run.decisions, run.lost, run.shortcuts)
    except BaseException:
        store.close(discard=True)
        raise
    store.close()
    store.write_lines()
    return location


def read_old(location: RunLocation) -> RunContent | None:
    """Read a run of a version before 0.5. Return None if the location contains no such run."""
    if location.folder is not None and not (location.folder / DATABASE).exists():
        return _read_folder(location.folder) if (location.folder / TRACES_FILE).exists() else None
    if location.file is not None and not location.file.exists():
        return None
    with connected(location) as connection:
        version = version_of(connection)
        is_old = version is not None and version <= IMPORTED
        return _read_store(connection, location) if is_old else None


def _read_folder(folder: Path) -> RunContent:
    def lines(name: str) -> list[Any]:
        return [
            parse_json_of(name, one.decode()) for one in whole_lines(folder / name, home=folder)
        ]

    lost = lines("abandoned.jsonl")
    bodies = [None if one.get("kind") == "lost" else dump_line(one).encode() for one in lost]
    results = {result.key: result for result in map(Result.from_json, lines(RESULTS_FILE))}
    traces = {trace.key: trace for trace in map(_trace, lines(TRACES_FILE))}
    if missing := results.keys() - traces.keys():
        raise DataError(f"The run cannot be copied: {min(missing)} has no trace.")
    return RunContent(
        _record(read_json(folder / "run.json")),
        [(result, traces[key]) for key, result in results.items()],
        [ShortcutChoices.model_validate(line) for line in lines("shortcuts.jsonl")],
        list(zip((Usage(**one["usage"]) for one in lost), bodies, strict=True)),
    )


def _trace(line: Mapping[str, Any]) -> Trace:
    """Read a trace. In version 0.1, the fields of an event are inside the field `data`."""
    events = [{**(event.pop("data", None) or {}), **event} for event in line["trace"]]
    return Trace.from_json({**line, "trace": events})


def _record(written: dict[str, Any]) -> RunRecord:
    """Return the record of an old run. Fields that this version no longer has are left out."""
    if "spec" not in written:
        return RunRecord(spec=None, versions=written["versions"])
    spec = written["spec"]
    for part, former in (("options", "patience"), ("calls", "reply_limit")):
        (written.get(part) or {}).pop(former, None)
    games = written.pop("games", None) or {}
    written["history"] = games.get("run", "")
    if spec is None:
        return RunRecord.model_validate({**written, "resumable": False})
    newest = 1 if "world" in spec else SPEC_VERSION
    is_current = spec.get("version") == newest and not spec.get("planner")
    # The weights of trained players were not part of the content hash.
    is_current = is_current and not games.get("weights")
    for part, former in (("limits", "scans"), ("budget", "scanned")):
        spec.get(part, {}).pop(former, None)
    # Version 1 had no display settings. It showed all digits, and a row for each candidate.
    spec = {"display": {"digits": 0, "fold": False}, **spec, "version": newest}
    spec.pop("planner", None)
    return RunRecord.model_validate({**written, "spec": spec, "resumable": is_current})


def _read_store(connection: Connection, location: RunLocation) -> RunContent:
    def rows(name: str, *order: str, **having: object) -> list[dict[str, Any]]:
        table = Table(f"{TABLE_PREFIX}{name}", MetaData(), autoload_with=connection)
        found = select(table).order_by(*(table.c[column] for column in order)).filter_by(**having)
        return [dict(row) for row in connection.execute(found).mappings()]

    names = {one["name"]: one for one in rows("runs", "id")}
    name = location.name or next(iter(names), "")
    if name not in names or (location.name is None and len(names) > 1):
        raise UsageError(
            f"{location.store} contains the runs {', '.join(names)}: write {location.store}#NAME."
        )
    run = names[name]
    fields = ("spec", "options", "calls", "versions", "games")
    written = {name: run[name] for name in ("content_hash", "planned", "began")}
    written |= {name: json.loads(run[name]) for name in fields if run.get(name)}
    results = rows("results", "position", "task", run_id=run["id"])
    bodies = {one["task"]: one["body"] for one in rows("traces", run_id=run["id"])}
    traces = (json.loads(zlib.decompress(bodies[one["task"]])) for one in results)
    shortcuts = rows("shortcuts", "position", run_id=run["id"])
    lost = rows("lost", "id", run_id=run["id"])
    used = (Usage(*(one[name] for name in USAGE if name in one)) for one in lost)
    again = (None if one["kind"] == "lost" else one["body"] for one in lost)
    return RunContent(
        _record(written),
        list(zip(map(_result, results), map(Trace.from_json, traces), strict=True)),
        [ShortcutChoices.model_validate_json(one["body"]) for one in shortcuts],
        list(zip(used, again, strict=True)),
    )


def _result(row: Mapping[str, Any]) -> Result:
    line = {name: row[name] for name in row if name in Result.model_fields}
    line |= {name: json.loads(row[name]) for name in ("ties", "tags")}
    return Result.from_json(line | json.loads(row["more"] or "{}"))
