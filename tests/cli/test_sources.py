"""Commands on the scenarios of DeLLMa: from its release, from a folder, and from the generator."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Command


def test_what_only_a_simulator_can_do_says_so(dqa: Command, dellma_release_dir: Path) -> None:
    """One line, exit code 2."""
    ran = dqa("data", "audit", "--release", dellma_release_dir)
    assert ran.code == 2
    assert "'agriculture' has no simulator" in ran.err
    assert ran.err.count("\n") == 1


def test_the_oracle_is_right_where_a_record_tells(dqa: Command, dellma_release_dir: Path) -> None:
    """No simulator is needed; tables and graph are judged alike."""
    names = ("--limit", 5, "--deciders", "oracle,first", "--json")
    ran = dqa("eval", "--release", dellma_release_dir, *names)
    assert ran.code == 0, ran.err
    results = json.loads(ran.out)["results"]
    assert {r["correct"] for r in results if r["decider"] == "oracle"} == {5}
