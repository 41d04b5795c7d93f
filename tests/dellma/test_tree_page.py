"""The page of a decision tree works offline, and stored text cannot become markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from dqa_dellma.tree.decision_tree import DecisionTree
from dqa_dellma.tree.page import render_tree, write_tree
from tests.dellma.dellma_traces import SAMPLES, decided, marked, results, traced

HOSTILE = "</summary><script>alert(1)</script>'\"\x1b[31m\u202egnp \ud800 {{ 7 * 7 }}"


class Page(HTMLParser):
    """Counts tags, checks that they nest, and collects links."""

    VOID = frozenset({"meta", "line", "circle", "rect"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src", "style"}]
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def test_the_page_unfolds_from_actions_to_states_and_loads_nothing() -> None:
    """It has a fold per action, state, ranking and statement, no script, and no outside link."""
    tree = DecisionTree.of(decided())
    page = render_tree(tree)
    parsed = Page(page)
    actions, rankings = len(tree.branches), len(results("elicitation"))
    folds = actions * (1 + SAMPLES) + rankings + len(tree.statements)
    assert parsed.tags.count("details") == folds + page.count("<summary>Rules</summary>")
    assert f"<h1>Decision: {tree.chosen}</h1>" in page
    assert tree.why in page
    assert "a scripted program" in page
    assert parsed.tags.count("circle") == actions
    assert "script" not in parsed.tags
    assert all(re.fullmatch(r"#ranking-\d+", link) for link in parsed.links)
    assert {link[1:] for link in parsed.links} <= set(re.findall(r'id="([^"]+)"', page))
    assert not re.search(r"https?://|@import|url\(", page)


def test_stored_text_never_becomes_markup(tmp_path: Path) -> None:
    """Control characters are escaped."""
    file = tmp_path / "tree.html"
    write_tree(DecisionTree.of(marked(HOSTILE, question=HOSTILE, model=HOSTILE)), file)
    page = file.read_text("utf-8")
    assert "script" not in Page(page).tags
    assert "&lt;script&gt;" in page
    assert r"\x1b[31m\u202egnp \ud800 {{ 7 * 7 }}" in page
    assert not set(page) & set("\x1b\u202e")


def test_a_run_without_a_decision_has_a_page() -> None:
    trace = traced("utilities", "answer", choice=None, answer="", error="It broke.")
    page = render_tree(DecisionTree.of(trace))
    assert "<h1>No decision</h1>" in page
    assert "no utility was found" in page
    assert "circle" not in Page(page).tags
