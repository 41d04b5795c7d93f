"""Commands on the scenarios of DeLLMa: from its release, from a folder, and from the generator."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BASELINES = ("--deciders", "first,random", "--json")


def test_eval_reads_what_generate_wrote(dqa: Callable[..., Any], tmp_path: Path) -> None:
    """Scenarios of both kinds stand in one folder."""
    scenarios = ("--scenarios", "agriculture,stocks,building")
    made = dqa(
        "data", "generate", *scenarios, "--questions", 2, "--out", tmp_path / "set", "--json"
    )
    assert made.code == 0, made.err
    assert set(json.loads(made.out)["counts"]) == {"agriculture", "stocks", "building"}
    ran = dqa("eval", *scenarios, "--generated", tmp_path / "set", *BASELINES)
    assert ran.code == 0, ran.err
    assert {r["questions"] for r in json.loads(ran.out)["results"]} == {2}


@pytest.mark.parametrize("command", ["audit", "annotate"])
def test_what_only_a_simulator_can_do_says_so(
    dqa: Callable[..., Any], dellma_release_dir: Path, command: str
) -> None:
    """One line, exit code 2."""
    ran = dqa("data", command, "--release", dellma_release_dir)
    assert ran.code == 2
    assert "'agriculture' has no simulator" in ran.err
    assert ran.err.count("\n") == 1


def test_the_oracle_is_right_where_a_record_tells(
    dqa: Callable[..., Any], dellma_release_dir: Path
) -> None:
    """No simulator is needed; tables and graph are judged alike."""
    names = ("--limit", 5, "--deciders", "oracle,first", "--json")
    ran = dqa("eval", "--release", dellma_release_dir, *names)
    assert ran.code == 0, ran.err
    results = json.loads(ran.out)["results"]
    assert {r["correct"] for r in results if r["decider"] == "oracle"} == {5}


@pytest.mark.parametrize(
    ("decider", "problem"),
    [
        ("planrag", "scripted:analyst answers only questions of the scenarios locating, building"),
    ],
)
def test_a_script_that_a_scenario_lacks_is_refused_before_the_run(
    dqa: Callable[..., Any], tmp_path: Path, decider: str, problem: str
) -> None:
    """Nothing is decided and nothing is stored, also by the other decider."""
    ran = dqa(
        *("eval", "--scenarios", "locating,agriculture", "--generate", 1, "--databases", "sqlite"),
        *("--deciders", f"first,{decider}", "--out", tmp_path / "run"),
    )
    assert (ran.code, ran.out) == (2, "")
    assert problem in ran.err
    assert not (tmp_path / "run").exists()
