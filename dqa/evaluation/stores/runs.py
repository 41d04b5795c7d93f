"""Reading the rows of a store: its runs, and what each of them holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Row, func, select

from dqa.core.decision import Usage
from dqa.core.distribution import own_version, shell_command
from dqa.core.errors import DataError, UnknownNameError, UsageError
from dqa.core.files import require_room
from dqa.core.records import problem_of
from dqa.evaluation.folders import RunRecord
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.prompts import Prompts
from dqa.evaluation.results import Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.stores.engine import open_engine, told
from dqa.evaluation.stores.places import StorePlace
from dqa.evaluation.stores.rows import result_of, unpack
from dqa.evaluation.stores.schema import is_store, require_free, require_schema
from dqa.evaluation.stores.tables import (
    LOST,
    PROMPTS,
    RESULTS,
    RUN_PROMPTS,
    RUNS,
    SHORTCUTS,
    TRACES,
)
from dqa.evaluation.traces import Trace

LOST_KIND, TRACE_KIND = "lost", "trace"
_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A run's row.

    Attributes
    ----------
    id
        Its number in the store.
    name
        Its name there.
    record
        What was run.
    spec_version
        Which form its spec was written in; None where it does not say.
    """

    id: int
    name: str
    record: RunRecord
    spec_version: int | None


@contextmanager
def reading(place: StorePlace) -> Iterator[Connection]:
    """Give a connection that reads a store, which an older version's is migrated for.

    Raises
    ------
    UsageError
        It is no store, or a newer version's.
    DataError
        The file is no database.
    """
    with told(place):
        engine = open_engine(place, writing=False)
        try:
            require_schema(engine, place, making=False)
            with engine.connect() as connection:
                yield connection
        finally:
            engine.dispose()


def find_run(connection: Connection, place: StorePlace) -> StoredRow:
    """Return the run that a place names, or the only one of its store.

    Raises
    ------
    UnknownNameError
        No run has that name.
    UsageError
        The store holds none, or several of which none is named.
    """
    if place.name is not None:
        row = connection.execute(select(RUNS).where(RUNS.c.name == place.name)).first()
        if row is None:
            raise UnknownNameError(f"run in {place.store}", place.name, run_names(connection))
        return _row(row, place)
    names = run_names(connection)
    if not names:
        how = shell_command("eval", "--out", place.store)
        raise UsageError(f"{place.store} holds no runs: '{how}' keeps one.")
    if len(names) > 1:
        shown = ", ".join(f"{place.store}#{name}" for name in names[:_NAMES_SHOWN])
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        raise UsageError(f"{place.store} holds {len(names)} runs: name one of {shown}{more}.")
    return _row(connection.execute(select(RUNS)).one(), place)


def run_names(connection: Connection) -> list[str]:
    """Return the names of a store's runs, the oldest first."""
    return list(connection.execute(select(RUNS.c.name).order_by(RUNS.c.id)).scalars())


def name_of(record: RunRecord) -> str:
    """Return what a run is called that nobody named: by what is evaluated, on which data."""
    spec = None if record.spec is None else record.spec.to_json()
    if spec is not None and isinstance(record.spec, RunSpec):
        # Where they lie says nothing: their content does.
        spec["questions"] = {
            name: value
            for name, value in spec["questions"].items()
            if name not in {"file", "folder"}
        }
    told = json.dumps([spec, record.content_hash], sort_keys=True)
    return f"run-{hashlib.sha256(told.encode()).hexdigest()[:12]}"


def run_row(record: RunRecord) -> dict[str, Any]:
    """Return the row of what is run, but for its name."""
    written = record.to_json()
    prices = record.calls.prices
    return {
        "dqa": own_version(),
        "spec": None if record.spec is None else json.dumps(written["spec"]),
        "content_hash": record.content_hash,
        "planned": record.planned,
        "began": written["began"],
        "options": json.dumps(written["options"]),
        "calls": json.dumps(written["calls"]),
        "price_input": None if prices is None else prices.input,
        "price_output": None if prices is None else prices.output,
        "versions": json.dumps(written["versions"]),
        "games": None if record.games is None else json.dumps(written["games"]),
    }


