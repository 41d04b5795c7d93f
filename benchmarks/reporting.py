"""How long reading, comparing and reporting a large run takes, against `dqa results` and a table.

Run ``python -m benchmarks.reporting`` (``--questions 10000``, ``--chromium PROGRAM``). The run is
made up: two deciders on one database, questions about 50 situations. Commands are fresh processes
and compared with ``dqa results``; opening the report in Chromium is compared with a plain page of
as many rows, and left out where there is no Chromium. Exit code 1 where one takes over 5 seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.measuring import run_command, taken
from benchmarks.needs import find_need
from dqa.evaluation.results import Outcome, Result

NEEDS = ()
OPTIONAL = ("playwright",)
LIMIT = 5.0
DECIDERS = {"one": 0.6, "best": 0.9}
"""What decides, and how often it is right."""
TIMES = 3


def make_results(questions: int) -> Iterator[Result]:
    """Yield results in the order of a plan."""
    drawn = random.Random(16)  # noqa: S311
    for number in range(questions):
        for decider, share in DECIDERS.items():
            right = drawn.random() < share
            regret = 0.0 if right else drawn.random()
            yield Result(
                question=f"locating/{number}",
                scenario="locating",
                database="sqlite",
                kind="relational",
                decider=decider,
                model="none",
                situation=str(number % 50),
                outcome=Outcome.CORRECT if right else Outcome.WRONG,
                answer="somewhere",
                choice="a" if right else "b",
                official="a",
                ties=("a",),
                regret=regret,
                relative_regret=regret,
                rank=1 if right else 2,
                value=1.0,
                best_value=1.0,
                baseline=0.0,
                goal="maximise",
                steps=3,
                statements=3,
                plans=1,
                error=None,
                input_tokens=drawn.randrange(3000),
                output_tokens=drawn.randrange(300),
                calls=3,
            )


def open_pages(program: str, pages: list[Path]) -> list[float]:
    """Return how many seconds a browser takes until it shows each page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])

        def show(page: Path) -> None:
            tab = browser.new_page()
            tab.goto(page.as_uri())
            tab.wait_for_selector("body[data-ready=yes]")
            tab.close()

        found = [median(taken(lambda: show(page)).wall for _ in range(TIMES)) for page in pages]  # noqa: B023
        browser.close()
    return found


def main() -> int:
    """Print a line for each command and for the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, page, plain = (Path(folder) / name for name in ("run", "report.html", "plain.html"))
        run.mkdir()
        lines = [f"{json.dumps(one.to_json())}\n" for one in make_results(given.questions)]
        (run / "results.jsonl").write_text("".join(lines), "utf-8")
        (run / "traces.jsonl").touch()
        baseline = run_command("results", str(run))
        found = {
            "dqa results": (baseline, baseline),
            "dqa compare": (run_command("compare", str(run)), baseline),
            "dqa report": (run_command("report", str(run), "--out", str(page)), baseline),
        }
        row = "<tr><th>locating/1</th><td>1/2</td><td>a</td><td>b</td></tr>"
        table = f"<table>{row * given.questions}</table>"
        plain.write_text(f"<!doctype html><body data-ready=yes>{table}", "utf-8")
        if find_need("playwright").is_met and Path(given.chromium).is_file():
            opened, least = open_pages(given.chromium, [page, plain])
            found["opening it"] = (opened, least)
        size = page.stat().st_size / 1e6
    print(f"{given.questions:,} questions, {len(lines):,} decisions; the report has {size:.1f} MB")
    for what, (seconds, least) in found.items():
        print(f"{what:12} {seconds:.2f} s, {seconds / least:.1f} times its baseline")
    return int(any(seconds > LIMIT for seconds, _ in found.values()))


if __name__ == "__main__":
    sys.exit(main())
