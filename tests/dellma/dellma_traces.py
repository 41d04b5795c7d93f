"""The trace of a real DeLLMa decision by the scripted analyst, and changes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from dqa.core.events import Event, StepEvent
from dqa.evaluation.results import DecisionKey
from dqa.evaluation.traces import Trace
from dqa.models.scripted import scripted_model
from tests.dellma.talking import decide, world

SAMPLES = 8


@cache
def decided() -> Trace:
    """Decide a generated question of Agriculture in several minibatches."""
    question, database = world()
    options = {"samples": SAMPLES, "batch": 16}
    decision = decide("dellma-pairs", scripted_model("analyst"), question, database, options)
    database.close()
    key = DecisionKey(question.key, "sqlite", "dellma-pairs")
    return Trace.of(key, decision, kind="relational", model="scripted:analyst")


def traced(*without: str, **changes: Any) -> Trace:
    """Return the trace without some steps or kinds of events, and with changed fields."""
    trace = decided()
    events = tuple(event for event in trace.events if name_of(event) not in without)
    return trace.changed(**{"events": events, **changes})


def with_result(purpose: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Trace:
    """Return the trace with a changed result of the last step of a purpose."""
    events = list(decided().events)
    places = [n for n, event in enumerate(events) if name_of(event) == purpose]
    last = events[places[-1]]
    assert isinstance(last, StepEvent)
    events[places[-1]] = last.changed(result=change(dict(last.result)))
    return decided().changed(events=tuple(events))


def results(purpose: str, trace: Trace | None = None) -> list[dict[str, Any]]:
    """Return the results of a step."""
    events = (decided() if trace is None else trace).events
    return [e.result for e in events if isinstance(e, StepEvent) and e.purpose == purpose]


def name_of(event: Event) -> str:
    """Return the purpose of a step, or the kind of another event."""
    return event.purpose if isinstance(event, StepEvent) else event.kind


def marked(text: str, **changes: Any) -> Trace:
    """Return the trace in which every action, factor and value ends with a text."""
    (named,) = results("enumeration")
    names = {*results("context")[0]["actions"], *named["factors"]}
    names |= {value for values in named["factors"].values() for value in values}
    document = json.dumps(decided().to_json())
    for name in names:
        document = document.replace(json.dumps(name), json.dumps(f"{name}{text}"))
    return Trace.from_json(json.loads(document)).changed(**changes)
