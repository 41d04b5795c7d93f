"""DeLLMa from the command line: its settings, a user's own database, and cassettes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Command


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A user's own database: warehouses with an id, a name and what they cost."""
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE warehouse (id INTEGER, name TEXT, profit REAL)")
        rows = [(417, "north", 3.0), (12, "south", 9.0), (3, "east\nwest", 5.0), (2, "hill", 1.0)]
        made.executemany("INSERT INTO warehouse VALUES (?, ?, ?)", rows)
    made.close()
    return path


def asking(shop: Path, column: str, *more: object) -> tuple[object, ...]:
    """The arguments of a question about the warehouses."""
    return (
        *("ask", "--database", shop, "--question", "Which earns most?"),
        *("--candidates", f"SELECT {column} FROM warehouse ORDER BY id"),
        *more,
    )


@pytest.mark.parametrize(
    ("decider", "column", "best"),
    [("dellma-pairs", "id", 12), ("zero-shot", "name", "south"), ("dellma-naive", "name", "south")],
)
def test_a_user_s_own_database_is_decided_on(
    column: str, best: object, decider: str, dqa: Command, shop: Path
) -> None:
    """Whether its candidates are ids or names, one of which has a line break."""
    context = ("--context", f"SELECT {column}, profit FROM warehouse", "--decider", decider)
    options = ("--set", "dellma.samples=16") if decider == "dellma-pairs" else ()
    ran = dqa(*asking(shop, column, *context, *options, "--json"))
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert (told["ending"], told["choice"]) == ("answered", best)
    assert [one["row_count"] for one in told["evidence"]] == [4]


def test_a_setting_reaches_all_chosen_deciders_or_the_one_it_names(
    dqa: Command, tmp_path: Path
) -> None:
    """Naive's states are one batch, and votes as many as are set, beside others' settings."""
    base = ("eval", "--generate", 1, "--scenarios", "agriculture", "--databases", "sqlite")
    names = "dellma-pairs,dellma-naive,self-consistency"
    settings = ("dellma.samples=4", "dellma-naive.samples=64", "self-consistency.votes=3")
    given = [part for setting in settings for part in ("--set", setting)]
    ran = dqa(*base, "--deciders", names, *given, "--out", tmp_path / "run", "--json")
    assert ran.code == 0, ran.err
    lines = (tmp_path / "run" / "traces.jsonl").read_text("utf-8").splitlines()
    traces = {trace["decider"]: trace for trace in map(json.loads, lines)}
    shown = {
        name: [
            len(e["result"]["shown"])
            for e in trace["trace"]
            if e["kind"] == "step" and e["purpose"] == "elicitation"
        ]
        for name, trace in traces.items()
    }
    assert shown["dellma-naive"] == [64]
    assert shown["dellma-pairs"][0] <= 32
    assert traces["self-consistency"]["steps"] == 3
    for wrong in ("dellma-naive.batch=8", "dellma.shared=true", "dellma-top1.samples=4"):
        ran = dqa(*base, "--deciders", names, "--set", wrong, "--out", tmp_path / "other")
        assert ran.code == 2
        assert wrong.partition("=")[0] in ran.err