def _row(row: Row[Any], place: StorePlace) -> StoredRow:
    spec = None if row.spec is None else json.loads(row.spec)
    written = {
        "spec": spec,
        "content_hash": row.content_hash,
        "planned": row.planned,
        "began": row.began,
        "options": json.loads(row.options),
        "calls": json.loads(row.calls),
        "versions": json.loads(row.versions),
        "games": None if row.games is None else json.loads(row.games),
    }
    version = None if spec is None else spec.get("version")
    try:
        return StoredRow(row.id, row.name, RunRecord.model_validate(written), version)
    except UsageError as error:
        raise UsageError(f"{place.named(row.name)}: {error}") from error
    except ValidationError as error:
        raise UsageError(f"{place.named(row.name)}: {problem_of(error)}.") from error


def read_results(connection: Connection, run: int) -> dict[str, Result]:
    """Return a run's results by their tasks, in the order of the plan."""
    found = (
        select(RESULTS)
        .where(RESULTS.c.run_id == run)
        .order_by(RESULTS.c.position.is_(None), RESULTS.c.position, RESULTS.c.task)
    )
    results: dict[str, Result] = {}
    for row in connection.execute(found).mappings():
        try:
            results[row["task"]] = result_of(dict(row))
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"The result of {_where(row)} is damaged: {error!r}.") from error
    return results


def _where(row: Any) -> str:  # noqa: ANN401  (a row as a mapping)
    return str(DecisionKey(row["question"], row["database"], row["decider"], row["epoch"]))


