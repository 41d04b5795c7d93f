"""The commands on a scenario that is a folder of somebody else's: nothing of it is installed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dqa.scenarios import catalogue
from tests.cli.conftest import Command
from tests.scenarios.live_plants import make_embedded


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget, after each test, what it registered."""
    monkeypatch.setattr(catalogue, "_registered", {})
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


LIVE = Path(__file__).parents[1] / "scenarios" / "live"


def test_a_live_database_is_asked_and_evaluated_in_place(dqa: Command, tmp_path: Path) -> None:
    """Lines need their target alone; the record has the alternatives, as JSON and as a page.

    A statement that loses candidates decides and scores nothing; one that a policy stops does.
    """
    location = make_embedded("sqlite", tmp_path)
    folder = LIVE / "close-plant"
    asked = ("ask", "--database", location, "--scenario", folder, "--decider", "first")
    page, target = tmp_path / "page.html", ("--target", "region=north", "--target", "active=true")
    ran = dqa(*asked, *target, "--json", "--html", page)
    assert ran.code == 0, ran.err
    record = json.loads(ran.out)["asked"]
    assert [one["outcome"] for one in record["alternatives"]] == [89.75, 90.0, 110.0]
    assert "<h1>O&#39;Hare</h1>" in page.read_text("utf-8")
    again = dqa(*asked, *target, "--html", page)
    assert (again.code, again.out) == (2, "")

    file, run = tmp_path / "closing.jsonl", tmp_path / "run"
    file.write_text('{"target": {"region": "north", "active": true}}\n', "utf-8")
    given = ("--questions", file, "--database", location, "--scenario", folder)
    ran = dqa("eval", *given, "--deciders", "oracle,first,random", "--out", run)
    assert ran.code == 0, ran.err
    lines = [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]
    assert [line["outcome"] for line in lines][:2] == ["correct", "correct"]
    assert lines[2]["best_value"] == 89.75
    assert "O'Hare" in dqa("data", "question", "close-plant/1", *given).out
    assert "1 of 1" in dqa("data", "annotate", *given).out
    catalogue._registered.clear()  # as in another process, which finds the folder in the run
    assert dqa("eval", "--resume", run).code == 0
    assert "needs --questions FILE" in dqa("eval", "--scenario", folder).err

    catalogue._registered.clear()
    bad, policy = Path(shutil.copytree(LIVE, tmp_path / "bad")) / folder.name, tmp_path / "p.json"
    policy.write_text('{"denied_columns": ["plant.cost"]}', "utf-8")
    of = ("--database", location, "--scenario", bad)
    first = ("ask", *of, *target, "--decider", "first")
    ran = dqa(*first, "--policy", policy)
    assert (ran.code, "outcomes of the alternatives are unknown" in ran.out) == (0, True)
    statement = (bad / "outcomes.sql").read_text("utf-8")
    (bad / "outcomes.sql").write_text(statement.replace(";", ' AND "lines" = 2;'), "utf-8")
    catalogue._registered.clear()
    for ran in (dqa(*first), dqa(*first[:-1], "oracle"), dqa("eval", "--questions", file, *of)):
        assert (ran.code, ran.out) == (2, "")
        assert "'York'" in ran.err
        assert "'Åre'" in ran.err
