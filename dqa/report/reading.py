"""The reader of events: it converts a trace and its result into passages."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from difflib import SequenceMatcher
from typing import Any

from dqa.core.decision import Ending
from dqa.core.events import ENDING_KINDS, Event, StepEvent
from dqa.core.evidence import COMPARE, QUERY, SIMULATE, SIMULATING
from dqa.core.plans import PlanStep, read_plan
from dqa.core.review import reviews_in
from dqa.core.text import counted
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.traces import Trace
from dqa.report.passages import Change, Passage, Tone, noted
from dqa.report.spending import usage_text
from dqa.report.tables import model_line
from dqa.report.verdicts import game_lines, verdict

_TITLES = {QUERY: "statement", SIMULATE: "simulation", COMPARE: "comparison"}
_HEADING = re.compile(r"^# +(.+)$", re.MULTILINE)


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
    named = [trace.question, trace.database, trace.decider]
    named += [f"epoch {trace.epoch}"] if repeated else []
    heading = Passage("heading", " | ".join(named), text=model_line(trace.model))
    passages = [heading, *_EventReader().read(trace.events)]
    if not any(passage.kind == "called" for passage in passages):
        # A decider without a model records evidence and no events.
        passages += [called_passage(None, asdict(evidence)) for evidence in trace.evidence]
    played = result is not None and result.outcome is Outcome.PLAYED
    if trace.answer:
        passages.append(_answer(trace, None if played else result))
    passages.append(_spent(trace))
    if result is not None and played:
        return [*passages, Passage("noted", "outcome", 0, text="\n".join(game_lines(result)))]
    if result is None and trace.ending is Ending.ANSWERED:
        return passages  # 'dqa ask' does not judge
    return [*passages, verdict(trace, result, unit)]


def _answer(trace: Trace, result: Result | None) -> Passage:
    choice = trace.choice if result is None else result.choice
    matched = result is not None or choice is not None
    named = "no candidate" if choice is None else str(choice)
    notes = (f"-> matched to {named}",) if matched else ()
    return Passage("answer", "Answer", text=trace.answer, notes=notes)


def _spent(trace: Trace) -> Passage:
    counts = [
        counted(trace.steps, "reply", "replies"),
        counted(len(trace.evidence), "call of a tool", "calls of tools"),
        counted(len(trace.plans), "plan"),
        usage_text(trace.usage),
        f"{trace.seconds:.3g} s",
    ]
    return Passage("spent", "Spent", text=", ".join(counts))


class _EventReader:
    """Converts events into passages, and remembers the data that later events refer to."""

    def __init__(self) -> None:
        self._task: list[tuple[str, str]] = []
        self._plans: list[tuple[PlanStep, ...]] = []
        self._pending: list[Mapping[str, Any]] = []

    def read(self, events: Iterable[Event]) -> Iterator[Passage]:
        known: dict[str, Callable[[int, Mapping[str, Any]], Iterable[Passage]]] = {
            "prompt": self._prompt,
            "reply": self._reply,
            "plan": self._plan,
            "replan": self._plan,
            "retrieval": self._retrieval,
            "simulation": self._retrieval,
            "tool": lambda step, data: [called_passage(step, data)],
            "parse_failure": self._failure,
            "infrastructure": self._outage,
        }
        for event in events:
            if isinstance(event, StepEvent):
                yield noted(event.step, event.title, event.lines)
                continue
            show, note = known.get(event.kind), _NOTED.get(event.kind)
            try:
                if note is not None:
                    found: list[Passage] | None = [note(event.step, event.data)]
                else:
                    found = None if show is None else [*show(event.step, event.data)]
            except (AttributeError, KeyError, TypeError, ValueError):
                found = None  # a plug-in's event of the same kind with other fields
            if found is not None:
                yield from found
            elif event.kind not in ENDING_KINDS:  # the verdict describes ending events
                text = json.dumps(event.data, ensure_ascii=False, default=str)
                yield Passage("other", event.kind, event.step, text=text)

    def _prompt(self, _: int, data: Mapping[str, Any]) -> Iterator[Passage]:
        messages = [(str(kind), str(text)) for kind, text in data.get("messages", ())]
        task = _sections(messages[-1][1]) if messages else []
        for kind, text in messages[:-1]:
            yield Passage("prompt", f"Prompt, {kind}", text=text, detail=True)
        for section in task:
            if section not in self._task:
                yield Passage("prompt", section[0] or "Task", text=section[1])
        self._task = task

    def _reply(self, step: int, data: Mapping[str, Any]) -> Iterator[Passage]:
        calls = list(data.get("calls") or ())
        self._pending = [call for call in calls if call["tool"] in (QUERY, *SIMULATING)]
        if reasoning := _text(data, "reasoning").strip():
            yield Passage("reasoning", "reasoning", step, text=reasoning)
        thought = data.get("thought")
        if thought is None:
            calls_text = "\n".join(f"{call['tool']}: {_request(call['input'])}" for call in calls)
            text = _text(data, "text") or calls_text or "(empty)"
            yield Passage("reply", "reply", step, text=text)
        elif str(thought).strip():
            yield Passage("thought", "thought", step, text=str(thought))

    def _plan(self, step: int, data: Mapping[str, Any]) -> Iterator[Passage]:
        plan = read_plan(_text(data, "text"))
        old = self._plans[-1] if self._plans else plan.steps
        self._plans.append(plan.steps)
        number = len(self._plans)
        title = "plan" if number == 1 else f"plan {number} (+ new, - removed)"
        items = tuple(_changes(old, plan.steps))
        yield Passage("plan", title, step, items=items, notes=plan.beside)

    def _retrieval(self, step: int, data: Mapping[str, Any]) -> Iterator[Passage]:
        self._pending = self._pending[1:]
        yield called_passage(step, data)

    def _failure(self, step: int, data: Mapping[str, Any]) -> Iterator[Passage]:
        problem = _text(data, "problem")
        yield Passage("failure", "invalid reply", step, tone="bad", text=problem)

    def _outage(self, step: int, _: Mapping[str, Any]) -> Iterator[Passage]:
        """Show the calls that failed because of a database."""
        status = "no result: the decision ended here"
        for call in self._pending:
            title, request = _TITLES.get(call["tool"], call["tool"]), _request(call["input"])
            yield Passage("called", title, step, tone="bad", statement=request, status=status)


def called_passage(step: int | None, data: Mapping[str, Any]) -> Passage:
    """Convert a tool call and its result, the fields of an event or evidence, into a passage."""
    observation, error = _text(data, "observation"), data.get("error")
    tool = str(data.get("tool") or QUERY)
    table = [] if error else _table(observation)
    # Skip the first note, the number of rows: the status contains it.
    notes = observation.split("\n")[len(table) + 1 :] if table and tool != QUERY else []
    cut = "" if data.get("cut") is None else f", cut by the limit on {data['cut']}"
    rows = f"{counted(int(data.get('row_count') or 0), 'row')}{cut}"
    return Passage(
        "called",
        _TITLES.get(tool, tool),
        step,
        tone="bad" if error else "",
        statement=_text(data, "statement"),
        translated=_text(data, "translated"),
        status=str(error) if error else rows,
        text="" if table else observation,
        columns=table[0] if table else (),
        rows=tuple(table[1:]),
        notes=tuple(note for note in notes if note),
    )


_HANDLED = {"after_stop": "fixed and used", "unsupported": "asked again without it"}


def _fault(step: int, data: Mapping[str, Any]) -> Passage:
    wait = data["wait"]
    failed = "not asked again" if wait is None else f"asked again after {float(wait):.3g} s"
    after = _HANDLED.get(data["fault"], failed)
    tried = f"attempt {int(data['attempt'])}: {data['fault']} ({data['error']}), {after}"
    tone: Tone = "warning" if data["fault"] in _HANDLED else "bad"
    title, text = "fault of the model's provider", f"{tried}\n{data['message']}"
    return Passage("fault", title, step, tone=tone, text=text)


def _budget(step: int, data: Mapping[str, Any]) -> Passage:
    asked = "the model is asked to decide now"
    then = asked if data["asked"] else "the decision is the last candidate that the model named"
    return Passage("noted", "budget", step, text=f"spent: {data['spent']}; {then}")


def _crash(_: int, data: Mapping[str, Any]) -> Passage:
    text = _text(data, "traceback") or _text(data, "problem")
    return Passage("crash", "a bug ended the decision", tone="bad", text=text)


def _warning(step: int, data: Mapping[str, Any]) -> Passage:
    return Passage("noted", "warning", step, text=data["text"])


def _move(step: int, data: Mapping[str, Any]) -> Passage:
    actions = ", ".join(map(str, data["actions"]))
    more = int(data["total"]) - len(data["actions"])
    lines = str(data["shown"]).splitlines()
    lines.append(f"legal: {actions}{f' and {more} more' if more else ''}")
    if data["choice"] is None:
        lines.append(f"no move ({data['ending']}): {data['problem']}")
    elif data["fallback"]:
        why = data["problem"] or "it named no legal action"
        lines.append(f"{data['choice']}, because the decision failed ({data['ending']}): {why}")
    else:
        lines.append(f"{data['choice']}")
    if data["reference"] is not None:
        lines.append(f"the reference: {data['reference']}")
    return Passage("noted", f"{data['player']} ({data['decider']})", step, text="\n".join(lines))


def _attempt(step: int, data: Mapping[str, Any]) -> Passage:
    reward = data["reward"]
    brought = "not finished" if reward is None else f"reward {reward:g}"
    counts = "; this attempt is scored" if data["counts"] else ""
    text = f"{counted(int(data['moves']), 'move')}, {brought}{counts}"
    return Passage("noted", f"attempt {data['number']}", step, text=text)


_DONE = {"approve": "approved", "correct": "corrected", "refuse": "refused"}


def _review(step: int, review: Mapping[str, Any]) -> Passage:
    by = str(review.get("by") or "")
    who = f"a person ({by})" if by else "a person"
    done = _DONE.get(review["action"])
    title = f"{who} ended the decision at the review of the {review['about']}"
    if done is not None:
        title = f"{who} {done} the {review['about']}"
    lines = [] if review["action"] == "approve" else str(review["text"]).splitlines()
    if review.get("correction"):
        lines.append("to an invalid text:" if review.get("problem") else "to:")
        lines += str(review["correction"]).splitlines()
    names = [name for name in ("reason", "problem") if review.get(name)]
    lines += [f"{name.capitalize()}: {review[name]}" for name in names]
    return Passage("noted", title, step, text="\n".join(lines))


def reviews_line(events: Iterable[Event]) -> str | None:
    """Summarize reviews in one line: the numbers of approvals, corrections and refusals.

    Return None if nothing was reviewed.
    """
    found = [event for event in reviews_in(events) if event.action in _DONE and not event.problem]
    if not found:
        return None
    done = Counter((event.about, event.action) for event in found)
    by = ", ".join(dict.fromkeys(event.by for event in found if event.by))
    counts = [f"{counted(many, about)} {_DONE[action]}" for (about, action), many in done.items()]
    return f"Reviewed{f' by {by}' if by else ''}: {', '.join(counts)}"


_NOTED: Mapping[str, Callable[[int, Mapping[str, Any]], Passage]] = {
    "fault": _fault,
    "warning": _warning,
    "review": _review,
    "move": _move,
    "attempt": _attempt,
    "budget_spent": _budget,
    "crashed": _crash,
}
"""Readers of events that do not depend on other events."""


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return "" if value is None else str(value)


def _sections(text: str) -> list[tuple[str, str]]:
    before, *rest = _HEADING.split(text)
    found = [("", before)] if before.strip() else []
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return [*found, *((title.strip(), body.strip()) for title, body in pairs)]


def _changes(old: Sequence[PlanStep], new: Sequence[PlanStep]) -> Iterator[tuple[Change, str]]:
    """Yield the new steps, and each dropped step where it was."""
    matched = SequenceMatcher(None, [step.bare for step in old], [step.bare for step in new])
    for tag, old_from, old_to, new_from, new_to in matched.get_opcodes():
        if tag != "equal":
            yield from (("gone", step.text) for step in old[old_from:old_to])
        change: Change = "kept" if tag == "equal" else "new"
        yield from ((change, step.text) for step in new[new_from:new_to])


def _request(given: object) -> str:
    """Return a tool's input: a text, a list, or JSON arguments with one of these."""
    if isinstance(given, str) and given.startswith("{"):
        try:
            (given,) = json.loads(given).values()
        except (RecursionError, ValueError):  # not JSON, or several arguments
            return str(given)
    return ", ".join(map(str, given)) if isinstance(given, list | tuple) else str(given)


def _table(observation: str) -> list[tuple[Any, ...]]:
    """Return the rows of a text of `Rows.to_text`, header first; empty for any other text."""
    found: list[tuple[Any, ...]] = []
    for line in observation.split("\n"):
        if not line.startswith("["):
            return found if line.startswith("(") else []
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return []
        if found and len(row) != len(found[0]):
            return []
        found.append(tuple(row))
    return found
