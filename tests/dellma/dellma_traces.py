"""Traces of DeLLMa decisions, written by hand."""

from __future__ import annotations

from typing import Any

from dqa import plugins
from dqa.core.decision import Ending, Usage
from dqa.core.events import Event, StepEvent, event_from_json
from dqa.evaluation.traces import Trace

ACTIONS: tuple[str | int, ...] = ("fig", "plum", 7)
STATES = [[rain, demand] for rain in (0, 1) for demand in (0, 1)] * 2


STEPS = {
    "context": "context",
    "factors": "enumeration",
    "forecast": "forecasting",
    "pairs": "pairs",
    "ranking": "elicitation",
    "utilities": "utilities",
    "only_action": "only_action",
}
"""The step of each kind of event."""


def make_event(kind: str, step: int, data: Any) -> Event:
    """Return an event as it is read from a trace."""
    if kind in STEPS:
        flat = {"kind": "step", "purpose": STEPS[kind], "title": kind, "result": data, "titles": {}}
    else:
        flat = {**data, "kind": kind} if isinstance(data, dict) else {"kind": kind}
    return event_from_json({**flat, "step": step}, plugins.events())


def events(fig: str | int = "fig", rain: str = "rain", wet: str = "wet") -> dict[str, list[Event]]:
    """Return the events of a decision by kind:

    three actions in eight states. `fig` is the best, by more where it is wet. The second ranking
    omits two items.
    """
    actions: list[Any] = [fig, "plum", 7]
    items = [(state, action) for state in range(8) for action in range(3)]
    utilities = [
        [0.06 if STATES[state][0] else 0.04, 0.02, 0.01][action] for state, action in items
    ]
    half = len(items) // 2
    order = sorted(range(len(items)), key=lambda item: -utilities[item])
    first, second = ([i for i in order if (i < half) is early] for early in (True, False))
    ranked_utilities: list[float | None] = [*utilities]
    for item in second[-2:]:
        ranked_utilities[item] = None

    pairs = {
        "states": STATES,
        "state_of": [state for state, _ in items],
        "action_of": [action for _, action in items],
    }

    def ranked(step: int, items: list[int], omitted: int) -> Event:
        counts = {"omitted": omitted, "repeated": 1 if omitted else 0, "invented": 0}
        data = {"shown": sorted(items), "items": items[: len(items) - omitted]}
        return make_event("ranking", step, data | counts | {"problem": ""})

    def figures(action: Any, utility: float, chance: float) -> dict[str, Any]:
        return {
            "action": action,
            "expected_utility": utility,
            "value": utility,
            "interval": [utility / 2, utility * 2],
            "chance_best": chance,
            "ranked": 8,
        }

    retrieved = {
        "statement": "SELECT *\nFROM crop",
        "observation": '["a"]',
        "error": None,
        "tool": "query_database",
    }
    forecast = {
        rain: {
            "dry": {"words": "likely", "probability": 0.75},
            wet: {"words": "unlikely", "probability": 0.25},
        },
        "demand": {
            "low": {"words": "likely", "probability": 0.5},
            "high": {"words": "likely", "probability": 0.5},
        },
    }
    method = {
        "elicitation": "pairs",
        "objective": "Bradley-Terry",
        "alpha": 0.002,
        "scale": "all",
        "temperature": 1.0,
        "attitude": "mean",
        "aversion": None,
    }
    utilities_data = {
        "actions": [figures(fig, 0.05, 0.9), figures("plum", 0.02, 0.1), figures(7, 0.01, 0.0)],
        "level": 0.9,
        "scores": [0.0] * len(items),
        "utilities": ranked_utilities,
        "unranked": 2,
        "chosen": fig,
        "why": f"{fig} was chosen: it is the best.",
    }
    asked = {"factors": 2, "values": 2}
    listed = {rain: ["dry", wet], "demand": ["low", "high"]}
    read = {"actions": actions, "text": "rows", "failed": 0, "cut": 0}
    odd = {"left_out": [], "values_left_out": {}, "unusable": 0}
    return {
        "retrieval": [make_event("retrieval", 0, retrieved)],
        "context": [make_event("context", 0, read)],
        "factors": [make_event("factors", 1, {"asked": asked, "factors": listed} | odd)],
        "forecast": [make_event("forecast", 2, {"beliefs": forecast, "ignored": []})],
        "pairs": [make_event("pairs", 2, pairs)],
        "ranking": [ranked(3, first, 0), ranked(4, second, 2)],
        "utilities": [make_event("utilities", 4, utilities_data | method)],
    }


def result_of(event: Event) -> dict[str, Any]:
    """Return the result of a step's event."""
    assert isinstance(event, StepEvent)
    return event.result


def asked(purpose: str, *problems: str, step: int = 1) -> list[Event]:
    """Return the request of a step and unusable replies from `step` on."""
    prompt = make_event("prompt", step - 1, {"messages": [], "role": "agent", "purpose": purpose})
    wrong = ({"problem": problem, "role": "agent"} for problem in problems)
    return [prompt, *(make_event("parse_failure", step + n, data) for n, data in enumerate(wrong))]


def refused(decider: str = "dellma-pairs", purpose: str = "state enumeration") -> Trace:
    """Return the trace of a run that ended after its context because a step got no usable reply."""
    by_kind = {"context": events()["context"], "asked": asked(purpose, "No JSON.", "No JSON.")}
    ended = {"ending": Ending.UNPARSABLE, "error": "2 replies.", "choice": None, "answer": ""}
    return traced(by_kind, decider=decider, steps=2, **ended)


def traced(by_kind: dict[str, list[Event]] | None = None, **changes: Any) -> Trace:
    """Return the trace of `events`, or of other events."""
    kinds = events() if by_kind is None else by_kind
    known: dict[str, Any] = {
        "question": "agriculture/1",
        "database": "sqlite",
        "kind": "relational",
        "decider": "dellma-pairs",
        "model": "scripted:analyst",
        "ending": Ending.ANSWERED,
        "answer": "fig",
        "choice": "fig",
        "steps": 4,
        "seconds": 0.5,
        "usage": Usage(0, 0, 4),
        "error": None,
        "outage": None,
        "plans": (),
        "evidence": (),
        "events": tuple(event for listed in kinds.values() for event in listed),
    }
    return Trace(**(known | changes))
