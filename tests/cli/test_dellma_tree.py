"""`dqa dellma tree` shows what a decision rests on, wherever it is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dqa.core.events import Event
from dqa_dellma.tree.page import render_tree
from dqa_dellma.tree.reading import read_tree
from tests.cli.conftest import Command
from tests.dellma.dellma_traces import (
    asked,
    by_posterior,
    events,
    odd_events,
    refused,
    told_of,
    traced,
)

HOSTILE = "\x1b[31m\x1b]0;owned\x07 [bold red]x[/] \u202egnp.exe \r \ud800 " + "y" * 2_000


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of DeLLMa and of a baseline of its."""
    from typer.testing import CliRunner

    from dqa.cli.main import app

    out = tmp_path_factory.mktemp("trees") / "run"
    deciders = ("--deciders", "dellma-pairs,dellma-naive,self-consistency")
    settings = ("--set", "dellma.confidence=0.95", "--set", "dellma.samples=16")
    result = CliRunner().invoke(
        app,
        [
            *("eval", "--scenarios", "agriculture", "--generate", "1", "--databases", "sqlite"),
            *(*deciders, *settings, "--out", str(out)),
        ],
    )
    assert result.exit_code == 0, result.output
    return out


@pytest.mark.parametrize("attitude", ["mean", "cvar"])
@pytest.mark.parametrize("rule", ["paper", "posterior"])
def test_a_real_run_says_what_decided_by_each_rule(
    dqa: Command, tmp_path: Path, rule: str, attitude: str
) -> None:
    """Sentence, tree, picture and JSON go by the figure that the rule takes."""
    settings = ("samples=8", "batch=8", f"rule={rule}", f"attitude={attitude}")
    dqa(
        *("eval", "--scenarios", "agriculture", "--generate", "1", "--databases", "sqlite"),
        *("--deciders", "dellma-pairs", "--out", tmp_path / "run"),
        *(part for one in settings for part in ("--set", f"dellma.{one}")),
    )
    named = ("dellma", "tree", tmp_path / "run", "agriculture/1")
    ran = dqa(*named, "--json", "--html", tmp_path / "tree.html")
    document = json.loads(ran.out)
    figure = "value" if rule == "paper" else "estimate"
    decisive = [action[figure] for action in document["actions"]]
    assert [action["decisive"] for action in document["actions"]] == decisive
    assert decisive == sorted(decisive, reverse=True)
    assert document["method"]["rule"] == rule
    assert document["runner_up"] == document["actions"][1]["action"]
    assert f"is {decisive[0]:.3g}, ahead of {document['runner_up']} with " in document["why"]
    assert ("8 sampled states" in document["why"]) is (rule == "paper")
    assert ("in the worst 20 %" in document["why"]) is (attitude == "cvar")
    label = "value" if rule == "paper" else "posterior mean of the value"
    assert f'aria-label="{label} {decisive[0]:.3g}, ' in (tmp_path / "tree.html").read_text("utf-8")
    text = dqa(*named).out
    title = "value, which decided" if rule == "paper" else "posterior mean, which decided"
    assert f"Actions ({len(decisive)}): {title}" in text
    assert f"    {document['chosen']}: {decisive[0]:.3g}" in text


def test_a_folder_without_a_question_becomes_pages(
    dqa: Command, run_folder: Path, tmp_path: Path
) -> None:
    """One a tree, and an index; a folder that holds something stays as it is."""
    out = tmp_path / "new" / "trees"
    ran = dqa("dellma", "tree", run_folder, "--html", out)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"The pages are in {out}: open {out / 'index.html'}.\n"
    pages = ["1-agriculture-1-sqlite-dellma-pairs.html", "2-agriculture-1-sqlite-dellma-naive.html"]
    assert sorted(file.name for file in out.iterdir()) == [*pages, "index.html"]
    index = (out / "index.html").read_text("utf-8")
    assert all(f'href="{page}"' in index for page in pages)
    assert "1 more run has no tree" in index
    again = dqa("dellma", "tree", run_folder, "--html", out)
    assert again.code == 2
    assert "is not empty" in again.err
    few = dqa("dellma", "tree", run_folder, "--decider", "dellma-naive", "--html", tmp_path / "few")
    assert few.code == 0
    assert len(list((tmp_path / "few").iterdir())) == 2


def test_pages_of_a_run_need_a_run_with_trees(
    dqa: Command, run_folder: Path, tmp_path: Path
) -> None:
    """Of deciders without one, or with JSON, nothing is written."""
    out = tmp_path / "trees"
    named = ("dellma", "tree", run_folder, "--html", out)
    without = dqa(*named, "--decider", "self-consistency")
    assert without.code == 2
    assert "None of 1 run has a decision tree" in without.err
    document = dqa(*named, "--json")
    assert document.code == 2
    assert "--json shows one tree" in document.err
    assert dqa(*named, "--decider", "nobody").code == 2
    assert not out.exists()


