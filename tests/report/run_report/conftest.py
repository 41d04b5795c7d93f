"""Runs to report, pages of them, and a browser."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import dqa
from dqa.core.budgets import Prices
from dqa.evaluation.results import Outcome, Result
from tests.evaluation.statistics.results import result

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "</script><img src=x onerror=alert(1)>\u202eevil"
"""A text that attacks a page: it ends a script, loads an image, and reverses the text after it."""


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a run of agents with scripted models on both kinds of database, with wrong answers."""
    folder = tmp_path_factory.mktemp("reported") / "first"
    dqa.evaluate(
        dqa.GeneratedQuestions(count=2, seed=3),
        ["singlerag", "planrag", "first"],
        databases=["sqlite", "ladybug"],
        out=folder,
    )
    return folder


@pytest.fixture(scope="session")
def drawn_run() -> dqa.Run:
    """Create a random run: epochs, prices, situations of any size, and every ending."""
    return dqa.Run(tuple(drawn_results()), prices=Prices(2.0, 8.0))


def drawn_results() -> Iterator[Result]:
    """Yield decisions on 40 questions about 6 situations, on two databases, twice each."""
    drawn = random.Random(7)  # noqa: S311
    asked = [(f"locating/{number}", drawn.choice("aaabbcdef")) for number in range(40)]
    skill = {"bold": 0.75, "careful": 0.7, "hasty": 0.3}
    for (question, situation), (decider, share), database, epoch in product(
        asked, skill.items(), ("sqlite", "ladybug"), (1, 2)
    ):
        ended = drawn.choices(
            (Outcome.CORRECT, Outcome.WRONG, Outcome.STEP_LIMIT, Outcome.INFRASTRUCTURE),
            (share, 1.0 - share, 0.05, 0.05),
        )[0]
        chose = ended in {Outcome.CORRECT, Outcome.WRONG}
        lost = 0.0 if ended is Outcome.CORRECT else drawn.choice((0.005, 0.3, 2.0, math.inf))
        right = ended is Outcome.CORRECT
        yield result(
            0,
            ended,
            question=question,
            situation=situation,
            database=database,
            kind="graph" if database == "ladybug" else "relational",
            decider=decider,
            epoch=epoch,
            model="openai:drawn",
            choice=None if not chose else "a" if right else "b",
            value=1.0 - lost if chose and math.isfinite(lost) else None,
            best_value=1.0 if ended.judged else None,
            baseline=0.0,
            goal="maximise",
            regret=min(lost, 9.0) if chose else None,
            relative_regret=lost if chose else None,
            rank=None if not chose else 1 if right else drawn.randrange(2, 9),
            steps=drawn.randrange(1, 9),
            statements=drawn.randrange(9),
            plans=drawn.randrange(1, 8) if decider == "careful" else 0,
            input_tokens=drawn.randrange(9000),
            output_tokens=drawn.randrange(900),
            calls=3,
        )


@pytest.fixture(scope="session")
def page_file(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of that run."""
    file = tmp_path_factory.mktemp("page") / "report.html"
    dqa.write_report(run_folder, file)
    return file


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start Debian's Chromium, or the browser at ``DQA_CHROMIUM``."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = os.environ.get("DQA_CHROMIUM", "/usr/bin/chromium")
    if not Path(program).is_file():
        pytest.skip(f"no browser at {program}; install Debian's chromium or set DQA_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def complaints() -> list[str]:
    """Return a list for a page's errors of scripts and console, and its requests."""
    return []


@pytest.fixture
def tab(browser: Browser, complaints: list[str]) -> Iterator[Page]:
    """Open a tab without network that records the page's complaints."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    made = context.new_page()
    made.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    made.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    made.on(
        "request",
        lambda sent: None if sent.url.startswith("file:") else complaints.append(sent.url),
    )
    made.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    yield made
    context.close()


def open_page(tab: Page, file: Path, width: int = 1280) -> None:
    """Open a page of this width, and wait until it is drawn."""
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(file.as_uri())
    tab.wait_for_selector("body[data-ready]")
    assert tab.get_attribute("body", "data-ready") == "yes", tab.inner_text("main")
    tab.wait_for_timeout(200)
