"""The page of a decision tree works offline, and stored text cannot become markup."""

from __future__ import annotations

import re
from pathlib import Path

from dqa_dellma.tree.decision_tree import DecisionTree
from dqa_dellma.tree.page import render_tree, write_tree
from tests.dellma.dellma_traces import SAMPLES, decided, marked, results, traced

HOSTILE = "</summary><script>alert(1)</script>'\"\x1b[31m\u202egnp \ud800 {{ 7 * 7 }}"


def test_the_page_unfolds_from_actions_to_states_and_loads_nothing() -> None:
    """It has a fold per action, state, ranking and statement, no script, and no outside link."""
    tree = DecisionTree.of(decided())
    page = render_tree(tree)
    actions, rankings = len(tree.branches), len(results("elicitation"))
    folds = actions * (1 + SAMPLES) + rankings + len(tree.statements)
    assert page.count("<details") == folds + page.count("<summary>Rules</summary>")
    assert f"<h1>Decision: {tree.chosen}</h1>" in page
    assert tree.why in page
    assert "a scripted program" in page
    assert page.count("<circle") == actions
    assert "<script" not in page
    links = set(re.findall(r"""(?:href|src|style)=["']([^"']*)""", page))
    assert all(re.fullmatch(r"#ranking-\d+", link) for link in links)
    assert {link[1:] for link in links} <= set(re.findall(r'id="([^"]+)"', page))
    assert not re.search(r"https?://|@import|url\(", page)


def test_stored_text_never_becomes_markup(tmp_path: Path) -> None:
    """Control characters are escaped."""
    file = tmp_path / "tree.html"
    write_tree(DecisionTree.of(marked(HOSTILE, question=HOSTILE, model=HOSTILE)), file)
    page = file.read_text("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert r"\x1b[31m\u202egnp \ud800 {{ 7 * 7 }}" in page
    assert not set(page) & set("\x1b\u202e")


def test_a_run_without_a_decision_has_a_page() -> None:
    trace = traced("utilities", "answer", choice=None, answer="", error="It broke.")
    page = render_tree(DecisionTree.of(trace))
    assert "<h1>No decision</h1>" in page
    assert "no utility was found" in page
    assert "<circle" not in page
