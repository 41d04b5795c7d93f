"""Text-to-SQL folders as question sets, and their defects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa.core.errors import ParseError, UnknownNameError
from dqa.core.truth import GoldTable
from dqa.loaders.reading import read_questions, reader_of
from dqa.loaders.text_to_sql import DEFOG
from tests.text_to_sql import QUESTIONS, bird_entries, write_bird, write_spider


@pytest.fixture
def bird(tmp_path: Path) -> Path:
    """The set in BIRD's form."""
    return write_bird(tmp_path / "bird")


def test_birds_form_is_read_with_hints_difficulty_and_gold(bird: Path) -> None:
    """Databases are queried in place, and `evidence` becomes the rules."""
    assert reader_of(bird).name == "BIRD's form"
    found = read_questions(bird)
    assert [q.key for q in found.questions] == [
        f"{a.database}/{n}" for n, a in enumerate(QUESTIONS)
    ]
    assert not found.situations
    assert not found.defects
    assert found.locations == {
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


def test_a_file_of_gold_statements_serves_entries_without_one(tmp_path: Path) -> None:
    """One statement on each line, in front of its database; another number is reported."""
    bare = [{**entry, "SQL": None} for entry in bird_entries()]
    folder = write_bird(tmp_path / "bird", bare)
    found = read_questions(folder)
    assert [truth.official for truth in found.truths.values()] == [one.gold for one in QUESTIONS]
    (folder / "dev.sql").write_text("SELECT 1\tchoir\n", "utf-8")
    found = read_questions(folder)
    assert not any(truth.answers for truth in found.truths.values())
    (defect,) = map(str, found.defects)
    assert defect.endswith(f"dev.sql: 1 statement for {len(QUESTIONS)} questions; not read")
    spider = write_spider(tmp_path / "spider", bare)
    assert all(truth.answers for truth in read_questions(spider).truths.values())


def test_databases_and_a_limit_choose_questions_and_open_no_other(bird: Path) -> None:
    """A database that no wanted question names may be missing."""
    (bird / "dev_databases" / "harbour" / "harbour.sqlite").unlink()
    found = dqa.read_release(bird, scenarios=("choir",), limit=2)
    assert [q.key for q in found.questions] == ["choir/6", "choir/7"]
    assert list(found.locations) == ["choir"]
    with pytest.raises(UnknownNameError, match="Did you mean 'choir'"):
        dqa.read_release(bird, scenarios=("choirs",))


def _changed(number: int, **fields: Any) -> list[dict[str, Any]]:
    entries = bird_entries()
    return [{**entry, **(fields if n == number else {})} for n, entry in enumerate(entries)]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"db_id": "../choir"}, "entry 3: db_id: String should match pattern"),
        ({"question": "  "}, "entry 3: question: String should have at least 1 character"),
        ({"SQL": ["SELECT 1"]}, "entry 3: SQL: must be a valid string"),
        ({"question_id": 1}, "entry 3: harbour/1 is a duplicate"),
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
    with pytest.raises(
        ParseError, match=r"dev\.json: entry 3: the database 'ghost' cannot be read"
    ):
        read_questions(folder)
    outside = tmp_path / "outside.sqlite"
    (folder / "dev_databases" / "choir" / "choir.sqlite").rename(outside)
    (folder / "dev_databases" / "ghost").mkdir()
    (folder / "dev_databases" / "ghost" / "ghost.sqlite").symlink_to(outside)
    with pytest.raises(ParseError, match=r"entry 3: the database 'ghost' cannot .* is outside of"):
        read_questions(folder)


def test_birds_descriptions_of_columns_are_hints(bird: Path) -> None:
    """Files of any encoding; a description that only repeats the name is left out."""
    folder = bird / "dev_databases" / "harbour" / "database_description"
    folder.mkdir()
    (folder / "ship.csv").write_bytes(
        "original_column_name,column_name,column_description,data_format,value_description\n"
        "flag,,the café code,text,NO: Norway\n"
        "name,,name,text,\n".encode("cp1252")
    )
    found = read_questions(bird)
    columns = "Columns:\n- ship.flag: the café code; NO: Norway"
    assert found.find("harbour/0").rules == columns
    assert found.find("harbour/3").rules == f"a call is a row of the table call\n\n{columns}"
    assert found.find("choir/6").rules == ""


