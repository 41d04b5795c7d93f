"""The golden runs are true: their statements return what they say, and their answers are right.

What the rules of the analysis make of them is not tested here; `golden/README.md` has the format.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.core.database import Database, Limits
from dqa.core.display import Display
from dqa.core.question import Question
from dqa.core.situation import Situation, Table
from dqa.deciders.tools import observe

GOLDEN = Path(__file__).with_name("golden")


def read(name: str) -> Any:
    """Return a golden file's value."""
    return json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))


RUNS: list[dict[str, Any]] = [*read("locating"), *read("building")]
PAIRS: list[dict[str, Any]] = read("replannings")


@pytest.fixture(scope="module")
def worlds() -> dict[str, Situation]:
    """The worlds that the runs were made on."""
    made = {}
    for name, world in read("worlds").items():
        schema = plugins.scenario(world["scenario"]).schema
        rows = {t.name: world["tables"][t.name]["rows"] for t in schema.tables}
        tables = {t.name: Table.from_rows(t, rows[t.name]) for t in schema.tables}
        made[name] = Situation(schema, name, tables)
    return made


@pytest.fixture(scope="module")
def databases(worlds: dict[str, Situation]) -> Iterator[dict[tuple[str, str], Database]]:
    """The worlds in every database that a run was made on."""
    wanted = {(run["world"], run["database"]) for run in RUNS}
    opened = {(w, d): plugins.backend(d).load(worlds[w]) for w, d in sorted(wanted)}
    yield opened
    for database in opened.values():
        database.close()


def test_there_are_as_many_as_promised() -> None:
    """Twenty runs of each scenario, and forty pairs of plans."""
    assert [len(read(name)) for name in ("locating", "building", "replannings")] == [20, 20, 40]
    assert len({case["id"] for case in (*RUNS, *PAIRS)}) == 80


@pytest.mark.parametrize("run", RUNS, ids=lambda run: str(run["id"]))
def test_every_statement_returns_what_the_run_says(
    run: dict[str, Any], databases: dict[tuple[str, str], Database]
) -> None:
    """Rows, errors and cuts, to the letter."""
    database = databases[run["world"], run["database"]]
    for asked in run["evidence"]:
        limits, whole = Limits(rows=run["row_limit"]), Display(digits=0)
        found = observe(database, "\n".join(asked["statement"]), limits, whole)
        assert found.observation == "\n".join(asked["observation"])
        told = (asked["row_count"], asked["error"], asked["cut"])
        assert (found.row_count, found.error, found.cut) == told


@pytest.mark.parametrize("run", RUNS, ids=lambda run: str(run["id"]))
def test_what_a_run_calls_right_is_best_under_every_rule_set(
    run: dict[str, Any], worlds: dict[str, Situation]
) -> None:
    """And its labels fit its outcome: only a wrong answer has a class of failure."""
    question = Question(
        run["scenario"], run["id"], run["question"], "", run["world"], run["target"]
    )
    simulator = plugins.simulator(run["scenario"])
    for rules in simulator.rule_sets:
        (outcomes,) = simulator.outcomes(worlds[run["world"]], [question], rules)
        assert list(outcomes.ties) == run["right"]
    labels = run["labels"]
    assert (labels["failure"] is None) == (run["verdict"]["outcome"] == "correct")
    assert labels["missed"] == ("missed" in labels["values"].values())
