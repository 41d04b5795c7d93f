"""A run as a person reads it: a trace and its result as a list of typed passages, in order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from difflib import SequenceMatcher
from typing import Any, Literal

from dqa import plugins
from dqa.core.decision import Ending
from dqa.core.events import ENDING_KINDS, Event
from dqa.core.evidence import QUERY, SIMULATING
from dqa.core.plans import PlanStep, read_plan
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.traces import Trace
from dqa.report.moves import attempt_told, game_told, move_told
from dqa.report.passages import (
    Called,
    Crash,
    FinalAnswer,
    Heading,
    Judgement,
    ModelFault,
    Noted,
    Other,
    Passage,
    Plan,
    Prompt,
    RefusedReply,
    Section,
    ShownStep,
    Spent,
    Thought,
    Unjudged,
    WholeReply,
)
from dqa.report.reviews import review_lines, review_title


def read(
    trace: Trace, result: Result | None = None, unit: str = "value", *, repeated: bool = False
) -> list[Passage]:
    """Return a run as passages.

    Parameters
    ----------
    trace
        The run.
    result
        What its decision is worth; None where nobody judged it.
    unit
        What the scenario's values are, e.g. "profit".
    repeated
        Whether it is of several epochs, so that it says of which.
    """
    epoch = trace.epoch if repeated else None
    passages: list[Passage] = [
        Heading(trace.question, trace.database, trace.decider, trace.model, epoch),
        *_Events().read(trace.events),
    ]
    if not any(isinstance(passage, Called) for passage in passages):
        # A decider without a model tells of no events, but has its evidence.
        passages += [_called(None, asdict(evidence)) for evidence in trace.evidence]
    choice = trace.choice if result is None else result.choice
    played = result is not None and result.outcome is Outcome.PLAYED
    if trace.answer:
        compared = result is not None and not played
        passages.append(FinalAnswer(trace.answer, choice, compared=compared))
    passages.append(_spent(trace))
    if result is not None and played:
        return [*passages, Noted(0, "outcome", game_told(result))]
    if result is None and trace.ending is Ending.ANSWERED:
        return passages  # as of 'dqa ask': nobody was to judge it
    return [*passages, _worth(trace, result, unit)]


class _Events:
    """Reads events in order; remembers what a later one cannot be read without."""

    def __init__(self) -> None:
        self._role = ""
        self._task: tuple[Section, ...] = ()
        self._plans: list[tuple[PlanStep, ...]] = []
        self._pending: list[Mapping[str, Any]] = []

    def read(self, events: Sequence[Event]) -> Iterator[Passage]:
        known: dict[str, Callable[[Event], Iterable[Passage] | None]] = {
            "prompt": self._prompt,
            "reply": self._reply,
            "plan": self._plan,
            "replan": self._plan,
            "retrieval": self._retrieval,
            "simulation": self._retrieval,
            "tool": self._tool,
            "fault": self._fault,
            "parse_failure": self._failure,
            "warning": self._warning,
            "review": self._review,
            "move": self._move,
            "attempt": self._attempt,
            "budget_spent": self._budget,
            "infrastructure": self._outage,
            "crashed": self._crash,
        }
        for event in events:
            try:
                found = known.get(event.kind, _of_a_method)(event)
                passages = None if found is None else list(found)
            except (AttributeError, KeyError, TypeError, ValueError):
                # Other people's deciders may tell of the same kind in their own way.
                passages = None
            if passages is not None:
                yield from passages
            elif event.kind not in ENDING_KINDS:  # the trace itself has the words of these
                yield Other(event.step, event.kind, event.data)

    def _prompt(self, event: Event) -> Iterator[Passage]:
        messages = [Section(str(kind), str(text)) for kind, text in event.data.get("messages", ())]
        task = _sections(messages[-1].text) if messages else ()
        shown = tuple(section for section in task if section not in self._task)
        self._task = task
        yield Prompt(_words(event, "role"), shown, tuple(messages[:-1]))

    def _reply(self, event: Event) -> Iterator[Passage]:
        data, self._role = event.data, _words(event, "role")
        called = list(data.get("calls") or ())
        self._pending = [call for call in called if call["tool"] in (QUERY, *SIMULATING)]
        thought = data.get("thought")
        if thought is None:
            calls = (f"{call['tool']}: {_asked(call['input'])}" for call in called)
            text = _words(event, "text") or "\n".join(calls)
            yield WholeReply(event.step, self._role, text)
        elif str(thought).strip():
            yield Thought(event.step, self._role, str(thought))

    def _plan(self, event: Event) -> Iterator[Passage]:
        plan = read_plan(_words(event, "text"))
        old = self._plans[-1] if self._plans else plan.steps
        self._plans.append(plan.steps)
        steps = tuple(_changes(old, plan.steps))
        yield Plan(event.step, self._role, len(self._plans), steps, plan.beside)

    def _retrieval(self, event: Event) -> Iterator[Passage]:
        self._pending = self._pending[1:]
        yield _called(event.step, event.data)

    @staticmethod
    def _tool(event: Event) -> Iterator[Passage]:
        yield _called(event.step, event.data)

    def _failure(self, event: Event) -> Iterator[Passage]:
        yield RefusedReply(
            event.step, _words(event, "role") or self._role, _words(event, "problem")
        )

    @staticmethod
    def _crash(event: Event) -> Iterator[Passage]:
        yield Crash(event.step, _words(event, "problem"), _words(event, "traceback"))

    @staticmethod
    def _fault(event: Event) -> Iterator[Passage]:
        data = event.data
        words = {name: _words(event, name) for name in ("fault", "error", "message")}
        yield ModelFault(
            event.step, **words, attempt=int(data["attempt"]), wait=_seconds(data["wait"])
        )

    @staticmethod
    def _warning(event: Event) -> Iterator[Passage]:
        yield Noted(event.step, "warning", (_words(event, "text"),))

    @staticmethod
    def _budget(event: Event) -> Iterator[Passage]:
        asked = "the model is asked to decide by what it has seen"
        then = asked if event.data["asked"] else "the last candidate that it stated counts"
        yield Noted(event.step, "budget", (f"spent: {_words(event, 'spent')}; {then}",))

    @staticmethod
    def _move(event: Event) -> Iterator[Passage]:
        title, lines = move_told(event.data)
        yield Noted(event.step, title, lines)

    @staticmethod
    def _attempt(event: Event) -> Iterator[Passage]:
        title, lines = attempt_told(event.data)
        yield Noted(event.step, title, lines)

    @staticmethod
    def _review(event: Event) -> Iterator[Passage]:
        data = event.data
        yield Noted(event.step, review_title(data), tuple(review_lines(data)))

    def _outage(self, event: Event) -> Iterator[Passage]:
        """Show the call that a database failed on; its provider's own failures are faults."""
        for call in self._pending:
            yield Called(event.step, call["tool"], _asked(call["input"]), done=False)


