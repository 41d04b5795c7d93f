"""DeLLMa from the command line: its settings, a user's own database, and cassettes."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.models.model_server import ModelServer, Trouble

Command = Callable[..., Any]


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
    "decider", ["dellma-pairs", "dellma-naive", "zero-shot", "self-consistency"]
)
@pytest.mark.parametrize(("column", "best"), [("id", 12), ("name", "south")])
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


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "--context"),
        (("--context", "SELECT nix FROM warehouse"), "No query of the context can run"),
        (("--context", "DROP TABLE warehouse"), "No query of the context can run"),
        (("--context", "SELECT 1", "--set", "dellma.samples=0"), "1 or more"),
        (("--context", "SELECT 1", "--set", "dellma.sample=8"), "Did you mean 'dellma.samples'"),
        (("--context", "SELECT 1", "--set", "dellma.samples"), "NAME=VALUE"),
        (("--context", "SELECT 1", "--protocol", "tools"), "--protocol tools would change nothing"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    arguments: tuple[str, ...], problem: str, dqa: Command, shop: Path
) -> None:
    """With what to change, and exit code 2."""
    ran = dqa(*asking(shop, "id", "--decider", "dellma-pairs", *arguments))
    assert ran.code == 2
    assert problem in ran.err
    assert "Traceback" not in ran.err


def test_a_setting_given_twice_is_refused(dqa: Command, shop: Path) -> None:
    """Which one counts is not left to guess."""
    twice = ("--set", "dellma.samples=8", "--set", "dellma.samples=16")
    ran = dqa(*asking(shop, "id", "--decider", "dellma-pairs", "--context", "SELECT 1", *twice))
    assert ran.code == 2
    assert "given twice" in ran.err


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
        name: [len(e["shown"]) for e in trace["trace"] if e["kind"] == "ranking"]
        for name, trace in traces.items()
    }
    assert shown["dellma-naive"] == [64]
    assert shown["dellma-pairs"][0] <= 32
    assert traces["self-consistency"]["steps"] == 3
    for wrong in ("dellma-naive.batch=8", "dellma.shared=true", "dellma-top1.samples=4"):
        ran = dqa(*base, "--deciders", names, "--set", wrong, "--out", tmp_path / "other")
        assert ran.code == 2
        assert wrong.partition("=")[0] in ran.err


def test_tool_calls_are_for_those_who_make_them(dqa: Command, tmp_path: Path) -> None:
    """Beside an agent that does, deciders that ask in text run as ever."""
    base = ("eval", "--generate", 1, "--scenarios", "locating", "--databases", "sqlite")
    ran = dqa(
        *(*base, "--deciders", "planrag,zero-shot", "--protocol", "tools"),
        *("--out", tmp_path / "run", "--json"),
    )
    assert ran.code == 0, ran.err


def test_adaptive_sampling_reports_the_calls_it_saves(
    dqa: Command, shop: Path, tmp_path: Path
) -> None:
    """In the trace; the choice is the same."""
    more = ("--context", "SELECT id, profit FROM warehouse", "--decider", "dellma-pairs")
    trace = tmp_path / "trace.json"
    adaptive = ("--set", "dellma.confidence=0.9", "--trace", trace)
    ran = dqa(*asking(shop, "id", *more, *adaptive, "--json"))
    assert json.loads(ran.out)["choice"] == 12
    events = json.loads(trace.read_text("utf-8"))["trace"]
    last = [event for event in events if event["kind"] == "confidence"][-1]
    assert last["calls"] + last["calls_saved"] == 11
    assert last["calls_saved"] > 0


DECIDERS = "dellma-pairs,self-consistency,chain-of-thought"


def results(folder: Path) -> dict[str, Any]:
    """Decisions and their replies by question and decider, whatever order they came in."""
    found = {}
    for line in (folder / "traces.jsonl").read_text("utf-8").splitlines():
        trace = json.loads(line)
        said = [event["text"] for event in trace["trace"] if event["kind"] == "reply"]
        ended = (trace["ending"], trace["answer"], said)
        found[f"{trace['question']} {trace['decider']}"] = ended
    return found


def test_cassettes_play_what_they_recorded_with_any_number_of_workers(
    dqa: Command, tmp_path: Path
) -> None:
    """The same decisions and replies, and not one request to a model."""
    tape = tmp_path / "tape.jsonl"
    base = (
        *("eval", "--generate", 2, "--scenarios", "agriculture", "--databases", "sqlite"),
        *("--deciders", DECIDERS, "--set", "dellma.samples=8", "--json"),
    )
    first = dqa(*base, "--workers", 4, "--record", tape, "--out", tmp_path / "first")
    again = dqa(*base, "--workers", 3, "--replay", tape, "--out", tmp_path / "again")
    assert (first.code, again.code) == (0, 0), first.err + again.err
    assert results(tmp_path / "first") == results(tmp_path / "again")
    assert len(results(tmp_path / "first")) == 6


def test_five_equal_requests_have_five_replies_on_a_cassette(
    dqa: Command, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A vote is asked at temperature 0.5, and also where the server knows no temperature."""
    monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
    votes = iter(["north", "south", "hill", "south", "Action 3. south"])
    lock = threading.Lock()

    def vote(request: dict[str, Any]) -> str:
        with lock:
            return json.dumps({"decision": next(votes), "explanation": ""})

    tape = tmp_path / "tape.jsonl"
    names = asking(shop, "name", "--context", "SELECT name FROM warehouse")
    base = (*names, "--decider", "self-consistency", "--model", "openai:test", "--json")
    with ModelServer(vote, lambda request, before: Trouble.TEMPERATURE_UNSUPPORTED) as server:
        first = dqa(*base, "--base-url", server.url, "--record", tape)
        assert server.requests[0]["temperature"] == 0.5
        assert sum("temperature" in request for request in server.requests) == 1
        assert len(server.requests) == 6
    again = dqa(*base, "--replay", tape)
    assert (first.code, again.code) == (0, 0), first.err + again.err
    kept = [json.loads(ran.out) for ran in (first, again)]
    assert [told["choice"] for told in kept] == ["south", "south"]
    said = [[event["text"] for event in told["trace"] if event["kind"] == "reply"] for told in kept]
    assert said[0] == said[1]
    assert len(set(said[0])) == 4
