"""What is evaluated is data: written, read, compared, and built somewhere else."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from dqa.core.database import Limits
from dqa.core.display import Display
from dqa.core.errors import UsageError
from dqa.evaluation.prepare import prepare, targets_of
from dqa.evaluation.spec import ModelSpec, RunSpec, differences
from dqa.guard import Policy
from dqa.loaders.sources import GeneratedQuestions, QuestionFolder
from dqa.scenarios.generation import Difficulty

LOCATION = "mysql+pymysql://me:pass-word@db.example/shop"
WHOLE = RunSpec(
    questions=GeneratedQuestions(
        count=2,
        seed=3,
        scenarios=("locating",),
        limit=1,
        sizes={"locating": {"nodes": 12}},
        difficulty=Difficulty(hops=2),
        per_database=1,
    ),
    deciders=["planrag", "first", "planrag"],
    databases=["sqlite", LOCATION],
    model=ModelSpec(name="openai:m", base_url="http://localhost:1/v1"),
    protocol="tools",
    settings={"planrag.x": 3},
    rule_set="paper",
    seed=5,
    max_steps=7,
    limits=Limits(rows=10),
    display=Display(digits=3, samples=2),
    strict_official=True,
    policy={"denied_columns": ["email"], "tables": ["b", "a"]},
)


def test_what_is_written_reads_back_as_it_was() -> None:
    """But for the password, which is never written."""
    written = json.loads(json.dumps(WHOLE.to_json()))
    again = RunSpec.from_json(written)
    assert again == WHOLE.changed(databases=("sqlite", LOCATION.replace("pass-word", "***")))
    assert again.to_json() == written
    assert (again.deciders, again.settings) == (("planrag", "first"), {"planrag.x": "3"})
    assert again.policy == {"denied_columns": ("email",), "tables": ("a", "b")}
    assert differences(again, WHOLE) == []


def test_a_spec_of_another_version_is_refused() -> None:
    """A spec that names no version is one of today."""
    written = WHOLE.to_json()
    with pytest.raises(UsageError, match="version 1, but this dqa reads version 2"):
        RunSpec.from_json(written | {"version": 1})
    del written["version"]
    assert differences(RunSpec.from_json(written), WHOLE) == []


def test_no_way_of_showing_a_spec_shows_a_password(tmp_path: Path) -> None:
    """Neither print, nor JSON, nor a file; what goes to another process keeps it."""
    WHOLE.write(tmp_path / "spec.json")
    shown = (
        str(WHOLE),
        f"{WHOLE!r}",
        str(WHOLE.to_json()),
        WHOLE.model_dump_json(),
        (tmp_path / "spec.json").read_text("utf-8"),
    )
    assert not [text for text in shown if "pass-word" in text]
    handed_over = pickle.loads(pickle.dumps(WHOLE))  # noqa: S301  (our own)
    assert handed_over.databases == ("sqlite", LOCATION)


def test_a_password_that_was_not_written_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of that database's own variable, and of no other server's."""
    written = RunSpec.from_json(WHOLE.to_json()).databases
    monkeypatch.delenv("DQA_MYSQL_URL", raising=False)
    with pytest.raises(UsageError, match=r"is masked \(\*\*\*\), and DQA_MYSQL_URL is not"):
        targets_of(written)
    monkeypatch.setenv("DQA_MYSQL_URL", LOCATION.replace("db.example", "other.example"))
    with pytest.raises(UsageError, match=r"DQA_MYSQL_URL is \S+:\*\*\*@other\.example") as error:
        targets_of(written)
    assert "pass-word" not in str(error.value)
    monkeypatch.setenv("DQA_MYSQL_URL", LOCATION)
    assert targets_of(written)["mysql"].location == LOCATION


def test_a_database_may_be_named_with_its_url() -> None:
    """One that cannot be read is found before anything is asked; the message has no password."""
    targets = targets_of(["sqlite", f"mysql={LOCATION}"])
    assert list(targets) == ["sqlite", "mysql"]
    assert targets["mysql"].location == LOCATION
    for database, problem in {
        f"postgres={LOCATION}": "is not a postgres database",
        f"sales={LOCATION}": "There is no database 'sales'",
        "postgres=postgresql://me:pass-word@host:port/db": "The database URL cannot be read",
        "neo4j://me:pass-word@:x": "The database URL cannot be read",
        "bolt://me:pass-word@host:99999": "The database URL cannot be read",
        "bolt://": "does not contain a host",
    }.items():
        with pytest.raises(UsageError, match=problem) as caught:
            targets_of(["sqlite", database])
        assert "pass-word" not in str(caught.value)


