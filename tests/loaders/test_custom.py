"""A user's own questions: the fields of a line, and the error of each mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa.core.errors import DqaError, ParseError
from dqa.loaders.locations import located, variable_of, whole_url
from tests.sqlite_files import run_script

BEST = {"question": "Which supplier is the cheapest?"}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A database of three suppliers."""
    return run_script(
        tmp_path / "shop.db",
        "CREATE TABLE supplier(name TEXT, number INTEGER, price REAL);"
        "INSERT INTO supplier VALUES ('Arnold', 7, 4.0), ('Bell', 8, 5.5), (NULL, 9, 5.0);",
    )


def written(folder: Path, *lines: str | dict[str, Any], name: str = "own.jsonl") -> Path:
    """Write a file of questions."""
    file = folder / name
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    file.write_text(text + "\n", "utf-8")
    return file


def test_a_question_needs_its_text_and_nothing_else(shop: Path, tmp_path: Path) -> None:
    """Its id is the number of its line, and the set has the name of the file."""
    found = dqa.read_questions(written(tmp_path, "", BEST, "", BEST), shop)
    assert [question.key for question in found.questions] == ["own/2", "own/4"]
    assert found.name == "own"
    only = found.questions[0]
    assert (only.situation, only.candidates, only.rules) == ("shop", None, "")
    assert found.truth_of(only).answers == ()
    assert found.has_location(only)


def test_candidates_come_from_a_list_or_a_statement(shop: Path) -> None:
    """The statement runs once, through the guard; an answer is spelled as its candidate is."""
    lines: list[dict[str, Any]] = [
        {**BEST, "candidates": ["Arnold", "Bell", "Arnold"]},
        {**BEST, "candidates": "SELECT name FROM supplier", "answer": "Bell"},
        {**BEST, "candidates": "SELECT number FROM supplier", "answer": "8"},
    ]
    found = dqa.read_questions(lines, shop)
    assert [question.candidates for question in found.questions] == [
        ("Arnold", "Bell"),
        ("Arnold", "Bell"),
        (7, 8, 9),
    ]
    assert found.truth_of(found.questions[2]).answers == (8,)


def test_every_statement_of_candidates_is_audited_and_bound_by_the_policy(
    shop: Path, tmp_path: Path
) -> None:
    """It is a statement like any other."""
    line = {**BEST, "candidates": "SELECT name FROM supplier"}
    dqa.read_questions([line], shop, audit=tmp_path / "audit.jsonl")
    assert "SELECT name FROM supplier" in (tmp_path / "audit.jsonl").read_text()
    policy = dqa.Policy(denied_columns=frozenset({"supplier.name"}))
    with pytest.raises(dqa.UsageError, match=r"Question 1 of the list: candidates: .*name"):
        dqa.read_questions([line], shop, policy=policy)


def test_rules_are_a_text_or_a_file_next_to_the_questions(shop: Path, tmp_path: Path) -> None:
    """The path is read from the folder of the file, and may not lead out of it."""
    folder = tmp_path / "set"
    (folder / "texts").mkdir(parents=True)
    (folder / "texts" / "rules.md").write_text("No returns.\n", "utf-8")
    (tmp_path / "secret.txt").write_text("secret", "utf-8")
    lines = {**BEST, "rules": "Cheap."}, {**BEST, "rules": {"file": "texts/rules.md"}}
    found = dqa.read_questions(written(folder, *lines), shop)
    assert [question.rules for question in found.questions] == ["Cheap.", "No returns.\n"]
    for outside in ("../secret.txt", str(tmp_path / "secret.txt")):
        file = written(folder, {**BEST, "rules": {"file": outside}})
        with pytest.raises(ParseError, match=r"own\.jsonl:1: rules: .*is outside of"):
            dqa.read_questions(file, shop)


