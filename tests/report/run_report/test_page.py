"""The page of a report in a real browser: it opens from its file, sorts, filters and unfolds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import dqa
from tests.report.run_report.conftest import HOSTILE, open_page
from tests.sqlite_files import run_script

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow


def keys(tab: Page) -> list[str]:
    """Return the listed questions."""
    return tab.locator("tr.question .key").all_inner_texts()


def test_it_opens_without_network_and_shows_the_figures_of_the_run(
    tab: Page, page_file: Path, run_folder: Path, complaints: list[str]
) -> None:
    open_page(tab, page_file)
    report = dqa.read_report(run_folder)
    rows = tab.locator("table.summary tbody tr").all_inner_texts()
    best = max(report.contestants, key=lambda one: one.accuracy or 0.0)
    assert f"{best.figures.correct}/{best.figures.judged}" in rows[0]
    assert len(rows) == len(report.contestants)
    assert len(keys(tab)) == len(report.questions)
    assert tab.locator("figure.chart").count() >= 4
    assert tab.inner_text(".headline") == report.headline
    order = tab.locator("main > section").evaluate_all("all => all.map(one => one.id)")
    assert order[:2] == ["questions", "summary"]
    assert complaints == []


def test_questions_are_sorted_and_filtered(tab: Page, page_file: Path) -> None:
    """By a column in both directions, by scenario, decider, outcome and text."""
    open_page(tab, page_file)
    every = keys(tab)
    for order in (sorted(every), sorted(every, reverse=True)):
        tab.get_by_role("button", name="Question", exact=True).click()
        assert keys(tab) == order
    tab.get_by_role("button", name="Right", exact=True).click()
    counts = tab.locator("tr.question td:nth-child(2)").all_inner_texts()
    shares = [int(right) / int(judged) for right, judged in (one.split("/") for one in counts)]
    assert shares == sorted(shares)

    tab.select_option("select[name=scenario]", "building")
    assert {key.split("/")[0] for key in keys(tab)} == {"building"}
    tab.fill("input[type=search]", "building/2")
    assert keys(tab) == ["building/2"]
    assert "1 of" in tab.inner_text(".filters output")
    tab.fill("input[type=search]", "no such words")
    assert keys(tab) == []
    tab.press("input[type=search]", "Escape")
    tab.select_option("select[name=scenario]", "")
    tab.check("input[name=wrong]")
    assert 0 < len(keys(tab)) <= len(every)
    assert tab.locator("tr.question .pick:not(.dim) .mark.right").count() == 0
    tab.uncheck("input[name=wrong]")
    tab.select_option("select[name=decider]", label="first")
    tab.select_option("select[name=outcome]", "correct")
    assert len(keys(tab)) < len(every)


def test_a_question_unfolds_to_its_outcomes_and_a_trace(
    tab: Page, page_file: Path, complaints: list[str]
) -> None:
    """With candidates, plan, statements and rows."""
    open_page(tab, page_file)
    tab.fill("input[type=search]", "locating/1")
    tab.locator(".opener").first.click()
    tab.wait_for_selector(".truth svg")
    assert tab.locator(".outcome.best").count() >= 1
    fold = tab.locator("details.decision", has_text="planrag").first
    fold.locator("summary").first.click()
    fold.locator(".passage").first.wait_for()
    assert fold.locator("ol.plan li").count() >= 2
    assert "trade_node" in " ".join(fold.locator("pre.statement").all_text_contents())
    assert fold.locator("pre.statement .t-keyword").count() >= 2
    assert fold.locator("table.rows tbody tr").count() >= 1
    assert fold.locator(".of-verdict").count() == 1
    assert complaints == []


def test_the_keyboard_reaches_everything(tab: Page, page_file: Path) -> None:
    """Search, rows and traces."""
    open_page(tab, page_file)
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.name") == "words"
    tab.locator(".opener").first.focus()
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".unfolded h4")
    assert tab.locator(".opener").nth(1).get_attribute("aria-expanded") == "true"
    assert tab.locator(".opener").first.get_attribute("aria-expanded") == "false"
    tab.keyboard.press("ArrowUp")
    assert tab.evaluate("document.activeElement === document.querySelector('.opener')")
    tab.locator("details.decision summary").first.focus()
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".passage")


def test_a_page_that_cannot_be_shown_says_why(tab: Page, page_file: Path, tmp_path: Path) -> None:
    """The file was cut, or the browser cannot decompress it."""
    page = page_file.read_text("utf-8").replace('id="report"', 'id="elsewhere"')
    (tmp_path / "cut.html").write_text(page, "utf-8")
    tab.goto((tmp_path / "cut.html").as_uri())
    tab.wait_for_selector("body[data-ready=no]")
    assert "incomplete" in tab.inner_text("main")
    tab.add_init_script("delete globalThis.DecompressionStream")
    tab.goto(page_file.as_uri())
    tab.wait_for_selector("body[data-ready=no]")
    assert "DecompressionStream" in tab.inner_text("main")


def test_hostile_texts_stay_texts(tab: Page, tmp_path: Path, complaints: list[str]) -> None:
    """Texts of questions, candidates and models are shown, and never run."""
    run_script(tmp_path / "shop.db", "CREATE TABLE supplier (name TEXT)")
    asked = [{"question": HOSTILE, "rules": HOSTILE, "candidates": [HOSTILE, "b"], "answer": "b"}]
    file = tmp_path / "asked.jsonl"
    file.write_text(json.dumps(asked[0]) + "\n", "utf-8")
    source = dqa.OwnQuestions(file=file, databases=str(tmp_path / "shop.db"))
    dqa.evaluate(source, ["first"], out=tmp_path / "run")
    dqa.write_report(tmp_path / "run", tmp_path / "page.html", title=HOSTILE)
    written = (tmp_path / "page.html").read_text("utf-8")
    assert "onerror=alert" not in written.replace("&lt;img src=x onerror", "")
    assert "\u202e" not in written

    open_page(tab, tmp_path / "page.html")
    tab.locator(".opener").first.click()
    tab.wait_for_selector("details.decision")
    tab.locator("details.decision summary").first.click()
    shown = tab.inner_text("main")
    assert "</script><img src=x onerror=alert(1)>" in shown
    assert "\\u202e" in shown
    assert "\u202e" not in shown
    assert tab.locator("main img").count() == 0
    assert complaints == []
