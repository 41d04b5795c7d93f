"""The page of a decision tree opens anywhere, and stays usable and harmless."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from dqa_dellma.tree.decision_tree import DecisionTree
from dqa_dellma.tree.page import render_tree, write_tree
from tests.dellma.dellma_traces import events, result_of, told_of, traced

_Part = TypeVar("_Part", bound=BaseModel)

HOSTILE = "</summary><script>alert(1)</script>'\"\x1b[31m\u202egnp \ud800 {{ 7 * 7 }}"


class Page(HTMLParser):
    """Counts tags, checks that they nest, and gathers what could load from elsewhere."""

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
    """A fold an action, state, ranking and statement, with the sentence on top."""
    page = render_tree(DecisionTree.of(traced()))
    tags = Page(page).tags
    assert tags.count("details") == 3 + 3 * 8 + 2 + 1
    assert "<h1>Decision: fig</h1>" in page
    assert "fig was chosen: it is the best." in page
    assert "a scripted program and not a language model" in page
    assert 'aria-label="value 0.05, interval 0.025 to 0.1"' in page
    assert "items omitted in rankings: 2; items repeated in rankings: 1" in page


def test_the_page_needs_nothing_from_elsewhere() -> None:
    """No script at all, and links within the page only."""
    page = render_tree(DecisionTree.of(traced()))
    parsed = Page(page)
    assert "script" not in parsed.tags
    assert all(re.fullmatch(r"#ranking-\d+", link) for link in parsed.links)
    assert {link[1:] for link in parsed.links} <= set(re.findall(r'id="([^"]+)"', page))
    assert not re.search(r"https?://|@import|url\(", page)


def test_text_of_others_never_becomes_markup(tmp_path: Path) -> None:
    """Names, statements and rows are shown, with what acts unseen spelt out."""
    told = events(fig=HOSTILE, rain=HOSTILE, wet=HOSTILE)
    said = dict.fromkeys(("statement", "observation", "error"), HOSTILE)
    told["retrieval"][0] = changed(told["retrieval"][0], **said)
    told["ranking"][1] = changed(told["ranking"][1], problem=HOSTILE)
    file = tmp_path / "tree.html"
    context = {**result_of(told["context"][0]), "left_out": [HOSTILE], "goal": HOSTILE}
    told["context"] = [told_of("context", 0, context)]
    write_tree(DecisionTree.of(traced(told, question=HOSTILE, model=HOSTILE)), file)
    page = file.read_text("utf-8")
    assert "script" not in Page(page).tags
    assert "&lt;script&gt;" in page
    assert r"\x1b[31m\u202egnp \ud800 {{ 7 * 7 }}" in page
    assert not set(page) & set("\x1b\u202e")


def test_a_run_without_a_decision_has_a_page_as_well() -> None:
    """Of what there was until then."""
    told = events()
    del told["utilities"]
    page = render_tree(DecisionTree.of(traced(told, error="It broke.")))
    assert "<h1>No decision</h1>" in page
    assert "no utility was found" in page
    assert "circle" not in Page(page).tags
