"""The reader and writer of SQL scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.core.errors import DataError, ParseError
from dqa.core.situation import Situation
from dqa.loaders.sql_text import parse_sql, render_sql
from tests.loaders.scripts import BUILDING, BUILDING_SQL, LOCATING, SQL, SQL_ROWS, SQL_TABLES

FILE = Path("q1.sql")


def _locating(text: str) -> Situation:
    parsed = parse_sql(text, LOCATING, FILE)
    assert parsed.defects == ()
    return parsed.situation


def test_values_are_read_in_their_columns_types() -> None:
    """Text, floats of every notation and truth values arrive as the schema's types."""
    situation = _locating(SQL)
    assert situation.name == "q1"
    assert list(situation["trade_node"].rows()) == [
        ("baltic", 1.5, False, 10.0, 0.0, 0.0),
        ("krakow", 2.5, True, 10.0, -0.002, 0.0),
    ]
    assert list(situation["flow"].rows()) == [("krakow", "baltic", 0.25)]


@pytest.mark.parametrize(
    "text",
    [
        SQL.replace("\n", "\r\n"),
        SQL.replace('"', "'"),
        SQL.replace(");\nINSERT", "); INSERT"),
        SQL.replace(" VALUES ", "\n  values\n "),
        SQL.replace("TRUE", "1").replace("FALSE", "0"),
        SQL.replace("INTO country(", "INTO `country`(").replace("0.25", "+0.25"),
        "-- a comment; with 'quotes'\n# another\n/* INSERT\nINSERT INTO */\n\n" + SQL,
        "SET NAMES utf8mb4;\nDROP TABLE IF EXISTS flow;\nSTART TRANSACTION;\n" + SQL + "COMMIT;\n",
        SQL_TABLES.replace("TABLE", "TABLE IF NOT EXISTS") + SQL_ROWS.rstrip(";\n"),
        SQL.replace("INSERT INTO flow(source, dest, flow)", "INSERT INTO flow"),
        SQL.replace('(source, dest, flow) VALUES ("krakow", "baltic", 0.25)',
                    '(flow, dest, source) VALUES (0.25, "baltic", "krakow")'),
        SQL.replace("INSERT INTO country", "  INSERT INTO country"),
        SQL.replace(");\n", ");  \n"),
    ],
    ids=["crlf", "quotes", "one-line", "split", "0/1", "backticks", "comments", "session",
         "no-last-semicolon", "no-columns", "column-order", "row-among-tables", "blank-ends"],
)  # fmt: skip
def test_other_spellings_of_a_script_are_the_same_situation(text: str) -> None:
    """Line ends, quotes, comments and statements over lines do not change what is read."""
    assert _locating(text) == _locating(SQL)


def test_rows_of_one_insert_are_all_read() -> None:
    """VALUES may list several rows, and rows may stand before the last CREATE TABLE."""
    rows = '("baltic", 1.5, FALSE, 10, 0.0, 0), ("krakow", 2.5, TRUE, 1e1, -2E-3, 0)'
    start = SQL.index("INSERT INTO trade_node")
    end = SQL.index("INSERT INTO flow")
    text = f"{SQL[:start]}INSERT INTO trade_node VALUES\n{rows};\n{SQL[end:]}"
    assert _locating(text) == _locating(SQL)


@pytest.mark.parametrize(
    ("literal", "meant"),
    [
        (r"'it''s'", "it's"),
        (r'"it\'s"', "it's"),
        (r'"say ""so"""', 'say "so"'),
        (r"'a\\b\nc'", "a\\b\nc"),
        ("'two\nlines'", "two\nlines"),
        ("'; INSERT INTO flow VALUES (1);'", "; INSERT INTO flow VALUES (1);"),
        ("'-- no comment'", "-- no comment"),
    ],
)
def test_strings_mean_what_mysql_takes_them_for(literal: str, meant: str) -> None:
    """Escapes, doubled quotes, line breaks and what looks like SQL stay inside their string."""
    text = SQL.replace('("SWE", "baltic"', f'({literal}, "baltic"')
    situation = _locating(text.replace('"baltic", "SWE"', f'"baltic", {literal}'))
    assert situation["country"]["country_name"].tolist() == [meant]


@pytest.mark.parametrize("spelling", ["has_has_merchant", "hasmerchant", "has_merchants"])
@pytest.mark.parametrize("separator", ["\n", " "], ids=["fast", "tolerant"])
def test_a_misspelt_column_is_taken_as_the_one_it_resembles(spelling: str, separator: str) -> None:
    """The rows are kept, and the defect says which column was meant and where."""
    text = SQL_TABLES + SQL_ROWS.replace("has_merchant", spelling).replace("\n", separator)
    parsed = parse_sql(text, LOCATING, FILE)
    assert parsed.situation == _locating(SQL)
    (defect,) = parsed.defects
    assert "'has_merchant'" in defect.problem
    assert f"'{spelling}'" in defect.problem
    assert defect.line == (13 if separator == "\n" else 9)