def test_the_address_of_a_model_needs_its_password_too() -> None:
    """It has no variable of its own, so it has to be given."""
    model = ModelSpec(name="openai:m", base_url="http://me:***@localhost:1/v1")
    spec = RunSpec(questions=GeneratedQuestions(count=1), deciders=("planrag",), model=model)
    with pytest.raises(UsageError, match="--base-url"):
        prepare(spec)
    body = {"headers": {"Authorization": "Bearer abcdefgh"}}
    secret = spec.changed(model=ModelSpec(name="openai:m", extra_body=body))
    stored = RunSpec.model_validate_json(secret.model_dump_json())
    with pytest.raises(UsageError, match=r"secret.*--extra-body"):
        prepare(stored)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"version": 3}, "version 3, but this dqa reads version 2"),
        ({"databases": []}, "RunSpec: databases: "),
        ({"questions": {"source": "dream"}}, "RunSpec: questions: .*'dream'"),
        ({"questions": {"source": "generator", "count": 0}}, r"questions\.generator\.count"),
        ({"max_steps": "many"}, "RunSpec: max_steps: .*not 'many'"),
        ({"model": {"nam": "x"}}, "RunSpec: there is no field 'model.nam'"),
        ({"rulez": "paper"}, "RunSpec: there is no field 'rulez'"),
        ({"base_url": "http://x"}, "no field 'base_url' .it is a field of 'model'"),
        ({"model": {"seed": 1}}, "no field 'model.seed' .it is a field of the top level"),
        ({"timeout": 600}, r"it is a field of 'calls': calls=dqa.CallOptions\(timeout=\.\.\.\)"),
        ({"policy": {"tablez": ["a"]}}, "RunSpec: policy: unknown list 'tablez'.*tables"),
        ({"limits": {"rows": -5}}, "Limits: rows must be more than 0, not -5"),
    ],
)
def test_a_wrong_field_is_one_line_with_its_name(change: dict[str, Any], problem: str) -> None:
    """Its author finds the place."""
    with pytest.raises(UsageError, match=problem) as error:
        RunSpec.from_json(WHOLE.to_json() | change)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.json", "", r"a\.json"),
        ("a.json", "[" * 100_000, r"a\.json"),
        ("b.yaml", "- a\n- b\n", "must be a JSON object whose keys are fields of RunSpec"),
        ("b.yaml", "questions: {count: 2\n", r"b\.yaml is not YAML: .*line 2"),
        ("b.yaml", "questions: !!python/object:os.system {}\n", "is not YAML"),
        (
            "b.yaml",
            "questions: {source: generator, count: 2, sed: 1}\ndeciders: [first]\n",
            r"no field 'questions\.generator\.sed' \(did you mean 'seed'\?\)",
        ),
        ("b.yaml", "deciders: [first]\n", r"questions: is missing\."),
    ],
)
def test_a_file_that_holds_no_spec_says_so(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    """By its name, with what is wrong; nothing that YAML could build but plain data is built."""
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(UsageError, match=problem):
        RunSpec.read(tmp_path / name)


def test_a_policy_is_read_from_its_file_and_written_as_its_lists(tmp_path: Path) -> None:
    """So the spec needs the file no more."""
    file = tmp_path / "policy.json"
    file.write_text('{"denied_columns": ["email"], "tables": ["orders"]}', "utf-8")
    of_file = WHOLE.changed(policy=file)
    assert of_file.policy == {"denied_columns": ("email",), "tables": ("orders",)}
    policy = Policy(denied_columns=frozenset({"email"}), tables=frozenset({"orders"}))
    assert WHOLE.changed(policy=policy) == of_file


def test_a_spec_is_read_and_written_by_the_name_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path or its text; and one that was written means the same folders from anywhere."""
    monkeypatch.chdir(tmp_path)
    spec = RunSpec(questions=QuestionFolder(folder=Path("release")), deciders="first")
    spec.write("spec.json")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    read = RunSpec.read("../spec.json")
    assert read == spec == RunSpec.read(tmp_path / "spec.json")
    assert isinstance(read.questions, QuestionFolder)
    assert read.questions.folder == tmp_path / "release"
    assert read.deciders == ("first",)
