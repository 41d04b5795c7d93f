"""`dqa trace` shows a run as a person reads it, wherever it is shown."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dqa.report.passages import (
    Called,
    FinalAnswer,
    Heading,
    Judgement,
    ModelFault,
    Other,
    Passage,
    Plan,
    Prompt,
    RefusedReply,
    Section,
    ShownStep,
    Spent,
    Thought,
    Unjudged,
    WholeReply,
)
from tests.cli.conftest import Command, Ran

HOSTILE = (
    "\x1b[31m\x1b]0;owned\x07 \x9b2J [bold red]x[/] :smile: \u202egnp.exe \r \ud800 " + "y" * 5_000
)
GOLDEN = Path(__file__).with_name("trace.txt")
WRONG = Judgement(
    outcome="wrong",
    problem=None,
    choice="b1",
    official="a1",
    ties=("a1",),
    value=1.0,
    best_value=1.5,
    baseline=1.25,
    goal="maximise",
    regret=0.5,
    relative_regret=2.0,
    rank=2,
    unit="profit",
)


@pytest.fixture(scope="module")
def run_folder(
    generated: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """Return the folder of a run of three deciders on both kinds of database."""
    from typer.testing import CliRunner

    from dqa.cli.main import app

    out = tmp_path_factory.mktemp("traced") / "run"
    deciders = ("--deciders", "planrag,planrag-sim,random")
    result = CliRunner().invoke(
        app, ["eval", "--generated", str(generated), *deciders, "--out", str(out)]
    )
    assert result.exit_code == 0, result.output
    return out


@pytest.fixture
def copied(run_folder: Path, tmp_path: Path) -> Path:
    """Return a copy of the run that may be damaged."""
    return Path(shutil.copytree(run_folder, tmp_path / "run"))


def one(dqa: Command, folder: Path, *more: str, question: str = "locating/1") -> Ran:
    """Show PlanRAG's run on SQLite."""
    return dqa("trace", folder, question, "--database", "sqlite", "--decider", "planrag", *more)


def shown(capsys: pytest.CaptureFixture[str], *passages: Passage, full: bool = False) -> str:
    """Return what passages look like."""
    from dqa.report.trace_text import echo_passages

    echo_passages(passages, full=full)
    return capsys.readouterr().out


@pytest.mark.parametrize("database", ["sqlite", "ladybug"])
@pytest.mark.parametrize("question", ["locating/1", "building/1"])
def test_a_scripted_run_reads_from_question_to_verdict(
    dqa: Command, run_folder: Path, database: str, question: str
) -> None:
    """Everything that happened, in order, on both kinds of database."""
    named = ("--decider", "planrag", "--database", database)
    ran = dqa("trace", run_folder, question, *named)
    assert ran.code == 0, ran.err
    titles = [line for line in ran.out.splitlines() if line and not line.startswith(" ")]
    assert titles[0] == f"{question} | {database} | planrag"
    assert titles[1:4] == ["Question", "Business rules", "Database"]
    assert titles[4:7] == ["Step 1: thought", "Step 1: plan", "Step 1: statement"]
    assert titles[-3:] == ["Answer", "Spent", "Verdict"]
    assert "A scripted program, not a language model." in ran.out
    assert "SELECT" in ran.out or "MATCH" in ran.out
    assert re.search(r"-> \d+ rows?\n", ran.out)
    unit = "profit" if question.startswith("locating") else "price"
    assert re.search(rf"Best decision: \w+, with a {unit} of [\d.]+ \(a (high|low)er one", ran.out)
    assert "Deciding nothing leads to" in ran.out
    assert "\x1b" not in ran.out


def test_a_simulation_and_a_run_without_a_model_are_shown_too(
    dqa: Command, run_folder: Path
) -> None:
    """What was compared with what, and what a guess was worth."""
    named = ("locating/1", "--database", "sqlite")
    simulated = dqa("trace", run_folder, *named, "--decider", "planrag-sim").out
    assert "comparison\n" in simulated
    assert "change is from deciding nothing" in simulated
    guessed = dqa("trace", run_folder, *named, "--decider", "random").out
    assert "Model: none" in guessed
    assert re.search(r"Verdict\n  (Right|Wrong): ", guessed)


