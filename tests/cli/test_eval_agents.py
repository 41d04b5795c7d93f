"""`dqa eval` and `dqa ask` choose how agents and models talk, and which model plans."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dqa_planrag.recipes import RECIPES
from tests.stored import record_of

Command = Callable[..., Any]
SMALL = ("--databases", "sqlite")


def traces(folder: Path) -> list[dict[str, Any]]:
    """The traces of a run."""
    return [json.loads(line) for line in (folder / "traces.jsonl").read_text("utf-8").splitlines()]


def accuracies(ran: Any) -> list[tuple[str, str, float]]:
    """What was right, by scenario and decider."""
    rows = json.loads(ran.out)["results"]
    return [(row["scenario"], row["decider"], row["accuracy"]) for row in rows]


def test_every_agent_runs_by_name_in_both_protocols(
    dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """The results are the same; the traces tell which protocol it was."""
    names = ",".join(recipe.name for recipe in RECIPES)
    base = ("eval", "--generated", generated, *SMALL, "--deciders", names, "--json")
    react = dqa(*base, "--out", tmp_path / "react")
    tools = dqa(*base, "--protocol", "tools", "--out", tmp_path / "tools")
    assert (react.code, tools.code) == (0, 0)
    assert accuracies(react) == accuracies(tools)
    simulated = [right for _, name, right in accuracies(react) if name == "planrag-sim"]
    assert simulated == [1.0, 1.0]
    for protocol, labelled in (("react", True), ("tools", False)):
        run = record_of(tmp_path / protocol)
        assert run["spec"]["protocol"] == protocol
        for trace in traces(tmp_path / protocol):
            (last,) = [event for event in trace["trace"] if event["kind"] == "reply"][-1:]
            assert ("Final Answer:" in last["text"]) is labelled
