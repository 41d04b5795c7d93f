"""DeLLMa's events as `dqa trace` shows them: in a line or a few each.

`dqa_dellma.tree.reading` reads all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dqa.core.events import Event
from dqa.core.text import counted
from dqa.report.passages import Passage, noted
from dqa_dellma.events import (
    ConfidenceEvent,
    ContextEvent,
    FactorsEvent,
    ForecastEvent,
    OnlyActionEvent,
    PairsEvent,
    RankingEvent,
    UtilitiesEvent,
    VotesEvent,
)


def render(event: Event) -> tuple[Passage] | None:
    """Return what is shown of one of DeLLMa's events; None for others."""
    match event:
        case ContextEvent():
            title, lines = "context", _context(event)
        case FactorsEvent():
            title, lines = "unknown factors", _factors(event)
        case ForecastEvent():
            title, lines = "beliefs", _forecast(event)
        case PairsEvent():
            title, lines = "sampled states", _pairs(event)
        case RankingEvent():
            title, lines = "ranking", _ranking(event)
        case ConfidenceEvent():
            title, lines = "is that enough?", _confidence(event)
        case UtilitiesEvent():
            seeing = "'dqa dellma tree' shows everything that this rests on."
            title, lines = "expected utilities", iter((event.why, seeing))
        case VotesEvent():
            title, lines = "votes", _votes(event)
        case OnlyActionEvent():
            told = f"{event.action} is all that can be chosen: nothing was asked."
            title, lines = "one action", iter((told,))
        case _:
            return None
    return (noted(event.step, title, tuple(lines)),)


def _context(event: ContextEvent) -> Iterator[str]:
    shortened = ", shortened by the model" if event.summarised else ""
    yield f"{counted(len(event.text), 'character')} of rows{shortened}"
    if event.rules_summarised:
        yield "rules shortened by the model"
    if event.failed:
        yield f"queries that failed: {event.failed}"
    if event.cut:
        yield f"results cut by a limit: {event.cut}"
    if event.left_out:
        yield f"actions left out, as no row names them: {_listed(event.left_out)}"


def _factors(event: FactorsEvent) -> Iterator[str]:
    for name, values in event.factors.items():
        about = f" (of {_listed(event.about[name])})" if name in event.about else ""
        yield f"{name}{about}: {'; '.join(values)}"
    yield f"asked for {event.asked.factors} factors of {event.asked.values} values each"
    if event.left_out:
        yield f"left out: {_listed(event.left_out)}"
    for name, values in event.values_left_out.items():
        yield f"values left out of {name}: {'; '.join(values)}"
    if event.unusable:
        yield f"without a name or values, or named twice: {event.unusable}"
    if event.unplaced:
        yield f"that did not say which actions they bear on: {event.unplaced}"


def _forecast(event: ForecastEvent) -> Iterator[str]:
    for name, values in event.beliefs.items():
        yield f"{name}: {'; '.join(f'{value} ({said.words})' for value, said in values.items())}"
    if event.ignored:
        yield f"nobody asked about, and ignored: {'; '.join(event.ignored)}"


def _pairs(event: PairsEvent) -> Iterator[str]:
    pairs = counted(len(event.action_of), "state-action pair")
    yield f"{counted(len(event.states), 'state')}, {pairs} to rank"


def _ranking(event: RankingEvent) -> Iterator[str]:
    equal = f", {sum(map(len, event.tied))} equal to others" if event.tied else ""
    yield f"{len(event.items)} of {counted(len(event.shown), 'item')} ranked{equal}{event.oddities}"
    if event.problem:
        yield event.problem


def _confidence(event: ConfidenceEvent) -> Iterator[str]:
    contenders = _listed(event.contenders)
    yield f"the leader is the best with {event.probability:.0%}, beside: {contenders}"
    yield f"{event.calls} rankings, {event.calls_saved} saved by stopping here"


def _votes(event: VotesEvent) -> Iterator[str]:
    for answer, count in event.votes.items():
        yield f"{count} of {event.asked}: {answer}"
    if event.unreadable:
        yield f"votes that could not be read: {event.unreadable}"
    if event.tied:
        yield f"as many votes for each, and the first counts: {_listed(event.tied)}"


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(str, names))
