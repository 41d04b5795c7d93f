"""What a reader sees of a report's charts: no word is cut, on another one, or too faint to read."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import dqa
from dqa.evaluation.results import Outcome, Result
from tests.report.run_report.conftest import drawn_results

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

LONG = "mistralai/Mixtral-8x22B-Instruct-v0.1-quantised-to-4-bits"
PARTS = [
    *(f"s{n}" for n in range(6)),
    "snone",
    *(f"u{n}" for n in range(4)),
    *(f"c{n}" for n in range(8)),
]
"""The classes of the parts of bars (`charts.js`)."""
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
CONTRASTS = """names => {
  const light = colour => {
    const canvas = document.createElement("canvas").getContext("2d");
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(one => one / 255)
      .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const made = (name, parent) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    parent.append(node);
    return node;
  };
  return names.map(name => {
    const part = made("g", made("svg", document.body));
    part.setAttribute("class", name);
    const pair = [["rect", "bar"], ["text", "inside"]].map(([kind, own]) => {
      const node = made(kind, part);
      node.setAttribute("class", own);
      return light(getComputedStyle(node).fill);
    }).sort((a, b) => b - a);
    return [name, (pair[0] + 0.05) / (pair[1] + 0.05)];
  });
}"""


def opened(tab: Page, file: Path, width: int = 1280) -> Page:
    """Open a page of this width, and wait until it has drawn itself."""
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(file.as_uri())
    tab.wait_for_selector("body[data-ready=yes]")
    tab.wait_for_timeout(200)
    return tab


def of_many(names: dict[str, str]) -> dqa.Run:
    """Return the drawn run under other names."""
    return dqa.Run(
        tuple(r.changed(decider=names[r.decider]) for r in drawn_results() if r.decider in names)
    )


def crowd() -> dqa.Run:
    """Return a run of 12 deciders with long names, who are of 3 kinds and so in 3 places."""
    found: list[Result] = []
    for number in range(4):
        names = {kind: f"{kind}@{LONG}-{number}" for kind in ("bold", "careful", "hasty")}
        found += of_many(names).results
    return dqa.Run(tuple(found))


def charts_of(tab: Page) -> list[list[dict[str, Any]]]:
    """Return the texts of every chart with their boxes."""
    return [one.evaluate(BOXES) for one in tab.locator("figure.chart svg[role=img]").all()]


def overlaps(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two texts stand on each other by more than what letters leave free."""
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return bool(across > 1.0 and down > 3.0)


@pytest.mark.parametrize(
    "run",
    [crowd, lambda: of_many({"bold": "random", "careful": "first", "hasty": "planrag@tiny"})],
    ids=["12 long names", "3 short ones"],
)
def test_no_words_of_a_chart_are_cut_or_on_others(
    tab: Page, tmp_path: Path, run: Any, complaints: list[str]
) -> None:
    """However many deciders there are, and whatever they are called, wide and on a phone."""
    dqa.write_report(run(), tmp_path / "report.html")
    for width in (1280, 390):
        opened(tab, tmp_path / "report.html", width)
        charts = charts_of(tab)
        assert len(charts) >= 5
        for texts in charts:
            for one in texts:
                assert one["left"] >= -0.5, one
                assert one["right"] <= one["width"] + 0.5, one
                assert one["bottom"] <= one["height"] + 0.5, one
            for one, other in combinations(texts, 2):
                assert not overlaps(one, other), (one["words"], other["words"])
        assert tab.evaluate("document.documentElement.scrollWidth") == width
    chart = tab.locator("figure.chart", has=tab.locator("h3", has_text="Accuracy against"))
    names = " ".join(chart.locator("svg .name").all_text_contents()).replace(",", " ").split()
    if run is crowd:  # by the numbers that a list below the chart explains
        assert sorted(map(int, names)) == list(range(1, 13))
        assert chart.locator("ol.numbered li").count() == 12
    else:
        assert set(names) == {"random", "first", "planrag@tiny"}
    assert complaints == []


def test_numbers_in_bars_are_legible(tab: Page, page_file: Path) -> None:
    """As the guidelines on contrast demand of small text (WCAG 2.1, 1.4.3)."""
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        opened(tab, page_file)
        found = dict(tab.evaluate(CONTRASTS, PARTS))
        assert {name: round(told, 1) for name, told in found.items() if told < 4.5} == {}


def test_the_best_decider_comes_first_in_every_chart(tab: Page, tmp_path: Path) -> None:
    """Whatever the run's order is; the caption says it."""
    names = {"hasty": "a hasty one", "bold": "b bold one"}
    results = sorted(of_many(names).results, key=lambda result: result.decider)
    run = dqa.Run(tuple(results))
    assert run.summaries[0].decider == "a hasty one"
    dqa.write_report(run, tmp_path / "report.html")
    opened(tab, tmp_path / "report.html")
    for title in ("Locating", "Locating: 2 epochs", "What became of the decisions", "Regret"):
        chart = tab.locator("figure.chart", has=tab.get_by_role("heading", name=title, exact=True))
        drawn = chart.locator("svg .name title").all_text_contents()
        assert drawn == ["b bold one", "a hasty one"], title
        assert "first" in chart.locator("figcaption").inner_text()
    spending = tab.locator("figure.chart", has=tab.locator("h3", has_text="Accuracy against"))
    rows = spending.locator("table tbody th").all_text_contents()
    assert rows == ["b bold one", "a hasty one"]


def test_where_nothing_could_be_judged_no_chart_is_empty(
    tab: Page, tmp_path: Path, complaints: list[str]
) -> None:
    """It is said, and what became of the decisions is drawn."""
    results = tuple(
        r.changed(outcome=Outcome.INFRASTRUCTURE, choice=None, regret=None, relative_regret=None)
        for r in drawn_results()
    )
    dqa.write_report(dqa.Run(results), tmp_path / "report.html")
    opened(tab, tmp_path / "report.html")
    titles = tab.locator("figure.chart h3").all_inner_texts()
    assert "What became of the decisions" in titles
    assert not any(title.startswith("Accuracy against") for title in titles)
    assert "could be judged" in tab.locator("figure.chart", has_text="Locating").inner_text()
    assert complaints == []
