"""Every page in a browser: at two widths and in both themes nothing overflows or fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

import dqa
from dqa.core.question_set import Defect
from dqa.evaluation.audit import audit
from dqa.models.scripted.steps import Answer, Step
from dqa.testing.models import PreparedReplies
from dqa_dellma.tree.decision_tree import find_tree
from dqa_dellma.tree.page import write_tree
from tests.scenarios.live_plants import LIVE, NORTH, SUMMED, make_embedded
from tests.sqlite_files import run_script

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

COLUMNS = [f"a_long_name_of_column_{number}" for number in range(20)]
Maker: TypeAlias = Callable[[Path], Path]


def a_report_with_a_wide_result(folder: Path) -> Path:
    """Write the report of a run whose statement returns twenty wide columns."""
    cells = ", ".join("'a value of some length'" for _ in COLUMNS)
    columns = ", ".join(f"{name} TEXT" for name in COLUMNS)
    script = f"CREATE TABLE wide ({columns}); INSERT INTO wide VALUES ({cells})"
    run_script(folder / "wide.db", script)
    asked = {"question": "Which one?", "candidates": ["a", "b"], "answer": "b"}
    (folder / "asked.jsonl").write_text(json.dumps(asked) + "\n", "utf-8")
    source = dqa.OwnQuestions(file=folder / "asked.jsonl", databases=str(folder / "wide.db"))
    model = PreparedReplies([Step("All of it.", "SELECT * FROM wide"), Answer("", "b")])
    run = dqa.evaluate(source, ["planrag", "first"], model=model, out=folder / "run")
    dqa.write_report(run, folder / "report.html")
    return folder / "report.html"


def a_decision(folder: Path) -> Path:
    """Write the page of a decision about a plant."""
    asked = dqa.UserQuestion(scenario=str(LIVE / "close-plant"), target=NORTH)
    model = PreparedReplies([Step("Sum.", SUMMED), Answer("York costs the most.", "York")])
    location = make_embedded("sqlite", folder)
    trace = dqa.ask(location, asked, decider="planrag", model=model)
    dqa.write_decision_page(trace, folder / "decision.html")
    return folder / "decision.html"


def an_audit(folder: Path) -> Path:
    """Write the page of an audit of generated labels, one of whose files has a defect."""
    defects = (Defect(Path("q1.sql"), "a problem", "ignored", "INSERT INTO x"),)
    asked = replace(dqa.generate(count=4, seed=4), defects=defects)
    dqa.write_audit_page(audit(asked), folder / "audit.html")
    return folder / "audit.html"


def a_tree(folder: Path) -> Path:
    """Write the tree of a decision of the scripted analyst."""
    questions = dqa.generate(["agriculture"], count=1, seed=1)
    out, settings = folder / "farm", {"dellma.samples": "8"}
    run = dqa.evaluate(
        questions, ["dellma-pairs"], out=out, databases=["sqlite"], settings=settings
    )
    write_tree(find_tree(run.traces), folder / "tree.html")
    return folder / "tree.html"


@pytest.mark.parametrize("make", [a_report_with_a_wide_result, a_decision, an_audit, a_tree])
def test_a_page_fits_and_reports_no_error(
    tab: Page, tmp_path: Path, complaints: list[str], make: Maker
) -> None:
    """At 1,280 and 400 pixels, light and dark, folded and unfolded."""
    page = make(tmp_path)
    for width in (1280, 400):
        for scheme in ("light", "dark"):
            tab.set_viewport_size({"width": width, "height": 900})
            tab.emulate_media(color_scheme=scheme)
            tab.goto(page.as_uri())
            tab.wait_for_selector("h1")
            if tab.locator("#theme").count():
                tab.wait_for_selector("body[data-ready=yes]")
            if tab.locator(".opener").count():
                tab.locator(".opener").first.click()
                tab.locator("details.decision summary").first.click()
                tab.wait_for_selector("table.rows")
            tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, scheme
            for selector in ("h1", "table.list", "table.rows"):
                if tab.locator(selector).count():
                    box = tab.locator(selector).first.bounding_box()
                    assert box is not None
                    assert 0 <= box["x"] < width / 2
    assert complaints == []


def test_a_wide_result_does_not_move_the_list_of_questions(tab: Page, tmp_path: Path) -> None:
    """Its columns scroll within the decision."""
    tab.goto(a_report_with_a_wide_result(tmp_path).as_uri())
    tab.wait_for_selector("body[data-ready=yes]")
    width = "document.querySelector('table.list').offsetWidth"
    before = tab.evaluate(width)
    tab.locator(".opener").first.click()
    tab.locator("details.decision summary").first.click()
    tab.wait_for_selector("table.rows")
    assert tab.evaluate(width) == before
    assert tab.evaluate("document.querySelector('table.rows').offsetWidth") > before


def test_an_audit_is_filtered_and_sorted(tab: Page, tmp_path: Path) -> None:
    """By scenario, verdict and column."""
    tab.goto(an_audit(tmp_path).as_uri())
    tab.wait_for_selector("body[data-ready=yes]")
    rows = tab.locator("#labels tbody tr:visible")
    assert rows.count() == 8
    assert "8 of 8" in tab.inner_text("output")
    tab.select_option("select[name=scenario]", "building")
    assert rows.count() == 4
    verdict = rows.first.locator("td[data-verdict]").get_attribute("data-verdict")
    tab.select_option("select[name=verdict]", verdict)
    assert rows.count() >= 1
    tab.select_option("select[name=verdict]", "no rule set")
    assert rows.count() == 0
    tab.select_option("select[name=verdict]", "")
    tab.get_by_role("button", name="Question").click()
    asked = [row.locator("td").nth(1).inner_text() for row in rows.all()]
    assert asked == sorted(asked)


def test_a_decision_begins_with_its_reason_and_facts(tab: Page, tmp_path: Path) -> None:
    """One statement is counted and shown once."""
    tab.goto(a_decision(tmp_path).as_uri())
    assert tab.inner_text(".why") == "York costs the most."
    facts = tab.inner_text("dl.facts")
    for word in ("Time", "User", "Version", "close-plant", "planrag", "2 calls"):
        assert word in facts
    assert "1 statement or simulation" in tab.inner_text("main")
    assert tab.locator("pre", has_text="GROUP BY region").count() == 1
