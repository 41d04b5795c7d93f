"""The page of a decision tree opens anywhere, and stays usable and harmless."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from dqa.core.errors import UsageError
from dqa.report.pages import write_page
from dqa_dellma.tree.decision_tree import DecisionTree
from dqa_dellma.tree.page import render_tree
from dqa_dellma.tree.reading import read_tree
from tests.dellma.dellma_traces import asked, by_posterior, events, odd_events, refused, traced

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


def large(actions: int) -> DecisionTree:
    """Return a tree with many actions, each in eight states."""
    tree = read_tree(traced())
    more = tuple(changed(tree.actions[1], action=f"a{number}") for number in range(actions - 3))
    return changed(tree, actions=(*tree.actions, *more), rankings=tree.rankings * 30)


def test_the_page_states_its_question() -> None:
    """What was asked, by which rules, and what could be chosen; a trace of old says none of it."""
    tree = read_tree(traced())
    assert "<h2>Question</h2>" not in render_tree(tree)
    context = changed(
        tree.context,
        goal="Which fruit <do> we plant?",
        rules="1. Only one.",
        actions=("fig", "kiwi"),
    )
    page = render_tree(changed(tree, context=context))
    Page(page)
    assert "Which fruit &lt;do&gt; we plant?" in page
    assert "<summary>Rules</summary><pre>1. Only one.</pre>" in page
    assert "To choose from: fig, kiwi." in page


def test_the_page_unfolds_from_actions_to_states() -> None:
    """A fold an action, state, ranking and statement, with the sentence on top."""
    page = render_tree(read_tree(traced()))
    tags = Page(page).tags
    assert tags.count("details") == 3 + 3 * 8 + 2 + 1
    assert "<h1>Decision: fig</h1>" in page
    assert "fig was chosen: it is the best." in page
    assert "a scripted program and not a language model" in page
    assert 'aria-label="value 0.05, interval 0.025 to 0.1"' in page
    assert "2 items were omitted, 1 repeated, 0 invented" in page


def test_the_page_needs_nothing_from_elsewhere() -> None:
    """No script at all, and links within the page only."""
    page = render_tree(read_tree(traced()))
    parsed = Page(page)
    assert "script" not in parsed.tags
    assert all(re.fullmatch(r"#ranking-\d+", link) for link in parsed.links)
    assert {link[1:] for link in parsed.links} <= set(re.findall(r'id="([^"]+)"', page))
    assert not re.search(r"https?://|@import|url\(", page)


def test_long_statements_are_laid_out() -> None:
    """A clause a line."""
    told, columns = events(), ", ".join(f"a.column_{number}" for number in range(9))
    statement = f"SELECT {columns} FROM fruit a WHERE a.name = 'fig'"
    told["retrieval"][0] = changed(told["retrieval"][0], statement=statement)
    page = render_tree(read_tree(traced(told)))
    assert "\nFROM fruit a\nWHERE a.name = &#39;fig&#39;</pre>" in page


def test_text_of_others_never_becomes_markup(tmp_path: Path) -> None:
    """Names, statements and rows are shown, with what acts unseen spelt out."""
    told = events(fig=HOSTILE, rain=HOSTILE, wet=HOSTILE)
    said = dict.fromkeys(("statement", "observation", "error"), HOSTILE)
    told["retrieval"][0] = changed(told["retrieval"][0], **said)
    told["ranking"][1] = changed(told["ranking"][1], problem=HOSTILE)
    file = tmp_path / "tree.html"
    tree = read_tree(traced(told, question=HOSTILE, model=HOSTILE))
    left_out = changed(tree.context, left_out=(HOSTILE,))
    write_page(render_tree(changed(tree, context=left_out), HOSTILE), file)
    page = file.read_text("utf-8")
    assert "script" not in Page(page).tags
    assert "&lt;script&gt;" in page
    assert r"\x1b[31m\u202egnp \ud800 {{ 7 * 7 }}" in page
    assert not set(page) & set("\x1b\u202e")


def test_the_picture_shows_what_decided() -> None:
    """By the posterior's rule dot, label and words are its mean, and the scores stand beside."""
    page = render_tree(read_tree(traced(by_posterior())))
    assert 'aria-label="posterior mean of the value 0.03, interval 0.01 to 0.04"' in page
    assert re.findall(r'<circle cx="([\d.]+)%"', page) == ["30.8", "26.0", "21.2"]
    assert "[0.01, 0.04] scores 0.02" in page
    assert "The dot is the posterior mean of the value, by which the action was judged" in page
    assert "worked out from scores and the line" not in page
    paper = render_tree(read_tree(traced()))
    assert "The dot is the value, by which the action was judged" in paper
    assert "posterior 0.055 [0.025, 0.1]" in paper