@pytest.mark.parametrize("more", [(), ("--full",)])
def test_a_pipe_shows_the_same_at_every_width(
    dqa: Command, run_folder: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    """Nothing is wrapped, cut or boxed by a terminal that is not there."""
    seen = set()
    for columns in ("40", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        seen.add(one(dqa, run_folder, *more).out)
        seen.add(dqa("trace", run_folder, "locating/1").out)
    assert len(seen) == 2


def test_full_shortens_nothing(dqa: Command, run_folder: Path) -> None:
    """And begins with what the model was told before its task."""
    named = ("trace", run_folder, "building/1", "--database", "sqlite", "--decider", "planrag")
    short, full = dqa(*named).out, dqa(*named, "--full").out
    assert "--full shows" in short
    assert "--full shows" not in full
    assert "Prompt, system" in full
    assert len(full) > len(short)


def test_a_terminal_gets_colours_and_a_frame(
    dqa: Command, run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same words, and no line wider than the terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    ran = one(dqa, run_folder)
    assert "\x1b[" in ran.out
    plain = re.sub(r"\x1b\[[0-9;]*m", "", ran.out)
    assert "─ Verdict ─" in plain
    assert "Step 1: plan" in plain
    assert max(map(len, plain.splitlines())) <= 60


def test_several_runs_are_listed_in_the_order_of_the_run(dqa: Command, run_folder: Path) -> None:
    """None of them is shown; a decider or a database narrows them down."""
    ran = dqa("trace", run_folder, "locating/1")
    assert ran.code == 0
    rows = [line.split()[:3] for line in ran.out.splitlines() if "sqlite" in line]
    assert [row[1] for row in rows] == ["planrag", "planrag-sim", "random"]
    assert all(row[2] in {"correct", "wrong"} for row in rows)
    assert ran.out.startswith("locating/1 was decided 6 times")
    assert "Name one with --database and --decider." in ran.out
    narrowed = dqa("trace", run_folder, "locating/1", "--database", "sqlite").out
    assert narrowed.startswith("locating/1 was decided 3 times")


def test_json_holds_the_passages_of_every_run_that_matches(dqa: Command, run_folder: Path) -> None:
    """Whole, each with its kind."""
    (run,) = json.loads(one(dqa, run_folder, "--json").out)
    kinds = [passage["kind"] for passage in run["passages"]]
    assert kinds[:5] == ["heading", "prompt", "thought", "plan", "called"]
    assert kinds[-3:] == ["answer", "spent", "judgement"]
    assert run["passages"][4]["rows"]
    assert len(json.loads(dqa("trace", run_folder, "locating/1", "--json").out)) == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("locating/9",), "Did you mean 'locating/"),
        (("locating/1", "--decider", "planrug"), "Did you mean 'planrag'?"),
        (("locating/1", "--database", "sqlight"), "There are: ladybug, sqlite."),
    ],
)
def test_what_the_run_does_not_hold_is_said_with_what_it_does(
    dqa: Command, run_folder: Path, arguments: tuple[str, ...], words: str
) -> None:
    """Exit code 2, nothing on stdout."""
    ran = dqa("trace", run_folder, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_what_is_no_run_is_said(dqa: Command, run_folder: Path, tmp_path: Path) -> None:
    """A missing folder, an empty one, a run that has only begun, a part of a run."""
    assert "does not exist" in dqa("trace", tmp_path / "no", "locating/1").err
    assert "holds no run" in dqa("trace", tmp_path, "locating/1").err
    (tmp_path / "traces.jsonl").write_text('{"question"')
    assert "no finished decision yet" in dqa("trace", tmp_path, "locating/1").err
    (tmp_path / "other.json").write_text('{"a": 1}')
    ran = dqa("trace", tmp_path / "other.json")
    assert (ran.code, ran.out) == (1, "")
    assert "not written by 'dqa ask --trace'" in ran.err
    for part in ("run.json", "results.jsonl", "traces.jsonl"):
        assert f"name its folder, {run_folder}." in dqa("trace", run_folder / part).err


def test_a_half_written_last_line_costs_that_run_only(dqa: Command, copied: Path) -> None:
    """A decision whose result was never written was not made: its trace is not shown."""
    results = copied / "results.jsonl"
    lines = results.read_text("utf-8").splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if '"planrag"' in line and '"sqlite"' in line)
    mine = json.loads(lines[first])["question"]
    results.write_text("".join(lines[:first] + lines[first + 1 :]) + lines[first][:30], "utf-8")
    ran = one(dqa, copied, question=mine)
    assert (ran.code, ran.out) == (2, "")
    assert "no decider" in ran.err
    assert dqa("trace", copied, mine).out.startswith(f"{mine} was decided 5 times")