def _of_a_method(event: Event) -> Iterable[Passage] | None:
    """Return what a method shows its own event as; None where nobody knows it."""
    shown = (rendering(event) for rendering in plugins.renderings())
    return next((passages for passages in shown if passages is not None), None)


_TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)


def _words(event: Event, name: str) -> str:
    value = event.data.get(name)
    return "" if value is None else str(value)


def _seconds(wait: object) -> float | None:
    return None if wait is None else float(str(wait))


def _sections(text: str) -> tuple[Section, ...]:
    before, *rest = _TITLE.split(text)
    found = [Section("", before)] if before.strip() else []
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return (*found, *(Section(title.strip(), body.strip()) for title, body in pairs))


def _changes(old: Sequence[PlanStep], new: Sequence[PlanStep]) -> Iterator[ShownStep]:
    """Yield the new steps, and the old ones that are gone in the place where they were."""
    matched = SequenceMatcher(None, [step.bare for step in old], [step.bare for step in new])
    for tag, old_from, old_to, new_from, new_to in matched.get_opcodes():
        if tag != "equal":
            yield from (ShownStep(step.text, "gone") for step in old[old_from:old_to])
        change: Literal["kept", "new"] = "kept" if tag == "equal" else "new"
        yield from (ShownStep(step.text, change) for step in new[new_from:new_to])


def _asked(given: object) -> str:
    """Return what a call gives its tool: a text, a list, or JSON arguments with one of these."""
    if isinstance(given, str) and given.startswith("{"):
        try:
            (given,) = json.loads(given).values()
        except (RecursionError, ValueError):  # no JSON, or more than one argument
            return str(given)
    return ", ".join(map(str, given)) if isinstance(given, list | tuple) else str(given)


def _called(step: int | None, data: Mapping[str, Any]) -> Called:
    observation = str(data.get("observation") or "")
    error = data.get("error")
    lines = [] if error else _table(observation)
    notes = observation.split("\n")[len(lines) :] if lines else []
    return Called(
        step=step,
        tool=str(data.get("tool") or QUERY),
        asked=str(data.get("statement") or ""),
        translated=None if data.get("translated") is None else str(data["translated"]),
        columns=lines[0] if lines else (),
        rows=tuple(lines[1:]),
        notes=tuple(notes),
        text="" if lines else observation,
        row_count=int(data.get("row_count") or 0),
        error=None if error is None else str(error),
        cut=None if data.get("cut") is None else str(data["cut"]),
        seconds=float(data.get("seconds") or 0.0),
    )


def _table(observation: str) -> list[tuple[Any, ...]]:
    """Return the rows in the form of `Rows.to_text`, header first; empty where it is none."""
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


def _spent(trace: Trace) -> Spent:
    return Spent(
        steps=trace.steps,
        called=len(trace.evidence),
        plans=len(trace.plans),
        seconds=trace.seconds,
        **asdict(trace.usage),
    )


def _worth(trace: Trace, result: Result | None, unit: str) -> Judgement | Unjudged:
    ended = (trace.ending.value, trace.outage, trace.error)
    if result is None:
        return Unjudged(*ended)
    known = {name: getattr(result, name) for name in _OF_QUESTION}
    if not result.outcome.judged:
        decided = not result.outcome.repeated
        matches = result.match is not None
        if matches and decided:
            ended = (trace.ending.value, trace.outage, result.error)
        return Unjudged(*ended, **known, unit=unit, decided=decided, matches=matches)
    known |= {name: getattr(result, name) for name in _OF_CHOICE}
    return Judgement(
        outcome=result.outcome.value,
        problem=result.error,
        unit=unit,
        matches=result.match is not None,
        **known,
    )


_OF_QUESTION = ("official", "ties", "best_value", "baseline", "goal")
_OF_CHOICE = ("choice", "value", "regret", "relative_regret", "rank")