def test_what_was_not_as_asked_for_is_one_line() -> None:
    """Below the sentence, and only where there is any; actions that were left out are named."""
    page = render_tree(read_tree(traced(odd_events())))
    (line,) = re.findall(r'<p class="warnings">(.*)</p>', page)
    assert line.startswith("Not as asked for: queries of the context that failed: 1; results")
    assert "so they were not compared: odd, 9, x." in page
    assert "rules were shortened by the model as well" in page
    assert "<dt>factor effects</dt><dd>no</dd>" in page
    tree = read_tree(traced())
    assert 'class="warnings"' not in render_tree(
        changed(tree, defects=dict.fromkeys(tree.defects, 0))
    )


def test_replies_that_could_not_be_used_are_listed() -> None:
    """Each with what was wrong, as text, up to a cap; a page without any has no such heading."""
    title = "Replies that could not be used"
    told = events() | {"asked": asked(HOSTILE, *[HOSTILE] * 41)}
    page = render_tree(read_tree(traced(told)))
    assert "script" not in Page(page).tags
    assert f"<h2>{title}</h2>" in page
    assert page.count("<li>Reply ") == 40
    assert "Of 41 such replies the first 40 are here" in page
    assert "other replies that could not be used: 41." in page
    assert title not in render_tree(read_tree(traced()))


def test_a_factor_of_one_value_is_certain() -> None:
    """And has no bar, which would say nothing."""
    tree = read_tree(traced())
    only = changed(tree.factors[0], values=tree.factors[0].values[:1])
    page = render_tree(changed(tree, factors=(only, tree.factors[1])))
    assert '<th scope="row">dry</th><td>certain, the only value</td></tr>' in page
    assert page.count('class="bar"') == 2


def test_many_actions_are_folded_and_what_is_left_out_is_said() -> None:
    """A dozen stand side by side; states and rankings beyond the caps are in the JSON."""
    page = render_tree(large(300))
    Page(page)
    assert "<summary>288 more actions</summary>" in page
    assert "2 states are left out here between the best and the worst" in page
    assert "Of 60 rankings the first 40 are here" in page
    assert len(page) < 5_000_000


def test_a_run_without_a_decision_has_a_page_as_well() -> None:
    """Of what there was until then."""
    told = events()
    del told["utilities"]
    page = render_tree(read_tree(traced(told, error="It broke.")))
    assert "<h1>No decision</h1>" in page
    assert "no utility was found" in page
    assert "circle" not in Page(page).tags


def test_a_run_that_ended_before_its_factors_has_a_page_as_well() -> None:
    """Without beliefs, and, where it did not come as far, without actions."""
    page = render_tree(read_tree(refused()))
    assert "the run ended as unparsable: 2 replies." in page
    assert "<li>Reply 1, state enumeration: No JSON.</li>" in page
    assert "<h2>Beliefs</h2>" not in page
    early = changed(read_tree(refused()), actions=())
    assert "The run ended before any were compared." in render_tree(early)
    assert "The run ended before" not in page


def test_a_file_that_cannot_be_written_is_an_error_of_use(tmp_path: Path) -> None:
    """The file is named, with the reason."""
    with pytest.raises(UsageError, match="cannot be written"):
        write_page("<p>", tmp_path / "missing" / "tree.html")
