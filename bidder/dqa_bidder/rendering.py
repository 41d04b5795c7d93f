"""BIDDER's events as `dqa trace` and reports show them: in a line or a few each."""

from __future__ import annotations

from collections.abc import Iterator

from dqa.core.events import Event
from dqa.core.text import counted
from dqa.report.passages import Passage, noted
from dqa_bidder.events import (
    ChosenEvent,
    ExploredTreeEvent,
    HiddenStatesEvent,
    ModeledActionEvent,
    ReturnsEvent,
    RevisionEvent,
    ThoughtsEvent,
)
from dqa_bidder.tree.text import tree_lines


def render(event: Event) -> tuple[Passage] | None:
    """Return what is shown of one of BIDDER's events; None for others."""
    match event:
        case HiddenStatesEvent():
            title, lines = "inferred of others", _hidden(event)
        case ModeledActionEvent():
            told = f"{event.mover} is expected to take {event.action} (state {event.node})"
            title, lines = "expected move", iter((told,))
        case ExploredTreeEvent():
            title, lines = "what may follow", _tree(event)
        case ReturnsEvent():
            title, lines = "returns", _returns(event)
        case ChosenEvent():
            title, lines = "deliberated decision", _chosen(event)
        case RevisionEvent():
            same = event.before == event.after
            told = f"{event.before} holds" if same else f"{event.before} becomes {event.after}"
            title, lines = "checked decision", iter((told,))
        case ThoughtsEvent():
            title, lines = f"thoughts, level {event.level}", _thoughts(event)
        case _:
            return None
    return (noted(event.step, title, tuple(lines)),)


def _hidden(event: HiddenStatesEvent) -> Iterator[str]:
    for one in event.hidden:
        yield f"{one.player}, {one.name}: {one.state}"
    yield f"from {counted(event.events, 'event')}"


def _tree(event: ExploredTreeEvent) -> Iterator[str]:
    asked = counted(event.asked, "request")
    yield f"{counted(len(event.nodes), 'state')}, {asked}, horizon {event.horizon}"
    if event.unasked:
        yield f"states not asked about: {event.unasked}"
    if event.unusable:
        yield f"states without a usable reply: {event.unusable}"
    yield from tree_lines(event)


def _returns(event: ReturnsEvent) -> Iterator[str]:
    for one in event.returns:
        if one.value is None:
            yield f"{one.action}: not known"
        else:
            best = " (the largest)" if one.action == event.best else ""
            course = f", by {', '.join(one.path)}" if len(one.path) > 1 else ""
            yield f"{one.action}: {one.value:.4g}{best}{course}"
    yield f"of at most {event.ceiling:.4g}, with beta = {event.beta:g} and T = {event.horizon}"


def _chosen(event: ChosenEvent) -> Iterator[str]:
    yield f"{event.action}"
    if event.follows_returns is False:
        yield "which has not the largest return"
    if event.reasoning:
        yield event.reasoning


def _thoughts(event: ThoughtsEvent) -> Iterator[str]:
    for number, (thought, votes) in enumerate(zip(event.thoughts, event.votes, strict=True)):
        goes_on = ", goes on" if number in event.kept else ""
        decides = "" if thought.action is None else f", for {thought.action}"
        yield f"{number + 1}. {counted(votes, 'vote')}{goes_on}{decides}: {thought.text}"