def test_results_of_an_older_version_are_refused_by_line(dqa: Command, copied: Path) -> None:
    """They do not say what the best decision leads to."""
    results = copied / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    del lines[1]["best_value"]
    results.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    ran = one(dqa, copied)
    assert (ran.code, ran.out) == (1, "")
    assert "results.jsonl:2: this is no result: best_value" in ran.err


def test_a_file_of_ask_needs_no_question(dqa: Command, generated: Path, tmp_path: Path) -> None:
    """What is right nobody knows there."""
    from dqa import plugins
    from dqa.loaders.generator import read_generated

    questions = read_generated(generated)
    question = questions.find("locating/1")
    file, trace = tmp_path / "q.db", tmp_path / "trace.json"
    plugins.backend("sqlite").load(questions.situation_of(question), str(file)).close()
    made = dqa("ask", "--database", file, "--question", question.text, "--trace", trace)
    assert made.code == 0, made.err
    ran = dqa("trace", trace)
    assert ran.code == 0, ran.err
    assert question.text.split('"')[1] in ran.out
    assert "Step 1: statement" in ran.out
    assert "Not judged\n" in ran.out
    assert "needs no QUESTION" in dqa("trace", trace, "custom/1").err


def test_every_kind_of_passage_has_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    """By hand, so that the words are pinned."""
    steps = (ShownStep("Look", "kept"), ShownStep("Add", "gone"), ShownStep("Weigh", "new"))
    text = shown(
        capsys,
        Heading("locating/1", "sqlite", "planrag", "openai:x"),
        Prompt("planner", (Section("Question", "Where?"),), (Section("system", "Plan."),)),
        Thought(1, "planner", "hm"),
        Plan(2, "planner", 2, steps, ("So be it.",)),
        ModelFault(2, "rate_limit", "E", "slow down", 1, 0.5),
        WholeReply(2, "agent", "what?"),
        RefusedReply(2, "agent", "no action"),
        Called(
            3,
            "query_database",
            "SELECT x",
            "SELECT y",
            ("x", "n"),
            ((None, 0.123456789),),
            row_count=1,
        ),
        Called(4, "query_database", "SELECT z", error="StatementError", text="Error: no z"),
        Called(5, "compare", "all", done=False),
        Other(5, "dream", {"of": "sheep"}),
        FinalAnswer("at b1", "b1"),
        Spent(5, 3, 2, 1.5, 5, 1_000, 20),
        WRONG,
    )
    assert text == GOLDEN.read_text("utf-8")


def judgement(**changes: Any) -> Judgement:
    """Return `WRONG` with other fields."""
    return replace(WRONG, **changes)