PICK = {"question": "Which?", "candidates": ["A", "B"]}
MISTAKES: list[tuple[str | dict[str, Any], str]] = [
    ("{", "1: this is not JSON"),
    ("[]", "1: a question is an object"),
    ({"candidates": ["a"]}, "1: 'question' is missing"),
    ({**BEST, "target": {"a": "b"}}, "1: 'target' is only .*: give 'scenario'"),
    ({**BEST, "anwser": "Bell"}, r"there is no field 'anwser' \(did you mean 'answer'"),
    ({**BEST, "candidates": []}, "1: candidates: must be a list of names, or a statement"),
    ({**BEST, "answer": "Belt", "candidates": ["Bell"]}, "1: answer: There is no candidate"),
    ({**BEST, "candidates": "DROP TABLE supplier"}, "1: candidates: the statement .* cannot run"),
    ({**BEST, "candidates": "SELECT 1 WHERE 0"}, "1: candidates: the statement .* returns no"),
    ({**BEST, "rules": {"file": "no.md"}}, "1: rules: .*no.md: it does not exist"),
    ({**BEST, "database": "ship"}, "no database 'ship'. There are: shop. Did you mean 'shop'"),
    ({**BEST, "scenario": "building"}, "has its own question and rules"),
    ({**PICK, "outcomes": {"A": 1, "B": 2}, "answer": "A"}, "outcomes: contradicts 'answer': A"),
    ({**PICK, "forbidden": ["A"], "answer": ["A", "B"]}, "forbidden: contradicts 'answer': A"),
    ({"scenario": "building"}, "1: scenario: .* does not match the scenario"),
]


def test_a_mistake_is_reported_with_file_line_and_field(shop: Path, tmp_path: Path) -> None:
    """In one line, before anything is scored."""
    for line, problem in MISTAKES:
        file = written(tmp_path, line)
        with pytest.raises(ParseError, match=problem) as error:
            dqa.read_questions(file, shop)
        assert str(error.value).startswith(f"{file}:1: ")
        assert "\n" not in str(error.value)
        assert "--" not in str(error.value)


def test_questions_have_outcomes_and_forbidden_candidates(shop: Path, tmp_path: Path) -> None:
    """Outcomes give regrets, and forbidden candidates count apart."""
    asked = {**BEST, "candidates": ["Arnold", "Bell", "Castle"]}
    own = written(
        tmp_path,
        {**asked, "id": "profit", "outcomes": {"Arnold": 3, "Bell": 4, "Castle": 1}},
        {**asked, "outcomes": {"Bell": 4, "Castle": 1}, "forbidden": "Arnold"},
        {**asked, "id": 3, "answer": "Arnold"},
    )
    run = dqa.evaluate(dqa.read_questions(own, shop), "first")
    found = [(one.outcome.value, one.official, one.regret) for one in run.results]
    assert found == [("wrong", "Bell", 1), ("forbidden", "Bell", 3), ("correct", "Arnold", None)]
    assert (run.summaries[0].forbidden, run.summaries[0].judged) == (1, 3)
    assert "1 decision for a candidate that the rules forbid" in run.report()
    with pytest.raises(ParseError, match="outcomes: is missing for Castle"):
        dqa.read_questions(written(tmp_path, {**asked, "outcomes": {"Arnold": 3, "Bell": 4}}), shop)


def test_heuristics_of_a_set_stand_below_its_table(shop: Path, tmp_path: Path) -> None:
    """A statement chooses by its first value, and a list is a constant choice."""
    asked: dict[str, Any] = {**BEST, "candidates": ["Arnold", "Bell"]}
    cheapest = "SELECT name FROM supplier WHERE name IS NOT NULL ORDER BY price"
    asked = {**asked, "heuristics": {"cheapest": cheapest, "always-bell": ["Bell"]}}
    own = written(tmp_path, {**asked, "answer": "Arnold"}, {**asked, "answer": "Bell"})
    run = dqa.evaluate(dqa.read_questions(own, shop), "first", out=tmp_path / "run")
    found = [(one.name, one.right, one.questions) for one in run.shortcuts]
    assert found == [("cheapest", 1, 2), ("always-bell", 1, 2)]
    assert "cheapest" in run.report()
    assert dqa.read_run(tmp_path / "run").shortcuts == run.shortcuts
    for wrong in ({"x": ["Castle"]}, {"x": "SELECT name FROM nowhere"}, {"x": 3}):
        line = {**asked, "heuristics": wrong}
        with pytest.raises(dqa.UsageError, match="Question 1 of the list: heuristics"):
            dqa.read_questions([line], shop)


