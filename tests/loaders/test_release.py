"""The reader of the DQA release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dqa.core.errors import ParseError
from dqa.loaders.reading import read_questions
from dqa.loaders.release import read_release
from dqa.loaders.release_layout import FORMS
from tests.loaders.scripts import (
    A_BUILDING,
    BUILDING_SQL,
    SQL,
    building_entry,
    locating_entry,
    write_building,
    write_locating,
)


def test_a_question_has_everything_its_entry_says(tmp_path: Path) -> None:
    """Text, rules, target, candidates and official answer, without white space at the ends."""
    question_set = read_questions(write_locating(tmp_path, [locating_entry()]), strict=True)
    (question,) = question_set.questions
    assert question.key == "locating/1"
    assert question.text == "Where to?\nAs much as can be."
    assert question.rules == "Trade well."
    assert question.target == {"country": "SWE", "home": "baltic", "year": "1445"}
    assert question.candidates == ("krakow",)
    assert question_set.truth_of(question).answers == ("krakow",)
    assert question_set.situation_of(question).name == "q1"


def test_questions_share_the_database_of_their_country(tmp_path: Path) -> None:
    """The database file is named by the country; a database without buildings is a defect."""
    entries = [building_entry(2), building_entry(5), building_entry(6, country="USA1900")]
    sql = {"USA1836": BUILDING_SQL + A_BUILDING, "USA1900": BUILDING_SQL}
    question_set = read_release(write_building(tmp_path, entries, sql))
    assert [truth.answers for _, truth in question_set.labelled] == [(7,), (7,)]
    assert question_set.questions[0].target == {"goods": "wood", "country": "USA1836"}
    assert list(question_set.situations) == ["USA1836"]
    assert "question 6: USA1900.sql contains no candidates" in str(question_set.defects[0])


def test_databases_of_equal_content_are_one_situation(tmp_path: Path) -> None:
    """The bytes may differ (a misspelt column, white space); the content counts."""
    misspelt = SQL.replace("has_merchant", "has_has_merchant")
    sql = {"q3": SQL, "q4": misspelt, "q5": misspelt, "q6": SQL + "\n"}
    folder = write_locating(tmp_path, [locating_entry(n) for n in (3, 4, 5, 6)], sql)
    question_set = read_release(folder)
    assert list(question_set.situations) == ["q3"]
    assert {q.situation for q in question_set.questions} == {"q3"}
    (defect,) = question_set.defects
    assert defect.file.name == "q4.sql"
    assert defect.more == 1
    assert "and the same in 1 more file;" in str(defect)


@pytest.mark.parametrize(
    ("entries", "sql", "problem"),
    [
        ([1, 1], {"q1": SQL}, "question 1 is a duplicate"),
        ([1], {"q1": SQL, "q7": SQL}, "1 of the files do not belong to a question: q7.sql"),
        ([1, {"answer": 3}], {"q1": SQL, "q2": SQL}, "question 2: answer: must be a valid string"),
        ([1, {"home": "x"}], {"q1": SQL, "q2": SQL}, "question 2: 'home' is 'x', which is not a"),
        ([1, {"answer": "x"}], {"q1": SQL, "q2": SQL}, "'x', is not a candidate"),
        ([1, {"question": None}], {"q1": SQL, "q2": SQL}, "question 2: question: must be"),
        ([1], {"q1": SQL.replace("0.25", "'0.25'")}, "contains text instead of float"),
    ],
)
def test_defects_are_survived_and_reported_or_raised(
    tmp_path: Path, entries: list[int | dict[str, object]], sql: dict[str, str], problem: str
) -> None:
    """The rest is read, and one line names the problem; with strict it is an error."""
    listed = [locating_entry(e) if isinstance(e, int) else locating_entry(2, **e) for e in entries]
    folder = write_locating(tmp_path, listed, sql)
    question_set = read_release(folder)
    assert question_set.questions[0].id == "1"
    assert any(problem in str(defect) for defect in question_set.defects)
    assert all("\n" not in str(defect) for defect in question_set.defects)
    with pytest.raises(ParseError) as caught:
        read_questions(folder, strict=True)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ({"q1": SQL}, r"q2\.sql: this database of a question cannot be read: No such file"),
        ({"q1": SQL, "q2": "\nCREATE PANIC;"}, r"q2\.sql: expected CREATE TABLE or INSERT"),
    ],
)
def test_a_missing_or_broken_database_is_an_error(
    tmp_path: Path, sql: dict[str, str], problem: str
) -> None:
    """A benchmark without some questions would be another benchmark."""
    folder = write_locating(tmp_path, [locating_entry(1), locating_entry(2)], sql)
    with pytest.raises(ParseError, match=problem):
        read_release(folder)


def test_a_folder_that_is_no_release_is_refused(tmp_path: Path) -> None:
    """The message names the file that was expected, or the line of the fault."""
    with pytest.raises(
        ParseError, match=r"simulated_question\.json.*Give the folder that contains"
    ):
        read_release(tmp_path)
    folder = write_locating(tmp_path, [locating_entry()])
    for text, line in (("[\n{},\n{]", 3), ('{"a": 1}', 1), ("", 1)):
        (folder / "data/locating/questions/simulated_question.json").write_text(text)
        with pytest.raises(ParseError) as caught:
            read_release(folder)
        assert caught.value.line == line


def test_a_part_reads_no_other_database(tmp_path: Path) -> None:
    """Names, content and hashes are those of the whole; all entries are checked."""
    entries = [locating_entry(n) for n in (3, 4, 5)] + [locating_entry(6, answer=6)]
    sql = {"q3": SQL, "q4": SQL, "q5": SQL.replace("0.25", "0.5"), "q9": SQL}
    folder = write_locating(tmp_path, entries, sql)
    whole = read_release(folder).select(limit=2)
    (folder / "data/locating/queries/SQL_format/q5.sql").write_text("DROP everything", "utf-8")
    part = read_release(folder, limit=2)
    assert [question.key for question in part.questions] == ["locating/3", "locating/4"]
    assert part.questions == whole.questions
    assert part.content_hash == whole.content_hash
    assert [*part.situations] == ["q3"]
    defects = "\n".join(map(str, part.defects))
    assert "question 6: answer: must be a valid string" in defects
    assert "1 of the files do not belong to a question: q9.sql" in defects
    with pytest.raises(ParseError, match=r"q5\.sql"):
        read_release(folder, limit=3)


RELEASED = "837469bcb9b16368441d1f7ad596a53a400135da96d0999bde39bd9d0e0b25fd"
"""The hash of the questions and situations of the shared part, as first read."""


def test_both_forms_of_the_release_are_read_whole_and_equal(release_dir: Path) -> None:
    """As many questions as entries; every answer is a candidate; known defects are reported.

    The shared part has 150 and 74 questions on 3 and 28 contents; 3 Locating files misspell a
    column. In the graph form truth values are text, too.
    """
    relational, graph = (read_release(release_dir, form=form) for form in FORMS)
    assert relational.questions == graph.questions
    assert relational.situations == graph.situations
    files = (release_dir / "data").glob("*/questions/*.json")
    entries = sum(len(json.loads(file.read_text("utf-8"))) for file in files)
    assert len(relational.questions) == entries >= 224
    for question, truth in relational.labelled:
        assert truth.official in (question.candidates or ())
    problems = [str(defect) for defect in graph.defects]
    assert any("q1.cql: column 'has_merchant' contains text" in problem for problem in problems)
    assert any("q105.cql: 'NodeCountry' misspells" in problem for problem in problems)
    if entries == 224:
        assert len(relational.select(("locating",)).questions) == 150
        locating = {q.situation for q in relational.questions if q.scenario == "locating"}
        assert locating == {"q1", "q82", "q141"}
        assert len(relational.situations) - len(locating) == 28
        assert [d.file.name for d in relational.defects] == ["q13.sql", "q97.sql", "q143.sql"]
        assert relational.content_hash == RELEASED
    with pytest.raises(ParseError, match="contains text instead of boolean"):
        read_questions(release_dir, form="graph", scenarios=["locating"], strict=True)
