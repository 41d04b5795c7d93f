"""The tree of a DeLLMa decision, read from the events of its trace."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel

from dqa.core.errors import UsageError
from dqa.core.events import (
    Event,
    ParseFailureEvent,
    PromptEvent,
    ToolEvent,
)
from dqa.core.text import counted
from dqa.deciders.method import list_steps
from dqa.evaluation.traces import Trace
from dqa_dellma.findings import (
    Confidence,
    ContextRead,
    DrawnPairs,
    Forecast,
    Method,
    NamedFactors,
    OnlyAction,
    Utilities,
)
from dqa_dellma.tree.decision_tree import (
    DEFECTS,
    ComparedAction,
    DecisionTree,
    JudgedFactor,
    JudgedValue,
    RankedPlace,
    ReadContext,
    ReadStatement,
    SampledState,
    StoredRanking,
    TriedState,
    UnusableReply,
)
from dqa_dellma.utilities.pairs import Pairs
from dqa_dellma.utilities.why import Influence, find_influences

_Found = TypeVar("_Found", bound=BaseModel)
_EARLIER = {
    "context": "context",
    "only_action": "only_action",
    "factors": "enumeration",
    "forecast": "forecasting",
    "pairs": "pairs",
    "ranking": "elicitation",
    "confidence": "confidence",
    "utilities": "utilities",
}
"""By kind of an event that earlier versions wrote, the step that has its fields now."""
_UNUSABLE = {
    "summary": "replies_without_summary",
    "state enumeration": "replies_without_factors",
    "state forecasting": "replies_without_beliefs",
    "utility elicitation": "replies_without_ranking",
}
"""The defect that an unusable reply counts as, by the purpose of its prompt."""
_OURS = "dellma-"
"""The beginning of the names of DeLLMa's own deciders."""


def _results(trace: Trace) -> dict[str, list[dict[str, Any]]]:
    """Return the results of a trace's steps by purpose, each with its ``step``."""
    found: dict[str, list[dict[str, Any]]] = {}
    for event in list_steps(trace.events, _EARLIER):
        found.setdefault(event.purpose, []).append({**event.result, "step": event.step})
    return found


def has_tree(trace: Trace) -> bool:
    """Whether a trace is of a DeLLMa decision, or of the beginning of one."""
    steps = _results(trace).keys()
    purposes = {event.purpose for event in trace.events if isinstance(event, PromptEvent)}
    if steps & {"enumeration", "only_action"} or "state enumeration" in purposes:
        return True
    # The baselines read the same context, and have it summarised: only the name tells them apart.
    return trace.decider.startswith(_OURS) and ("context" in steps or "summary" in purposes)


def find_tree(traces: Sequence[Trace]) -> DecisionTree:
    """Build the tree of the one decision that has one.

    Raises
    ------
    UsageError
        Several have one, none has, or it cannot be read.
    """
    with_tree = [trace for trace in traces if has_tree(trace)]
    if len(with_tree) > 1:
        held = ", ".join(f"{trace.decider} on {trace.database}" for trace in with_tree)
        raise UsageError(
            f"{with_tree[0].question} has "
            f"{counted(len(with_tree), 'decision tree')}: {held}. Name one with "
            "--decider and --database."
        )
    return read_tree((with_tree or traces)[0])


def read_tree(trace: Trace) -> DecisionTree:
    """Build the tree of a decision.

    A run that ended early has a tree of what there was until then.

    Raises
    ------
    UsageError
        The trace tells of no DeLLMa decision, or not as this version writes it.
    """
    run = f"{trace.question} by {trace.decider} on {trace.database}"
    if not has_tree(trace):
        ended = f" It ended early: {trace.error}" if trace.error else ""
        why = f"only DeLLMa's deciders ({_OURS}*) write down beliefs and rankings"
        if trace.decider.startswith(_OURS):
            why = "it did not come as far as its context"
        raise UsageError(
            f"{run} has no decision tree: {why}. 'dqa trace' shows what it did.{ended}"
        )
    try:
        return _TreeReader(trace).tree()
    except (IndexError, ValueError) as error:
        raise UsageError(
            f"{run} was not written by this version of DeLLMa's deciders: {error}. Decide it "
            "anew, or read it with 'dqa trace'."
        ) from error


