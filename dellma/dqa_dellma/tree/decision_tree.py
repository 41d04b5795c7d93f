"""The auditable tree of a DeLLMa decision, from the decision to the sampled states.

The tree is built from a trace alone, so anyone can check it against the prompts and replies. Text
in the tree comes from models and databases, so every output must escape it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeVar

from pydantic import BaseModel, ValidationError, computed_field

from dqa.core.errors import UsageError
from dqa.core.events import ParseFailureEvent, PromptEvent, StepEvent, ToolEvent
from dqa.core.question import Candidate
from dqa.core.records import Record, problem_of
from dqa.evaluation.traces import Trace
from dqa_dellma.findings import (
    ActionFigures,
    ContextRead,
    DrawnPairs,
    Forecast,
    NamedFactors,
    OnlyAction,
    Ranking,
    Utilities,
)

_Found = TypeVar("_Found", bound=BaseModel)
_OURS = "dellma-"
"""The prefix of the names of DeLLMa's own deciders."""


@dataclass(frozen=True, slots=True)
class Place:
    """The rank of an item in a ranking: 1 is the best, and tied items share a rank.

    Attributes
    ----------
    ranking
        The number of the ranking, from 1.
    place
        The rank.
    of
        The number of items in the ranking.
    """

    ranking: int
    place: int
    of: int


@dataclass(frozen=True, slots=True)
class TriedState:
    """An action in a sampled state: an item to rank.

    Attributes
    ----------
    item, state
        The numbers of the item and of the state, from 0.
    values
        By factor, its value in the state.
    probability
        The probability of the state under the beliefs; factors are independent.
    utility
        The utility; None if the item is only in minibatches without a usable reply.
    places
        The rank of the item in each ranking that contains it.
    """

    item: int
    state: int
    values: dict[str, str]
    probability: float
    utility: float | None
    places: tuple[Place, ...]

    @property
    def best_first(self) -> tuple[bool, float, int]:
        """A key that sorts states by utility, the best first."""
        return self.utility is None, -(self.utility or 0.0), self.item


@dataclass(frozen=True, slots=True)
class Branch:
    """An action, its figures, and the sampled states that are paired with it."""

    figures: ActionFigures
    samples: tuple[TriedState, ...]

    @property
    def action(self) -> Candidate:
        """The action."""
        return self.figures.action


