"""How long a report of many questions takes to write and to open, and comparing on them.

Run ``python -m benchmarks.reporting`` (``--questions 10000``; ``--chromium PROGRAM``). The run is
made up: two deciders. Beside each time stands how many times that of its baseline it is, taken in
the same run: of commands ``dqa results`` on the same run, of opening a page a plain table with the
same questions. `LIMIT` is the bound of 5 s, for commands of a processor; exit code 1 says that one
was missed.
"""

from __future__ import annotations

import argparse
import html
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.comparing import DATABASES, DECIDERS, made_up
from dqa.evaluation.results import Result

LIMIT = 5.0
TIMES = 3


def main() -> int:
    """Print a line a command and a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, page = Path(folder) / "run", Path(folder) / "report.html"
        keep(run, chosen.questions)
        baseline = command("results", str(run))
        found = {
            "dqa report": (command("report", str(run), "--out", str(page)), baseline),
            "dqa compare": (command("compare", str(run)), baseline),
        }
        plain = Path(folder) / "plain.html"
        plain.write_text(table(chosen.questions), "utf-8")
        if Path(chosen.chromium).is_file():
            opened, beside = opening(chosen.chromium, [page, plain])
            found["opening the report"] = (opened, beside)
        size = page.stat().st_size / 1e6
    print(f"{chosen.questions:,} questions; the report has {size:.1f} MB")
    for what, (seconds, least) in found.items():
        print(f"{what:<20} {seconds:.2f} s, {seconds / least:.1f} times the baseline's {least:.2f}")
    return int(any(seconds > LIMIT for seconds, _ in found.values()))


def keep(run: Path, questions: int) -> None:
    """Write a run of two deciders on one database."""
    run.mkdir()
    lines = [
        f"{json.dumps(result.to_json())}\n"
        for result in made_up(questions * len(DECIDERS) * len(DATABASES))
        if is_kept(result)
    ]
    (run / "results.jsonl").write_text("".join(lines), "utf-8")
    (run / "traces.jsonl").touch()


def is_kept(result: Result) -> bool:
    """Whether a made-up decision is one of this run."""
    return result.decider in {"one", "best"} and result.database == "sqlite"


def command(*words: str) -> float:
    """Return the seconds of a processor that a command takes, its start included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "dqa", *words], check=True, capture_output=True)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime


def table(questions: int) -> str:
    """Return a page with a row a question and nothing else."""
    rows = "".join(
        f"<tr><th>{html.escape(f'locating/{number}')}</th><td>1/2</td><td>a</td><td>b</td></tr>"
        for number in range(questions)
    )
    return f"<!doctype html><body data-ready=yes><table>{rows}</table>"


def opening(program: str, pages: list[Path]) -> list[float]:
    """Return how many seconds each page takes a browser until it shows its content."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        found = []
        for page in pages:
            took = []
            for _ in range(TIMES):
                tab = browser.new_page()
                began = perf_counter()
                tab.goto(page.as_uri())
                tab.wait_for_selector("body[data-ready=yes]")
                took.append(perf_counter() - began)
                tab.close()
            found.append(median(took))
        browser.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
