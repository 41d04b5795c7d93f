"""``dqa eval --questions``: a user's own questions about the user's own databases, to the end."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dqa as toolkit
from dqa import plugins
from tests.models.model_server import ModelServer

Command = Callable[..., Any]

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
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        database.executescript(
            "CREATE TABLE supplier(name TEXT PRIMARY KEY, price REAL, days INTEGER);"
            "INSERT INTO supplier VALUES ('Arnold', 4.0, 9), ('Bell', 5.5, 2), ('Castle', 5, 2);"
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
    assert f"results {tmp_path / 'run'} --wrong" in ran.err, (
        "nothing failed, so there is a next step"
    )
    listed = dqa("runs", tmp_path).out
    assert "first, random on shop; model: none" in listed
    assert "4 of 6 judged, 50.0 % of them right; 2 without a known answer" in listed
    assert "Tag price: first 100.0 (1/1)" in ran.out
    assert "Tag days: first 0.0 (0/1)" in ran.out


def test_a_run_without_any_known_answer_ends_well(dqa: Command, own: Path) -> None:
    """Nothing failed: there is only nothing to judge by."""
    own.write_text(json.dumps(LINES[2]), "utf-8")
    ran = dqa("eval", *asking(own), "--deciders", "first")
    assert (ran.code, "not judged" in ran.out) == (0, True), ran.err


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
    shown = dqa("trace", run, "buying/1")
    assert "ORDER BY price" in shown.out
    assert "Right: Arnold is the best decision." in shown.out
    analysed = json.loads(dqa("analyse", run, "--json").out)
    assert {one["question"] for one in analysed["runs"]} == {"buying/1", "buying/soon"}


def test_a_run_goes_on_and_asks_only_what_is_left(dqa: Command, own: Path, tmp_path: Path) -> None:
    """A decision that nothing judges is made once; changed questions are another run."""
    run = tmp_path / "run"
    command = ("eval", *asking(own), "--deciders", "first", "--out", run)
    assert dqa(*command).code == 0
    whole = (run / "results.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    (run / "results.jsonl").write_bytes(b"".join(lines[1:]))
    traces = (run / "traces.jsonl").read_bytes().count(b"buying/3")
    ran = dqa("eval", "--resume", run)
    assert ran.code == 0, ran.err
    assert (run / "results.jsonl").read_bytes() == whole
    assert (run / "traces.jsonl").read_bytes().count(b"buying/3") == traces
    own.write_text(own.read_text("utf-8").replace("cheapest", "dearest"), "utf-8")
    ran = dqa("eval", "--resume", run)
    assert ran.code == 2
    assert "are others than those it began with (questions " in ran.err


def test_a_run_on_own_databases_is_listed_with_them(
    dqa: Command, own: Path, tmp_path: Path
) -> None:
    """Its settings name none; its questions do."""
    assert dqa("eval", *asking(own), "--deciders", "first", "--out", tmp_path / "run").code == 0
    listed = dqa("runs", tmp_path).out
    assert "first on shop; model: none" in listed
    assert "2 of 3 judged, 50.0 % of them right; 1 without a known answer" in listed


def test_where_a_run_was_ended_is_said_and_no_inner_task(dqa: Command, own: Path) -> None:
    """Of the agent's own graph a user knows nothing."""
    ran = dqa("eval", *asking(own), "--deciders", "planrag", "--workers", "1")
    assert ran.code == 2
    assert ran.err.endswith("It was raised at buying/1, decided by planrag on shop.\n")
    assert "During task" not in ran.err


