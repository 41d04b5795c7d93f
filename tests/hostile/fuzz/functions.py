"""What an engine can be asked to do: its functions and operators, as it lists them itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

import duckdb

import dqa
from dqa import guard
from dqa.core.database import Limits
from dqa.guard.lists import lists
from tests.hostile.measuring import BACKENDS

Kind: TypeAlias = Literal["scalar", "aggregate", "table"]
_EVERYTHING = Limits(rows=100_000, bytes=1 << 28, seconds=60)
_EVERY_SCHEMA = dqa.Policy(schemas=frozenset({"*"}))
_MOST_PARAMETERS = 8
_OPERATORS = {
    "sqlite": "|| * / % + - & | << >> < <= > >= = != IS -> ->> LIKE GLOB REGEXP AND OR",
    "duckdb": "|| * / // % + - ** ^ & | << >> < <= > >= = != -> ->> LIKE ILIKE GLOB ~ !~ ^@ @> <@ "
    "&& <-> <=> AND OR",
    "ladybug": "+ - * / % ^ = <> < <= > >= AND OR XOR IN CONTAINS =~",
    "mariadb": "|| * / DIV % + - & | ^ << >> < <= > >= = != <=> LIKE REGEXP AND OR XOR",
    "neo4j": "+ - * / % ^ = <> < <= > >= AND OR XOR IN CONTAINS =~",
}
"""Operators of engines that do not list theirs."""


@dataclass(frozen=True)
class Function:
    """A function that may be called.

    Attributes
    ----------
    parameters
        The types of its arguments, as the engine calls them, empty where it says none; None where
        it does not say how many there are.
    """

    name: str
    kind: Kind
    parameters: tuple[str, ...] | None = None


def read_functions(engine: str, url: str | None = None) -> list[Function]:
    """Return the functions that an engine lists, and those of the guard's list, that are allowed.

    Parameters
    ----------
    url
        The server; None for an embedded engine.
    """
    listed = set(_READERS[engine](url) if engine in _READERS else ())
    names = {function.name.lower() for function in listed}
    known = lists(engine)["functions"]
    kind: Kind = "scalar"
    listed |= {Function(name, kind) for name in known if name not in names}
    allowed = [function for function in listed if _is_allowed(function, engine)]
    return sorted(allowed, key=lambda f: (f.name, f.kind, f.parameters or ()))


def read_operators(engine: str, url: str | None = None) -> list[str]:
    """Return the infix operators of an engine."""
    if engine == "postgres":
        rows = _asked(engine, url, "SELECT DISTINCT oprname FROM pg_catalog.pg_operator")
        return [*sorted(str(row[0]) for row in rows), "AND", "OR", "LIKE", "SIMILAR TO"]
    return _OPERATORS[engine].split()


def _is_allowed(function: Function, engine: str) -> bool:
    if not re.fullmatch(r"[A-Za-z_][\w.]*", function.name):
        return False
    begin = "RETURN" if engine in {"neo4j", "ladybug"} else "SELECT"
    verdict = guard.check(f"{begin} {function.name}(1)", engine)
    return "not known to only read" not in verdict.reason


def _asked(engine: str, url: str | None, statement: str) -> tuple[tuple[object, ...], ...]:
    """Ask the engine itself; a server for all of it."""
    backend = BACKENDS.get(engine, engine)
    if url is None:
        tables = (
            "CREATE NODE TABLE t(a INT64 PRIMARY KEY)" if engine == "ladybug" else {"t": {"a": [1]}}
        )
        with dqa.temporary_database(tables, backend, limits=_EVERYTHING) as database:
            return database.query(statement).rows
    database = dqa.open_database(url, limits=_EVERYTHING, policy=_EVERY_SCHEMA)
    try:
        return database.query(statement).rows
    finally:
        database.close()


def _duckdb(_url: str | None) -> list[Function]:
    with duckdb.connect() as connection:  # the guard hides the list of functions
        rows = connection.execute(
            "SELECT DISTINCT function_name, function_type, array_to_string(parameter_types, ';') "
            "FROM duckdb_functions() ORDER BY ALL"
        ).fetchall()
    kinds: dict[str, Kind] = {"aggregate": "aggregate", "table": "table"}
    return [
        Function(str(name), kinds.get(str(kind), "scalar"), _split(types))
        for name, kind, types in rows
        if kind != "pragma"
    ]


def _postgres(url: str | None) -> list[Function]:
    rows = _asked(
        "postgres",
        url,
        "SELECT DISTINCT proname, prokind::text, proretset, "
        "(SELECT string_agg(format_type(t, NULL), ';') FROM unnest(proargtypes) t) "
        "FROM pg_catalog.pg_proc",
    )
    return [
        Function(
            str(name),
            "aggregate" if kind in {"a", "w"} else "table" if many else "scalar",
            _split(types),
        )
        for name, kind, many, types in rows
    ]


def _ladybug(url: str | None) -> list[Function]:
    rows = _asked("ladybug", url, "CALL show_functions() RETURN name, type, signature")
    kinds: dict[str, Kind] = {"AGGREGATE FUNCTION": "aggregate", "TABLE FUNCTION": "table"}
    return [
        Function(
            str(name).lower(),
            kinds.get(str(kind), "scalar"),
            _split(_between(str(signature)).replace(",", ";")),
        )
        for name, kind, signature in rows
    ]


_READERS = {"duckdb": _duckdb, "ladybug": _ladybug, "postgres": _postgres}
"""Engines that list the types of their functions' parameters."""


def _between(signature: str) -> str:
    """Return what stands in a signature's brackets."""
    return signature.partition("(")[2].partition(") ::")[0].removesuffix(")").strip()


def _split(types: object) -> tuple[str, ...]:
    return tuple(str(types).split(";"))[:_MOST_PARAMETERS] if types else ()
