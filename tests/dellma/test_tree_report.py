"""The pages of a run's trees link each other, whatever the run is called and went through."""

from __future__ import annotations

import re
from pathlib import Path

from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.traces import Trace
from dqa_dellma.tree.report import INDEX, write_tree_report
from tests.dellma.dellma_traces import odd_events, traced
from tests.dellma.test_tree_page import HOSTILE, Page


def judged(trace: Trace, outcome: Outcome, *best: str) -> Result:
    """Return what a decision is worth."""
    return Result(
        **{name: getattr(trace, name) for name in ("question", "database", "kind", "decider")},
        **{name: getattr(trace, name) for name in ("model", "answer", "choice", "steps", "error")},
        scenario="agriculture",
        outcome=outcome,
        official=None,
        ties=best,
        regret=None,
        relative_regret=None,
        rank=None,
        value=None,
        best_value=None,
        baseline=None,
        goal=None,
        statements=1,
        plans=0,
        calls=4,
    )


def index_of(folder: Path) -> str:
    """Return the index, checked to be whole, harmless and linked to files that are there."""
    text = (folder / INDEX).read_text("utf-8")
    page = Page(text)
    assert "script" not in page.tags
    assert sorted([*page.links, INDEX]) == sorted(file.name for file in folder.iterdir())
    assert not re.search(r"https?://|@import|url\(", text)
    return text


def test_the_index_tells_of_every_decision(tmp_path: Path) -> None:
    """Who decided what, with which chance, what it is worth, and where its tree is."""
    first, second = traced(), traced(decider="dellma-top1")
    third = traced(odd_events(), database="ladybug")
    results = {
        first.key: judged(first, Outcome.CORRECT, "fig"),
        second.key: judged(second, Outcome.WRONG, "plum"),
    }
    write_tree_report([first, second, third], results, tmp_path)
    text = index_of(tmp_path)
    rows = [re.sub(r"<[^>]+>", "|", row) for row in re.findall(r"<tr>.*</tr>", text)[1:]]
    cells = [[cell.strip() for cell in row.split("|") if cell.strip()] for row in rows]
    warned = "items omitted from rankings: 2; items repeated in rankings: 1"
    same = ["fig", "90 %"]
    assert cells[0] == ["agriculture/1", "sqlite", "dellma-pairs", *same, "correct", warned]
    assert cells[1][2:-1] == ["dellma-top1", *same, "wrong", "(right: plum)"]
    assert cells[2][1] == "ladybug"
    assert cells[2][-2] == "not judged"
    assert "queries of the context that failed: 1" in cells[2][-1]
    assert "1 of 2 judged decisions are right" in text
    page = (tmp_path / "3-agriculture-1-ladybug-dellma-pairs.html").read_text("utf-8")
    assert f'href="{INDEX}"' in page


def test_names_of_files_are_safe(tmp_path: Path) -> None:
    """Whatever the question is called, and if two are called alike."""
    odd = [traced(question=name) for name in ("../../x", "..\\..\\x", HOSTILE, "con", "é" * 900)]
    write_tree_report(odd, {}, tmp_path / "trees")
    assert [file.name for file in tmp_path.iterdir()] == ["trees"]
    names = sorted(file.name for file in (tmp_path / "trees").iterdir())
    assert len(names) == 6
    assert all(re.fullmatch(r"\d-[a-z0-9-]{1,80}\.html|index\.html", name) for name in names)
    assert names[:2] == ["1-x-sqlite-dellma-pairs.html", "2-x-sqlite-dellma-pairs.html"]
    assert "&lt;script&gt;" in index_of(tmp_path / "trees")
