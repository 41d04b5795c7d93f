"""The charts of a report: no text is cut, overlaps another, or is too faint."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import dqa
from dqa.evaluation.results import Outcome
from tests.report.run_report.conftest import drawn_results, open_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

LONG = "mistralai/Mixtral-8x22B-Instruct-v0.1-quantised-to-4-bits"
BOXES = """svg => {
  const around = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].flatMap(text => {
    const lines = text.querySelectorAll("tspan");
    return [...(lines.length ? lines : [text])].map(line => {
      const box = line.getBoundingClientRect();
      return { words: line.textContent, width: around.width, height: around.height,
        left: box.left - around.left, right: box.right - around.left,
        top: box.top - around.top, bottom: box.bottom - around.top };
    });
  });
}"""


def crowd() -> dqa.Run:
    """Return a run of 12 deciders with long names and three kinds of results."""
    results = [
        r.changed(decider=f"{r.decider}@{LONG}-{n}") for n in range(4) for r in drawn_results()
    ]
    return dqa.Run(tuple(results))


def charts_of(tab: Page) -> list[list[dict[str, Any]]]:
    """Return the texts of every chart with their boxes."""
    return [one.evaluate(BOXES) for one in tab.locator("figure.chart svg").all()]


def overlaps(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two texts overlap by more than the space between letters."""
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return bool(across > 1.0 and down > 3.0)


def test_texts_of_a_chart_are_complete_and_do_not_overlap(
    tab: Page, tmp_path: Path, complaints: list[str]
) -> None:
    """For many deciders and long names, on a wide screen and on a phone."""
    dqa.write_report(crowd(), tmp_path / "report.html")
    for width in (1280, 390):
        open_page(tab, tmp_path / "report.html", width)
        charts = charts_of(tab)
        assert len(charts) >= 5
        for texts in charts:
            for one in texts:
                assert one["left"] >= -16, one  # a tick is centred on its position
                assert one["right"] <= one["width"] + 16, one
                assert one["bottom"] <= one["height"] + 4, one
            for one, other in combinations(texts, 2):
                assert not overlaps(one, other), (one["words"], other["words"])
        assert tab.evaluate("document.documentElement.scrollWidth") == width
    chart = tab.locator("figure.chart", has=tab.locator("h3", has_text="Accuracy against"))
    numbers = " ".join(chart.locator("svg .name").all_text_contents()).replace(",", " ").split()
    listed = chart.locator("tbody td:first-child").all_text_contents()
    assert sorted(map(int, numbers)) == list(map(int, listed)) == list(range(1, len(listed) + 1))
    assert complaints == []


def test_without_judged_decisions_no_chart_is_empty(
    tab: Page, tmp_path: Path, complaints: list[str]
) -> None:
    """The page says so, and draws the outcomes."""
    results = tuple(
        r.changed(outcome=Outcome.INFRASTRUCTURE, choice=None, regret=None, relative_regret=None)
        for r in drawn_results()
    )
    dqa.write_report(dqa.Run(results), tmp_path / "report.html")
    open_page(tab, tmp_path / "report.html")
    titles = tab.locator("figure.chart h3").all_inner_texts()
    assert "Outcomes" in titles
    assert not any(title.startswith("Accuracy against") for title in titles)
    assert "could be judged" in tab.locator("figure.chart", has_text="Locating").inner_text()
    assert complaints == []
