"""Fuzzed calls on the embedded engines, and the fuzzer itself."""

from __future__ import annotations

from pathlib import Path

import pytest

import dqa
from dqa import guard
from tests.hostile.corpus import EMBEDDED, ENGINES
from tests.hostile.fuzz import __main__ as fuzzing
from tests.hostile.fuzz.__main__ import Finding, fuzz, keep
from tests.hostile.fuzz.arguments import types_of, values_of
from tests.hostile.fuzz.calls import CallMaker
from tests.hostile.fuzz.functions import read_functions, read_operators


def made(engine: str, seed: int, count: int) -> list[str]:
    """Return the first statements of a seed."""
    maker = CallMaker(engine, read_functions(engine), read_operators(engine), seed)
    return [maker.statement() for _ in range(count)]


@pytest.mark.parametrize("engine", EMBEDDED)
def test_a_seed_makes_the_same_statements_again(engine: str) -> None:
    """What is found can be found again; and most of them reach the engine."""
    first = made(engine, 7, 200)
    assert made(engine, 7, 200) == first
    assert made(engine, 8, 200) != first
    allowed = [one for one in first if "\ud800" not in one and guard.check(one, engine).allowed]
    assert len(allowed) > 120


@pytest.mark.parametrize("engine", EMBEDDED)
def test_every_function_that_the_engine_lists_and_the_guard_allows_is_called(engine: str) -> None:
    """None is forgotten by how it is listed."""
    functions = read_functions(engine)
    assert len({function.name for function in functions}) > 80
    names = {function.name for function in functions if function.parameters}
    assert {"sqlite": "substr", "duckdb": "levenshtein", "ladybug": "list_sort"}[engine] in names


@pytest.mark.parametrize("engine", ENGINES)
def test_the_guard_reads_the_odd_values(engine: str) -> None:
    """A value that it refuses would hide every call that it stands in."""
    begin = "MATCH p = (n:Goods)-[r]-(m) RETURN" if engine in {"neo4j", "ladybug"} else "SELECT"
    values = [value for kind in values_of(engine).values() for value in kind]
    casts = [f"CAST(NULL AS {name})" for name in types_of(engine)]
    refused = [
        value
        for value in [*values, *casts]
        if not guard.check(f"{begin} coalesce({value})", engine).allowed
    ]
    assert len(refused) <= len(values) * 0.05, refused


def test_what_is_found_is_kept_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As statements that `dqa check` reads; of one problem not more than a few."""
    monkeypatch.setattr(fuzzing, "STATEMENTS", tmp_path)
    findings = [Finding("sqlite", f"SELECT abs({number})", "late: 4 s") for number in range(9)]
    assert keep([*findings, *findings]) == 3
    assert keep(findings) == 0
    kept = dqa.check_files([tmp_path / "sqlite" / "found.sql"], "sqlite")
    assert [one.statement for one in kept] == [f"SELECT abs({number})" for number in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize("engine", EMBEDDED)
def test_fuzzed_calls_end_as_statements_do(engine: str) -> None:
    """No crash, nothing late, no exception that is none of ours, no outage."""
    stretch = fuzz(engine, 1, 800)
    assert stretch.findings == []
    assert stretch.allowed > 400
