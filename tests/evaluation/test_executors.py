"""What an engine refuses, what a cluster's workers are sent, and that nothing imports Ray."""

from __future__ import annotations

from pathlib import Path

import pytest

import dqa
from dqa.core.errors import InfrastructureError, UsageError
from dqa.evaluation.executors import needed_variables, share_options
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.prepare import prepare
from dqa.evaluation.spec import ModelSpec, RunSpec
from dqa.loaders.sources import GeneratedQuestions


def test_what_takes_one_process_is_refused(tmp_path: Path) -> None:
    """Before anything is begun, and by name."""
    ray = RunOptions(engine="ray")
    asked = dqa.generate(("locating",), count=1)
    calls = CallOptions(record=tmp_path / "new.jsonl")
    audited = ray.changed(audit=tmp_path / "audit.jsonl")
    for options in (ray, RunOptions(processes=2)):
        with pytest.raises(UsageError, match=r"--record.* local engine"):
            dqa.evaluate(asked, "first", databases="sqlite", options=options, calls=calls)
    with pytest.raises(UsageError, match=r"processes=2 .*engine='ray'"):
        RunOptions(engine="ray", processes=2)
    with pytest.raises(UsageError, match=r"--audit.* local engine"):
        dqa.evaluate(asked, "first", databases="sqlite", options=audited)
    with pytest.raises(UsageError, match=r"--engine ray"):
        RunOptions(ray_address="head:6379")


def test_nobody_at_an_address_is_said_at_once() -> None:
    """Ray itself would wait for minutes."""
    pytest.importorskip("ray")
    options = RunOptions(engine="ray", ray_address="127.0.0.1:1")
    with pytest.raises(InfrastructureError, match=r"No Ray cluster answers at 127\.0\.0\.1:1"):
        dqa.evaluate(dqa.generate(("locating",), count=1), "first", options=options)


def test_a_cluster_that_nobody_names_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Left to itself, Ray joins the latest that was started on the machine."""
    ray = pytest.importorskip("ray")
    from dqa.evaluation.ray_cluster import connected

    asked: list[str] = []
    monkeypatch.setattr(ray, "init", lambda address, **_: asked.append(address))
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    for address, variable, joined in (
        (None, None, "local"),
        (None, "", "local"),
        ("auto", "ray://there:10001", "auto"),
        (None, "ray://there:10001", "ray://there:10001"),
    ):
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
        if variable is not None:
            monkeypatch.setenv("RAY_ADDRESS", variable)
        with connected(address):
            assert asked.pop() == joined


def test_limits_hold_over_all_workers() -> None:
    """Each has its share, and none has no place at all."""
    limited = CallOptions(max_concurrency=7, requests_per_minute=60.0, tokens_per_minute=900.0)
    shared = share_options(limited, RunOptions(), (2, 1, 1))
    shares = [calls for calls, _ in shared]
    assert [options.workers for _, options in shared] == [2, 1, 1]
    assert [each.max_concurrency for each in shares] == [3, 2, 2]
    assert sum(each.requests_per_minute or 0.0 for each in shares) == pytest.approx(60.0)
    assert sum(each.tokens_per_minute or 0.0 for each in shares) == pytest.approx(900.0)
    assert share_options(CallOptions(), RunOptions(), (4, 4)) == [(CallOptions(), RunOptions())] * 2


def test_workers_are_sent_the_secrets_that_they_need_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The key of the model that is asked, and the URLs of the run's own databases."""
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "ANTHROPIC_API_KEY", "DQA_MYSQL_URL"):
        monkeypatch.setenv(name, f"sk-{name}-0123456789")
    monkeypatch.setenv("DQA_SQLITE_URL", "sqlite:///x.db")
    spec = RunSpec(
        questions=GeneratedQuestions(count=1, scenarios=("locating",)),
        deciders="zero-shot",
        databases="sqlite",
        model=ModelSpec(name="openai:test", base_url="http://localhost:1/v1"),
    )
    needed = needed_variables(prepare(spec))
    assert set(needed) == {"OPENAI_API_KEY", "OPENAI_ORG_ID", "DQA_SQLITE_URL"}
