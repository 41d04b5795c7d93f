"""Export of a run as logs of Inspect AI, for ``inspect view`` and ``inspect_ai.log``.

A log contains the decisions of one decider on one scenario and one database. Logs follow Inspect's
documented format (version 2 of its schema, a ZIP archive of JSON); Inspect AI need not be
installed. All times in a log are the start of the run, because traces contain only durations.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from statistics import fmean
from typing import Any, TypeAlias, TypeGuard
from urllib.parse import quote

from dqa.core.decision import Usage
from dqa.core.events import (
    EndingEvent,
    Event,
    ParseFailureEvent,
    PromptEvent,
    ReplyEvent,
    ToolEvent,
    ToolUse,
)
from dqa.core.question import Question
from dqa.core.secrets import redacted
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.record import AnySpec
from dqa.evaluation.results import NO_MODEL, Outcome
from dqa.evaluation.statistics.summaries import grouped
from dqa.evaluation.traces import Trace
from dqa.report.export_rows import ExportedDecision, json_bytes

Json: TypeAlias = dict[str, Any]

_SCHEMA = 2
_SCORER = "decision"
_MOST_CHOICES = 1_000
"""Maximum number of candidates that a sample lists."""
_OLDEST = (1980, 1, 1, 0, 0, 0)
"""Fixed time stamp of all files in an archive, so that equal runs give identical archives."""
_LONGEST = 1_000
"""Maximum number of characters of a message in a summary. The sample contains the full message."""


@dataclass(frozen=True, slots=True)
class InspectRun:
    """The data of a run for its logs.

    Attributes
    ----------
    rows
        Decisions, in the order of the run.
    traces
        Traces, by the keys of the rows.
    name
        Name of the run.
    spec
        Spec of the run; None if unknown.
    began
        Start of the run.
    questions
        Available questions by key. For missing questions, a log contains the model's prompt.
    complete
        Whether all decisions were made.
    versions
        Versions of the packages that made the run.
    """

    rows: Sequence[ExportedDecision]
    traces: Mapping[DecisionKey, Trace]
    name: str
    spec: AnySpec | None
    began: datetime
    questions: Mapping[str, Question] = field(default_factory=dict)
    complete: bool = True
    versions: Mapping[str, str] = field(default_factory=dict)


def write_logs(run: InspectRun) -> Iterator[tuple[str, bytes]]:
    """Yield the file name and the content of each log of a run."""
    cells = grouped(run.rows, lambda row: (row.scenario, row.database, row.decider))
    began = run.began.astimezone(UTC).strftime("%Y-%m-%dT%H-%M-%S+00-00")
    for cell, rows in cells.items():
        task = "-".join(cell)
        identity = _identity(run.name, run.began.isoformat(), task)
        archive = _archive(_header(run, rows, identity), [_sample(run, row) for row in rows])
        safe = quote(task, safe=" ()[],;=@").translate(dict.fromkeys(map(ord, "_% "), "-"))
        yield f"{began}_{safe}_{identity}.eval", archive  # Inspect splits names at underscores


def _identity(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:22]


def _header(run: InspectRun, rows: Sequence[ExportedDecision], identity: str) -> Json:
    first, at = rows[0], run.began.isoformat()
    ids = list(dict.fromkeys(map(_sample_id, rows)))
    spec = {} if run.spec is None else redacted(run.spec.to_json())
    return {
        "version": _SCHEMA,
        "status": "success" if run.complete else "cancelled",
        "eval": {
            "eval_id": identity,
            "run_id": _identity(run.name, at),
            "created": at,
            "task": f"{first.scenario}/{first.database}",
            "task_id": identity,
            "solver": first.decider,
            "dataset": {"name": first.scenario, "samples": len(ids), "sample_ids": ids},
            "model": first.model,
            "config": {"epochs": max(row.epoch for row in rows)},
            "packages": dict(run.versions),
            "metadata": {"run": run.name, "database": first.database, "spec": spec},
            "scorers": [{"name": _SCORER, "metrics": [{"name": "accuracy"}]}],
        },
        "plan": {"name": first.decider, "steps": [{"solver": first.decider}]},
        "results": _results(rows),
        "stats": {"started_at": at, "completed_at": at, "model_usage": _usage(rows)},
    }


def _results(rows: Sequence[ExportedDecision]) -> Json:
    judged = [row for row in rows if row.judged]
    measured = {
        (_SCORER, "accuracy"): [float(row.outcome is Outcome.CORRECT) for row in judged],
        ("regret", "mean"): [row.regret for row in judged if _is_known(row.regret)],
    }
    return {
        "total_samples": len(rows),
        "completed_samples": sum(not row.outcome.repeated for row in rows),
        "scores": [
            {
                "name": name,
                "scorer": name,
                "scored_samples": len(values),
                "metrics": {metric: {"name": metric, "value": fmean(values)}},
            }
            for (name, metric), values in measured.items()
            if values
        ],
    }


def _is_known(regret: float | None) -> TypeGuard[float]:
    return regret is not None and isfinite(regret)


def _sample_id(row: ExportedDecision) -> str:
    """Return the id of a question, encoded for a file name in the archive."""
    return quote(row.question.partition("/")[2], safe=" ()[]{},;:=@+!'&")


def _sample(run: InspectRun, row: ExportedDecision) -> Json:
    trace, question = run.traces.get(row.key), run.questions.get(row.question)
    at, scores, line = run.began.isoformat(), _scores(row), row.to_json()
    talk = _Conversation(() if trace is None else trace.events, row.model)
    asked = row.question
    if question is not None:
        asked = "\n\n".join(filter(None, (question.text, question.rules)))
    candidates = () if question is None or question.candidates is None else question.candidates
    sample: Json = {
        "id": _sample_id(row),
        "epoch": row.epoch,
        "input": talk.prompt or asked,
        "choices": [str(one) for one in candidates[:_MOST_CHOICES]] or None,
        "target": [str(tie) for tie in row.ties] or "",
        "messages": talk.messages or [{"role": "user", "content": asked}],
        "output": _output(row),
        "scores": scores,
        "metadata": {name: line[name] for name in _METADATA} | {"tags": list(row.tags)},
        "model_usage": _usage([row]),
        "total_time": row.seconds,
        "working_time": row.seconds,
        "uuid": _identity(run.name, at, *map(str, row.key)),
    }
    if row.outcome.repeated:
        message = str(redacted(row.error or row.outcome.value))
        traceback = talk.traceback or message
        error = {"message": message, "traceback": traceback, "traceback_ansi": traceback}
        return sample | {"error": error}
    if row.ended_by is not None:
        return sample | {"limit": {"type": "custom", "limit": 0, "reason": row.ended_by}}
    return sample


def _output(row: ExportedDecision) -> Json:
    choice = {"message": _assistant_message(row.answer, row.model), "stop_reason": "stop"}
    return {"model": row.model, "choices": [choice] if row.model != NO_MODEL or row.answer else []}


def _scores(row: ExportedDecision) -> Json:
    if not row.judged:
        return {}
    value = "C" if row.outcome is Outcome.CORRECT else "I"
    answer = None if row.choice is None else str(row.choice)
    found: Json = {_SCORER: {"value": value, "answer": answer, "explanation": row.outcome.value}}
    if _is_known(row.regret):
        found["regret"] = {"value": row.regret, "explanation": "loss relative to the best"}
    return found


_METADATA = (
    *("question", "scenario", "database", "kind", "decider", "outcome", "official", "regret"),
    *("relative_regret", "rank", "value", "best_value", "baseline", "cost"),
)


def _usage(rows: Sequence[ExportedDecision]) -> Json:
    """Return the usage of the model by its name; empty without a model."""
    if rows[0].model == NO_MODEL:
        return {}
    used = _usage_of(sum((row.usage for row in rows), Usage()))
    costs = [row.cost for row in rows if row.cost is not None]
    return {rows[0].model: used | ({"total_cost": sum(costs)} if costs else {})}


def _usage_of(used: Usage) -> Json:
    """Return token counts with Inspect's names. Cached and reasoning tokens are omitted if 0."""
    counts = {
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "total_tokens": used.input_tokens + used.output_tokens,
    }
    if used.cached_tokens:
        counts["input_tokens_cache_read"] = used.cached_tokens
    if used.reasoning_tokens:
        counts["reasoning_tokens"] = used.reasoning_tokens
    return counts


