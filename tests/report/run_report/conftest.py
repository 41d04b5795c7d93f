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
from dqa.evaluation.results import Outcome, Result
from dqa.models.budget import Prices

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "</script><img src=x onerror=alert(1)>\u202eevil"
"""A text that would act: it ends a script, asks for a picture, and turns what follows around."""


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of agents by scripted models on both kinds of database, with wrong answers in it."""
    folder = tmp_path_factory.mktemp("reported") / "first"
    dqa.evaluate(
        dqa.GeneratedQuestions(count=4, seed=3),
        ["singlerag", "planrag", "first"],
        databases=["sqlite", "ladybug"],
        out=folder,
    )
    return folder


@pytest.fixture(scope="session")
def drawn_run() -> dqa.Run:
    """A run drawn by chance: epochs, prices, situations of any size, and every kind of end."""
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
        yield Result(
            question=question,
            scenario="locating",
            situation=situation,
            database=database,
            kind="graph" if database == "ladybug" else "relational",
            decider=decider,
            epoch=epoch,
            model="openai:drawn",
            outcome=ended,
            answer="a" if ended is Outcome.CORRECT else "b",
            choice=None if not chose else "a" if ended is Outcome.CORRECT else "b",
            official="a",
            ties=("a",),
            value=1.0 - lost if chose and math.isfinite(lost) else None,
            best_value=1.0 if ended.judged else None,
            baseline=0.0,
            goal="maximise",
            regret=min(lost, 9.0) if chose else None,
            relative_regret=lost if chose else None,
            rank=None if not chose else 1 if ended is Outcome.CORRECT else drawn.randrange(2, 9),
            steps=drawn.randrange(1, 9),
            statements=drawn.randrange(9),
            plans=drawn.randrange(1, 8) if decider == "careful" else 0,
            error=None,
            input_tokens=drawn.randrange(9000),
            output_tokens=drawn.randrange(900),
            calls=3,
        )


@pytest.fixture(scope="session")
def page_file(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of that run."""
    file = tmp_path_factory.mktemp("page") / "report.html"
    dqa.write_report(run_folder, file)
    return file


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, or the one of ``DQA_CHROMIUM``."""
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
    """What a page complained of: errors of scripts, of the console, requests."""
    return []


@pytest.fixture
def tab(browser: Browser, complaints: list[str]) -> Iterator[Page]:
    """A tab without network, which keeps what its page complains of."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    made = context.new_page()
    made.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
    made.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    made.on(
        "request",
        lambda asked: None if asked.url.startswith("file:") else complaints.append(asked.url),
    )
    made.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    yield made
    context.close()