def test_a_run_that_was_interrupted_early_goes_on_in_the_same_process(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook: nobody else is writing the folder."""
    questions = toolkit.read_questions(own, own.with_name("shop.db"))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("dqa.api.evaluating.choose_by_shortcuts", interrupted)
        with pytest.raises(KeyboardInterrupt):
            toolkit.evaluate(questions, "first", out=tmp_path / "run")
    run = toolkit.evaluate(questions, out=tmp_path / "run", resume=True)
    assert len(run.results) == 3


def test_a_question_is_shown_with_the_schema_of_its_database(dqa: Command, own: Path) -> None:
    """As a decider meets it, with what is right."""
    shown = json.loads(dqa("show", "buying/soon", *asking(own), "--json").out)
    assert shown["answers"] == ["Bell", "Castle"]
    assert shown["situation"] == {"name": "shop", "hash": None, "rows": {}}
    assert shown["schema"]["relational"][0].startswith("supplier(name: TEXT, price: REAL")


@pytest.mark.parametrize("command", ["annotate", "audit"])
def test_what_takes_a_simulator_says_so(dqa: Command, own: Path, command: str) -> None:
    """In a line, before anything is simulated."""
    ran = dqa(command, *asking(own))
    assert ran.code == 2
    assert "Question 'buying/1' is a user's own: no simulator tells" in ran.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--questions", "own.jsonl"), "say what they are about: --database URL"),
        (("--database", "shop.db"), "--database names what --questions FILE is about"),
        (("--questions", "own.jsonl", "--database", "shop.db", "--generate", "1"), "once"),
        (
            ("--questions", "own.jsonl", "--database", "shop.db", "--databases", "sqlite"),
            "the questions name their own databases",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    dqa: Command, own: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], said: str
) -> None:
    """And the message names the option that is missing or too many."""
    monkeypatch.chdir(own.parent)
    own.rename("own.jsonl")
    ran = dqa("eval", *given, "--deciders", "first")
    assert ran.code == 2
    assert said in ran.err


def test_a_decider_refuses_the_one_question_that_it_cannot_decide(dqa: Command, own: Path) -> None:
    """Before the others are asked: questions of one's own are not all alike."""
    own.write_text(own.read_text("utf-8") + json.dumps({"question": "Whom?"}) + "\n", "utf-8")
    ran = dqa("eval", *asking(own), "--deciders", "first")
    assert ran.code == 2
    assert "Question 'buying/4' lists no candidates" in ran.err


def test_questions_are_about_several_databases_of_any_kind(
    dqa: Command, own: Path, tmp_path: Path
) -> None:
    """Each on its own, by the name that the question has for it."""
    situation = next(iter(toolkit.generate(["building"], 1).situations.values()))
    plugins.backend("ladybug").load(situation, str(tmp_path / "plant.lbug")).close()
    graph = "MATCH (b:Building) RETURN b.id"
    lines = [
        {**LINES[0], "database": "stock"},
        {"question": "Which?", "database": "plant", "candidates": graph},
    ]
    own.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    ran = dqa(
        *("eval", "--questions", own, "--database", f"stock={tmp_path / 'shop.db'}"),
        *("--database", tmp_path / "plant.lbug", "--deciders", "first", "--out", tmp_path / "run"),
    )
    assert ran.code == 0, ran.err
    kinds = {line["database"]: line["kind"] for line in results(tmp_path / "run").values()}
    assert kinds == {"stock": "relational", "plant": "graph"}


def test_a_question_that_names_its_scenario_is_judged_by_its_simulator(
    dqa: Command, tmp_path: Path
) -> None:
    """Text, rules and candidates are the scenario's; so are shortcuts, annotations and audits."""
    made = toolkit.generate(["building"], 1, 3)
    plugins.backend("sqlite").load(
        made.situation_of(made.questions[0]), str(tmp_path / "plant.db")
    ).close()
    file = tmp_path / "mine.jsonl"
    target = {"goods": made.questions[0].target["goods"]}
    line = {"scenario": "building", "target": target, "id": "a"}
    file.write_text(json.dumps(line), "utf-8")
    about = ("--questions", file, "--database", tmp_path / "plant.db")
    ran = dqa("eval", *about, "--deciders", "oracle", "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    assert "100.0 (1/1)" in ran.out
    assert "Best shortcut" in ran.out
    answer = made.truth_of(made.questions[0]).official
    (annotated,) = json.loads(dqa("annotate", *about, "--json").out)
    assert (annotated["question"], annotated["answer"]) == ("a", answer)
    assert dqa("audit", *about).code == 0


def test_the_same_file_is_one_call_in_python(own: Path) -> None:
    """As it is, or read beforehand; a list of the same does as well."""
    shop = own.with_name("shop.db")
    source = toolkit.OwnQuestions(file=own, databases=shop)
    runs = [
        toolkit.evaluate(what, "first")
        for what in (source, toolkit.read_questions(own, shop), toolkit.read_questions(LINES, shop))
    ]
    assert [[result.outcome.value for result in run.results] for run in runs] == [
        ["correct", "wrong", "unlabelled"]
    ] * 3
    assert [(count.tag, count.correct) for count in runs[0].tags] == [("price", 1), ("days", 0)]


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
    with closing(sqlite3.connect("shop.db")) as database:
        database.executescript(made)
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
def test_a_password_with_a_bare_at_sign_is_refused_and_never_shown(
    dqa: Command, own: Path, tmp_path: Path, scheme: str
) -> None:
    """Its rest would stand before the host, and in every message."""
    url = f"{scheme}://u:Zx9@hushhush@127.0.0.1:1/x"
    for asked in (("--questions", own, "--database", url), ("--generate", "1", "--databases", url)):
        ran = dqa("eval", *asked, "--deciders", "first", "--out", tmp_path / "run")
        assert ran.code == 2, ran.err
        assert "%40 for an @" in ran.err
        written = "".join(path.read_text("utf-8") for path in tmp_path.glob("run/*"))
        assert "hushhush" not in ran.out + ran.err + written