@pytest.mark.parametrize(("form", "name"), [("mysql", "mysql"), ("postgres", "postgresql")])
def test_questions_about_a_server_find_it_in_the_environment(
    tmp_path: Path, form: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its password is in no question set; a missing URL is an error that names the variable."""
    folder = write_bird(tmp_path / "mini")
    (folder / "dev.json").rename(folder / f"mini_dev_{name}.json")
    for variable in ("DQA_HARBOUR_URL", "DQA_CHOIR_URL", f"DQA_{form.upper()}_URL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ParseError, match=f"set DQA_HARBOUR_URL or DQA_{form.upper()}_URL"):
        read_questions(folder, form=form)
    monkeypatch.setenv(f"DQA_{form.upper()}_URL", f"{form}://me:secret@host/BIRD")
    monkeypatch.setenv("DQA_CHOIR_URL", f"{form}://me:secret@host/choir")
    found = read_questions(folder, form=form)
    assert len(found.questions) == len(QUESTIONS)
    assert found.locations["harbour"] == f"{form}://me:***@host/BIRD"
    assert found.locations["choir"].endswith("/choir")


def test_spider_2_has_gold_tables(tmp_path: Path) -> None:
    """Any of them is right, by the columns that count; other engines' questions are left out."""
    folder = write_spider(tmp_path / "spider2")
    (folder / "database").rename(folder / "databases")
    (folder / "resource").mkdir()
    (folder / "databases").rename(folder / "resource" / "databases")
    for file in ("dev.json", "tables.json", "dev_gold.sql"):
        (folder / file).unlink()
    entries: list[dict[str, Any]] = [
        {
            "instance_id": "local001",
            "db": "choir",
            "question": "Who?",
            "external_knowledge": "k.md",
        },
        {"instance_id": "local002", "db": "choir", "question": "How\u2028many?"},
        {"instance_id": "bq001", "db": "ga4", "question": "What?"},
    ]
    lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    (folder / "spider2-lite.jsonl").write_text(lines, "utf-8")
    (folder / "resource" / "documents").mkdir()
    (folder / "resource" / "documents" / "k.md").write_text("Alto is low.\n", "utf-8")
    gold = folder / "evaluation_suite" / "gold"
    (gold / "exec_result").mkdir(parents=True)
    (gold / "sql").mkdir()
    (gold / "exec_result" / "local001_a.csv").write_text("name,n\nEdda,1\nGesa,2.5\n", "utf-8")
    (gold / "exec_result" / "local001_b.csv").write_text("name\nEdda\n", "utf-8")
    (gold / "sql" / "local002.sql").write_text("SELECT COUNT(*) FROM singer;\n", "utf-8")
    options = {"instance_id": "local001", "condition_cols": [[0], []], "ignore_order": True}
    (gold / "spider2lite_eval.jsonl").write_text(f"\n{json.dumps(options)}\n\n", "utf-8")
    found = read_questions(folder)
    assert reader_of(folder).name == "Spider's form"
    assert [question.key for question in found.questions] == ["choir/local001", "choir/local002"]
    first, second = (found.truth_of(question) for question in found.questions)
    assert found.questions[0].rules == "Alto is low."
    assert first.tables == (
        GoldTable((("Edda", 1), ("Gesa", 2.5)), (0,), ordered=False),
        GoldTable((("Edda",),), (), ordered=False),
    )
    assert (second.answers, second.match) == (("SELECT COUNT(*) FROM singer",), "columns")
    assert [str(defect).partition(": ")[2] for defect in found.defects] == [
        "1 question about BigQuery and Snowflake; left out"
    ]
    with pytest.raises(ParseError, match="BigQuery and Snowflake"):
        read_questions(folder, strict=True)
    for wrong in ("[]", "{}"):
        (gold / "spider2lite_eval.jsonl").write_text(wrong, "utf-8")
        with pytest.raises(ParseError, match=r"spider2lite_eval\.jsonl: entry 1 needs a text in"):
            read_questions(folder)


def test_defogs_alternatives_are_all_right(tmp_path: Path) -> None:
    """``{a, b}`` allows every choice of columns; ``;`` separates statements."""
    write_spider(tmp_path / "defog")
    (tmp_path / "defog" / "database").rename(tmp_path / "defog" / "sqlite_dbs")
    (tmp_path / "defog" / "dev.json").unlink()
    (tmp_path / "defog" / "questions_gen_sqlite.csv").write_text(
        "db_name,query_category,question,query,instructions\n"
        'choir,group_by,Who?,"SELECT {voice, joined}, COUNT(*) FROM singer GROUP BY {};'
        'SELECT voice FROM singer",\n',
        "utf-8",
    )
    assert DEFOG.recognises(tmp_path / "defog")
    found = DEFOG.read(tmp_path / "defog")
    (question,) = found.questions
    assert question.tags == ("group_by",)
    assert found.truth_of(question).match == "subset"
    assert found.truth_of(question).answers == (
        "SELECT voice, COUNT(*) FROM singer GROUP BY voice",
        "SELECT joined, COUNT(*) FROM singer GROUP BY joined",
        "SELECT voice, joined, COUNT(*) FROM singer GROUP BY voice, joined",
        "SELECT voice FROM singer",
    )
