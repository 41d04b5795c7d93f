"""A scenario's folder is read, or refused with file, field and the fix."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.errors import ParseError
from dqa.scenarios import read_scenario
from tests.scenarios.conftest import FIFTH

SUPPLIERS = FIFTH / "suppliers"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Copy the scenario of another package, so that it can be changed."""
    return Path(shutil.copytree(SUPPLIERS, tmp_path / "suppliers"))


def change(folder: Path, before: str, after: str, name: str = "scenario.toml") -> None:
    """Change a file at one place."""
    text = (folder / name).read_text("utf-8")
    assert before in text
    (folder / name).write_text(text.replace(before, after, 1), "utf-8")


def line_of(folder: Path, text: str, name: str = "scenario.toml") -> int:
    """Return the line that contains a text."""
    lines = (folder / name).read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize("name", plugins.names("scenario"))
def test_a_shipped_scenario_is_read_like_any_folder(name: str) -> None:
    """The installed scenario equals its folder."""
    root = Path(__file__).parents[2] / "schemas" / name
    one, other = read_scenario(root), plugins.scenario(name)
    assert one.schema == other.schema
    assert (one.rules, one.goal, one.unit) == (other.rules, other.goal, other.unit)
    assert one.document.critical_values == other.document.critical_values
    assert one.name == name


@pytest.mark.parametrize(
    ("before", "after", "field", "words"),
    [
        ('unit = "bill"', 'units = "bill"', "outcomes.units", "did you mean 'unit'"),
        ('goal = "minimise"', 'goal = "min"', "outcomes.goal", "'minimise', not 'min'"),
        ('key = ["part"]', 'key = ["prat"]', "tables.part.key", "did you mean 'part'?"),
        ('source = "query"', 'source = "python"', "outcomes", "needs the field 'python'"),
        ('column = "part"', 'column = "name"', "parameters.part.column", "column of 'part' 'name'"),
        ('= "unit_price"\n', '= "price"\n', "critical_values.price.column", "'unit_price'?"),
        ('database = "{warehouse}"', 'database = "{where}"', "release.database", "'where'"),
        ('["Supplier", ', '["Seller", ', "edges.Offer.source", "node 'Seller'"),
        ('name = "offer"', 'name = "part"', "tables.part.name", "exists twice"),
        ('name = "suppliers"', 'name = "Our Suppliers"', "name", "match pattern"),
    ],
)
def test_an_error_names_its_file_its_field_and_the_fix(
    folder: Path, before: str, after: str, field: str, words: str
) -> None:
    change(folder, before, after)
    with pytest.raises(ParseError) as caught:
        read_scenario(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert f"{folder / 'scenario.toml'}: {field}" in message
    assert words in message


def test_the_error_of_an_unknown_field_suggests_a_known_one(folder: Path) -> None:
    change(folder, "optional = true", "optionel = true")
    with pytest.raises(ParseError, match=r"no field 'optionel' \(did you mean 'optional'"):
        read_scenario(folder)
    change(folder, "optionel = true", "")
    change(folder, "[outcomes]", "[outcome]")
    with pytest.raises(ParseError, match=r"and 1 more problem"):
        read_scenario(folder)


def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    """Missing, in another encoding, or no TOML."""
    for name, content, words in (
        ("rules.md", b"\xff\xfe", r"rules\.md: it is not UTF-8 text"),
        ("rules.md", None, r"rules\.md: the file is missing"),
        ("scenario.toml", b'name = "x', "it is not TOML: "),
    ):
        (folder / name).unlink()
        if content is not None:
            (folder / name).write_bytes(content)
        with pytest.raises(ParseError, match=words):
            read_scenario(folder)
        shutil.copy(SUPPLIERS / name, folder / name)


@pytest.mark.parametrize(
    ("name", "before", "after", "words"),
    [
        ("question.txt", "$pieces", "$piece", "there is no parameter 'piece'"),
        ("candidates.sql", "$days", "$candidates", "there is no parameter 'candidates'"),
        ("outcomes.cypher", "$part", "$prat", "did you mean 'part'"),
        ("context.sql", "$part", "$prat", "did you mean 'part'"),
        ("heuristics/cheapest-piece.sql", "$part", "$parts", "did you mean 'part'"),
        (
            "outcomes.sql",
            "SELECT",
            "SELECT 1;\nSELECT",
            "it contains 2 statements; write exactly one",
        ),
    ],
)
def test_an_unknown_parameter_is_found_when_the_folder_is_read(
    folder: Path, name: str, before: str, after: str, words: str
) -> None:
    change(folder, before, after, name)
    with pytest.raises(ParseError) as caught:
        read_scenario(folder)
    assert name in str(caught.value)
    assert words in str(caught.value)
    if "parameter '" in words:
        assert caught.value.line == line_of(folder, after, name)
