"""A run for other programs: rows from which its figures can be worked out again."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

import dqa as api
from dqa.report.export_rows import ExportedDecision, encode_rows
from tests.cli.conftest import Command
from tests.stored import change_results

_TYPES = """
    version:int64 question:string scenario:string database:string kind:string decider:string
    model:string epoch:int64 situation:string outcome:string answer:string choice:string
    official:string ties:list regret:double relative_regret:double rank:int64 value:double
    best_value:double baseline:double goal:string steps:int64 statements:int64 plans:int64
    error:string input_tokens:int64 output_tokens:int64 calls:int64 cached_tokens:int64
    reasoning_tokens:int64 uncounted:int64 failed_calls:int64 tags:list match:string
    cut:int64 ended_by:string content:string official_metrics:string game:string judged:bool
    seconds:double cost:double candidates:int64 shortcuts:string
"""
COLUMNS = dict(pair.split(":") for pair in _TYPES.split())
"""The columns of an export and their types in Parquet."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two epochs, of which a server ended one decision and which counted tokens."""
    folder = tmp_path_factory.mktemp("exported") / "run"
    api.evaluate(
        api.generate(count=3, seed=4),
        ["iterrag", "random", "first"],
        databases=["sqlite", "ladybug"],
        epochs=2,
        out=folder,
        calls=api.CallOptions(price_input=2.0, price_output=10.0),
    )
    numbers = count()

    def change(line: dict[str, Any]) -> dict[str, Any]:
        number = next(numbers)
        if number == 0:
            line |= {"outcome": "infrastructure", "choice": None, "error": "gone", "regret": None}
        if line["model"] != "none":
            line |= {"input_tokens": 1_000 + 7 * number, "output_tokens": number}
        return line

    change_results(folder, change)
    return folder


@pytest.fixture(scope="module")
def run(kept: Path) -> api.Run:
    """The same, read back."""
    return api.read_run(kept)


