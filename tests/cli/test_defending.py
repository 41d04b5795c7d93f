"""Decisions that people can defend: evidence, records, and mistakes with one exit code."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import dqa as api
from dqa.api.asking import records_folder
from dqa.testing import PreparedReplies, answer, query
from tests.cli.conftest import Command
from tests.models.model_server import answering
from tests.sqlite_files import run_script

GOOD, FAILING = query("SELECT name FROM supplier"), query("SELECT name FROM hidden")
ANSWER = answer("Ash")
QUESTION = "Which supplier do we keep?"


@pytest.fixture
def suppliers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database with one table, and a folder of records of its own."""
    monkeypatch.setenv("DQA_DECISIONS", str(tmp_path / "records"))
    return run_script(
        tmp_path / "shop.db",
        "CREATE TABLE supplier (name TEXT); INSERT INTO supplier VALUES ('Ash'), ('Birch');",
    )


def asked(suppliers: Path, *replies: Any, **options: Any) -> api.Trace:
    """Ask an agent that gives these replies."""
    return api.ask(
        suppliers, QUESTION, decider="iterrag", model=PreparedReplies(replies), **options
    )


@pytest.mark.parametrize("replies", [(ANSWER,), (FAILING, ANSWER)])
def test_an_answer_without_a_successful_statement_is_no_decision(
    suppliers: Path, replies: tuple[Any, ...]
) -> None:
    """Neither none nor a failed one supports it, unless the caller allows that."""
    trace = asked(suppliers, *replies)
    assert (trace.ending, trace.choice) == (api.Ending.NO_EVIDENCE, None)
    assert "No data supports the answer 'Ash'" in (trace.error or "")
    assert trace.events[-1].kind == "no_evidence"
    allowed = asked(suppliers, *replies, allow_no_evidence=True)
    assert (allowed.ending, allowed.answer) == (api.Ending.ANSWERED, "Ash")
    supported = asked(suppliers, GOOD, ANSWER)
    assert (supported.ending, supported.answer) == (api.Ending.ANSWERED, "Ash")


def test_every_decision_has_a_record_with_who_when_and_why(
    dqa: Command, suppliers: Path, tmp_path: Path
) -> None:
    """It is stored by default, and its statements carry its id."""
    audit = tmp_path / "audit.jsonl"
    policy = tmp_path / "own.json"
    policy.write_text('{"tables": ["supplier"]}', "utf-8")
    trace = asked(suppliers, GOOD, ANSWER, audit=audit, policy=policy)
    made = trace.provenance
    assert made is not None
    assert (made.dqa, bool(made.user), made.time[-6:]) == (version("decision-qa"), True, "+00:00")
    assert "Ash" in made.reason
    entries = [json.loads(line) for line in audit.read_text("utf-8").splitlines()]
    assert entries
    for entry in entries:
        assert (entry["decision"], entry["question"]) == (made.decision, trace.question)
        assert (entry["model"], entry["decider"]) == (trace.model, trace.decider)
        assert (entry["user"], bool(entry["time"])) == (made.user, True)
        assert (entry["version"], entry["reason"]) == (made.dqa, "")
    (record,) = records_folder().iterdir()
    assert json.loads(record.read_text("utf-8"))["provenance"]["decision"] == made.decision
    assert record.stat().st_mode & 0o077 == 0
    assert f"Policy: {policy}" in dqa("show", record).out


def test_the_command_names_its_record_and_may_store_none(dqa: Command, suppliers: Path) -> None:
    """The record is named on standard error, also without an answer."""
    how = ("ask", "--database", suppliers, "--question", QUESTION)
    with answering("no reply of an agent") as server:
        failed = dqa(*how, "--model", "openai:m", "--base-url", server.url)
    (record,) = records_folder().iterdir()
    assert failed.code == 1
    assert str(record) in failed.err
    assert str(record) not in failed.out
    chosen = (*how, "--candidate-name", "Ash", "--decider", "first")
    ran = dqa(*chosen)
    (second,) = set(records_folder().iterdir()) - {record}
    assert ran.code == 0
    assert str(second) in ran.err
    assert str(second) not in ran.out
    assert dqa(*chosen, "--no-record").code == 0
    assert len(list(records_folder().iterdir())) == 2
