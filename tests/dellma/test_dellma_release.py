"""The reader of the DeLLMa release: its tables and recorded answers."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path

import pytest

import dqa
from benchmarks.reproductions.dellma.recordings import find_runs
from dqa.core.errors import DataError, ParseError
from dqa_dellma.published import PAPER
from dqa_dellma.release.tables import (
    Quantity,
    Statistic,
    gains,
    read_report,
    read_statistics,
    read_stocks,
)
from tests.dellma.dellma_scripts import write, write_decision, write_rankings

HEADER = "Date,Open,High,Low,Close,Adj Close,Volume\n"


@pytest.mark.parametrize(
    ("text", "value", "unit", "per"),
    [
        ("9,050 LB / ACRE", 9050.0, "LB / ACRE", ("LB", "ACRE")),
        ("2.87 TONS / ACRE", 2.87, "TONS / ACRE", ("TON", "ACRE")),
        ("23.3 $ / BOX, ON TREE EQUIV", 23.3, "$ / BOX, ON TREE EQUIV", ("$", "BOX")),
    ],
)
def test_a_quantity_is_a_number_and_its_unit(
    text: str, value: float, unit: str, per: tuple[str, str]
) -> None:
    """Thousands separators, plurals and remarks are allowed."""
    quantity = Quantity.parse(text)
    assert (quantity.value, quantity.unit, quantity.per) == (value, unit, per)


def test_revenue_is_in_dollars_per_acre() -> None:
    """Pounds times dollars per hundredweight are converted; boxes times dollars per ton are not."""
    rice = Statistic("rice", Quantity(9050.0, "LB / ACRE"), Quantity(32.0, "$ / CWT"))
    assert rice.revenue == pytest.approx(2896.0)
    odd = Statistic("odd", Quantity(1.0, "BOXES / ACRE"), Quantity(1.0, "$ / TON"))
    with pytest.raises(DataError, match=r"odd.*BOXES / ACRE.*\$ / TON"):
        _ = odd.revenue


@pytest.mark.parametrize(
    ("row", "problem"),
    [("fig,many,1 $ / LB", "not a number with a unit"), ("fig,1 LB / ACRE", "expected 3 values")],
)
def test_a_row_that_cannot_be_read_is_an_error(tmp_path: Path, row: str, problem: str) -> None:
    """The error names the file and line."""
    file = tmp_path / "data/agriculture/stats/CA-2022.csv"
    write(file, f"Commodity,Yield,Price per Unit\nkiwi,1 LB / ACRE,1 $ / LB\n{row}\n")
    with pytest.raises(ParseError, match=rf"CA-2022\.csv.*3.*{problem}"):
        read_statistics(tmp_path, 2022)


def test_stocks_gain_from_an_opening_to_a_close(tmp_path: Path) -> None:
    """Symbols are upper case, and days are sorted."""
    rows = "2023-12-29,1,1,1,150,1,5\n2023-12-01,100,1,1,1,1,5\n"
    write(tmp_path / "data/stocks/abc.csv", HEADER + rows)
    stocks = read_stocks(tmp_path)
    assert [day.day for day in stocks["ABC"]] == [1, 29]
    assert gains(stocks, date(2023, 12, 1), date(2023, 12, 29)) == {"ABC": 0.5}
    assert gains(stocks, date(2023, 12, 2), date(2023, 12, 29)) == {}


def test_runs_are_found_by_the_names_of_their_folders(tmp_path: Path) -> None:
    """The name gives the settings, the question's folder gives the actions."""
    write_rankings(tmp_path, [(["fig"], {"rank": [1]})])
    write_decision(tmp_path, "Zero-Shot", '{"decision": "fig"}')
    ranking_run, direct_run = find_runs(tmp_path)
    assert direct_run.mode == "zero-shot"
    settings = (ranking_run.year, ranking_run.samples, ranking_run.batch, ranking_run.overlap)
    assert settings == (2021, 4, 4, 50)
    assert [each.actions for each in ranking_run.instances] == [("fig", "kiwi")]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("data/stocks/A.csv", "Date,Open\n", "lacks High, Low, Close"),
        ("data/stocks/A.csv", f"{HEADER}2023-12-01,x,1,1,1,1,5\n", "A.csv"),
        ("data/stocks/A.txt", "", r"SYMBOL\.csv"),
    ],
)
def test_prices_that_cannot_be_read_are_an_error(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    write(tmp_path / name, text)
    with pytest.raises(ParseError, match=problem):
        read_stocks(tmp_path)
    with pytest.raises(ParseError, match=r"fruit-sept-2021\.json"):
        read_report(tmp_path)


@pytest.mark.released
def test_last_seasons_revenue_beats_the_recorded_answers(dellma_release_dir: Path) -> None:
    """The published view has the recorded 70.0 % of Pairs next to the heuristics of a run."""
    heuristics = ["last-revenue", "last-revenue-but-grapefruit"]
    folder = dqa.QuestionFolder(folder=dellma_release_dir, scenarios=("agriculture",))
    run = dqa.evaluate(folder, heuristics, databases=["sqlite"])
    right = Counter(r.decider for r in run.results if r.choice in (r.official, *r.ties))
    assert [100 * right[name] / 120 for name in heuristics] == [37.5, 80.0]
    (table,) = PAPER.tables
    pairs = next(row for row in table.rows if row.decider == "dellma-pairs")
    assert [figure.value for figure in pairs.figures] == [0.7, 0.58333]