def _in_sqlite(table: list[dict[str, Any]]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.execute(f"CREATE TABLE decision ({', '.join(COLUMNS)})")
    cells = [
        [json.dumps(c) if isinstance(c, list | dict) else c for c in line.values()]
        for line in table
    ]
    connection.executemany(f"INSERT INTO decision VALUES ({', '.join('?' * len(COLUMNS))})", cells)
    return connection


def _tables(run: api.Run, folder: Path) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows as each format gives them back."""
    lines = api.export_run(run, folder / "rows.jsonl").read_text("utf-8").splitlines()
    yield [json.loads(line) for line in lines]
    yield parquet.read_table(api.export_run(run, folder / "rows.parquet")).to_pylist()
    text = api.export_run(run, folder / "rows.csv").read_text("utf-8")
    kinds: dict[str, Callable[[str], Any]] = {"int64": int, "double": float, "bool": "true".__eq__}
    yield [
        {
            name: None
            if not cell and COLUMNS[name] != "string"
            else kinds.get(COLUMNS[name], str)(cell)
            for name, cell in line.items()
        }
        for line in csv.DictReader(io.StringIO(text, newline=""))
    ]


SUMMARIES = """
SELECT decider, scenario, database, count(*) AS questions, sum(outcome = 'correct') AS correct,
  sum(judged) AS judged, avg(CASE WHEN judged THEN outcome = 'correct' END) AS accuracy,
  sum(judged AND CAST(choice AS TEXT) IN (SELECT CAST(value AS TEXT) FROM json_each(ties)))
    AS with_ties,
  sum(outcome = 'wrong') AS wrong, sum(outcome = 'infrastructure') AS infrastructure,
  avg(CASE WHEN judged THEN regret END) AS mean_regret,
  avg(CASE WHEN judged AND relative_regret < 9e999 THEN relative_regret END)
    AS mean_relative_regret,
  CASE WHEN max(judged AND uncounted > 0) = 0
    THEN avg(CASE WHEN judged THEN input_tokens + output_tokens END) END AS mean_tokens,
  avg(CASE WHEN judged THEN steps END) AS mean_steps
FROM decision GROUP BY decider, scenario, database"""

CHANCE = """
SELECT scenario, count(*) AS questions, avg(min(1.0, right * 1.0 / candidates)) AS share
FROM (SELECT DISTINCT scenario, question, candidates, json_array_length(ties) AS right
      FROM decision WHERE judged AND candidates IS NOT NULL)
GROUP BY scenario"""

SHORTCUTS = """
SELECT scenario, key AS name, count(*) AS questions, sum(value IN
    (SELECT tie.value FROM json_each(ties) AS tie)) AS right
FROM (SELECT DISTINCT scenario, question, shortcuts, ties FROM decision WHERE judged),
     json_each(shortcuts)
GROUP BY scenario, key"""


def test_every_figure_of_a_run_can_be_worked_out_of_its_rows_by_plain_sql(
    run: api.Run, tmp_path: Path
) -> None:
    """From each format: accuracy, counts, regret, tokens, cost, chance and shortcuts."""
    figures = run.figures()
    assert figures.counts.failed == 1
    assert figures.shortcuts
    for table in _tables(run, tmp_path):
        assert [list(line) for line in table] == [list(COLUMNS)] * len(run.results)
        with closing(_in_sqlite(table)) as sql:
            found = {tuple(line)[:3]: line for line in sql.execute(SUMMARIES)}
            assert len(found) == len(figures.results)
            for summary in figures.results:
                line = dict(found[summary.decider, summary.scenario, summary.database])
                assert line.pop("judged") == summary.judged
                assert line.pop("mean_tokens") == summary.mean_tokens
                del line["decider"], line["scenario"], line["database"]
                told = {name: getattr(summary, name) for name in line}
                assert line == pytest.approx(told, rel=1e-12)
            (spent,) = sql.execute(
                "SELECT sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, "
                "sum(calls) AS calls, CASE WHEN sum(uncounted) = 0 THEN sum(cost) END AS cost "
                "FROM decision"
            )
            known = figures.spent.to_json()
            exact = known["cost"] is None
            assert dict(spent) == (known if exact else pytest.approx(known, rel=1e-12))
            chance = {
                line["scenario"]: (line["questions"], line["share"]) for line in sql.execute(CHANCE)
            }
            assert chance.keys() == {one.scenario for one in figures.chance}
            for one in figures.chance:
                assert chance[one.scenario] == pytest.approx((one.questions, one.share), rel=1e-12)
            shortcuts = {tuple(line) for line in sql.execute(SHORTCUTS)}
            assert shortcuts == {
                (s.scenario, s.name, s.questions, s.right) for s in figures.shortcuts
            }


def test_the_columns_of_a_table_and_their_types_are_these(run: api.Run, tmp_path: Path) -> None:
    """Also where a run has no decision with a value in one."""
    schema = parquet.read_schema(api.export_run(run, tmp_path / "rows.parquet"))
    found = {field.name: str(field.type).partition("<")[0] for field in schema}
    assert found == COLUMNS
    assert list(COLUMNS) == list(ExportedDecision.model_fields)


SAID = ['=HYPERLINK("http://x")', "+1", "-5", "@x", "", 'two\n"lines"', "Süd, West"]


def _said(run: api.Run, answer: str) -> ExportedDecision:
    result = run.results[1].changed(answer=answer, error=None, relative_regret=float("inf"))
    return ExportedDecision(**dict(result), judged=result.outcome.judged)


def test_texts_of_a_csv_are_exact(run: api.Run) -> None:
    """Numbers stay numbers, an empty text is another thing than none."""
    rows = [_said(run, answer) for answer in SAID]
    text = encode_rows(rows, "csv").decode()
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [line["answer"] for line in lines] == SAID
    assert {line["relative_regret"] for line in lines} == {"inf"}
    assert ',"",' in text.splitlines()[5]  # the empty answer; the missing error has no quotes


def test_standard_output_gets_the_rows_alone(dqa: Command, kept: Path, tmp_path: Path) -> None:
    """The same bytes as a file gets; JSON lines where nothing says what."""
    exported = api.export_run(kept, tmp_path / "rows.jsonl").read_text("utf-8")
    assert dqa("export", kept).out == exported
    ran = dqa("export", kept, "--format", "csv", "--out", "-")
    assert ran.out == encode_rows(api.export_rows(kept), "csv").decode()
    assert ran.err == ""
