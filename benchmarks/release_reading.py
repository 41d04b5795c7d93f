"""How long reading all questions of the DQA release takes, beside parsing every file.

Run ``python benchmarks/release_reading.py RELEASE``. The naive way reads and parses the database
file of every question, with the same fast parsers, and so shows what reading each distinct content
once is worth.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from dqa.loaders.release import read_release
from dqa.loaders.release_layout import FORMS, Form, layouts


def naive(folder: Path, form: Form) -> int:
    """Parse the database file of every question; return how many there were."""
    count = 0
    for layout in layouts().values():
        if not layout.questions_file(folder).is_file():
            continue
        for entry in json.loads(layout.questions_file(folder).read_text("utf-8")):
            file = layout.database_file(folder, form, entry)
            FORMS[form].parse(file.read_text("utf-8"), layout.scenario.schema, file)
            count += 1
    return count


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    """Return the median time of `repeats` runs."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return 1000.0 * median(times)


def main() -> None:
    """Print a line for each form."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("release", type=Path, help="folder of the DQA release")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    folder: Path = options.release
    print(f"{'form':<12}{'questions':>10}{'read ms':>10}{'naive ms':>10}{'ratio':>8}")
    for form in FORMS:
        questions = len(read_release(folder, form=form).questions)  # and fills the page cache
        read = milliseconds(lambda form=form: read_release(folder, form=form), options.repeats)  # type: ignore[misc]
        every = milliseconds(lambda form=form: naive(folder, form), 1)  # type: ignore[misc]
        print(f"{form:<12}{questions:>10}{read:>10.0f}{every:>10.0f}{every / read:>8.1f}")


if __name__ == "__main__":
    main()
