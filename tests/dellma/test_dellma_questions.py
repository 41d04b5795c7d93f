"""The questions of the DeLLMa release: every instance and truth, and no truth in a table."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from dqa.core.errors import DataError
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Cell
from dqa_dellma.release.questions import FRUITS, SYMBOLS
from dqa_dellma.release.reader import READER
from tests.dellma.dellma_scripts import write_tables


@pytest.fixture(scope="module")
def release(dellma_release_dir: Path) -> QuestionSet:
    """All 240 questions."""
    return READER.read(dellma_release_dir)


def rows_of(folder: Path, name: str) -> list[dict[str, str]]:
    """Read one of the release's CSV files without our readers."""
    with (folder / "data" / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text: str) -> float:
    """Return the number that a text begins with."""
    return float(text.split(maxsplit=1)[0].replace(",", ""))


def cells(release: QuestionSet, scenario: str) -> Iterator[Cell]:
    """Yield every cell of a scenario's database."""
    question = release.select((scenario,), 1).questions[0]
    for table in release.situation_of(question).tables.values():
        for row in table.rows():
            yield from row


@pytest.mark.parametrize(("scenario", "names"), [("agriculture", FRUITS), ("stocks", SYMBOLS)])
def test_there_are_120_instances_of_each(
    release: QuestionSet, scenario: str, names: tuple[str, ...]
) -> None:
    """Every choice of 2 to 7 candidates is a question on the same database."""
    questions = release.select((scenario,)).questions
    wanted = [choice for size in range(2, 8) for choice in combinations(names, size)]
    assert len(questions) == len(wanted) == 120
    assert [question.candidates for question in questions] == wanted
    assert [q.id for q in questions] == ["-".join(choice).lower() for choice in wanted]
    assert len({question.situation for question in questions}) == 1
    for question in questions:
        assert all(str(name) in question.text for name in question.candidates or ())


def test_the_outcome_of_a_crop_is_yield_times_price_of_2022(
    release: QuestionSet, dellma_release_dir: Path
) -> None:
    """Compared with the release's file."""
    truth = {
        row["Commodity"]: number(row["Yield"]) * number(row["Price per Unit"])
        for row in rows_of(dellma_release_dir, "agriculture/stats/CA-2022.csv")
    }
    for question in release.select(("agriculture",)).questions:
        expected = [truth[str(fruit)] for fruit in question.candidates or ()]
        known = release.truth_of(question)
        assert known.outcomes == pytest.approx(expected, rel=1e-12)
        assert truth[str(known.official)] == max(expected)


def test_the_outcome_of_a_stock_is_its_gain_in_december(
    release: QuestionSet, dellma_release_dir: Path
) -> None:
    """The close on 29 December over the open on 1 December 2023."""
    truth = {}
    for symbol in SYMBOLS:
        days = {row["Date"]: row for row in rows_of(dellma_release_dir, f"stocks/{symbol}.csv")}
        truth[symbol] = float(days["2023-12-29"]["Close"]) / float(days["2023-12-01"]["Open"]) - 1.0
    for question in release.select(("stocks",)).questions:
        expected = tuple(truth[str(symbol)] for symbol in question.candidates or ())
        known = release.truth_of(question)
        assert known.outcomes == expected
        assert truth[str(known.official)] == max(expected)


def test_no_figure_of_the_next_year_is_in_a_table(
    release: QuestionSet, dellma_release_dir: Path
) -> None:
    situation = release.situations["autumn-2021"]
    assert set(situation["harvest"]["year"].tolist()) == {2021}
    known, later = (
        {
            (row["Commodity"], column): number(row[column])
            for row in rows_of(dellma_release_dir, f"agriculture/stats/CA-{year}.csv")
            for column in ("Yield", "Price per Unit")
        }
        for year in (2021, 2022)
    )
    new = set(later.values()) - set(known.values())
    assert len(new) > 50
    assert not new & {cell for cell in cells(release, "agriculture") if isinstance(cell, float)}
    harvest = {row[0]: (row[2], row[4]) for row in situation["harvest"].rows()}
    for crop, figures in harvest.items():
        assert isinstance(crop, str)
        assert figures == (known[crop, "Yield"], known[crop, "Price per Unit"])


def test_nothing_of_december_2023_is_in_a_table(
    release: QuestionSet, dellma_release_dir: Path
) -> None:
    """Neither a date nor a day's prices under another date.

    Only the opening price of the day of purchase is known (appendix D).
    """
    dates = [c for c in cells(release, "stocks") if isinstance(c, str) and c[:2] == "20"]
    assert (min(dates), max(dates)) == ("2021-12-01", "2023-11-30")
    quotes = {(row[0], *row[2:]) for row in release.situations["november-2023"]["quote"].rows()}
    columns = ("Open", "High", "Low", "Close", "Volume")
    for symbol in SYMBOLS:
        days = rows_of(dellma_release_dir, f"stocks/{symbol}.csv")
        later = [day for day in days if day["Date"] >= "2023-12"]
        assert len(later) == 20
        for day in later:
            assert (symbol, *(float(day[column]) for column in columns)) not in quotes
    known = {row[0]: row[2] for row in release.situations["november-2023"]["stock"].rows()}
    for symbol in SYMBOLS:
        first = rows_of(dellma_release_dir, f"stocks/{symbol}.csv")
        assert known[symbol] == next(float(d["Open"]) for d in first if d["Date"] == "2023-12-01")


def test_a_fruit_without_figures_is_an_error(tmp_path: Path) -> None:
    write_tables(tmp_path)
    with pytest.raises(DataError, match=r"'apple'.*report"):
        READER.read(tmp_path, scenarios=("agriculture",))
