"""The golden runs and re-plannings: they are true, and the rules agree with their reader.

A run's statements return what it says, and its answers are right; `golden/README.md` has the
format, and says how the reader read.
"""

from __future__ import annotations

from typing import Any

from dqa import plugins
from dqa.core.database import Limits
from dqa.core.display import Display
from dqa.core.evidence import Evidence
from dqa.core.question_set import QuestionSet
from dqa.deciders.tools import observe
from dqa.evaluation.findings import Cases
from dqa_planrag.analysis import analyse
from dqa_planrag.analysis.replanning import kind_of
from tests.planrag.analysis.golden_runs import Databases, question, read, worlds
from tests.planrag.analysis.runs import make_case

RUNS: list[dict[str, Any]] = [*read("locating"), *read("building")]
PAIRS: list[dict[str, Any]] = read("replannings")


def test_there_are_as_many_as_promised() -> None:
    """Twenty runs of each scenario, and forty pairs of plans."""
    assert [len(read(name)) for name in ("locating", "building", "replannings")] == [20, 20, 40]
    assert len({case["id"] for case in (*RUNS, *PAIRS)}) == 80


def test_every_statement_returns_what_the_run_says(databases: Databases) -> None:
    """Rows, errors and cuts, to the letter."""
    for run in RUNS:
        database = databases[run["world"], run["database"]]
        for asked in run["evidence"]:
            limits, whole = Limits(rows=run["row_limit"]), Display(digits=0)
            found = observe(database, "\n".join(asked["statement"]), limits, whole)
            assert found.observation == "\n".join(asked["observation"]), run["id"]
            told = (asked["row_count"], asked["error"], asked["cut"])
            assert (found.row_count, found.error, found.cut) == told, run["id"]


def test_what_a_run_calls_right_is_best_under_every_rule_set() -> None:
    """And its labels fit its outcome: only a wrong answer has a class of failure."""
    for run in RUNS:
        asked = question(run["scenario"], run["world"], run["target"], run["question"])
        simulator = plugins.simulator(run["scenario"])
        for rules in simulator.rule_sets:
            (outcomes,) = simulator.outcomes(worlds()[run["world"]], [asked], rules)
            assert list(outcomes.ties) == run["right"], run["id"]
        labels = run["labels"]
        assert (labels["failure"] is None) == (run["verdict"]["outcome"] == "correct")
        assert labels["missed"] == ("missed" in labels["values"].values())


def measured(run: dict[str, Any]) -> dict[str, object]:
    """Return how the rules read a run: its values, whether any was missed, why it failed."""
    asked = question(run["scenario"], run["world"], run["target"], run["question"])
    evidence = (
        Evidence(
            "\n".join(one["statement"]),
            "\n".join(one["observation"]),
            *(one["row_count"], one["error"], one["cut"]),
        )
        for one in run["evidence"]
    )
    case = make_case(
        *evidence,
        question=asked.key,
        scenario=run["scenario"],
        database=run["database"],
        kind="graph" if run["database"] == "ladybug" else "relational",
        answer=run["answer"],
        **run["verdict"],
    )
    questions = QuestionSet("golden", (asked,), worlds())
    (found,) = analyse(Cases((case,)), None, questions).runs
    values = found.measures["critical_values"]
    return {
        "values": values,
        "missed": "missed" in values.values(),
        "failure": found.failure,
    }


def test_the_rules_read_a_run_as_the_reader_did() -> None:
    """How it came by each critical value, and why it failed."""
    names = ("values", "missed", "failure")
    wanted = {run["id"]: {name: run["labels"][name] for name in names} for run in RUNS}
    assert {run["id"]: measured(run) for run in RUNS} == wanted


def test_the_rules_read_a_re_planning_as_the_reader_did() -> None:
    """Its group, and one of the kinds that are fair."""
    for pair in PAIRS:
        found = kind_of("\n".join(pair["old"]), "\n".join(pair["new"]))
        group, _, kind = found.partition(": ")
        assert group == pair["labels"]["group"], pair["id"]
        assert kind in pair["labels"]["kinds"], pair["id"]