def test_a_missing_float_is_nan() -> None:
    """NULL stands for a missing number, and writing it keeps it so."""
    situation = _locating(SQL.replace("0.25", "NULL"))
    assert situation["flow"]["flow"].tolist() != situation["flow"]["flow"].tolist()
    assert _locating(render_sql(situation)) == situation


def test_rows_that_no_database_can_hold_are_left_out_and_reported() -> None:
    """A second row of a key, an edge to a missing node; text in place of a number is read."""
    again = 'INSERT INTO country(country_name,home_node,development) VALUES ("SWE", "x", 1);\n'
    lost = 'INSERT INTO flow(source, dest, flow) VALUES ("krakow", "atlantis", 1);\n'
    parsed = parse_sql(SQL.replace("0.25", '"0.25"') + again + lost, LOCATING, FILE)
    assert parsed.situation == _locating(SQL)
    assert sorted((d.line, d.problem) for d in parsed.defects) == [
        (12, "'flow' holds text instead of float values"),
        (14, "'country' repeats the key country_name"),
        (15, "'flow' refers to a trade_node that is not there"),
    ]


def test_a_table_of_nodes_without_rows_is_reported() -> None:
    """A Building database without buildings is read, empty as it is."""
    parsed = parse_sql(BUILDING_SQL, BUILDING, Path("X.sql"))
    assert len(parsed.situation["building"]) == 0
    assert [d.problem for d in parsed.defects] == ["'building' has no rows"]


def test_unknown_tables_and_columns_are_passed_over_and_reported() -> None:
    """What the scenario has no place for does not stand in the way."""
    text = SQL.replace("(source, dest, flow) VALUES (", "(xyz, source, dest, flow) VALUES (1, ")
    parsed = parse_sql(text + "INSERT INTO notes(a) VALUES (1);", LOCATING, FILE)
    assert parsed.situation == _locating(SQL)
    assert [d.action for d in parsed.defects] == ["passed over", "passed over"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (SQL.replace("0.25)", "0.25"), 12, "expected SQL ')'"),
        (SQL.replace('"krakow", "baltic", 0.25', '"krakow", 0.25'), 12, "has 2 values; expected 3"),
        (SQL.replace("0.25", "lots"), 12, "expected a quoted string, a number"),
        (SQL.replace("0.25", "nan"), 12, "expected a quoted string, a number"),
        (SQL.replace("0.25", "1_0"), 12, "expected SQL ')'"),
        (SQL.replace("0.25", "'much'"), 12, "holds the text 'much'; expected float"),
        (SQL.replace('("krakow", "baltic", 0.25', '("krakow", 3, 0.25'), 12, "expected text"),
        (SQL.replace('"krakow", "baltic", 0.25', '"krakow, baltic, 0.25'), 14, "never closed"),
        (SQL + "DELETE FROM flow;", 14, "found word 'DELETE'; expected CREATE TABLE"),
        (SQL.replace("(source, dest, flow) VALUES", "(source, flow) VALUES"), 12, "lacks ['dest']"),
        ("", None, "table 'country' is missing; expected CREATE TABLE country("),
    ],
)
def test_faults_name_the_line_and_what_was_expected(
    text: str, line: int | None, message: str
) -> None:
    """The error carries file and line, and says what should have stood there."""
    with pytest.raises(ParseError) as caught:
        parse_sql(text, LOCATING, FILE)
    assert message in caught.value.problem
    if "never closed" not in message:
        assert caught.value.line == line
    assert str(caught.value).startswith("q1.sql")


def test_an_infinity_or_a_text_too_long_cannot_be_written() -> None:
    """MySQL would refuse or cut them, so the writer does not let them pass."""
    situation = _locating(SQL)
    with pytest.raises(DataError, match="cannot store"):
        render_sql(situation.replace(flow=situation["flow"].replace(flow=[float("inf")])))
    long = situation["country"].replace(country_name=["x" * 256])
    with pytest.raises(DataError, match="256 characters"):
        render_sql(situation.replace(country=long))


def test_a_long_text_outside_of_a_key_has_a_column_with_room() -> None:
    """A report does not fit where names do; it is read back whole."""
    situation = _locating(SQL)
    long = situation.replace(country=situation["country"].replace(home_node=["x'y" * 500]))
    script = render_sql(long)
    assert "home_node LONGTEXT" in script
    assert "country_name VARCHAR(255)" in script
    assert parse_sql(script, LOCATING, FILE).situation["country"] == long["country"]
