"""The tree of a DeLLMa decision, read from its trace.

The events and their data are described in ``schemas/exchange/trace.schema.json``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dqa.core.errors import UsageError
from dqa.core.events import Event
from dqa.core.question import Candidate
from dqa.evaluation.traces import Trace
from dqa_dellma.pairs import Pairs
from dqa_dellma.tree import (
    DEFECTS,
    Action,
    Context,
    Factor,
    Failure,
    Place,
    Ranked,
    Round,
    Sample,
    Speaking,
    State,
    Tree,
    Value,
)
from dqa_dellma.why import influences

__all__ = ["has_tree", "read_tree"]

_METHOD = (
    *("elicitation", "objective", "alpha", "scale", "temperature", "rule", "attitude"),
    *("aversion", "state_spread", "factor_effects"),
)
_DECISIVE = {"paper": "value", "posterior": "estimate"}
"""The figure that decides, by rule."""
_UNUSABLE = {
    "summary": "replies_without_summary",
    "state enumeration": "replies_without_factors",
    "state forecasting": "replies_without_beliefs",
    "utility elicitation": "replies_without_ranking",
}
"""What a reply that cannot be used counts as, by what was asked for."""
_OURS = "dellma-"
"""What DeLLMa's own deciders begin with."""


def has_tree(trace: Trace) -> bool:
    """Whether a trace tells of a DeLLMa decision, or of the beginning of one."""
    kinds = {event.kind for event in trace.events}
    purposes = {_purpose(event) for event in trace.events}
    if kinds & {"factors", "only_action"} or "state enumeration" in purposes:
        return True
    # The baselines read the same context, and have it summarised: only the name tells them apart.
    return trace.decider.startswith(_OURS) and ("context" in kinds or "summary" in purposes)


def read_tree(trace: Trace) -> Tree:
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
        return _Events(trace).tree()
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{run} was not written by this version of DeLLMa's deciders: {error!r}. Decide it "
            "anew, or read it with 'dqa trace'."
        ) from error


