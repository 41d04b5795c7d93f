"""LDM2's events as `dqa trace` and reports show them: in a line or a few each."""

from __future__ import annotations

from collections.abc import Iterator

from dqa.core.events import Event
from dqa.core.text import counted
from dqa.report.passages import Passage, noted
from dqa_ldm2.events import (
    ClustersEvent,
    ConfidencesEvent,
    EvaluationEvent,
    ExplorationEvent,
    ExploredNode,
    ImitationEvent,
    IndexedEvent,
    KeyStepEvent,
    ProcessChosenEvent,
    RecallEvent,
    ReflectionEvent,
    SummaryEvent,
)

_HOW = {
    "asked": "",
    "known": " (without asking)",
    "nearest": " (the nearest by its words)",
    "unusable": " (the nearest by its words, as no reply named one)",
}


def render(event: Event) -> tuple[Passage] | None:
    """Return what is shown of one of LDM2's events; None for others."""
    match event:
        case EvaluationEvent():
            title, lines = "subgoals", _subgoals(event)
        case SummaryEvent():
            title, lines = f"summary of {counted(event.steps, 'step')}", iter((event.text,))
        case ClustersEvent():
            title, lines = f"types of {event.of}s", _clusters(event)
        case IndexedEvent():
            told = f"{event.type or 'none'}{_HOW[event.how]}, in batch {event.batch}"
            title, lines = f"{event.of} type", iter((told,))
        case RecallEvent():
            title, lines = f"recalled from {event.memory}, batch {event.batch}", _recall(event)
        case ImitationEvent():
            title, lines = "imitation", _imitation(event)
        case ConfidencesEvent():
            title, lines = "possible actions", _confidences(event)
        case ExplorationEvent():
            title, lines = f"exploration of {event.source}", tree_lines(event)
        case ProcessChosenEvent():
            title, lines = "chosen process", _process(event)
        case KeyStepEvent():
            title, lines = "key step", _key_step(event)
        case ReflectionEvent():
            title, lines = f"reflection on {counted(event.trials, 'trial')}", iter((event.text,))
        case _:
            return None
    return (noted(event.step, title, tuple(lines)),)


def tree_lines(event: ExplorationEvent) -> Iterator[str]:
    """Yield an explored tree, a node a line, each below the one that it follows from."""
    children: dict[int | None, list[ExploredNode]] = {}
    for node in event.nodes:
        children.setdefault(node.parent, []).append(node)
    waiting = children.get(None, [])[::-1]
    while waiting:
        node = waiting.pop()
        yield f"{'  ' * node.depth}{_node(node)}"
        waiting += children.get(node.number, [])[::-1]


def _node(node: ExploredNode) -> str:
    told = "start" if node.action is None else f"{node.action} ({node.confidence:.3g})"
    if not node.is_kept:
        return f"{told}, pruned"
    told += ", ground process" if node.is_ground and node.reward is not None else ""
    if node.problem:
        return f"{told}, ended: {node.problem}"
    return told if node.reward is None else f"{told}, reward {node.reward:.3g}"


def _subgoals(event: EvaluationEvent) -> Iterator[str]:
    for one in event.subgoals:
        yield f"{'done' if one.complete else 'open'}: {one.goal}"


def _clusters(event: ClustersEvent) -> Iterator[str]:
    for name, size in event.types.items():
        yield f"{name}: {size}"
    if event.forgotten:
        yield f"without a type in any reply: {event.forgotten}"


def _recall(event: RecallEvent) -> Iterator[str]:
    seen = event.observation_type or "none"
    yield f"goal type {event.goal_type or 'none'}, observation type {seen}"
    for number, one in enumerate(event.tuples, 1):
        whose = f"tuple {one.id} of version {one.version}, {one.source} step {one.number}"
        yield f"{number}. {one.action} ({whose}, likeness {one.likeness:.3g})"
    if not event.tuples:
        yield "nothing"
    if event.own:
        yield f"sources left out, as they are this very episode or question: {event.own}"


def _imitation(event: ImitationEvent) -> Iterator[str]:
    if event.by == "only":
        yield f"{event.action}, the only action"
    elif event.tuple_id is None:
        yield f"{event.action}, as nothing was remembered"
    else:
        likeness = "as" if event.is_same else "most like"
        yield f"{event.action}, {likeness} tuple {event.tuple_id} of {event.source}"
    if event.reasoning:
        yield event.reasoning


def _confidences(event: ConfidencesEvent) -> Iterator[str]:
    for one in event.actions:
        yield f"{one.action}: {one.confidence:.3g}"
    if event.majority is not None:
        yield f"not asked: {event.majority:.0%} of the retrieved actions agree"
    elif event.said is not None and abs(event.said - 1.0) > _ROUNDING:
        yield f"made to add up to 1 from {event.said:.3g}"
    if event.missing:
        yield f"without a confidence: {event.missing}"
    if event.dropped:
        yield f"not legal, and left out: {event.dropped}"


def _process(event: ProcessChosenEvent) -> Iterator[str]:
    yield f"{event.best} of {event.of}{', by its reward' if event.by == 'reward' else ''}"
    if event.reasoning:
        yield event.reasoning


def _key_step(event: KeyStepEvent) -> Iterator[str]:
    if event.said is None:
        yield f"step {event.key_step}, as no reply could be used"
    elif event.said == event.key_step:
        yield f"step {event.key_step}"
    else:
        yield f"step {event.key_step}; the model said {event.said}"


_ROUNDING = 1e-6
