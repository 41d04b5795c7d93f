"""Copies of runs, and runs of versions before 0.5: folders of lines, or other tables."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, Table, select

from dqa.core.decision import Usage
from dqa.core.errors import DataError, ParseError, UsageError
from dqa.core.files import parse_json, read_json, whole_lines
from dqa.core.records import dump_line
from dqa.core.run_stores import TABLE_PREFIX
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.location import DATABASE, RunLocation
from dqa.evaluation.prompts import Prompts
from dqa.evaluation.record import RunRecord
from dqa.evaluation.results import Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.spec import SPEC_VERSION
from dqa.evaluation.store import RunStore
from dqa.evaluation.stored_runs import (
    VERSION,
    RunReader,
    is_store,
    open_engine,
    run_names,
    translated,
    version_of,
)
from dqa.evaluation.traces import Trace


@dataclass(frozen=True, slots=True)
class RunContent:
    """All that a run contains.

    Attributes
    ----------
    record, results, traces, prompts, shortcuts
        As `RunReader` returns them.
    lost
        Each usage that led to no decision, with the packed trace of a decision made again.
    """

    record: RunRecord
    results: Sequence[Result]
    traces: Iterable[Trace]
    prompts: Prompts
    shortcuts: Sequence[ShortcutChoices]
    lost: Sequence[tuple[Usage, bytes | None]]


def read_content(location: RunLocation) -> RunContent:
    """Read a run of this version."""
    run = RunReader(location)
    prompts, shortcuts = run.prompts(), run.shortcuts()
    return RunContent(run.record, run.results(), run.traces(), prompts, shortcuts, run.lost_rows())


def copy(run: RunContent, location: RunLocation) -> RunLocation:
    """Copy a run to a new location, and return that.

    Raises
    ------
    UsageError
        A run is there already.
    DataError
        A result has no trace. Nothing is left of a copy that failed.
    """
    is_there = location.file is None or location.file.exists()
    if is_there and is_store(location) and location.name in run_names(location):
        raise UsageError(f"{location} exists already: name another location for the copy.")
    store = RunStore(location, run.record)
    try:
        store.add_prompts(run.prompts)
        store.add_shortcuts(run.shortcuts)
        left = {result.key: result for result in run.results}
        store.order(list(left))
        for trace in run.traces:
            if (result := left.pop(trace.key, None)) is not None:
                store.add(result, trace)
        _require_traces(left)
        for usage, body in run.lost:
            store.add_lost(usage, body)
    except BaseException:
        store.withdraw()
        raise
    store.close()
    store.write_lines()
    return location


def _require_traces(without: Mapping[DecisionKey, Result]) -> None:
    for key in without:
        raise DataError(f"The run cannot be copied: {key} has no trace.")


def is_old(location: RunLocation) -> bool:
    """Whether a run was written by a version before 0.5."""
    if location.folder is not None and not (location.folder / DATABASE).exists():
        return (location.folder / "traces.jsonl").exists()
    if location.file is not None and not location.file.exists():
        return False
    with translated(location):
        engine = open_engine(location, writing=False)
        with engine.connect() as connection:
            version = version_of(connection)
        engine.dispose()
    return version is not None and version < VERSION


def read_old(location: RunLocation) -> RunContent:
    """Read a run of a version before 0.5: a folder, or a named run of a store."""
    if location.folder is not None:
        return _read_folder(location.folder)
    with translated(location):
        engine = open_engine(location, writing=False)
        with engine.connect() as connection:
            content = _read_store(connection, location)
        engine.dispose()
    return content


def _read_folder(folder: Path) -> RunContent:
    def lines(name: str) -> Iterator[dict[str, Any]]:
        for number, line in enumerate(whole_lines(folder / name, home=folder), 1):
            try:
                yield parse_json(line)
            except ValueError as error:
                raise ParseError(folder / name, number, f"not valid ({error})") from error

    prompts = read_json(folder / "prompts.json") if (folder / "prompts.json").exists() else {}
    texts = prompts.get("texts", {})
    # Lines of other kinds are traces of decisions that were made again.
    lost = [
        (Usage(**line["usage"]), None if line.get("kind") == "lost" else dump_line(line).encode())
        for line in lines("abandoned.jsonl")
    ]
    return RunContent(
        _record(read_json(folder / "run.json")),
        list({r.key: r for r in map(Result.from_json, lines("results.jsonl"))}.values()),
        {t.key: t for t in map(Trace.from_json, lines("traces.jsonl"))}.values(),
        {
            decider: {name: texts[key] for name, key in of.items()}
            for decider, of in prompts.get("deciders", {}).items()
        },
        [ShortcutChoices.model_validate(line) for line in lines("shortcuts.jsonl")],
        lost,
    )


def _record(written: Mapping[str, Any]) -> RunRecord:
    if "spec" not in written:
        return RunRecord(spec=None, versions=written["versions"])
    spec = written["spec"] or {}
    is_current = spec.get("version") == (1 if "world" in spec else SPEC_VERSION)
    return RunRecord.model_validate({**written, "resumable": is_current})


def _read_store(connection: Connection, location: RunLocation) -> RunContent:
    run: Mapping[Any, Any] = {}

    def rows(name: str, *order: str) -> list[Mapping[Any, Any]]:
        table = Table(f"{TABLE_PREFIX}{name}", MetaData(), autoload_with=connection)
        found = select(table).order_by(*(table.c[column] for column in order))
        if "run_id" in table.c:
            found = found.where(table.c.run_id == run["id"])
        return [dict(row) for row in connection.execute(found).mappings()]

    names = {one["name"]: one for one in rows("runs", "id")}
    name = location.name or next(iter(names), "")
    if name not in names or (location.name is None and len(names) > 1):
        raise UsageError(f"{location.store} contains the runs {', '.join(names)}: name one.")
    run = names[name]
    fields = ("spec", "options", "calls", "versions", "games")
    written = {name: json.loads(run[name]) for name in fields if run.get(name)}
    plain = {name: run[name] for name in ("content_hash", "planned", "began")}
    texts = {one["hash"]: one["text"] for one in rows("prompts")}
    prompts: dict[str, dict[str, str]] = {}
    for one in rows("run_prompts", "decider", "name"):
        prompts.setdefault(one["decider"], {})[one["name"]] = texts[one["hash"]]
    results = rows("results", "position", "task")
    bodies = {one["task"]: one["body"] for one in rows("traces")}
    lost = [
        (
            Usage(one["input_tokens"], one["output_tokens"], one["calls"]),
            None if one["kind"] == "lost" else one["body"],
        )
        for one in rows("lost", "id")
    ]
    return RunContent(
        _record(written | plain),
        list(map(_result, results)),
        [Trace.from_json(json.loads(zlib.decompress(bodies[one["task"]]))) for one in results],
        prompts,
        [ShortcutChoices.model_validate_json(one["body"]) for one in rows("shortcuts", "position")],
        lost,
    )


def _result(row: Mapping[Any, Any]) -> Result:
    line = {name: row[name] for name in row if name in Result.model_fields}
    line |= {name: json.loads(row[name]) for name in ("ties", "tags")}
    return Result.from_json(line | json.loads(row["more"] or "{}"))
