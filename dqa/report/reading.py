"""The reader of events: it converts a trace and its result into passages.

A passage is a part of a decision. Terminals and pages show one passage for each event.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from itertools import takewhile
from textwrap import indent
from typing import Any, Literal, TypeAlias

from dqa.core import events
from dqa.core.decision import Decision, Ending
from dqa.core.events import ENDING_KINDS, Event, ToolEvent
from dqa.core.evidence import COMPARE, QUERY, SIMULATE, Evidence
from dqa.core.plans import PlanStep, read_plan
from dqa.core.review import reviews_in
from dqa.core.text import counted, shortened
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.traces import Trace
from dqa.report.spending import Spending, model_line, usage_text
from dqa.report.verdicts import game_lines, verdict_lines

Change: TypeAlias = Literal["kept", "new", "gone"]
"""Whether a step was in the previous plan, is new, or was dropped."""

Tone: TypeAlias = Literal["", "good", "bad", "warning"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a decision.

    Texts come from models and databases. They are not shortened, wrapped or escaped; the renderers
    for terminals and pages do that.

    Attributes
    ----------
    kind
        Kind of the event: ``prompt``, ``plan``, ``thought``, ``called``, ``verdict`` and others.
    title
        Title.
    step
        Number of the model's reply to which the passage belongs, from 1; None if it belongs to no
        reply.
    tone
        Whether the passage reports a success, a failure or a warning.
    detail
        Whether the passage is a detail, which only the full view shows.
    statement, translated
        `statement` is the statement or request of the decider. If a different statement ran,
        `translated` is that statement.
    status
        Result of a call, in a few words.
    text
        Main text.
    items
        Steps of a plan.
    columns, rows
        The columns and rows of the result of a call, if the result is a table.
    notes
        Notes, which are shown in small print.
    """

    kind: str
    title: str = ""
    step: int | None = None
    tone: Tone = ""
    detail: bool = False
    statement: str = ""
    translated: str = ""
    status: str = ""
    text: str = ""
    items: tuple[tuple[Change, str], ...] = ()
    columns: tuple[Any, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fields that have a value."""
        empty = ("", (), None, False)
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if value not in empty}


_TITLES = {QUERY: "statement", SIMULATE: "simulation", COMPARE: "comparison"}
_HEADING = re.compile(r"^# +(.+)$", re.MULTILINE)
_HANDLED = {"after_stop": "fixed and used", "unsupported": "asked again without it"}
"""How dqa handled a fault after which the call still succeeded, by the name of the fault."""
_BEST = 5
"""The number of best candidates in a short description."""
_LONGEST = 200
"""The maximum number of characters of an error in a short description."""
_REVIEWED = {"approve": "approved", "correct": "corrected", "refuse": "refused"}


def read(
    trace: Trace, result: Result | None = None, unit: str = "value", *, repeated: bool = False
) -> list[Passage]:
    """Convert a decision into passages.

    Parameters
    ----------
    trace
        The trace of the decision.
    result
        The result of the decision; None if the decision was not judged.
    unit
        The unit of the scenario's values, such as "profit".
    repeated
        Whether the run has several epochs. The heading then names the epoch.
    """
    parts = [trace.question, trace.database, trace.decider]
    parts += [f"epoch {trace.epoch}"] if repeated else []
    policy = None if trace.provenance is None else trace.provenance.policy
    lines = [model_line(trace.model), *([f"Policy: {policy}"] if policy else [])]
    heading = Passage("heading", " | ".join(parts), text="\n".join(lines))
    passages = [heading, *_read_events(trace.events)]
    if not any(passage.kind == "called" for passage in passages):
        # A decider without a model records evidence and no events.
        passages += [called_passage(None, evidence) for evidence in trace.evidence]
    played = result is not None and result.outcome is Outcome.PLAYED
    if trace.answer:
        choice = trace.choice if result is None or played else result.choice
        judged = result is not None and not played
        named = "no candidate" if choice is None else str(choice)
        notes = (f"-> matched to {named}",) if judged or choice is not None else ()
        passages.append(Passage("answer", "Answer", text=trace.answer, notes=notes))
    passages.append(_spent(trace))
    if result is not None and played:
        passages.append(_noted(0, "outcome", *game_lines(result)))
    elif result is not None or trace.ending is not Ending.ANSWERED:  # 'dqa ask' does not judge
        text = "\n".join(verdict_lines(trace, result, unit))
        verdict = Passage("unjudged", "Not judged", tone="warning", text=text)
        if result is not None and result.outcome.judged:
            tone: Tone = "good" if result.outcome is Outcome.CORRECT else "bad"
            verdict = Passage("verdict", "Verdict", tone=tone, text=text)
        passages.append(verdict)
    return passages


def _noted(step: int, title: str, *lines: str) -> Passage:
    return Passage("noted", title, step, text="\n".join(lines))


def _spent(trace: Trace) -> Passage:
    counts = [
        counted(trace.steps, "reply", "replies"),
        counted(len(trace.evidence), "call of a tool", "calls of tools"),
        counted(len(trace.plans), "plan"),
        usage_text(trace.usage),
        f"{trace.seconds:.3g} s",
    ]
    return Passage("spent", "Spent", text=", ".join(counts))


def _read_events(trace: Iterable[Event]) -> Iterator[Passage]:
    """Yield the passages of events. Some events refer to earlier ones."""
    task: list[tuple[str, str]] = []
    plans: list[Sequence[PlanStep]] = []
    for event in trace:
        match event:
            case events.PromptEvent():
                *before, last = event.messages or (("", ""),)
                for kind, text in before:
                    yield Passage("prompt", f"Prompt, {kind}", text=text, detail=True)
                sections = _sections(last[1])
                for title, text in sections:
                    if (title, text) not in task:
                        yield Passage("prompt", title or "Task", text=text)
                task = sections
            case events.ReplyEvent():
                yield from _reply(event)
            case events.PlanEvent():
                plan = read_plan(event.text)
                old = plans[-1] if plans else plan.steps
                plans.append(plan.steps)
                title = f"plan {len(plans)} (+ new, - removed)" if plans[1:] else "plan"
                items = tuple(_changes(old, plan.steps))
                yield Passage("plan", title, event.step, items=items, notes=plan.other_lines)
            case ToolEvent():
                yield called_passage(event.step, event)
            case _:
                yield from _passages(event)


def _reply(event: events.ReplyEvent) -> Iterator[Passage]:
    if reasoning := event.reasoning.strip():
        yield Passage("reasoning", "reasoning", event.step, text=reasoning)
    if event.thought is None:
        calls = "\n".join(f"{call.tool}: {call.input}" for call in event.calls)
        yield Passage("reply", "reply", event.step, text=event.text or calls or "(empty)")
    elif event.thought.strip():
        yield Passage("thought", "thought", event.step, text=event.thought)


def _passages(event: Event) -> Iterator[Passage]:
    """Convert an event into passages, without regard to other events."""
    step = event.step
    match event:
        case events.StepEvent():
            yield _noted(step, event.title, *event.lines)
        case events.WarningEvent():
            yield _noted(step, "warning", event.text)
        case events.ParseFailureEvent():
            yield Passage("failure", "invalid reply", step, tone="bad", text=event.problem)
        case events.FaultEvent():
            yield _fault(event)
        case events.ReviewEvent():
            yield _review(event)
        case events.MoveEvent():
            yield _move(event)
        case events.AttemptEvent():
            brought = "not finished" if event.reward is None else f"reward {event.reward:g}"
            scored = "; this attempt is scored" if event.counts else ""
            text = f"{counted(event.moves, 'move')}, {brought}{scored}"
            yield _noted(step, f"attempt {event.number}", text)
        case events.BudgetEvent():
            then = "the decision is the last candidate that the model named"
            then = "the model is asked to decide now" if event.asked else then
            yield _noted(step, "budget", f"spent: {event.spent}; {then}")
        case events.EndingEvent(kind="crashed"):
            text = event.traceback or event.problem or ""
            yield Passage("crash", "a bug ended the decision", tone="bad", text=text)
        case _ if event.kind not in ENDING_KINDS:  # the verdict describes how the decision ended
            text = json.dumps(event.data, ensure_ascii=False, default=str)
            yield Passage("other", event.kind, step, text=text)


def called_passage(step: int | None, call: ToolEvent | Evidence) -> Passage:
    """Convert a tool call and its result into a passage."""
    table = [] if call.error else _table(call.observation)
    # Skip the first note, the number of rows: the status contains it.
    notes = call.observation.split("\n")[len(table) + 1 :] if table and call.tool != QUERY else []
    return Passage(
        "called",
        _TITLES.get(call.tool, call.tool),
        step,
        tone="bad" if call.error else "",
        statement=call.statement,
        translated=call.translated or "",
        status=_status(call),
        text="" if table else call.observation,
        columns=table[0] if table else (),
        rows=tuple(table[1:]),
        notes=tuple(filter(None, notes)),
    )


def _status(call: ToolEvent | Evidence) -> str:
    cut = "" if call.cut is None else f", cut by the limit on {call.cut}"
    return call.error or f"{counted(call.row_count, 'row')}{cut}"


def _fault(event: events.FaultEvent) -> Passage:
    failed = "not asked again" if event.wait is None else f"asked again after {event.wait:.3g} s"
    after = _HANDLED.get(event.fault, failed)
    tried = f"attempt {event.attempt}: {event.fault} ({event.error}), {after}"
    return Passage(
        "fault",
        "fault of the model's provider",
        event.step,
        tone="warning" if event.fault in _HANDLED else "bad",
        text=f"{tried}\n{event.message}",
    )


def _move(event: events.MoveEvent) -> Passage:
    more = event.total - len(event.actions)
    legal = f"{', '.join(map(str, event.actions))}{f' and {more} more' if more else ''}"
    choice = str(event.choice)
    if event.choice is None:
        choice = f"no move ({event.ending}): {event.problem}"
    elif event.fallback:
        why = event.problem or "it named no legal action"
        choice += f", because the decision failed ({event.ending}): {why}"
    lines = [*event.shown.splitlines(), f"legal: {legal}", choice]
    lines += [] if event.reference is None else [f"the reference: {event.reference}"]
    return _noted(event.step, f"{event.player} ({event.decider})", *lines)


def _review(event: events.ReviewEvent) -> Passage:
    who = f"a person ({event.by})" if event.by else "a person"
    done = _REVIEWED.get(event.action, "ended the decision at the review of")
    lines = [] if event.action == "approve" else event.text.splitlines()
    if event.correction:
        lines.append("to an invalid text:" if event.problem else "to:")
        lines += event.correction.splitlines()
    lines += [f"Reason: {event.reason}"] if event.reason else []
    lines += [f"Problem: {event.problem}"] if event.problem else []
    return _noted(event.step, f"{who} {done} the {event.about}", *lines)


_WARNED = re.compile(r"^\(\d+ rows?; (.+)\)\s*\Z", re.MULTILINE)
"""The end of an observation with a warning of the database; see `Rows.to_text`."""


def decision_lines(trace: Trace | Decision) -> Iterator[str]:
    """Describe a decision in a few lines: answer, plans and evidence.

    If the decision is a trace, the lines also contain reviews, the model and the cost. A failure
    that is unrelated to the question is left out, because callers raise an error for it.
    """
    if trace.choice is not None:
        yield f"Choice: {trace.choice}"
    yield f"Answer: {trace.answer or '(none)'}"
    ending = f"Ended: {trace.ending} after {counted(trace.steps, 'reply', 'replies')}"
    if trace.ended_by is not None:
        ending += f", stopped by its {trace.ended_by}"
    is_raised = trace.ending in {Ending.INFRASTRUCTURE, Ending.BUDGET, Ending.CRASHED}
    yield ending if trace.error is None or is_raised else f"{ending}. {trace.error}"
    for number, plan in enumerate(trace.plans, start=1):
        yield f"Plan {number}:" if len(trace.plans) > 1 else "Plan:"
        yield indent(plan.strip(), "  ")
    yield f"Evidence: {counted(len(trace.evidence), 'statement')}"
    for evidence in trace.evidence:
        yield indent(evidence.statement.strip(), "  ")
        more = f": {shortened(evidence.observation, _LONGEST)}" if evidence.error else ""
        if evidence.cut is None and (warned := _WARNED.search(evidence.observation)):
            more = more or f"; {warned[1]}"
        yield f"    -> {_status(evidence)}{more}"
    if isinstance(trace, Decision):
        return
    asked = trace.asked
    if asked is not None and asked.problem is not None:
        yield f"The outcomes of the alternatives are unknown: {asked.problem}"
    if asked is not None and asked.goal is not None:
        further = asked.alternatives[_BEST:]
        chosen = (one for one in further if one.candidate == trace.choice)
        best = (*asked.alternatives[:_BEST], *chosen)
        shown = ", ".join(f"{one.rank}. {one.candidate} {one.outcome or 0.0:.6g}" for one in best)
        better = "more" if asked.goal == "maximise" else "less"
        total = counted(asked.total or 0, "candidate")
        yield f"Outcomes of {total} ({asked.unit}, {better} is better): {shown}"
    reviews = [one for one in reviews_in(trace.events) if one.action in _REVIEWED]
    done = Counter((one.about, _REVIEWED[one.action]) for one in reviews if not one.problem)
    if done:
        by = ", ".join(dict.fromkeys(one.by for one in reviews if one.by and not one.problem))
        counts = [f"{counted(many, about)} {how}" for (about, how), many in done.items()]
        yield f"Reviewed{f' by {by}' if by else ''}: {', '.join(counts)}"
    yield model_line(trace.model)
    yield str(Spending.of(trace.usage, trace.cost))


def _sections(text: str) -> list[tuple[str, str]]:
    before, *rest = _HEADING.split(text)
    found = [("", before)] if before.strip() else []
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return [*found, *((title.strip(), body.strip()) for title, body in pairs)]


def _changes(old: Sequence[PlanStep], new: Sequence[PlanStep]) -> Iterator[tuple[Change, str]]:
    """Compare two plans.

    Yield each step with its change, and dropped steps at their old position.
    """
    matched = SequenceMatcher(None, [step.bare for step in old], [step.bare for step in new])
    for tag, old_from, old_to, new_from, new_to in matched.get_opcodes():
        if tag != "equal":
            yield from (("gone", step.text) for step in old[old_from:old_to])
        change: Change = "kept" if tag == "equal" else "new"
        yield from ((change, step.text) for step in new[new_from:new_to])


def _table(observation: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table from a text that `Rows.to_text` wrote, with the header first.

    For any other text, return no rows.
    """
    lines = observation.split("\n")
    rows = list(takewhile(lambda line: line.startswith("["), lines))
    if not all(line.startswith("(") for line in lines[len(rows) :][:1]):
        return []
    try:
        found = [tuple(json.loads(row)) for row in rows]
    except (ValueError, RecursionError):
        return []
    return found if len({len(row) for row in found}) == 1 else []
