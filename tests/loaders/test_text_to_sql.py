"""BIRD's and Spider's folders as question sets, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa.core.errors import ParseError, UnknownNameError
from dqa.loaders.reading import read_questions, reader_of
from tests.text_to_sql import (
    QUESTIONS,
    bird_entries,
    write_bird,
    write_spider,
)


@pytest.fixture
def bird(tmp_path: Path) -> Path:
    """The set in BIRD's form."""
    return write_bird(tmp_path / "bird")


def test_birds_form_is_read_with_hints_difficulty_and_gold(bird: Path) -> None:
    """A database is a place, `evidence` is what the decider is told besides, nothing is loaded."""
    assert reader_of(bird).name == "BIRD's form"
    found = read_questions(bird)
    assert [q.key for q in found.questions] == [
        f"{a.database}/{n}" for n, a in enumerate(QUESTIONS)
    ]
    assert not found.situations
    assert not found.defects
    assert found.places == {
        name: str(bird / "dev_databases" / name / f"{name}.sqlite") for name in ("harbour", "choir")
    }
    asked = found.find("harbour/3")
    assert (asked.rules, asked.tags) == ("a call is a row of the table call", ("moderate",))
    assert (asked.answer_form, asked.situation) == ("statement", "harbour")
    truth = found.truth_of(asked)
    assert (truth.official, truth.match) == (QUESTIONS[3].gold, "set")
    assert truth.source == "dev.json, entry 4"


def test_spiders_form_is_read_and_numbers_its_entries(tmp_path: Path) -> None:
    """It has no ids, hints or difficulties; its own rule compares rows."""
    folder = write_spider(tmp_path / "spider")
    assert reader_of(folder).name == "Spider's form"
    found = read_questions(folder)
    assert [q.id for q in found.questions] == [str(n + 1) for n in range(len(QUESTIONS))]
    assert {truth.match for truth in found.truths.values()} == {"table"}
    assert not any(q.rules or q.tags for q in found.questions)


def test_databases_and_a_limit_choose_questions_and_open_no_other(bird: Path) -> None:
    """A database that no wanted question names may be missing."""
    (bird / "dev_databases" / "harbour" / "harbour.sqlite").unlink()
    found = dqa.read_release(bird, scenarios=("choir",), limit=2)
    assert [q.key for q in found.questions] == ["choir/6", "choir/7"]
    assert list(found.places) == ["choir"]
    with pytest.raises(UnknownNameError, match="Did you mean 'choir'"):
        dqa.read_release(bird, scenarios=("choirs",))


def _changed(number: int, **fields: Any) -> list[dict[str, Any]]:
    entries = bird_entries()
    return [{**entry, **(fields if n == number else {})} for n, entry in enumerate(entries)]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"db_id": "../choir"}, "entry 3: 'db_id' is '../choir', which is no name of a folder"),
        ({"db_id": "/etc"}, "entry 3: 'db_id' is '/etc'"),
        ({"question": "  "}, "entry 3: 'question' is '  '; expected a text"),
        ({"SQL": ["SELECT 1"]}, "entry 3: 'SQL' is ['SELECT 1']; expected a statement"),
        ({"question_id": 1}, "entry 3: harbour/1 is there twice"),
        ({"question_id": True}, "entry 3: 'question_id' is True; expected a number"),
    ],
)
def test_a_wrong_entry_is_left_out_and_named(
    tmp_path: Path, fields: dict[str, Any], problem: str
) -> None:
    """By its file and number; under `strict` it is an error."""
    folder = write_bird(tmp_path / "bird", _changed(2, **fields))
    found = read_questions(folder)
    assert len(found.questions) == len(QUESTIONS) - 1
    (defect,) = map(str, found.defects)
    assert defect.startswith(f"{folder / 'dev.json'}: {problem}")
    with pytest.raises(ParseError) as raised:
        read_questions(folder, strict=True)
    assert problem in str(raised.value)


def test_a_missing_database_is_named_with_its_entry(tmp_path: Path) -> None:
    """So is a file that leads out of the folder."""
    folder = write_bird(tmp_path / "bird", _changed(2, db_id="ghost"))
    with pytest.raises(ParseError, match=r"dev\.json: entry 3: the database 'ghost' is expected"):
        read_questions(folder)
    outside = tmp_path / "outside.sqlite"
    (folder / "dev_databases" / "choir" / "choir.sqlite").rename(outside)
    (folder / "dev_databases" / "ghost").mkdir()
    (folder / "dev_databases" / "ghost" / "ghost.sqlite").symlink_to(outside)
    with pytest.raises(ParseError, match=r"entry 3: the database 'ghost' cannot .* leads out of"):
        read_questions(folder)


def test_gold_that_does_not_run_is_found_by_a_strict_reading(tmp_path: Path) -> None:
    """Its file, entry and question are named, and what the database says."""
    folder = write_bird(tmp_path / "bird", _changed(7, SQL="SELECT twon FROM concert"))
    assert not read_questions(folder).defects, "nothing is run unless it is asked for"
    with pytest.raises(ParseError, match=r"dev\.json: entry 8 \(choir/7\): the gold .*twon"):
        read_questions(folder, strict=True)
    read_questions(folder, strict=True, scenarios=["harbour"])