def shown(capsys: pytest.CaptureFixture[str], *, full: bool = False, hostile: bool = False) -> str:
    """Return what the hand-written tree looks like."""
    from dqa_dellma.tree.text import echo_tree

    h = HOSTILE
    trace = traced(events(fig=h, rain=h, wet=h), question=h, decider=h) if hostile else traced()
    echo_tree(read_tree(trace), full=full)
    return capsys.readouterr().out


def test_a_real_run_reads_from_the_decision_to_its_context(dqa: Command, run_folder: Path) -> None:
    """Decision and sentence, actions with states, beliefs, rankings, rounds, statements."""
    ran = dqa("dellma", "tree", run_folder, "agriculture/1", "--decider", "dellma-pairs")
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0] == "agriculture/1 | sqlite | dellma-pairs"
    titles = [line.split()[0] for line in lines if re.match(r"  \S", line)]
    expected = [
        "Model:",
        "Question:",
        "Decision:",
        "Actions",
        "Beliefs",
        "Rankings",
        "Rounds",
        "Context:",
    ]
    assert [title for title in titles if title != "What"] == [*expected, "Utilities:"]
    assert "A scripted program, not a language model." in ran.out
    assert re.search(r"<- chosen\n      state \d+: utility [\d.e-]+, ranked \d+ of \d+", ran.out)
    assert " was chosen: its expected utility, the mean over 16 sampled states" in ran.out
    assert "SELECT" in ran.out
    assert "\x1b" not in ran.out


def test_a_question_with_several_trees_asks_for_one(dqa: Command, run_folder: Path) -> None:
    """They are listed with what names them; the one decider without a tree is not."""
    ran = dqa("dellma", "tree", run_folder, "agriculture/1")
    assert (ran.code, ran.out) == (2, "")
    assert "has 2 decision trees: dellma-pairs on sqlite, dellma-naive on sqlite" in ran.err
    assert "--decider" in ran.err
    other = dqa("dellma", "tree", run_folder, "agriculture/1", "--decider", "self-consistency")
    assert (other.code, other.out) == (2, "")
    assert "has no decision tree" in other.err


def test_the_page_is_written_once(dqa: Command, run_folder: Path, tmp_path: Path) -> None:
    """A file that is there stays as it is."""
    page = tmp_path / "tree.html"
    named = ("dellma", "tree", run_folder, "agriculture/1", "--decider", "dellma-naive")
    ran = dqa(*named, "--html", page)
    assert (ran.code, ran.out) == (0, f"The page is in {page}.\n"), ran.err
    assert "<h1>Decision: " in page.read_text("utf-8")
    again = dqa(*named, "--html", page)
    assert again.code == 2
    assert "exists already" in again.err


def test_json_and_page_go_together(dqa: Command, run_folder: Path, tmp_path: Path) -> None:
    """The JSON stays alone on stdout."""
    page = tmp_path / "tree.html"
    named = ("dellma", "tree", run_folder, "agriculture/1", "--decider", "dellma-pairs")
    document = json.loads(dqa(*named, "--json", "--html", page).out)
    assert document["chosen"] == document["actions"][0]["action"]
    assert document["calls_saved"] == document["rounds"][-1]["calls_saved"]
    assert page.exists()


def test_the_trace_of_a_run_tells_the_steps_in_short(dqa: Command, run_folder: Path) -> None:
    """Each task once, what came of each step, and where the whole is to be seen."""
    ran = dqa("trace", run_folder, "agriculture/1", "--decider", "dellma-pairs")
    assert ran.code == 0, ran.err
    for title in ("context", "unknown factors", "beliefs", "sampled states", "ranking"):
        assert re.search(rf"^Step \d+: {title}$", ran.out, re.MULTILINE), title
    assert "'dqa dellma tree' shows everything" in ran.out
    assert len(re.findall(r"^Goal$", ran.out, re.MULTILINE)) == 1
    votes = dqa("trace", run_folder, "agriculture/1", "--decider", "self-consistency").out
    assert re.search(r"Step 5: votes\n  5 of 5: \w+", votes)


def test_an_event_that_follows_no_schema_is_shown_as_it_is() -> None:
    """Another's decider may write down a ranking of its own."""
    from dqa.report.passages import Noted, Other
    from dqa.report.reading import read

    odd = told_of("ranking", 1, {"of": "sheep"})
    assert Other(1, "ranking", {"of": "sheep"}) in read(traced({"ranking": [odd]}))
    fine = told_of("only_action", 0, {"action": 7})
    told = "7 is all that can be chosen: nothing was asked."
    assert Noted(0, "one action", (told,)) in read(traced({"only_action": [fine]}))


def test_the_trace_names_what_was_not_as_asked_for() -> None:
    """Step by step; a run without any has no line of it."""
    from dqa.report.passages import Noted
    from dqa.report.reading import read

    def lines(told: dict[str, list[Event]]) -> list[str]:
        passages = read(traced(told))
        return [line for one in passages if isinstance(one, Noted) for line in one.lines]

    votes = {"votes": {"fig": 1, "plum": 1}, "tied": ["fig", "plum"]}
    counted = told_of("votes", 9, votes | {"asked": 5, "unreadable": 3})
    odd = lines(odd_events() | {"votes": [counted]})
    expected = [
        *("queries that failed: 1", "results cut by a limit: 2"),
        "actions left out, as no row names them: odd, 9, x",
        "rules shortened by the model",
        "values left out of rain: odd; y",
        "without a name or values, or named twice: 6",
        "nobody asked about, and ignored: " + "; ".join(["odd"] * 7),
        "votes that could not be read: 3",
        "as many votes for each, and the first counts: fig, plum",
    ]
    assert set(expected) <= set(odd)
    parts = [line.partition(":")[0] for line in expected]
    assert not [line for line in lines(events()) if line.startswith(tuple(parts))]