def _archive(header: Json, samples: Sequence[Json]) -> bytes:
    """Return a log as a ZIP archive with a header, a file for each sample, and summaries."""
    start = {name: header[name] for name in ("version", "eval", "plan")}
    named = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples}
    summaries = [_summary(sample) for sample in samples]
    members = {"_journal/start.json": start, **named, "summaries.json": summaries}
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in (members | {"header.json": header}).items():
            member = zipfile.ZipInfo(name, _OLDEST)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, json_bytes(value))
    return written.getvalue()


_SUMMARY = (
    *("id", "epoch", "input", "choices", "target", "metadata", "scores", "model_usage"),
    *("total_time", "working_time", "uuid"),
)


def _summary(sample: Json) -> Json:
    summary = {name: sample[name] for name in _SUMMARY}
    if not isinstance(summary["input"], str):
        summary["input"] = [
            message | {"content": message["content"][:_LONGEST]} for message in summary["input"]
        ]
    for name, detail in (("error", "message"), ("limit", "type")):
        if name in sample:
            summary[name] = sample[name][detail]
    return summary | {"completed": True, "message_count": len(sample["messages"])}


_ROLES: Mapping[str, str] = {"human": "user", "ai": "assistant", "system": "system"}


class _Conversation:
    """A decision as messages of Inspect.

    `prompt` is the first prompt. `traceback` is the traceback of a bug that ended the decision.
    """

    def __init__(self, events: Iterable[Event], model: str) -> None:
        self.prompt: list[Json] | None = None
        self.messages: list[Json] = []
        self.traceback: str | None = None
        self._model = model
        self._open: list[Json] = []
        self._calls = 0
        for event in events:
            self._add(event)

    def _add(self, event: Event) -> None:
        match event:
            case PromptEvent():  # a decision may have several conversations
                prompt = [_message(_ROLES.get(role, "user"), text) for role, text in event.messages]
                self._open = []
                self.messages += prompt
                self.prompt = self.prompt or prompt
            case ReplyEvent():
                self._open = [self._call(use) for use in event.calls]
                reply = _assistant_message(event.text, self._model, event.reasoning)
                self.messages.append(reply | ({"tool_calls": [*self._open]} if self._open else {}))
            case ToolEvent() if self.messages:
                self._return(event)
            case ParseFailureEvent():
                self.messages.append(_message("user", event.problem))
            case EndingEvent() if event.traceback is not None:
                self.traceback = str(redacted(event.traceback))

    def _call(self, use: ToolUse) -> Json:
        self._calls += 1
        given = redacted(use.input)
        arguments = given if isinstance(given, dict) else {"input": given}
        call = {"id": f"call_{self._calls}", "function": use.tool, "arguments": arguments}
        return call | {"type": "function"}

    def _return(self, event: ToolEvent) -> None:
        call = next((call for call in self._open if call["function"] == event.tool), None)
        if call is not None:
            self._open.remove(call)
        else:  # the decider called the tool, or the reply contains the call as text
            call = self._call(ToolUse(tool=event.tool, input={"statement": event.statement}))
        error = None if event.error is None else {"type": "unknown", "message": event.error}
        about = {"tool_call_id": call["id"], "function": call["function"], "error": error}
        self.messages.append(_message("tool", event.observation) | about)


def _message(role: str, text: str) -> Json:
    return {"role": role, "content": str(redacted(text))}


def _assistant_message(text: str, model: str, reasoning: str = "") -> Json:
    """Return a reply as a message; the model's reasoning precedes the text."""
    content: str | list[Json] = str(redacted(text))
    if reasoning:
        thought = {"type": "reasoning", "reasoning": str(redacted(reasoning))}
        content = [thought, {"type": "text", "text": content}]
    return {"role": "assistant", "content": content, "source": "generate", "model": model}
