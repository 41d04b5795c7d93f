"""What OpenTelemetry is told of runs, decisions, models' calls and statements."""

from __future__ import annotations

from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import dqa
from tests.models.model_server import ModelServer, Request, Trouble
from tests.programs import run_python
from tests.sqlite_files import run_script


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A database with two suppliers."""
    return run_script(
        tmp_path / "shop.db",
        "CREATE TABLE supplier (name TEXT PRIMARY KEY);"
        "INSERT INTO supplier VALUES ('Nord'), ('Süd');",
    )


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What is taken of the spans of a test."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # A process can set only one provider.
    monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", lambda: provider)
    return exporter


def _by_operation(spans: InMemorySpanExporter) -> dict[str, list[ReadableSpan]]:
    found: dict[str, list[ReadableSpan]] = {}
    for span in spans.get_finished_spans():
        found.setdefault(span.name.split(" ", maxsplit=1)[0], []).append(span)
    return found


def _attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def _parent(span: ReadableSpan) -> int | None:
    return None if span.parent is None else span.parent.span_id


def _id(span: ReadableSpan) -> int:
    assert span.context is not None
    return int(span.context.span_id)


def test_decisions_are_children_of_their_run_and_calls_and_statements_of_their_decisions(
    taken: InMemorySpanExporter, tmp_path: Path
) -> None:
    """Over all threads of a run; each with what it used."""
    run = dqa.evaluate(
        dqa.generate(count=3, seed=4),
        ["iterrag", "first"],
        databases=["sqlite"],
        out=tmp_path / "run",
        options=dqa.RunOptions(workers=4),
    )
    spans = _by_operation(taken)
    (whole,) = spans["invoke_workflow"]
    assert whole.parent is None
    decisions = spans["invoke_agent"]
    assert {_parent(span) for span in decisions} == {_id(whole)}
    traces = {trace.key: trace for trace in run.traces}
    assert len(decisions) == len(traces) == 12
    for span in decisions:
        told = _attributes(span)
        key = (told["dqa.question"], told["dqa.database"], told["gen_ai.agent.name"], 1)
        trace = traces[key]  # type: ignore[index]
        calls = [call for call in spans["chat"] if _parent(call) == _id(span)]
        asked = [one for one in spans["query"] if _parent(one) == _id(span)]
        assert len(calls) == trace.usage.calls
        assert len(asked) >= len(trace.evidence)
        assert told["dqa.ending"] == trace.ending
    known = {_id(span) for span in (*decisions, whole)}
    assert {_parent(span) for span in (*spans["chat"], *spans["query"])} <= known


QUESTION = dqa.UserQuestion(
    question="Whom do we drop?",
    rules="The key is sk-abcdef1234567890abcd.",
    candidates=("Süd", "Nord"),
)
STATEMENTS = (
    "Thought: I look.\nAction: query_database\nAction Input: SELECT name FROM supplier",
    "Thought: I guess.\nAction: query_database\nAction Input: SELECT secret_thing FROM supplier",
    "Thought: Done.\nFinal Answer: Süd",
)


def _ask(shop: Path, troubles: int = 0) -> dqa.Trace:
    """Ask a server's model, which reads twice, the second time what is not there."""

    def trouble(request: Request, before: int) -> Trouble | None:
        first = len(request["messages"]) <= 2 and before < troubles
        return Trouble.SERVER_ERROR if first else None

    def reply(request: Request) -> str:
        said = sum(message["role"] == "assistant" for message in request["messages"])
        return STATEMENTS[min(said, len(STATEMENTS) - 1)]

    with ModelServer(reply, trouble) as server:
        return dqa.ask(
            shop,
            QUESTION,
            decider="iterrag",
            model=dqa.ModelSpec(name="openai:little", base_url=server.url),
            calls=dqa.CallOptions(retries=2),
        )


def test_calls_and_statements_have_what_the_conventions_name(
    taken: InMemorySpanExporter, shop: Path
) -> None:
    """Model, tokens, failed attempts; system, rows, and what kind of error ended a statement."""
    trace = _ask(shop, troubles=1)
    spans = _by_operation(taken)
    (decision,) = spans["invoke_agent"]
    assert len(spans["chat"]) == trace.usage.calls - 1 == len(STATEMENTS)  # one attempt failed
    told = [_attributes(call) for call in spans["chat"]]
    first = spans["chat"][0]
    assert (first.name, first.kind, _parent(first)) == (
        *("chat little", SpanKind.CLIENT),
        _id(decision),
    )
    for name in ("input_tokens", "output_tokens"):
        used = getattr(trace.usage, name)
        assert sum(int(str(one[f"gen_ai.usage.{name}"])) for one in told) == used
        assert _attributes(decision)[f"gen_ai.usage.{name}"] == used
    assert (
        told[0]
        | {
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "little",
            "gen_ai.response.model": "little",
            "gen_ai.response.finish_reasons": ("stop",),
            "server.address": "127.0.0.1",
        }
        == told[0]
    )
    (fault,) = first.events
    assert fault.name == "dqa.failed_attempt"
    assert dict(fault.attributes or {})["dqa.fault"] == "server"
    read, failed = spans["query"]
    assert read.kind is SpanKind.CLIENT
    assert _attributes(read) == {
        "db.operation.name": "query",
        "db.system.name": "sqlite",
        "db.namespace": "main",
        "db.response.returned_rows": 2,
    }
    assert failed.status.status_code is StatusCode.ERROR
    assert failed.status.description is None
    assert _attributes(failed)["error.type"] == "StatementError"


def test_spans_never_contain_prompts_replies_statements_or_secrets(
    taken: InMemorySpanExporter, shop: Path
) -> None:
    """Nor the words of errors."""
    _ask(shop)
    everything = "".join(span.to_json() for span in taken.get_finished_spans())
    for said in ("Whom do we drop", "I look", "supplier", "secret_thing", "Süd", "sk-abcdef"):
        assert said not in everything


OFF = """
import sys
sys.modules["opentelemetry"] = None  # as where it is not installed
import dqa
run = dqa.evaluate(dqa.generate(count=1, seed=4), ["first"], databases=["sqlite"])
print(run.counts.judged)
"""


OWN = """
import dqa
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
taken = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(taken))
trace.set_tracer_provider(provider)
with provider.get_tracer("theirs").start_as_current_span("theirs") as theirs:
    dqa.evaluate(dqa.generate(count=1, seed=4), ["first"], databases=["sqlite"])
(whole,) = [span for span in taken.get_finished_spans() if span.name.startswith("invoke_workflow")]
assert whole.parent.span_id == theirs.get_span_context().span_id
print("taken")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("program", "printed"), [(OFF, "2"), (OWN, "taken")], ids=["off", "own"])
def test_a_program_needs_no_telemetry_and_its_own_provider_is_used(
    program: str, printed: str
) -> None:
    """Without OpenTelemetry nothing changes; with it, the spans are within the caller's span."""
    ran = run_python("-c", program)
    assert (ran.returncode, ran.stdout.strip()) == (0, printed), ran.stderr