class _TreeReader:
    """The events of a trace by what they tell, and the tree that they make together."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._steps = _results(trace)
        self._context = self._last("context", ContextRead)
        self._factors = self._last("enumeration", NamedFactors)
        self._forecast = self._last("forecasting", Forecast)
        self._only = self._last("only_action", OnlyAction)
        self._found = self._last("utilities", Utilities)
        rankings = self._steps.get("elicitation", ())
        self._rankings = tuple(StoredRanking.model_validate(one) for one in rankings)
        self._failures = tuple(_failures(trace.events))
        drawn = [Pairs.of(one) for one in self._all("pairs", DrawnPairs)]
        self._pairs = reduce(Pairs.joined, drawn) if drawn else Pairs.none(0)
        unknown: list[float | None] = [None] * len(self._pairs)
        self._utilities = self._found.utilities if self._found else unknown

    def tree(self) -> DecisionTree:
        trace, found = self._trace, self._found
        factors = tuple(self._judged())
        actions = self._actions()
        runner_up = actions[1] if len(actions) > 1 and actions[1].value is not None else None
        rounds = tuple(self._all("confidence", Confidence))
        method = found.model_dump(include=set(Method.model_fields)) if found else None
        return DecisionTree(
            question=trace.question,
            database=trace.database,
            decider=trace.decider,
            model=trace.model,
            chosen=self._chosen,
            why=self._why(),
            runner_up=runner_up.action if runner_up and found else None,
            actions=actions,
            factors=factors,
            states=tuple(self._states(factors)),
            rankings=self._rankings,
            failures=self._failures,
            rounds=rounds,
            speaking=self._influences(actions),
            context=self._read(),
            method=Method(**method) if method else None,
            level=found.level if found else None,
            calls=trace.steps,
            calls_saved=rounds[-1].calls_saved if rounds else 0,
            defects=self._defects(),
        )

    def _all(self, purpose: str, kind: type[_Found]) -> list[_Found]:
        found = self._steps.get(purpose, ())
        return [kind.model_validate({k: v for k, v in one.items() if k != "step"}) for one in found]

    def _last(self, purpose: str, kind: type[_Found]) -> _Found | None:
        found = self._all(purpose, kind)
        return found[-1] if found else None

    @property
    def _chosen(self) -> str | int | None:
        if self._found is not None:
            return self._found.chosen
        return None if self._only is None else self._only.action

    def _why(self) -> str:
        if self._found is not None:
            return self._found.why
        if self._only is not None:
            return f"{self._only.action} was chosen: there was no other action."
        problem = f": {self._trace.error}" if self._trace.error else "."
        return f"Nothing was chosen; the run ended as {self._trace.ending.value}{problem}"

    def _judged(self) -> Iterator[JudgedFactor]:
        if self._factors is None:
            return
        beliefs = self._forecast.beliefs if self._forecast else {}
        for name, values in self._factors.factors.items():
            said = beliefs.get(name, {})
            judged = [
                JudgedValue(name=value, **(said[value].model_dump() if value in said else {}))
                for value in values
            ]
            about = self._factors.about.get(name, ())
            yield JudgedFactor(name=name, about=about, values=tuple(judged))

    def _states(self, factors: Sequence[JudgedFactor]) -> Iterator[SampledState]:
        for state in self._pairs.states.tolist():
            values = [f.values[index] for f, index in zip(factors, state, strict=True)]
            probability = math.prod(value.probability or 0.0 for value in values)
            yield SampledState(values=tuple(v.name for v in values), probability=probability)

    def _actions(self) -> tuple[ComparedAction, ...]:
        # A run may end while its context is summarised, before anything says what is compared.
        listed = self._context.actions if self._context else ()
        figures: list[dict[str, Any]] = [{"action": action} for action in listed]
        if self._found:
            figures = [one.model_dump(exclude={"ranked"}) for one in self._found.actions]
        samples: list[list[TriedState]] = [[] for _ in figures]
        for action, sample in zip(self._pairs.action_of.tolist(), self._samples(), strict=True):
            samples[action].append(sample)
        found = [
            ComparedAction(**one, samples=tuple(sorted(own, key=lambda sample: sample.state)))
            for one, own in zip(figures, samples, strict=True)
        ]
        # A sort is stable: actions that nothing tells apart stay as they were listed.
        return tuple(sorted(found, key=self._order))

    def _order(self, action: ComparedAction) -> tuple[bool, float]:
        least = math.inf if action.value is None else -action.value
        chosen = self._found is not None and action.action == self._found.chosen
        return not chosen, least

    def _samples(self) -> Iterator[TriedState]:
        places: list[list[RankedPlace]] = [[] for _ in range(len(self._pairs))]
        for number, ranking in enumerate(self._rankings, start=1):
            for place, item in zip(ranking.ranks, ranking.items, strict=True):
                ranked = RankedPlace(ranking=number, place=place, of=len(ranking.items))
                places[item].append(ranked)
        listed = zip(self._pairs.state_of.tolist(), self._utilities, places, strict=True)
        for item, (state, utility, placed) in enumerate(listed):
            yield TriedState(item=item, state=state, utility=utility, places=tuple(placed))

    def _influences(self, actions: Sequence[ComparedAction]) -> tuple[Influence, ...]:
        if self._found is None or len(actions) < 2 or actions[1].value is None:
            return ()
        names = [figures.action for figures in self._found.actions]
        first, rival = names.index(actions[0].action), names.index(actions[1].action)
        utilities = np.array(self._utilities, dtype=np.float64)
        factors = self._factors.factors if self._factors else {}
        return find_influences(self._pairs, utilities, factors, first, rival)

    def _read(self) -> ReadContext:
        told = (
            self._context.model_dump(include=set(ReadContext.model_fields)) if self._context else {}
        )
        read = (
            ReadStatement(statement=one.statement, observation=one.observation, error=one.error)
            for one in self._trace.events
            if isinstance(one, ToolEvent) and one.kind == "retrieval"
        )
        return ReadContext(statements=tuple(read), **told)

    def _defects(self) -> Mapping[str, int]:
        counted = Counter(_UNUSABLE.get(one.purpose, "replies_unusable") for one in self._failures)
        if context := self._context:
            counted["queries_failed"], counted["results_cut"] = context.failed, context.cut
            counted["actions_left_out"] = len(context.left_out)
        if factors := self._factors:
            counted["factors_left_out"] = len(factors.left_out)
            counted["factors_unusable"] = factors.unusable
            counted["factors_unplaced"] = factors.unplaced
            counted["factors_short"] = sum(
                len(values) < factors.asked.values for values in factors.factors.values()
            )
            counted["values_left_out"] = sum(map(len, factors.values_left_out.values()))
        if self._forecast:
            counted["beliefs_ignored"] = len(self._forecast.ignored)
        for ranking in self._rankings:
            counted["omitted"] += ranking.omitted
            counted["repeated"] += ranking.repeated
            counted["invented"] += ranking.invented
            counted["unreadable"] += bool(ranking.problem)
        return {name: counted[name] for name in DEFECTS}


def _failures(events: Sequence[Event]) -> Iterator[UnusableReply]:
    """Yield the replies that could not be used: each answered the latest prompt before it."""
    purpose = ""
    for event in events:
        if isinstance(event, PromptEvent):
            purpose = event.purpose or ""
        elif isinstance(event, ParseFailureEvent):
            yield UnusableReply(step=event.step, purpose=purpose, problem=event.problem)
