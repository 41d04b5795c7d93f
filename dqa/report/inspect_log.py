"""Export of a run as logs of Inspect AI, for ``inspect view`` and ``inspect_ai.log``.

A log contains the decisions of one decider on one scenario and one database. Logs have Inspect's
documented JSON format (version 2 of the schema). Inspect AI need not be installed. All times in a
log are the start of the run, because traces contain only durations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from dqa.core import events
from dqa.core.decision import Usage
from dqa.core.question import Question
from dqa.core.secrets import redacted
from dqa.evaluation.results import NO_MODEL, Outcome
from dqa.evaluation.statistics.summaries import grouped
from dqa.evaluation.traces import Trace
from dqa.report.export_rows import ExportedDecision, json_bytes

if TYPE_CHECKING:
    from dqa.api.runs import Run

Json: TypeAlias = dict[str, Any]

_SCORER = "decision"
_MOST_CHOICES = 1_000
"""Maximum number of candidates that a sample lists."""
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_ROLES = {"human": "user", "ai": "assistant", "system": "system"}


def write_logs(
    run: Run, rows: Iterable[ExportedDecision], questions: Mapping[str, Question]
) -> Iterator[tuple[str, bytes]]:
    """Yield the file name and the content of each log of a run.

    Parameters
    ----------
    run
        A stored run.
    rows
        The decisions of the run.
    questions
        The questions of the run by key. If a question is missing, the log contains the prompt of
        the model instead.
    """
    traces = {trace.key: trace for trace in run.each_trace()}
    began = (run.record and run.record.began) or _LONG_AGO
    name, at = run.name or run.where, began.isoformat()
    started = began.astimezone(UTC).strftime("%Y-%m-%dT%H-%M-%S+00-00")
    about = {"run_id": _identity(name, at), "created": at}
    cells = grouped(rows, lambda row: (row.scenario, row.database, row.decider))
    for cell, decided in cells.items():
        task = "-".join(cell)
        identity = _identity(name, at, task)
        samples = [
            _sample(row, traces.get(row.key), questions.get(row.question)) for row in decided
        ]
        log = {
            "version": 2,
            "status": "cancelled" if run.counts.complete is False else "success",
            "eval": _spec(run, decided) | dict.fromkeys(("eval_id", "task_id"), identity) | about,
            "plan": {"name": cell[-1]},  # Inspect cannot read a header without a plan
            "results": _results(decided),
            "stats": {"started_at": at, "completed_at": at, "model_usage": _usage(decided)},
            "samples": samples,
        }
        safe = quote(task, safe=" ()[],;=@").translate(dict.fromkeys(map(ord, "_% "), "-"))
        yield f"{started}_{safe}_{identity}.json", json_bytes(redacted(log))


def _identity(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:22]


def _spec(run: Run, rows: Sequence[ExportedDecision]) -> Json:
    first = rows[0]
    ids = list(dict.fromkeys(row.question.partition("/")[2] for row in rows))
    spec = {} if run.spec is None else run.spec.to_json()
    return {
        "task": f"{first.scenario}/{first.database}",
        "solver": first.decider,
        "dataset": {"name": first.scenario, "samples": len(ids), "sample_ids": ids},
        "model": first.model,
        "config": {"epochs": max(row.epoch for row in rows)},
        "packages": {} if run.record is None else dict(run.record.versions),
        "metadata": {"run": run.name or run.where, "database": first.database, "spec": spec},
        "scorers": [{"name": _SCORER, "metrics": [{"name": "accuracy"}]}],
    }


def _results(rows: Sequence[ExportedDecision]) -> Json:
    scores: list[Json] = [_scores(row) for row in rows if row.judged]
    right = [float(one[_SCORER]["value"] == "C") for one in scores]
    regrets = [one["regret"]["value"] for one in scores if "regret" in one]
    measured = ((_SCORER, "accuracy", right), ("regret", "mean", regrets))
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
            for name, metric, values in measured
            if values
        ],
    }


def _sample(row: ExportedDecision, trace: Trace | None, question: Question | None) -> Json:
    recorded = () if trace is None else trace.events
    prompt, messages, traceback = _conversation(recorded, row.model)
    shown = row.question
    if question is not None:
        shown = "\n\n".join(filter(None, (question.text, question.rules)))
    candidates = (question and question.candidates) or ()
    answer = {"message": _assistant_message(row.answer, row.model), "stop_reason": "stop"}
    sample: Json = {
        "id": row.question.partition("/")[2],
        "epoch": row.epoch,
        "input": prompt or shown,
        "choices": [str(one) for one in candidates[:_MOST_CHOICES]] or None,
        "target": [str(tie) for tie in row.ties] or "",
        "messages": messages or [{"role": "user", "content": shown}],
        "output": {"model": row.model, "choices": [answer]},
        "scores": _scores(row),
        "metadata": row.to_json(),
        "model_usage": _usage([row]),
        "total_time": row.seconds,
        "working_time": row.seconds,
    }
    if row.outcome.repeated:
        message = row.error or row.outcome.value
        traceback = traceback or message
        sample["error"] = {"message": message, "traceback": traceback, "traceback_ansi": traceback}
    return sample


def _scores(row: ExportedDecision) -> Json:
    """Return the scores of a decision; empty if it was not judged."""
    if not row.judged:
        return {}
    value = "C" if row.outcome is Outcome.CORRECT else "I"
    answer = None if row.choice is None else str(row.choice)
    found: Json = {_SCORER: {"value": value, "answer": answer, "explanation": row.outcome.value}}
    if row.regret is not None and isfinite(row.regret):
        found["regret"] = {"value": row.regret, "explanation": "loss relative to the best"}
    return found


def _usage(rows: Sequence[ExportedDecision]) -> Json:
    """Return the usage of the model, by the model's name; empty if no model was called."""
    if rows[0].model == NO_MODEL:
        return {}
    used = sum((row.usage for row in rows), Usage())
    costs = [row.cost for row in rows if row.cost is not None]
    counts = {
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "total_tokens": used.input_tokens + used.output_tokens,
        "input_tokens_cache_read": used.cached_tokens or None,
        "reasoning_tokens": used.reasoning_tokens or None,
        "total_cost": sum(costs) if len(costs) == len(rows) else None,
    }
    return {rows[0].model: counts}


