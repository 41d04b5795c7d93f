"""The auditable tree of a DeLLMa decision: what it rests on, from the decision to the states.

`dqa_dellma.tree_reading` builds it from a trace alone, so anybody can check it against what was
asked and answered. Text in it was written by models and databases, and none of it can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqa.core.question import Candidate
from dqa_dellma.pairs import Pairs

__all__ = [
    "DEFECTS",
    "Action",
    "Context",
    "Factor",
    "Failure",
    "Place",
    "Ranked",
    "Round",
    "Sample",
    "Speaking",
    "State",
    "Tree",
    "Value",
]

DEFECTS: Mapping[str, str] = MappingProxyType(
    {
        "queries_failed": "queries of the context that failed",
        "results_cut": "results of the context cut by a limit",
        "actions_left_out": "actions left out, as no row names them",
        "factors_left_out": "factors left out, as they were more than asked for",
        "factors_unusable": "factors without a name or values, or named twice",
        "factors_short": "factors with fewer values than asked for",
        "values_left_out": "values left out, as a factor had more than asked for",
        "beliefs_ignored": "beliefs about what nobody asked for",
        "omitted": "items omitted from rankings",
        "repeated": "items repeated in rankings",
        "invented": "items invented in rankings",
        "unreadable": "rankings that could not be read",
        "replies_without_summary": "replies without a usable summary",
        "replies_without_factors": "replies that named no factor",
        "replies_without_beliefs": "replies that did not judge every value in one of the six words",
        "replies_without_ranking": "replies that ranked nothing",
        "replies_unusable": "other replies that could not be used",
    }
)
"""What is counted of what the database and the model gave, and in words.

Each reply that could not be used counts, refusals among them, also where a later one mended it: its
`Failure` says what was wrong.
"""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a factor: how likely it is, in words (None where nobody judged it) and scaled."""

    name: str
    words: str | None
    probability: float | None


