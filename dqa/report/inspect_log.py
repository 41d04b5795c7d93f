"""A run as logs of Inspect AI, which ``inspect view`` opens and ``inspect_ai.log`` reads.

A log is one decider on one scenario and one database: a cell of the run's table. It is written as
Inspect's documented form (version 2 of its schema, a ZIP archive of JSON), so that writing one
needs no package of Inspect's.

Traces say how long a decision took and not when it began: every time of a log is the run's own.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import Any, TypeAlias
from urllib.parse import quote

from dqa.core.question import Question
from dqa.core.secrets import redacted
from dqa.evaluation.folders import AnySpec
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import NO_MODEL, Outcome
from dqa.evaluation.traces import Trace
from dqa.report.export_rows import ExportedDecision, finite, json_bytes
from dqa.report.inspect_events import Conversation

Json: TypeAlias = dict[str, Any]

_SCHEMA = 2
_SCORER = "decision"
_MOST_CHOICES = 1_000
"""The most candidates that stand in a sample."""
_OLDEST = (1980, 1, 1, 0, 0, 0)
"""When files of an archive were changed, as far as archives say: the same bytes at any time."""


@dataclass(frozen=True, slots=True)
class InspectRun:
    """What the logs of a run are made of.

    Attributes
    ----------
    rows
        The decisions, in the order of the run.
    traces
        What led to them, by the keys of the rows.
    name
        What the run is called.
    spec
        What was evaluated; None where nobody knows.
    began
        When.
    questions
        The questions that are known, by their keys: text and candidates of the others are told as
        far as a model was told them.
    complete
        Whether every decision was made.
    versions
        Of the packages that made the run.
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
    """Yield each log of a run: the name of its file, and what that holds."""
    cells: dict[tuple[str, str, str], list[ExportedDecision]] = {}
    for row in run.rows:
        cells.setdefault((row.scenario, row.database, row.decider), []).append(row)
    for (scenario, database, decider), rows in cells.items():
        task = f"{scenario}-{database}-{decider}"
        identity = _identity(run.name, run.began.isoformat(), task)
        began = run.began.astimezone(UTC).strftime("%Y-%m-%dT%H-%M-%S+00-00")
        yield f"{began}_{_safe(task)}_{identity}.eval", _archive(_log(run, rows, identity))


def _identity(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:22]


def _safe(name: str) -> str:
    """Return a name as a part of a file's: what may not stand in one as its code."""
    # An underscore parts what Inspect reads out of a log's name.
    return quote(name, safe=" ()[],;=@").replace("_", "-").replace("%", "-").replace(" ", "-")


@dataclass(frozen=True, slots=True)
class _Log:
    header: Json
    samples: list[Json]


def _log(run: InspectRun, rows: Sequence[ExportedDecision], identity: str) -> _Log:
    samples = [_sample(run, row) for row in rows]
    header = {
        "version": _SCHEMA,
        "status": "success" if run.complete else "cancelled",
        "eval": _eval(run, rows, identity),
        "plan": {
            "name": rows[0].decider,
            "steps": [{"solver": rows[0].decider, "params": {}, "params_passed": {}}],
            "config": {},
        },
        "results": _results(rows),
        "stats": {
            "started_at": run.began.isoformat(),
            "completed_at": run.began.isoformat(),
            "model_usage": _usage(rows),
        },
        "invalidated": False,
    }
    return _Log(header, samples)


def _eval(run: InspectRun, rows: Sequence[ExportedDecision], identity: str) -> Json:
    first, spec = rows[0], run.spec
    ids = list(dict.fromkeys(_sample_id(row) for row in rows))
    epochs = max(row.epoch for row in rows)
    told = {} if spec is None else redacted(spec.to_json())
    return {
        "eval_id": identity,
        "run_id": _identity(run.name, run.began.isoformat()),
        "created": run.began.isoformat(),
        "task": f"{first.scenario}/{first.database}",
        "task_id": identity,
        "task_version": 0,
        "task_attribs": {},
        "task_args": {},
        "task_args_passed": {},
        "solver": first.decider,
        "solver_args": {},
        "solver_args_passed": {},
        "dataset": {
            "name": first.scenario,
            "samples": len(ids),
            "sample_ids": ids,
            "shuffled": False,
        },
        "model": first.model,
        "model_generate_config": {},
        "model_args": {},
        "config": {"epochs": epochs},
        "packages": dict(run.versions),
        "metadata": {"run": run.name, "database": first.database, "spec": told},
        "scorers": [{"name": _SCORER, "metrics": [{"name": "accuracy"}]}],
    }


def _results(rows: Sequence[ExportedDecision]) -> Json:
    judged = [row for row in rows if row.judged]
    known = (row.regret for row in judged if row.regret is not None)
    regrets = [regret for regret in known if isfinite(regret)]
    scores = [_score_of(_SCORER, "accuracy", [row.outcome is Outcome.CORRECT for row in judged])]
    if regrets:
        scores.append(_score_of("regret", "mean", regrets))
    return {
        "total_samples": len(rows),
        "completed_samples": sum(not row.outcome.repeated for row in rows),
        "scores": [score for score in scores if score["metrics"]],
    }