def _conversation(
    trace: Iterable[events.Event], model: str
) -> tuple[list[Json], list[Json], str | None]:
    """Return the first prompt, all messages, and the traceback of the bug that ended the decision.

    If no bug ended it, the traceback is None. A call belongs to the last reply before its result.
    """
    prompt: list[Json] = []
    messages: list[Json] = []
    reply: Json = {}
    traceback: str | None = None
    for event in trace:
        match event:
            case events.PromptEvent():  # a decision may have several conversations
                asked = [_message(_ROLES.get(role, "user"), text) for role, text in event.messages]
                messages += asked
                prompt, reply = prompt or asked, {}
            case events.ReplyEvent():
                reply = _assistant_message(event.text, model, event.reasoning)
                messages.append(reply)
            case events.ToolEvent() if messages:
                about = {"id": f"call_{len(messages)}", "function": event.tool}
                arguments = {"statement": event.statement}
                calls = reply.setdefault("tool_calls", [])
                calls.append(about | {"arguments": arguments, "type": "function"})
                error = None if event.error is None else {"type": "unknown", "message": event.error}
                result = {"tool_call_id": about["id"], "function": event.tool, "error": error}
                messages.append(_message("tool", event.observation) | result)
            case events.ParseFailureEvent():
                messages.append(_message("user", event.problem))
            case events.EndingEvent() if event.traceback is not None:
                traceback = event.traceback
    return prompt, messages, traceback


def _message(role: str, text: str) -> Json:
    return {"role": role, "content": text}


def _assistant_message(text: str, model: str, reasoning: str = "") -> Json:
    """Return a reply as a message. The model's reasoning comes before the text."""
    message = _message("assistant", text) | {"source": "generate", "model": model}
    if reasoning:
        thought = {"type": "reasoning", "reasoning": reasoning}
        message["content"] = [thought, {"type": "text", "text": message["content"]}]
    return message