@dataclass(frozen=True, slots=True)
class Factor:
    """A latent factor with its values."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class State:
    """A sampled state.

    Attributes
    ----------
    values
        The value of each factor, in the factors' order.
    probability
        Of this state under the beliefs, where factors are independent.
    """

    values: tuple[str, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class Place:
    """Where a ranking put an item: 1 is the best; of the `of` items that it ranked."""

    ranking: int
    place: int
    of: int


@dataclass(frozen=True, slots=True)
class Sample:
    """An action in a sampled state: an item that was ranked.

    Attributes
    ----------
    item, state
        Numbers from 0: of the item, and of the state in `Tree.states`.
    utility
        None where no ranking holds it.
    places
        What every minibatch that showed it, and ranked it, made of it.
    """

    item: int
    state: int
    utility: float | None
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Action:
    """What could be chosen.

    Attributes
    ----------
    action
        Its name.
    expected_utility
        The mean of its samples' utilities; None where none was ranked.
    value
        What the attitude to risk makes of it, by the scores.
    estimate
        The posterior mean of that value.
    decisive
        What decided: `value`, or `estimate` by the posterior's rule.
    interval
        Where the posterior has it, with probability `Tree.level`.
    chance_best
        Posterior probability that no other action's value is larger.
    samples
        By state.
    """

    action: Candidate
    expected_utility: float | None
    value: float | None
    estimate: float | None
    decisive: float | None
    interval: tuple[float, float] | None
    chance_best: float | None
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A minibatch and its ranking.

    Attributes
    ----------
    step
        The reply that brought it.
    shown, items
        Numbers of the items: as they were shown, and best first.
    omitted, repeated, invented
        As in `dqa_dellma.rankings.Ranking`.
    problem
        Why it ranks nothing; empty where it does.
    """

    step: int
    shown: tuple[int, ...]
    items: tuple[int, ...]
    omitted: int
    repeated: int
    invented: int
    problem: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A reply that could not be used, so that it was asked for again, if it was not the last try.

    Attributes
    ----------
    step
        Which reply.
    purpose
        What it was asked for, as the trace has it; empty where that does not tell.
    problem
        What was wrong with it, in the words that the model was told.
    """

    step: int
    purpose: str
    problem: str


@dataclass(frozen=True, slots=True)
class Round:
    """Where an adaptive run stood after a round of rankings.

    Attributes
    ----------
    probability
        That the action that led was the best.
    contenders
        The actions that went on.
    calls, calls_saved
        Minibatches ranked so far, and those that would be spared by stopping here.
    """

    probability: float
    contenders: tuple[Candidate, ...]
    calls: int
    calls_saved: int


@dataclass(frozen=True, slots=True)
class Speaking:
    """A value that widens the choice's lead over the runner-up, or narrows it.

    Attributes
    ----------
    factor, value
        Their names.
    lead, elsewhere
        The lead in mean utility over the states with that value, and over those without.
    states
        How many ranked states of the choice have it.
    """

    factor: str
    value: str
    lead: float
    elsewhere: float
    states: int


@dataclass(frozen=True, slots=True)
class Context:
    """What was read: the statements with what each returned, and the text that the model met.

    Attributes
    ----------
    statements
        As written, the observation, and the class of the error or None.
    text
        The rows as they stood in every prompt.
    summarised, rules_summarised
        Whether the model shortened them first, and the question's rules.
    left_out
        Actions that no row names, which were not compared for that.
    """

    statements: tuple[tuple[str, str, str | None], ...]
    text: str
    summarised: bool
    rules_summarised: bool
    left_out: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """A decision with everything that it rests on.

    Attributes
    ----------
    question, database, decider, model
        Who decided what.
    chosen, why
        The decision and the sentence for it; None and what ended the run where there is none.
    runner_up
        The ranked action that came next by what decided, or None.
    actions
        The chosen one first, then by what decided.
    factors, states
        What was believed, and the states that were drawn from it; none of what a run did not reach.
    rankings, rounds
        In the order in which they were asked for; rounds only where a run is adaptive.
    failures
        The replies that could not be used, also those that a later one mended.
    speaking
        What speaks for the choice and, at the end, against it.
    context
        What was read from the database.
    method
        How utilities came about: elicitation, objective, alpha, scale, temperature, rule,
        attitude, aversion, state_spread, factor_effects.
    level
        Posterior probability of the intervals.
    calls, calls_saved
        Replies of the model to everything, and rankings that an adaptive run spared.
    defects
        How often something was not as it was asked for, by the names of `DEFECTS`, all of them.
    """

    question: str
    database: str
    decider: str
    model: str
    chosen: Candidate | None
    why: str
    runner_up: Candidate | None
    actions: tuple[Action, ...]
    factors: tuple[Factor, ...]
    states: tuple[State, ...]
    rankings: tuple[Ranked, ...]
    failures: tuple[Failure, ...]
    rounds: tuple[Round, ...]
    speaking: tuple[Speaking, ...]
    context: Context
    method: Mapping[str, Any]
    level: float | None
    calls: int
    calls_saved: int
    defects: Mapping[str, int]

    @property
    def by_posterior(self) -> bool:
        """Whether the posterior mean decided, and not the value of the scores."""
        return self.method.get("rule") == "posterior"

    @property
    def has_intervals(self) -> bool:
        """Whether the posterior tells values; with utilities scaled by action it does not."""
        return any(action.interval is not None for action in self.actions)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was not as it was asked for, in words, with how often; empty where all was."""
        return tuple(f"{DEFECTS[name]}: {count}" for name, count in self.defects.items() if count)

    def sampled(self) -> tuple[Pairs, NDArray[np.float64]]:
        """Return the state-action pairs, actions numbered as in `actions`, and their utilities.

        The utilities have shape (n,), with NaN for pairs that no ranking holds.
        """
        found = [(n, sample) for n, action in enumerate(self.actions) for sample in action.samples]
        utilities = [np.nan if s.utility is None else s.utility for _, s in found]
        pairs = Pairs(
            states=np.zeros((len(self.states), 0), dtype=np.int64),
            state_of=np.array([sample.state for _, sample in found], dtype=np.int64),
            action_of=np.array([number for number, _ in found], dtype=np.int64),
        )
        return pairs, np.array(utilities, dtype=np.float64)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is not known is None."""
        told = asdict(self)
        statements = self.context.statements
        names = ("statement", "observation", "error")
        told["context"]["statements"] = [dict(zip(names, s, strict=True)) for s in statements]
        return told | {"warnings": self.warnings}
