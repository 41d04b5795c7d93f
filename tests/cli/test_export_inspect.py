"""Logs of Inspect AI, as Inspect's own reader finds them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dqa as api
from tests.sqlite_files import run_script
from tests.stored import change_results

OWN = [{"id": "../up", "question": "Which?", "candidates": ["a", "b"], "answer": "a"}]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> api.Run:
    """A run of agents that talk, one that is asked for rankings, and a baseline."""
    return api.evaluate(
        api.GeneratedQuestions(count=2, seed=4),
        ["planrag", "self-consistency", "first"],
        databases=["sqlite"],
        epochs=2,
        protocol="tools",
        out=tmp_path_factory.mktemp("inspected") / "run",
    )


@pytest.fixture(scope="module")
def logs(run: api.Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its logs."""
    return api.export_run(run, tmp_path_factory.mktemp("logs") / "all", "inspect")


def _log_module() -> Any:
    return pytest.importorskip("inspect_ai.log")  # its import takes seconds


def _read(logs: Path) -> dict[tuple[str, str], Any]:
    inspect_log = _log_module()
    found = [inspect_log.read_eval_log(log) for log in inspect_log.list_eval_logs(str(logs))]
    headers = [inspect_log.read_eval_log(log.location, header_only=True) for log in found]
    assert [header.results for header in headers] == [log.results for log in found]
    return {(log.eval.task, str(log.eval.solver)): log for log in found}


def test_inspect_reads_a_log_a_cell_of_the_table_with_its_figures(run: api.Run, logs: Path) -> None:
    """Accuracy, mean regret, epochs, samples and tokens are the run's."""
    read = _read(logs)
    assert len(read) == len(run.summaries)
    for summary in run.summaries:
        log = read[f"{summary.scenario}/{summary.database}", summary.decider]
        assert (log.status, log.eval.model) == ("success", summary.model)
        assert (log.eval.config.epochs, log.eval.dataset.samples) == (2, 2)
        assert log.results.total_samples == len(log.samples) == summary.questions
        scores = {score.name: score.metrics for score in log.results.scores}
        assert scores["decision"]["accuracy"].value == pytest.approx(summary.accuracy)
        assert scores["regret"]["mean"].value == pytest.approx(summary.mean_regret)


def test_the_conversation_has_every_reply_and_result(run: api.Run, logs: Path) -> None:
    """As the trace has them, in order; a result follows the call that asked for it."""
    read = _read(logs)
    for trace in run.traces:
        scenario, _, name = trace.question.partition("/")
        log = read[f"{scenario}/sqlite", trace.decider]
        (sample,) = [s for s in log.samples if (s.id, s.epoch) == (name, trace.epoch)]
        replies = [event for event in trace.events if event.kind == "reply"]
        spoken = [message for message in sample.messages if message.role == "assistant"]
        assert [message.text for message in spoken] == [event.data["text"] for event in replies]
        called = {
            call.id
            for message in sample.messages
            if message.role == "assistant"
            for call in message.tool_calls or ()
        }
        if trace.decider == "planrag":
            assert [m.role for m in sample.messages[:2]] == ["system", "user"]
            answered = [m.tool_call_id for m in sample.messages if m.role == "tool"]
            assert len(answered) == len(trace.evidence) > 0
            assert set(answered) <= called
        if replies:
            (used,) = sample.model_usage.values()
            assert used.total_tokens == trace.usage.input_tokens + trace.usage.output_tokens


def test_what_infrastructure_ended_is_an_error_and_no_score(tmp_path: Path) -> None:
    """So is what a bug ended; a run that is not complete is told as cancelled."""
    api.evaluate(
        api.generate(count=2, seed=4), ["first"], databases=["sqlite"], out=tmp_path / "run"
    )
    lines: list[dict[str, Any]] = []

    def change(line: dict[str, Any]) -> dict[str, Any]:
        if not lines:
            told = "mysql://user:pass123word@host is gone"
            line |= {"outcome": "infrastructure", "error": told, "choice": None, "regret": None}
        lines.append(line)
        return line

    change_results(tmp_path / "run", change)
    read = _read(api.export_run(tmp_path / "run", tmp_path / "logs", "inspect"))
    log = read[f"{lines[0]['scenario']}/sqlite", "first"]
    failed = next(
        s for s in log.samples if f"{lines[0]['scenario']}/{s.id}" == lines[0]["question"]
    )
    assert (log.status, failed.scores) == ("cancelled", {})
    assert failed.error.message == "mysql://user:***@host is gone"
    assert log.results.completed_samples == log.results.total_samples - 1


def test_a_user_s_database_is_not_queried_again(tmp_path: Path) -> None:
    """It may be gone. A question's name is not part of the name of a file."""
    (tmp_path / "own.jsonl").write_text(json.dumps(OWN[0]), "utf-8")
    run_script(tmp_path / "shop.db", "CREATE TABLE t (a TEXT)")
    source = api.OwnQuestions(file=tmp_path / "own.jsonl", databases=str(tmp_path / "shop.db"))
    api.evaluate(source, ["first"], out=tmp_path / "run")
    (tmp_path / "shop.db").unlink()
    (log,) = api.export_run(tmp_path / "run", tmp_path / "logs", "inspect").iterdir()
    assert ".." not in log.name
    (sample,) = list(_log_module().read_eval_log(str(log)).samples or [])
    assert (sample.input, sample.target) == ("own/../up", ["a"])