def _score_of(name: str, metric: str, values: Sequence[float]) -> Json:
    metrics = {}
    if values:
        mean = sum(values) / len(values)
        metrics[metric] = {"name": metric, "value": mean, "params": {}}
    return {
        "name": name,
        "scorer": name,
        "scored_samples": len(values),
        "params": {},
        "metrics": metrics,
    }


def _sample_id(row: ExportedDecision) -> str:
    """Return a question's own id, as the name of a file in an archive may hold it."""
    return quote(row.question.partition("/")[2], safe=" ()[]{},;:=@+!'&")


def _sample(run: InspectRun, row: ExportedDecision) -> Json:
    trace, question = run.traces.get(row.key), run.questions.get(row.question)
    at = run.began.isoformat()
    talk = Conversation.of(trace, row.model, at)
    candidates = None if question is None else question.candidates
    asked = talk.prompt or _asked(row, question)
    scores = _scores(row)
    sample: Json = {
        "id": _sample_id(row),
        "epoch": row.epoch,
        "input": asked,
        "choices": None
        if candidates is None or len(candidates) > _MOST_CHOICES
        else [str(candidate) for candidate in candidates],
        "target": [str(tie) for tie in row.ties] or "",
        "messages": talk.messages or [{"role": "user", "content": _asked(row, question)}],
        "output": talk.output(row.model, row.answer),
        "scores": scores,
        "metadata": _metadata(row),
        "store": {},
        "events": [
            {
                "event": "sample_init",
                "timestamp": at,
                "working_start": 0.0,
                "sample": {"input": asked, "target": [str(tie) for tie in row.ties] or ""},
                "state": {},
            },
            *talk.events,
            *_score_events(row, scores, at),
        ],
        "model_usage": _usage([row]),
        "total_time": row.seconds,
        "working_time": row.seconds,
        "uuid": _identity(run.name, at, *map(str, row.key)),
        "attachments": {},
    }
    if row.outcome.repeated:
        told = str(redacted(row.error or row.outcome.value))
        sample["error"] = {
            "message": told,
            "traceback": talk.traceback or told,
            "traceback_ansi": talk.traceback or told,
        }
    elif row.ended_by is not None:
        sample["limit"] = {"type": "custom", "limit": 0, "reason": row.ended_by}
    return sample


def _asked(row: ExportedDecision, question: Question | None) -> str:
    if question is None:
        return row.question
    return "\n\n".join(part for part in (question.text, question.rules) if part)


def _scores(row: ExportedDecision) -> Json:
    if not row.judged:
        return {}
    found: Json = {
        _SCORER: {
            "value": "C" if row.outcome is Outcome.CORRECT else "I",
            "answer": None if row.choice is None else str(row.choice),
            "explanation": row.outcome.value,
        }
    }
    if finite(row.regret) is not None:
        found["regret"] = {"value": row.regret, "explanation": "value given away"}
    return found


def _score_events(row: ExportedDecision, scores: Json, at: str) -> Iterable[Json]:
    for name, score in scores.items():
        yield {
            "event": "score",
            "timestamp": at,
            "working_start": row.seconds or 0.0,
            "scorer": name,
            "score": score,
            "target": [str(tie) for tie in row.ties] or "",
            "intermediate": False,
        }


_TOLD = ("official", "regret", "relative_regret", "rank", "value", "best_value", "baseline")


def _metadata(row: ExportedDecision) -> Json:
    line = row.to_json()
    kept = ("question", "scenario", "database", "kind", "decider", "outcome", *_TOLD, "cost")
    return {name: finite(line[name]) for name in kept} | {"tags": list(row.tags)}


def _usage(rows: Sequence[ExportedDecision]) -> Json:
    """Return what a log's model used, by its name; nothing where none was asked."""
    if rows[0].model == NO_MODEL:
        return {}
    asked, said = sum(r.input_tokens for r in rows), sum(r.output_tokens for r in rows)
    costs = [row.cost for row in rows if row.cost is not None]
    used = {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said}
    return {rows[0].model: used | ({"total_cost": sum(costs)} if costs else {})}


# --- the archive ---


def _archive(log: _Log) -> bytes:
    """Return a log as the archive that Inspect reads: a header, a file a sample, summaries."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        start = {name: log.header[name] for name in ("version", "eval", "plan")}
        _add(archive, "_journal/start.json", start)
        for sample in log.samples:
            _add(archive, f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample)
        _add(archive, "summaries.json", [_summary(sample) for sample in log.samples])
        _add(archive, "header.json", log.header)
    return written.getvalue()


def _add(archive: zipfile.ZipFile, name: str, value: object) -> None:
    member = zipfile.ZipInfo(name, _OLDEST)
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, json_bytes(value))


_LONGEST = 1_000
"""Characters of a prompt's message that stand in a summary; the sample has all."""
_SUMMED_UP = ("id", "epoch", "input", "choices", "target", "metadata", "scores", "model_usage")


def _summary(sample: Json) -> Json:
    summary = {name: sample[name] for name in (*_SUMMED_UP, "total_time", "working_time", "uuid")}
    if not isinstance(summary["input"], str):
        summary["input"] = [
            message | {"content": message["content"][:_LONGEST]} for message in summary["input"]
        ]
    if "error" in sample:
        summary["error"] = sample["error"]["message"]
    if "limit" in sample:
        summary["limit"] = sample["limit"]["type"]
    return summary | {"completed": True, "message_count": len(sample["messages"])}