def test_an_id_belongs_to_one_question(shop: Path, tmp_path: Path) -> None:
    """Also if the other id is a line number."""
    for lines in ([{**BEST, "id": "a"}] * 2, [{**BEST, "id": 2}, BEST]):
        with pytest.raises(ParseError, match=r"own\.jsonl:2: id: question 1 already has the id"):
            dqa.read_questions(written(tmp_path, *lines), shop)


def test_a_file_without_questions_and_a_missing_file_are_errors(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(dqa.UsageError, match="does not contain a question"):
        dqa.read_questions(written(tmp_path, ""), shop)
    with pytest.raises(dqa.UsageError, match=r"nowhere\.jsonl does not exist"):
        dqa.read_questions(tmp_path / "nowhere.jsonl", shop)
    with pytest.raises(DqaError, match=r"no existing file|no database file|cannot"):
        dqa.evaluate(dqa.read_questions([BEST], tmp_path / "no.db"), "first")


def test_several_databases_have_different_names(shop: Path, tmp_path: Path) -> None:
    """A question must then name its database."""
    both = {"here": shop, "there": shop}
    found = dqa.read_questions([{**BEST, "database": "there"}], both)
    assert found.questions[0].situation == "there"
    assert {*found.locations} == {"there"}
    with pytest.raises(dqa.UsageError, match="database: is missing: choose one of here, there"):
        dqa.read_questions([BEST], both)
    with pytest.raises(dqa.UsageError, match="Two databases have the name 'shop'"):
        dqa.read_questions([BEST], [shop, f"sqlite:///{shop}"])
    assert located([f"stock={tmp_path}/x=y.db"]) == {"stock": f"{tmp_path}/x=y.db"}


def test_a_password_is_taken_from_the_variable_of_the_database_or_of_its_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two databases on one kind of server have two."""
    written_url = "mysql+pymysql://me:***@host/sales"
    with pytest.raises(dqa.UsageError, match=r"DQA_SALES_URL is not set and DQA_MYSQL_URL"):
        whole_url(written_url, "sales")
    monkeypatch.setenv(variable_of("mysql"), "mysql+pymysql://me:one@host/other")
    monkeypatch.setenv(variable_of("sales"), "mysql+pymysql://me:two@host/sales")
    assert whole_url(written_url, "sales") == "mysql+pymysql://me:two@host/sales"
    monkeypatch.delenv(variable_of("sales"))
    with pytest.raises(dqa.UsageError, match="DQA_SALES_URL is not set") as error:
        whole_url(written_url, "sales")
    assert "one" not in str(error.value)


def test_a_source_is_data_without_passwords(shop: Path, tmp_path: Path) -> None:
    """It is written, read and compared like any other."""
    file = written(tmp_path, BEST)
    server = "postgresql+psycopg://me:secret@host/sales"
    source = dqa.OwnQuestions(file=file, databases=[str(shop), server])
    spec = dqa.RunSpec(questions=source, deciders=("first",))
    assert "secret" not in json.dumps(spec.to_json())
    assert "secret" not in repr(spec) + repr(source)
    assert spec.databases == ()
    again = dqa.RunSpec.from_json(spec.to_json())
    assert isinstance(again.questions, dqa.OwnQuestions)
    assert again.questions.databases == {
        "shop": str(shop),
        "sales": "postgresql+psycopg://me:***@host/sales",
    }
    with pytest.raises(dqa.UsageError, match="the questions are about your own databases"):
        dqa.RunSpec(questions=source, deciders=("first",), databases=("sqlite",))
    generated = dqa.GeneratedQuestions()
    with pytest.raises(dqa.UsageError, match="databases: must not be empty"):
        dqa.RunSpec(questions=generated, deciders=("first",), databases=())