@pytest.mark.parametrize(
    ("passage", "words"),
    [
        (judgement(outcome="correct", choice="a1", regret=0.0), "Right: a1 is the best decision."),
        (judgement(outcome="correct", choice="a1", ties=("a1", "c1")), "one of 2 best decisions"),
        (judgement(outcome="correct", official="b1"), "b1 is the official answer, and only that"),
        (judgement(choice="a1", official="c1"), "Wrong: a1 is as good as any, but only"),
        (judgement(ties=("a1", "c1")), "Best decisions: a1, c1, each with a profit of 1.5"),
        (judgement(ties=tuple(map(str, range(14)))), "8, 9 and 4 more"),
        (judgement(goal="minimise", unit="price"), "a price of 1.5 (a lower one is better)"),
        (judgement(relative_regret=None), "Even the best decision gains nothing"),
        (judgement(official="d1"), "Official answer: d1."),
        (judgement(outcome="no_candidate", choice=None, value=None), "names no candidate"),
        (judgement(outcome="ambiguous", choice=None, value=None), "more than one candidate"),
        (judgement(outcome="step_limit", problem="20 replies."), "(step_limit): 20 replies."),
        (judgement(value=None, best_value=None, baseline=None), "Best decision: a1."),
        (Unjudged("infrastructure", "database", "It is gone."), "failure of the database ended"),
        (Unjudged("infrastructure", "model", None), "failure of the model ended"),
        (Unjudged("budget", None, "9 tokens."), "budget was spent before the run could end. 9"),
        (Unjudged("budget", None, None, ties=("a1",)), "Best decision: a1."),
        (Unjudged("answered", None, None), "No result was recorded for this decision"),
    ],
)
def test_every_verdict_says_why(
    capsys: pytest.CaptureFixture[str], passage: Passage, words: str
) -> None:
    """Right, wrong, undecided and not judged; best, tied, and what was given away."""
    assert words in shown(capsys, passage)


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_hostile_text_is_spelt_out_wherever_it_stands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool, full: bool
) -> None:
    """No escape, no markup, no turned text; and no line of 5,000 unless asked for."""
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("NO_COLOR", "1")
    h = HOSTILE
    text = shown(
        capsys,
        Heading(h, h, h, h),
        Prompt(h, (Section(h, h),), (Section(h, h),)),
        Thought(1, h, h),
        Plan(1, h, 1, (ShownStep(h, "kept"),)),
        WholeReply(1, h, h),
        RefusedReply(1, h, h),
        ModelFault(1, h, h, h, 1, None),
        Called(1, h, h, h, (h,), ((h,), ([h],)), (h, h)),
        Called(1, h, h, error=h, text=h, cut=h),
        Other(1, h, {h: h}),
        FinalAnswer(h, h),
        judgement(choice=h, official=h, ties=(h,), unit=h),
        judgement(outcome="step_limit", problem=h),
        Unjudged("infrastructure", h, h),
        full=full,
    )
    if terminal:
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert not set(text) & set("\x1b\x07\x9b\r\u202e\ud800")
    assert r"\x1b" in text
    assert "[bold red]" in text.replace("\n", "")
    assert ":smile:" in text.replace("\n", "")
    assert ("y" * 4_000 in text.replace("\n", "").replace(" ", "")) is full or terminal


def test_long_results_are_shortened_with_what_is_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Rows, cells, lines and steps; all of it is there in full."""
    rows = tuple((n, "c" * 60) for n in range(1_200))
    passages = (
        Called(1, "query_database", "SELECT 1", columns=("n", "c"), rows=rows, row_count=1_200),
        Thought(2, "", "\n".join(f"line {n}" for n in range(50))),
        Plan(3, "", 1, tuple(ShownStep(f"step {n}", "kept") for n in range(50))),
    )
    short, full = shown(capsys, *passages), shown(capsys, *passages, full=True)
    assert "-> 1,200 rows" in short
    assert "... 1,190 more rows, --full shows all" in short
    assert "c" * 37 + "...\n" in short
    assert short.count("... 20 more lines, --full shows all") == 2
    assert "more" not in full
    assert f"1199  {'c' * 60}" in full
