"""DeLLMa's events in a line or a few each; `dqa_dellma.tree_reading` reads all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dqa.core.events import Event
from dqa.report.passages import Noted

__all__ = ["KINDS", "noted"]


def noted(event: Event) -> Noted:
    """Return what an event of one of `KINDS` says.

    Raises
    ------
    AttributeError, KeyError, TypeError, ValueError
        It is not as ``schemas/exchange/trace.schema.json`` has it.
    """
    title, read = _READERS[event.kind]
    return Noted(event.step, title, tuple(read(event.data)))


def _context(data: Mapping[str, Any]) -> Iterator[str]:
    shortened = ", shortened by the model" if data["summarised"] else ""
    yield f"{len(data['text']):,} characters of rows{shortened}"
    if data.get("rules_summarised"):
        yield "rules shortened by the model"
    if data["failed"]:
        yield f"queries that failed: {data['failed']}"
    if data["cut"]:
        yield f"results cut by a limit: {data['cut']}"
    if left_out := data.get("left_out"):
        yield f"actions left out, as no row names them: {', '.join(map(str, left_out))}"


def _factors(data: Mapping[str, Any]) -> Iterator[str]:
    for name, values in data["factors"].items():
        yield f"{name}: {'; '.join(map(str, values))}"
    asked = data["asked"]
    yield f"asked for {asked['factors']} factors of {asked['values']} values each"
    if left_out := list(data["left_out"]):
        yield f"left out: {', '.join(map(str, left_out))}"
    for name, values in data["values_left_out"].items():
        yield f"values left out of {name}: {'; '.join(map(str, values))}"
    if data["unusable"]:
        yield f"without a name or values, or named twice: {data['unusable']}"


def _forecast(data: Mapping[str, Any]) -> Iterator[str]:
    for name, values in data["beliefs"].items():
        said = (f"{value} ({belief['words']})" for value, belief in values.items())
        yield f"{name}: {'; '.join(said)}"
    if ignored := list(data["ignored"]):
        yield f"nobody asked about, and ignored: {'; '.join(map(str, ignored))}"


def _pairs(data: Mapping[str, Any]) -> Iterator[str]:
    yield f"{len(data['states'])} states, {len(data['action_of'])} state-action pairs to rank"


def _ranking(data: Mapping[str, Any]) -> Iterator[str]:
    counts = "".join(f", {data[n]} {n}" for n in ("omitted", "repeated", "invented") if data[n])
    yield f"{len(data['items'])} of {len(data['shown'])} items ranked{counts}"
    if data["problem"]:
        yield str(data["problem"])


def _confidence(data: Mapping[str, Any]) -> Iterator[str]:
    contenders = ", ".join(map(str, data["contenders"]))
    yield f"the leader is the best with {float(data['probability']):.0%}, beside: {contenders}"
    yield f"{data['calls']} rankings, {data['calls_saved']} saved by stopping here"


def _utilities(data: Mapping[str, Any]) -> Iterator[str]:
    yield str(data["why"])
    yield "'dqa dellma tree' shows everything that this rests on."


def _votes(data: Mapping[str, Any]) -> Iterator[str]:
    for answer, count in data["votes"].items():
        yield f"{count} of {data['asked']}: {answer}"
    for answer, count in data["others"].items():
        yield f"{count} of {data['asked']} that name no one action: {answer}"
    if data["unreadable"]:
        yield f"votes that could not be read: {data['unreadable']}"
    if data["tied"]:
        yield f"as many votes for each, and the first counts: {', '.join(data['tied'])}"


def _only_action(data: Mapping[str, Any]) -> Iterator[str]:
    yield f"{data['action']} is all that can be chosen: nothing was asked."


_READERS: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], Iterator[str]]]] = {
    "context": ("context", _context),
    "factors": ("unknown factors", _factors),
    "forecast": ("beliefs", _forecast),
    "pairs": ("sampled states", _pairs),
    "ranking": ("ranking", _ranking),
    "confidence": ("is that enough?", _confidence),
    "utilities": ("expected utilities", _utilities),
    "votes": ("votes", _votes),
    "only_action": ("one action", _only_action),
}
KINDS = tuple(_READERS)
"""The kinds of DeLLMa's own events."""
