"""The golden runs and re-plannings are true, and the rules agree with their reader.

Statements return the recorded rows, and answers are right. `golden/README.md` describes the format
and the reading.
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


def test_every_statement_returns_the_recorded_rows(databases: Databases) -> None:
    """Rows are equal to the letter, errors by their class."""
    for run in RUNS:
        database = databases[run["world"], run["database"]]
        for asked in run["evidence"]:
            limits, whole = Limits(rows=run["row_limit"]), Display(digits=0)
            found = observe(database, "\n".join(asked["statement"]), limits, whole)
            if found.error is None:
                assert found.observation == "\n".join(asked["observation"]), run["id"]
            expected = (asked["row_count"], asked["error"], asked["cut"])
            assert (found.row_count, found.error, found.cut) == expected, run["id"]


def test_right_answers_are_best_under_every_rule_set() -> None:
    """Only wrong answers have a class of failure."""
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
    """Return the rules' reading of a run: its values, missed data and failure."""
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
    return {"values": values, "missed": "missed" in values.values(), "failure": found.failure}


def test_the_rules_read_a_run_as_the_reader_did() -> None:
    """Each critical value, and the class of failure."""
    names = ("values", "missed", "failure")
    wanted = {run["id"]: {name: run["labels"][name] for name in names} for run in RUNS}
    assert {run["id"]: measured(run) for run in RUNS} == wanted


def test_the_rules_read_a_re_planning_as_the_reader_did() -> None:
    for pair in PAIRS:
        found = kind_of("\n".join(pair["old"]), "\n".join(pair["new"]))
        group, _, kind = found.partition(": ")
        assert group == pair["labels"]["group"], pair["id"]
        assert kind in pair["labels"]["kinds"], pair["id"]