class DecisionTree(Record):
    """A decision with the results of the steps that led to it.

    Attributes
    ----------
    question, database, decider, model
        The names of the question, the database, the decider and its model.
    chosen, why
        The decision and its reason. If the run ended early, `chosen` is None, and `why` says why
        the run ended.
    calls
        The number of the model's replies.
    statements
        The queries of the context, with their results.
    failures
        The replies that could not be used, including those that a later reply corrected.
    context, factors, forecast, pairs, rankings, utilities
        The results of the steps; None for a step that the run did not reach.
    """

    question: str
    database: str
    decider: str
    model: str
    chosen: Candidate | None
    why: str
    calls: int
    statements: tuple[ToolEvent, ...]
    failures: tuple[ParseFailureEvent, ...]
    context: ContextRead | None
    factors: NamedFactors | None
    forecast: Forecast | None
    pairs: DrawnPairs | None
    rankings: tuple[Ranking, ...]
    utilities: Utilities | None

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """Build the tree of a decision. If the run ended early, the tree has the finished steps.

        Raises
        ------
        UsageError
            The trace is not of a DeLLMa decision, or does not fit this version of DeLLMa.
        """
        run = f"{trace.question} by {trace.decider} on {trace.database}"
        if not has_tree(trace):
            ended = f" The run ended early: {trace.error}" if trace.error else ""
            why = f"only DeLLMa's deciders ({_OURS}*) record beliefs and rankings"
            if trace.decider.startswith(_OURS):
                why = "the run ended before it read its context"
            raise UsageError(f"{run} has no decision tree: {why}. See 'dqa show'.{ended}")
        try:
            tree = cls._read(trace)
            tree.branches  # noqa: B018  (checks that the steps are consistent)
        except (IndexError, ValidationError, ValueError) as error:
            problem = problem_of(error) if isinstance(error, ValidationError) else error
            raise UsageError(
                f"This version of DeLLMa cannot read the trace of {run}: {problem}. Decide again, "
                "or read the trace with 'dqa show'."
            ) from error
        return tree

    @classmethod
    def _read(cls, trace: Trace) -> Self:
        utilities = _last(trace, "utilities", Utilities)
        only = _last(trace, "only_action", OnlyAction)
        problem = f": {trace.error}" if trace.error else "."
        ended = f"the run ended early ({trace.ending.value}){problem}"
        chosen, why = None, f"No action was chosen, because {ended}"
        if utilities is not None:
            chosen, why = utilities.chosen, utilities.why
        elif only is not None:
            chosen, why = only.action, f"{only.action} was chosen because it is the only action."
        return cls(
            question=trace.question,
            database=trace.database,
            decider=trace.decider,
            model=trace.model,
            chosen=chosen,
            why=why,
            calls=trace.steps,
            statements=tuple(
                event
                for event in trace.events
                if isinstance(event, ToolEvent) and event.kind == "retrieval"
            ),
            failures=tuple(one for one in trace.events if isinstance(one, ParseFailureEvent)),
            context=_last(trace, "context", ContextRead),
            factors=_last(trace, "enumeration", NamedFactors),
            forecast=_last(trace, "forecasting", Forecast),
            pairs=_last(trace, "pairs", DrawnPairs),
            rankings=tuple(_all(trace, "elicitation", Ranking)),
            utilities=utilities,
        )

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The actions: first the chosen action, then the rest by value."""
        listed = self.context.actions if self.context else ()
        figures = [ActionFigures(action=action) for action in listed]
        if self.utilities is not None:
            figures = list(self.utilities.actions)
        samples: list[list[TriedState]] = [[] for _ in figures]
        for action, sample in self._samples():
            samples[action].append(sample)
        found = [
            Branch(one, tuple(sorted(own, key=lambda sample: sample.state)))
            for one, own in zip(figures, samples, strict=True)
        ]
        return tuple(sorted(found, key=self._order))

    def _order(self, branch: Branch) -> tuple[bool, float]:
        value = branch.figures.value
        is_chosen = self.utilities is not None and branch.action == self.chosen
        return not is_chosen, math.inf if value is None else -value

    def _samples(self) -> Iterator[tuple[int, TriedState]]:
        """Yield, for each item, the number of its action, and its sampled state."""
        if self.pairs is None:
            return
        factors = self.factors.factors if self.factors else {}
        beliefs = self.forecast.beliefs if self.forecast else {}
        count = len(self.pairs.state_of)
        places: list[list[Place]] = [[] for _ in range(count)]
        for number, ranking in enumerate(self.rankings, start=1):
            for place, item in zip(ranking.ranks, ranking.items, strict=True):
                places[item].append(Place(number, place, len(ranking.items)))
        utilities = self.utilities.utilities if self.utilities else [None] * count
        listed = zip(self.pairs.state_of, self.pairs.action_of, utilities, places, strict=True)
        for item, (state, action, utility, placed) in enumerate(listed):
            numbered = zip(factors.items(), self.pairs.states[state], strict=True)
            values = {name: of_factor[number] for (name, of_factor), number in numbered}
            judged = [beliefs.get(name, {}).get(value) for name, value in values.items()]
            probability = math.prod(one.probability if one else 0.0 for one in judged)
            yield action, TriedState(item, state, values, probability, utility, tuple(placed))

    @property
    def runner_up(self) -> Candidate | None:
        """The ranked action with the second best value; None if fewer than two are ranked."""
        ranked = [one.action for one in self.branches if one.figures.value is not None]
        return ranked[1] if len(ranked) > 1 else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def warnings(self) -> tuple[str, ...]:
        """Deviations from the settings and prompts, such as unreadable rankings.

        Each text names a kind of deviation, and says how often it occurred.
        """
        counts: dict[str, int] = {}
        if context := self.context:
            counts["queries of the context that failed"] = context.failed
            counts["results of the context cut by a limit"] = context.cut
            counts["actions left out because no row names them"] = len(context.left_out)
        if factors := self.factors:
            values = list(factors.factors.values())
            more = sum(map(len, factors.values_left_out.values()))
            counts["factors left out because there were too many"] = len(factors.left_out)
            unusable = "factors without a name, without values, or with a repeated name"
            counts[unusable] = factors.unusable
            counts["factors without a list of affected actions"] = factors.unplaced
            counts["factors with fewer values than asked for"] = sum(
                len(own) < factors.asked.values for own in values
            )
            counts["values left out because a factor had too many"] = more
        if self.forecast:
            counts["beliefs that were not asked for"] = len(self.forecast.ignored)
        for name in ("omitted", "repeated", "invented"):
            odd = sum(getattr(ranking, name) for ranking in self.rankings)
            counts[f"items {name} in rankings"] = odd
        counts["rankings that could not be read"] = sum(bool(one.problem) for one in self.rankings)
        counts["replies that could not be used"] = len(self.failures)
        return tuple(f"{what}: {count}" for what, count in counts.items() if count)


def has_tree(trace: Trace) -> bool:
    """Return whether a trace is of a DeLLMa decision. The decision may be unfinished."""
    steps = {e.purpose for e in trace.events if isinstance(e, StepEvent | PromptEvent)}
    # The baselines record the same context, so only the decider's name shows the method.
    ours = trace.decider.startswith(_OURS) and "context" in steps
    return ours or not steps.isdisjoint({"enumeration", "only_action", "state enumeration"})


def find_tree(traces: Sequence[Trace]) -> DecisionTree:
    """Build the tree of the only DeLLMa decision among some traces.

    Raises
    ------
    UsageError
        More than one decision has a tree, no decision has a tree, or the tree cannot be read.
    """
    found = [trace for trace in traces if has_tree(trace)]
    if len(found) > 1:
        names = ", ".join(f"{trace.decider} on {trace.database}" for trace in found)
        raise UsageError(
            f"{found[0].question} has {len(found)} decision trees: {names}. Select one with "
            "--decider and --database."
        )
    return DecisionTree.of((found or traces)[0])


def _all(trace: Trace, purpose: str, kind: type[_Found]) -> Iterator[_Found]:
    for event in trace.events:
        if isinstance(event, StepEvent) and event.purpose == purpose:
            yield kind.model_validate(event.result)


def _last(trace: Trace, purpose: str, kind: type[_Found]) -> _Found | None:
    return next(reversed(list(_all(trace, purpose, kind))), None)
