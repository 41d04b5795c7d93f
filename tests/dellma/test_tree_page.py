"""The page of a decision tree works offline, and stored text cannot become markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from dqa_dellma.tree.decision_tree import DecisionTree
from dqa_dellma.tree.page import render_tree, write_tree
from tests.dellma.dellma_traces import events, make_event, result_of, traced

_Part = TypeVar("_Part", bound=BaseModel)

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


def changed(part: _Part, **changes: Any) -> _Part:
    """Return a part of a trace or a tree with other values."""
    return part.model_copy(update=changes)


def test_the_page_unfolds_from_actions_to_states() -> None:
    """It has a fold per action, state, ranking and statement."""
    page = render_tree(DecisionTree.of(traced()))
    tags = Page(page).tags
    assert tags.count("details") == 3 + 3 * 8 + 2 + 1
    assert "<h1>Decision: fig</h1>" in page
    assert "fig was chosen: it is the best." in page
    assert "a scripted program" in page
    assert 'aria-label="value 0.05, interval 0.025 to 0.1"' in page
    assert "items omitted in rankings: 2; items repeated in rankings: 1" in page


def test_the_page_loads_nothing() -> None:
    """It has no script, and links lead within the page only."""
    page = render_tree(DecisionTree.of(traced()))
    parsed = Page(page)
    assert "script" not in parsed.tags
    assert all(re.fullmatch(r"#ranking-\d+", link) for link in parsed.links)
    assert {link[1:] for link in parsed.links} <= set(re.findall(r'id="([^"]+)"', page))
    assert not re.search(r"https?://|@import|url\(", page)


def test_stored_text_never_becomes_markup(tmp_path: Path) -> None:
    """Control characters are escaped."""
    result = events(fig=HOSTILE, rain=HOSTILE, wet=HOSTILE)
    texts = dict.fromkeys(("statement", "observation", "error"), HOSTILE)
    result["retrieval"][0] = changed(result["retrieval"][0], **texts)
    result["ranking"][1] = changed(result["ranking"][1], problem=HOSTILE)
    file = tmp_path / "tree.html"
    context = {**result_of(result["context"][0]), "left_out": [HOSTILE], "goal": HOSTILE}
    result["context"] = [make_event("context", 0, context)]
    write_tree(DecisionTree.of(traced(result, question=HOSTILE, model=HOSTILE)), file)
    page = file.read_text("utf-8")
    assert "script" not in Page(page).tags
    assert "&lt;script&gt;" in page
    assert r"\x1b[31m\u202egnp \ud800 {{ 7 * 7 }}" in page
    assert not set(page) & set("\x1b\u202e")


def test_a_run_without_a_decision_has_a_page() -> None:
    result = events()
    del result["utilities"]
    page = render_tree(DecisionTree.of(traced(result, error="It broke.")))
    assert "<h1>No decision</h1>" in page
    assert "no utility was found" in page
    assert "circle" not in Page(page).tags