def test_the_tree_says_in_one_line_what_was_not_as_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And names the actions that were not compared."""
    from dqa_dellma.tree.text import echo_tree

    echo_tree(read_tree(traced(odd_events())))
    text = capsys.readouterr().out
    (line,) = (line for line in text.splitlines() if line.startswith("  Not as asked for: "))
    assert "results of the context cut by a limit: 2; actions left out" in line
    assert "    named in no row, so not compared: odd, 9, x" in text
    assert "rules summarised by the model" in text
    clean = events()
    del clean["ranking"][1]
    echo_tree(read_tree(traced(clean)))
    assert "Not as asked for" not in capsys.readouterr().out


def test_the_tree_shows_the_replies_that_a_retry_mended(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Counted in the line of what was not as asked for, and each with what was wrong."""
    from dqa_dellma.tree.text import echo_tree

    off_scale = asked("state forecasting", *["'wet' is 'certain'"] * 12, step=2)
    tree = read_tree(traced(events() | {"asked": off_scale}))
    echo_tree(tree)
    text = capsys.readouterr().out
    assert "replies that did not judge every value in one of the six words: 12" in text
    assert "  Replies that could not be used (12)\n    reply 2, state forecasting: 'wet' is" in text
    assert "    ... 2 more problems, --full shows all" in text
    echo_tree(tree, full=True)
    assert "    reply 13, state forecasting: 'wet' is 'certain'" in capsys.readouterr().out


def test_the_tree_of_a_run_that_ended_before_its_factors_says_why(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It asks for no other decider."""
    from dqa_dellma.tree.text import echo_tree

    echo_tree(read_tree(refused()))
    text = capsys.readouterr().out
    assert "  No decision\n    Nothing was chosen; the run ended as unparsable: 2 replies." in text
    assert "Not as asked for: replies that named no factor: 2" in text
    assert "  Actions (3)\n    fig: no utility" in text


def test_a_tree_by_the_posterior_goes_by_its_mean(capsys: pytest.CaptureFixture[str]) -> None:
    """The scores' value stands behind it."""
    from dqa_dellma.tree.text import echo_tree

    echo_tree(read_tree(traced(by_posterior())))
    text = capsys.readouterr().out
    assert "    plum: 0.03 [0.01, 0.04]; 0.02, 10 % <- chosen" in text
    assert text.index("    plum:") < text.index("    7:") < text.index("    fig:")


def test_values_that_no_posterior_tells_stand_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """As where utilities are scaled within each action: no interval is made up or explained."""
    from dqa_dellma.tree.text import echo_tree

    told = events()
    data = told["utilities"][0].data
    unknown = {"estimate": None, "interval": [None, None]}
    figures = [figure | unknown for figure in data["actions"]]
    told["utilities"] = [told_of("utilities", 4, {**data, "actions": figures})]
    tree = read_tree(traced(told))
    echo_tree(tree)
    text = capsys.readouterr().out
    assert "Actions (3): value, which decided; chance to be best" in text
    assert "    fig: 0.05, 90 % <- chosen" in text
    page = render_tree(tree)
    assert "the line" not in page
    assert 'aria-label="value 0.05"' in page


def test_a_tree_in_a_pipe_depends_on_nothing_but_the_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not on the width of a terminal; and the rankings that were odd are named."""
    wide = shown(capsys)
    monkeypatch.setenv("COLUMNS", "20")
    assert shown(capsys) == wide
    assert "ranking 2 (reply 4): 10 of 12, 2 omitted, 1 repeated" in wide
    assert "for: rain is wet (lead 0.04 there, 0.02 elsewhere; 4 states)" in wide
    assert "rain: dry (likely, 75 %); wet (unlikely, 25 %)" in wide
    assert "... 2 states in between, --full shows all" in wide


def test_all_of_it_is_shown_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Every state, and every ranking item by item."""
    text = shown(capsys, full=True)
    assert "--full" not in text
    assert text.count("\n      state ") == 8 + 8 + 6
    assert "ranking 1 (reply 3): 12 of 12: fig in state 3; fig in state 4; fig in state 1" in text


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_text_of_others_acts_on_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool, full: bool
) -> None:
    """Controls are spelt out, markup stays text, and long names are cut unless asked for."""
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("NO_COLOR", "1")
    text = shown(capsys, full=full, hostile=True)
    if terminal:
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert not set(text) & set("\x1b\x07\r\u202e\ud800")
    assert r"\x1b" in text
    assert "[bold red]" in text.replace("\n", "")
    if not terminal:
        assert ("y" * 2_000 in text) is full