def read_traces(
    connection: Connection, run: int, question: str | None, place: StorePlace
) -> Iterator[Trace]:
    """Yield a run's traces in the order of the plan, or those of one question."""
    same = (TRACES.c.run_id == RESULTS.c.run_id) & (TRACES.c.task == RESULTS.c.task)
    key = (RESULTS.c.question, RESULTS.c.database, RESULTS.c.decider, RESULTS.c.epoch)
    found = (
        select(*key, TRACES.c.body)
        .select_from(RESULTS.join(TRACES, same))
        .where(RESULTS.c.run_id == run)
        .order_by(RESULTS.c.position.is_(None), RESULTS.c.position, RESULTS.c.task)
        .execution_options(yield_per=20)
    )
    if question is not None:
        found = found.where(RESULTS.c.question == question)
    for row in connection.execute(found).mappings():
        try:
            yield Trace.from_json(unpack(row["body"]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            problem = f"{place}: the trace of {_where(row)} is damaged: {error}."
            raise DataError(problem) from error


def read_seconds(connection: Connection, run: int) -> dict[DecisionKey, float]:
    """Return how long each decision of a run took."""
    key = (RESULTS.c.question, RESULTS.c.database, RESULTS.c.decider, RESULTS.c.epoch)
    found = connection.execute(select(*key, RESULTS.c.seconds).where(RESULTS.c.run_id == run))
    return {DecisionKey(*named): took for *named, took in found}


def read_shortcuts(connection: Connection, run: int) -> tuple[ShortcutChoices, ...]:
    """Return what the heuristics chose."""
    found = select(SHORTCUTS.c.body).where(SHORTCUTS.c.run_id == run).order_by(SHORTCUTS.c.position)
    bodies = connection.execute(found).scalars()
    return tuple(ShortcutChoices.model_validate(json.loads(body)) for body in bodies)


def read_prompts(connection: Connection, run: int) -> Prompts:
    """Return the prompts of each decider."""
    found = (
        select(RUN_PROMPTS.c.decider, RUN_PROMPTS.c.name, PROMPTS.c.text)
        .select_from(RUN_PROMPTS.join(PROMPTS, PROMPTS.c.hash == RUN_PROMPTS.c.hash))
        .where(RUN_PROMPTS.c.run_id == run)
        .order_by(RUN_PROMPTS.c.decider, RUN_PROMPTS.c.name)
    )
    prompts: dict[str, dict[str, str]] = {}
    for decider, name, text in connection.execute(found):
        prompts.setdefault(decider, {})[name] = text
    return prompts


def usage_so_far(connection: Connection, run: int) -> Usage:
    """Return what all decisions of a run have used, those that were made again included."""
    return _used(connection, RESULTS, run) + _used(connection, LOST, run)


def usage_abandoned(connection: Connection, run: int, *, recorded: bool = False) -> Usage:
    """Return what was used and led to no decision; see `dqa.evaluation.folders`."""
    return _used(connection, LOST, run, *((LOST.c.kind == LOST_KIND,) if recorded else ()))


def _used(connection: Connection, table: Any, run: int, *only: Any) -> Usage:  # noqa: ANN401
    columns = (table.c.input_tokens, table.c.output_tokens, table.c.calls)
    sums = select(*(func.coalesce(func.sum(column), 0) for column in columns))
    found = connection.execute(sums.where(table.c.run_id == run, *only)).one()
    return Usage(*map(int, found))


def read_abandoned(connection: Connection, run: int) -> Iterator[Mapping[str, Any]]:
    """Yield the lines of what was used and led to no decision, in their order."""
    found = select(LOST.c.body).where(LOST.c.run_id == run).order_by(LOST.c.id)
    for body in connection.execute(found.execution_options(yield_per=20)).scalars():
        yield unpack(body)


def check_writable(place: StorePlace) -> None:
    """Raise an error of this project's where a store cannot be written, or made.

    A file that is not there yet is left to whoever begins the run. A database that holds other
    tables and no runs is none that may be written.
    """
    if place.file is None:
        with told(place):
            engine = open_engine(place, writing=True)
            try:
                with engine.connect() as connection:
                    if not is_store(connection):
                        require_free(connection, place)
            finally:
                engine.dispose()
    elif place.file.exists():
        open_engine(place, writing=True).dispose()
        with reading_or_new(place):
            pass
    else:
        require_room(place.file)


@contextmanager
def reading_or_new(place: StorePlace) -> Iterator[Connection | None]:
    """Give a connection that reads a store; None where there is none yet."""
    if place.file is not None and not (place.file.exists() and place.file.stat().st_size):
        yield None
        return
    with told(place):
        engine = open_engine(place, writing=False)
        try:
            with engine.connect() as connection:
                there = is_store(connection)
                if not there:
                    require_free(connection, place)
            if there:
                require_schema(engine, place, making=False)
            with engine.connect() as connection:
                yield connection if there else None
        finally:
            engine.dispose()


def holds_store(place: StorePlace) -> bool:
    """Whether a database is a store, of whatever version."""
    with told(place):
        engine = open_engine(place, writing=False)
        try:
            with engine.connect() as connection:
                return is_store(connection)
        finally:
            engine.dispose()


def has_cassette(place: StorePlace, cassette: Path) -> bool:
    """Whether the run of a place, or one of a store of which none is named, records there."""
    with reading_or_new(place) as connection:
        if connection is None:
            return False
        found = select(RUNS.c.calls)
        if place.name is not None:
            found = found.where(RUNS.c.name == place.name)
        calls = connection.execute(found).scalars()
        return any(json.loads(one).get("record") == str(cassette) for one in calls)


def count_results(place: StorePlace) -> int:
    """Return how many decisions of a run a store holds by now."""
    with reading(place) as connection:
        return count_made(connection, find_run(connection, place).id)


def count_made(connection: Connection, run: int) -> int:
    """Return how many decisions of a run are made by now."""
    counted = select(func.count()).select_from(RESULTS).where(RESULTS.c.run_id == run)
    return connection.execute(counted).scalar_one()
