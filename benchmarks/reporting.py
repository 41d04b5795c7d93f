"""The time to read, compare and report a large run.

Run ``python -m benchmarks.reporting`` (``--questions 10000``, ``--chromium PROGRAM``). Two
baselines decide generated questions about 50 situations. Each command runs in a new process
and is compared with ``dqa show``. If Chromium is installed, the time to open the report is compared
with a plain page that has the same number of rows. The exit code is 1 if a command or the page
needs more than 5 seconds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

import dqa
from benchmarks.measuring import run_command, taken
from benchmarks.needs import has

LIMIT = 5.0
TIMES = 3


def open_pages(program: str, pages: list[Path]) -> list[float]:
    """Return the seconds until a browser shows each page."""
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
        questions = dqa.GeneratedQuestions(
            scenarios=("locating",), count=given.questions, per_database=given.questions // 50 or 1
        )
        decided = dqa.evaluate(questions, ("first", "random"), databases="sqlite", out=run)
        baseline = run_command("show", str(run))
        found = {
            "dqa show": (baseline, baseline),
            "dqa compare": (run_command("compare", str(run)), baseline),
            "dqa report": (run_command("report", str(run), "--out", str(page)), baseline),
        }
        row = "<tr><th>locating/1</th><td>1/2</td><td>a</td><td>b</td></tr>"
        table = f"<table>{row * given.questions}</table>"
        plain.write_text(f"<!doctype html><body data-ready=yes>{table}", "utf-8")
        if has("playwright") and Path(given.chromium).is_file():
            opened, least = open_pages(given.chromium, [page, plain])
            found["opening it"] = (opened, least)
        size = page.stat().st_size / 1e6
    count = f"{given.questions:,} questions, {len(decided.results):,} decisions"
    print(f"{count}; the report has {size:.1f} MB")
    for what, (seconds, least) in found.items():
        print(f"{what:12} {seconds:.2f} s, {seconds / least:.1f} times its baseline")
    return int(any(seconds > LIMIT for seconds, _ in found.values()))


if __name__ == "__main__":
    sys.exit(main())
