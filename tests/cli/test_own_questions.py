"""``dqa eval --questions``: a user's own questions about the user's own databases, to the end."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.models.model_server import ModelServer
from tests.sqlite_files import run_script

LINES: list[dict[str, Any]] = [
    {
        "question": "Which supplier is the cheapest?",
        "rules": "The price is that of a piece.",
        "candidates": "SELECT name FROM supplier",
        "answer": "Arnold",
        "tags": ["price"],
    },
    {
        "id": "soon",
        "question": "Which supplier delivers first?",
        "candidates": ["Arnold", "Bell", "Castle"],
        "answer": ["Bell", "Castle"],
        "tags": ["days"],
    },
    {"question": "Whom do you like best?", "candidates": ["Bell", "Castle"]},
]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A file of three questions beside the database that they are about."""
    run_script(
        tmp_path / "shop.db",
        "CREATE TABLE supplier(name TEXT PRIMARY KEY, price REAL, days INTEGER);"
        "INSERT INTO supplier VALUES ('Arnold', 4.0, 9), ('Bell', 5.5, 2), ('Castle', 5, 2);",
    )
    file = tmp_path / "buying.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in LINES), "utf-8")
    return file


def asking(file: Path) -> tuple[object, ...]:
    """Return the options that name the questions and what they are about."""
    return ("--questions", file, "--database", file.with_name("shop.db"))


def results(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Read a run's results by question and decider."""
    lines = map(json.loads, (folder / "results.jsonl").read_text("utf-8").splitlines())
    return {(line["question"], line["decider"]): line for line in lines}


def test_own_questions_are_scored_under_the_name_of_their_file(
    dqa: Command, own: Path, tmp_path: Path
) -> None:
    """Any of several right answers is right; without one a decision is not judged, never wrong."""
    ran = dqa("eval", *asking(own), "--deciders", "first,random", "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    found = results(tmp_path / "run")
    outcomes = {key: line["outcome"] for key, line in found.items() if key[1] == "first"}
    assert outcomes == {
        ("buying/1", "first"): "correct",
        ("buying/soon", "first"): "wrong",
        ("buying/3", "first"): "unlabelled",
    }
    liked = found["buying/3", "first"]
    assert (liked["choice"], liked["ties"], liked["database"]) == ("Bell", [], "shop")
    assert found["buying/soon", "first"]["ties"] == ["Bell", "Castle"]
    assert "50.0 (1/2)" in ran.out
    assert "2 decisions on questions without a known answer (not judged)" in ran.out
    assert f"show {tmp_path / 'run'} --wrong" in ran.err, "nothing failed, so there is a next step"
    listed = dqa("runs", tmp_path).out
    assert "first, random on shop; model: none" in listed
    assert "4 of 6 judged, 50.0 % of them right; 2 without a known answer" in listed
    assert "Tag price: first 100.0 (1/1)" in ran.out
    assert "Tag days: first 0.0 (0/1)" in ran.out


def test_an_agent_asks_the_database_where_it_is(dqa: Command, own: Path, tmp_path: Path) -> None:
    """Read-only and behind the guard; the run is shown, analysed and its statements audited."""

    def buyer(request: dict[str, Any]) -> str:
        if any("Observation:" in str(said["content"]) for said in request["messages"][2:]):
            return "Thought: That one.\nFinal Answer: Arnold"
        statement = "SELECT name FROM supplier ORDER BY price LIMIT 1"
        return f"Thought: Look.\nAction: query_database\nAction Input: {statement}"

    run, audit = tmp_path / "run", tmp_path / "audit.jsonl"
    with ModelServer(buyer) as server:
        ran = dqa(
            *("eval", *asking(own), "--deciders", "iterrag", "--model", "openai:buyer"),
            *("--base-url", server.url, "--out", run, "--limit", "2", "--audit", audit),
        )
    assert ran.code == 0, ran.err
    found = results(run)
    assert {key: line["outcome"] for key, line in found.items()} == {
        ("buying/1", "iterrag"): "correct",
        ("buying/soon", "iterrag"): "wrong",
    }
    assert "ORDER BY price" in audit.read_text("utf-8")
    shown = dqa("show", run, "buying/1")
    assert "ORDER BY price" in shown.out
    assert "Right: Arnold is the best decision." in shown.out
    analysed = json.loads(dqa("analyse", run, "--json").out)
    assert {one["question"] for one in analysed["runs"]} == {"buying/1", "buying/soon"}


def test_the_documented_example_runs(
    dqa: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its database, its file, its commands, its table and its Python."""
    text = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text("utf-8")
    text = text.partition("## Your own questions")[2]
    blocks = re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL)
    (made,), (lines,), (program,) = (
        [block for kind, block in blocks if kind == wanted] for wanted in ("sql", "jsonl", "python")
    )
    commands, table = (block for kind, block in blocks if not kind)
    monkeypatch.chdir(tmp_path)
    run_script("shop.db", made)
    Path("buying.jsonl").write_text(lines, "utf-8")
    Path("rules.txt").write_text("Of equals either.", "utf-8")
    printed = ""
    for command in commands.splitlines():
        ran = dqa(*shlex.split(command, comments=True)[1:])
        assert ran.code == 0, ran.err
        printed += ran.out
    assert commands.count("dqa ") == 3
    for line in table.splitlines():
        assert line == "  ..." or line in printed
    exec(program, {})  # noqa: S102


@pytest.mark.parametrize("scheme", ["postgresql+psycopg", "mysql+pymysql"])
@pytest.mark.parametrize("password", ["Zx9@hushhush", "Zx9@y/hushhush"])
def test_a_password_with_a_bare_at_sign_is_refused_and_never_shown(
    dqa: Command, own: Path, tmp_path: Path, scheme: str, password: str
) -> None:
    """Its rest would stand before the host, and in every message."""
    url = f"{scheme}://u:{password}@127.0.0.1:1/x"
    for asked in (("--questions", own, "--database", url), ("--generate", "1", "--databases", url)):
        ran = dqa("eval", *asked, "--deciders", "first", "--out", tmp_path / "run")
        assert ran.code == 2, ran.err
        assert "%40 for an @" in ran.err
        written = "".join(path.read_text("utf-8") for path in tmp_path.glob("run/*"))
        assert "hushhush" not in ran.out + ran.err + written
