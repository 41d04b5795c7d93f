"""The reader of the DeLLMa release: its tables and recorded answers."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from benchmarks.reproductions.dellma.recordings import find_runs
from dqa.core.errors import DataError, ParseError
from dqa_dellma.release.quantities import Quantity, Statistic, parse_quantity
from dqa_dellma.release.tables import read_agriculture, read_stocks
from tests.dellma.dellma_scripts import (
    write,
    write_decision,
    write_rankings,
    write_tables,
)

HEADER = "Date,Open,High,Low,Close,Adj Close,Volume\n"


@pytest.mark.parametrize(
    ("text", "value", "unit", "per"),
    [
        ("9,050 LB / ACRE", 9050.0, "LB / ACRE", ("LB", "ACRE")),
        ("2.87 TONS / ACRE", 2.87, "TONS / ACRE", ("TON", "ACRE")),
        ("0.244 $ / LB", 0.244, "$ / LB", ("$", "LB")),
        ("23.3 $ / BOX, ON TREE EQUIV", 23.3, "$ / BOX, ON TREE EQUIV", ("$", "BOX")),
    ],
)
def test_a_quantity_is_a_number_and_its_unit(
    text: str, value: float, unit: str, per: tuple[str, str]
) -> None:
    """Thousands' commas, plurals and remarks do not matter."""
    quantity = parse_quantity(text)
    assert (quantity.value, quantity.unit, quantity.per) == (value, unit, per)


@pytest.mark.parametrize("text", ["", "LB / ACRE", "12", "1.2.3 LB"])
def test_what_is_no_quantity_is_said(text: str) -> None:
    """A text without a number or a unit is an error that names it."""
    with pytest.raises(DataError, match="no number with a unit"):
        parse_quantity(text)


def test_revenue_is_in_dollars_an_acre() -> None:
    """Pounds times dollars a hundredweight are converted; boxes times dollars a ton cannot be."""
    rice = Statistic("rice", Quantity(9050.0, "LB / ACRE"), Quantity(32.0, "$ / CWT"))
    assert rice.revenue == pytest.approx(2896.0)
    odd = Statistic("odd", Quantity(1.0, "BOXES / ACRE"), Quantity(1.0, "$ / TON"))
    assert not odd.comparable
    with pytest.raises(DataError, match=r"odd.*BOXES / ACRE.*\$ / TON"):
        _ = odd.revenue


def test_rows_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    """A bad row is left out with its line; the rest of the file stands."""
    write_tables(tmp_path)
    text = "Commodity,Yield,Price per Unit\nfig,1 LB / ACRE,1 $ / LB\nfig,1 LB / ACRE,1 $ / LB\n"
    file = tmp_path / "data/agriculture/stats/CA-2022.csv"
    write(file, text + "pear,many,1 $ / LB\nplum,1 BU / ACRE\nnut,1 BU / ACRE,1 $ / LB\n")
    tables = read_agriculture(tmp_path)
    assert list(tables.statistics[2022]) == ["fig", "nut"]
    assert [(defect.file, defect.line) for defect in tables.defects] == [
        (file, line) for line in (3, 4, 5, 6)
    ]


def test_stocks_gain_from_an_opening_to_a_close(tmp_path: Path) -> None:
    """Symbols are upper case; a row without a number is reported."""
    rows = "2023-12-29,1,1,1,150,1,5\n2023-12-01,100,1,1,1,1,5\n2023-12-04,x,1,1,1,1,5\n"
    write(tmp_path / "data/stocks/abc.csv", HEADER + rows)
    tables = read_stocks(tmp_path)
    assert [day.day.day for day in tables.days["ABC"]] == [1, 29]
    assert tables.gains(date(2023, 12, 1), date(2023, 12, 29)) == {"ABC": 0.5}
    assert tables.gains(date(2023, 12, 2), date(2023, 12, 29)) == {}
    assert [defect.line for defect in tables.defects] == [4]


def test_runs_are_found_by_the_names_of_their_folders(tmp_path: Path) -> None:
    """Settings come from the name, actions from the question's folder, whatever its case."""
    write_rankings(tmp_path, [(["fig"], {"rank": [1]})])
    write_decision(tmp_path, "Zero-Shot", '{"decision": "fig"}')
    ranking_run, direct_run = find_runs(tmp_path)
    assert direct_run.mode == "zero-shot"
    settings = (ranking_run.year, ranking_run.samples, ranking_run.batch, ranking_run.overlap)
    assert settings == (2021, 4, 4, 50)
    assert [each.actions for each in ranking_run.instances] == [("fig", "kiwi")]


def test_the_release_is_read_whole(dellma_release_dir: Path) -> None:
    """Nothing in the release's tables is a defect, and its crops' units go together."""
    agriculture, stocks = read_agriculture(dellma_release_dir), read_stocks(dellma_release_dir)
    assert (agriculture.defects, stocks.defects) == ((), ())
    assert agriculture.statistics[2022]["apple"].revenue == pytest.approx(5400.0)
    assert {"AMD", "DIS", "GME", "GOOGL", "META", "NVDA", "SPY"} <= stocks.days.keys()
    for crop, report in agriculture.reports.items():
        known = agriculture.statistics[2021][crop]
        assert (report.crop_yield, report.price) == (known.crop_yield, known.price)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("data/stocks/A.csv", "Date,Open\n", "no column High, Low, Close"),
        ("data/stocks/A.csv", HEADER, "no row of this file"),
        ("data/stocks/A.txt", "", "no SYMBOL.csv"),
    ],
)
def test_a_table_that_tells_nothing_is_an_error(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    """The message says what is missing, and where."""
    write(tmp_path / name, text)
    with pytest.raises(ParseError, match=problem):
        read_stocks(tmp_path)


def test_a_missing_report_is_an_error(tmp_path: Path) -> None:
    """The file that was looked for is named."""
    with pytest.raises(ParseError, match=r"fruit-sept-2021\.json"):
        read_agriculture(tmp_path)