class _Events:
    """The events of a trace by kind, and what they make together."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._kinds: dict[str, list[Event]] = {}
        for event in trace.events:
            self._kinds.setdefault(event.kind, []).append(event)
        self._found = self._last("utilities")
        self._rankings = tuple(map(_ranked, self._kinds.get("ranking", ())))
        self._failures = tuple(_failures(trace.events))
        self._pairs = self._joined()

    def tree(self) -> Tree:
        trace, found = self._trace, self._found
        factors = tuple(self._factors())
        actions = self._actions()
        runner_up = actions[1] if len(actions) > 1 and actions[1].decisive is not None else None
        only = self._last("only_action").get("action")
        rounds = tuple(map(_round, self._kinds.get("confidence", ())))
        return Tree(
            question=trace.question,
            database=trace.database,
            decider=trace.decider,
            model=trace.model,
            chosen=found.get("chosen", only),
            why=self._why(only),
            runner_up=runner_up.action if runner_up and found else None,
            actions=actions,
            factors=factors,
            states=tuple(self._states(factors)),
            rankings=self._rankings,
            failures=self._failures,
            rounds=rounds,
            speaking=tuple(self._speaking(factors, actions)),
            context=self._context(),
            method={name: found[name] for name in _METHOD} if found else {},
            level=float(found["level"]) if found else None,
            calls=trace.steps,
            calls_saved=rounds[-1].calls_saved if rounds else 0,
            defects=self._defects(),
        )

    def _last(self, kind: str) -> Mapping[str, Any]:
        events = self._kinds.get(kind)
        return events[-1].data if events else {}

    def _why(self, only: Candidate | None) -> str:
        if self._found:
            return str(self._found["why"])
        if only is not None:
            return f"{only} was chosen: there was no other action."
        problem = f": {self._trace.error}" if self._trace.error else "."
        return f"Nothing was chosen; the run ended as {self._trace.ending.value}{problem}"

    def _joined(self) -> Pairs:
        pairs: Pairs | None = None
        for event in self._kinds.get("pairs", ()):
            states, state_of, action_of = (
                np.array(event.data[name], dtype=np.int64)
                for name in ("states", "state_of", "action_of")
            )
            more = Pairs(states, state_of, action_of)
            pairs = more if pairs is None else pairs.joined(more)
        if pairs is None:
            return Pairs.none(0)
        numbers = np.concatenate([pairs.states.ravel(), pairs.state_of, pairs.action_of])
        if (numbers < 0).any():
            raise ValueError("states, values and actions are numbered from 0")
        return pairs

    def _factors(self) -> Iterator[Factor]:
        judged = self._last("forecast").get("beliefs", {})
        for name, values in self._last("factors").get("factors", {}).items():
            said = judged.get(name, {})
            yield Factor(str(name), tuple(_value(str(v), said.get(v)) for v in values))

    def _states(self, factors: Sequence[Factor]) -> Iterator[State]:
        for state in self._pairs.states.tolist():
            values = [f.values[index] for f, index in zip(factors, state, strict=True)]
            probability = math.prod(float(value.probability or 0.0) for value in values)
            yield State(tuple(value.name for value in values), probability)

    def _utilities(self) -> Sequence[float | None]:
        return self._found.get("utilities") or [None] * len(self._pairs)

    def _actions(self) -> tuple[Action, ...]:
        context = self._last("context")
        # A run may end while its context is summarised, before anything says what is compared.
        names = context["actions"] if context else ()
        figures = self._found.get("actions") or [{"action": name} for name in names]
        samples: list[list[Sample]] = [[] for _ in figures]
        for item, sample in enumerate(self._samples()):
            samples[int(self._pairs.action_of[item])].append(sample)
        decisive = _DECISIVE[self._found["rule"]] if self._found else ""
        made = [
            _action(figure, decisive, sorted(own, key=lambda sample: sample.state))
            for figure, own in zip(figures, samples, strict=True)
        ]
        chosen = self._found.get("chosen")
        # A sort is stable: actions that nothing tells apart stay as they were listed.
        return tuple(sorted(made, key=lambda one: (one.action != chosen, -_least(one.decisive))))

    def _samples(self) -> Iterator[Sample]:
        places: list[list[Place]] = [[] for _ in range(len(self._pairs))]
        for number, ranking in enumerate(self._rankings, start=1):
            if not set(ranking.items) <= set(ranking.shown) or min(ranking.shown, default=0) < 0:
                raise ValueError(f"ranking {number} ranks what it was not shown")
            for place, item in enumerate(ranking.items, start=1):
                places[item].append(Place(number, place, len(ranking.items)))
        listed = zip(self._pairs.state_of.tolist(), self._utilities(), places, strict=True)
        for item, (state, utility, placed) in enumerate(listed):
            yield Sample(item, state, _number(utility), tuple(placed))

    def _speaking(self, factors: Sequence[Factor], actions: Sequence[Action]) -> Iterator[Speaking]:
        if not self._found or len(actions) < 2 or actions[1].decisive is None:
            return
        names = [figure["action"] for figure in self._found["actions"]]
        first, rival = names.index(actions[0].action), names.index(actions[1].action)
        utilities = np.array(self._utilities(), dtype=np.float64)
        sizes = [len(factor.values) for factor in factors]
        for one in influences(self._pairs, utilities, sizes, first, rival):
            factor = factors[one.factor]
            value = factor.values[one.value].name
            yield Speaking(factor.name, value, one.there, one.elsewhere, one.states)

    def _context(self) -> Context:
        read = tuple(
            (str(data["statement"]), str(data["observation"]), data["error"])
            for data in (event.data for event in self._kinds.get("retrieval", ()))
        )
        told = self._last("context")
        if not told:
            return Context(read, "", summarised=False, rules_summarised=False, left_out=())
        return Context(
            read,
            str(told["text"]),
            summarised=bool(told["summarised"]),
            rules_summarised=bool(told.get("rules_summarised")),
            left_out=tuple(told.get("left_out", ())),
        )

    def _defects(self) -> dict[str, int]:
        context, forecast = self._last("context"), self._last("forecast")
        counted = {
            "queries_failed": int(context["failed"]) if context else 0,
            "results_cut": int(context["cut"]) if context else 0,
            "actions_left_out": len(context.get("left_out", ())),
            **_factor_defects(self._last("factors")),
            "beliefs_ignored": len(forecast["ignored"]) if forecast else 0,
            "unreadable": sum(bool(ranking.problem) for ranking in self._rankings),
            **Counter(_UNUSABLE.get(one.purpose, "replies_unusable") for one in self._failures),
        }
        for name in ("omitted", "repeated", "invented"):
            counted[name] = sum(getattr(ranking, name) for ranking in self._rankings)
        return {name: counted.get(name, 0) for name in DEFECTS}


def _factor_defects(told: Mapping[str, Any]) -> dict[str, int]:
    if not told:
        return {}
    asked = int(told["asked"]["values"])
    return {
        "factors_left_out": len(told["left_out"]),
        "factors_unusable": int(told["unusable"]),
        "factors_short": sum(len(values) < asked for values in told["factors"].values()),
        "values_left_out": sum(map(len, told["values_left_out"].values())),
    }


def _purpose(event: Event) -> str:
    """Return what a prompt is for; nothing for other events, and where it does not tell."""
    data: Any = event.data
    told = event.kind == "prompt" and isinstance(data, Mapping)
    return str(data.get("purpose") or "") if told else ""


def _failures(events: Sequence[Event]) -> Iterator[Failure]:
    """Yield the replies that could not be used: each answered the latest prompt before it."""
    purpose = ""
    for event in events:
        if event.kind == "prompt":
            purpose = _purpose(event)
        elif event.kind == "parse_failure":
            yield Failure(event.step, purpose, str(event.data["problem"]))


def _value(name: str, said: Mapping[str, Any] | None) -> Value:
    if said is None:
        return Value(name, None, None)
    return Value(name, str(said["words"]), float(said["probability"]))


def _ranked(event: Event) -> Ranked:
    data = event.data
    counts = {name: int(data[name]) for name in ("omitted", "repeated", "invented")}
    shown, items = (tuple(map(int, data[name])) for name in ("shown", "items"))
    return Ranked(event.step, shown, items, **counts, problem=str(data["problem"]))


def _round(event: Event) -> Round:
    data = event.data
    calls, saved = int(data["calls"]), int(data["calls_saved"])
    return Round(float(data["probability"]), tuple(data["contenders"]), calls, saved)


def _action(figure: Mapping[str, Any], decisive: str, samples: Sequence[Sample]) -> Action:
    low, high = figure.get("interval") or (None, None)
    return Action(
        action=figure["action"],
        expected_utility=_number(figure.get("expected_utility")),
        value=_number(figure.get("value")),
        estimate=_number(figure.get("estimate")),
        decisive=_number(figure.get(decisive)),
        interval=(float(low), float(high)) if low is not None and high is not None else None,
        chance_best=_number(figure.get("chance_best")),
        samples=tuple(samples),
    )


def _number(figure: Any) -> float | None:  # noqa: ANN401  (any JSON value)
    return None if figure is None else float(figure)


def _least(value: float | None) -> float:
    return -math.inf if value is None else value
