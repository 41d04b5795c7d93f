"""The auditable tree of a DeLLMa decision: what it rests on, from the decision to the states.

`dqa_dellma.tree.reading` builds it from a trace alone, so anybody can check it against what was
asked and answered. Text in it was written by models and databases, and none of it can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import computed_field, field_validator

from dqa.core.question import Candidate
from dqa.core.records import Record
from dqa_dellma.findings import Confidence, Method, Ranking
from dqa_dellma.utilities.why import Influence

DEFECTS: Mapping[str, str] = MappingProxyType(
    {
        "queries_failed": "queries of the context that failed",
        "results_cut": "results of the context cut by a limit",
        "actions_left_out": "actions left out, as no row names them",
        "factors_left_out": "factors left out, as they were more than asked for",
        "factors_unusable": "factors without a name or values, or named twice",
        "factors_unplaced": "factors that did not say which actions they bear on",
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
`UnusableReply` says what was wrong.
"""


class JudgedValue(Record):
    """A value of a factor: how likely it is, in words (None where nobody judged it) and scaled."""

    name: str
    words: str | None = None
    probability: float | None = None


class JudgedFactor(Record):
    """A latent factor with its values.

    Attributes
    ----------
    name
        What it is called.
    about
        The actions that it alone bears on; none where it bears on all.
    values
        Each with how likely it is.
    """

    name: str
    about: tuple[Candidate, ...] = ()
    values: tuple[JudgedValue, ...]


class SampledState(Record):
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


class RankedPlace(Record):
    """Where a ranking put an item: 1 is the best, equal ones share it; of `of` ranked items."""

    ranking: int
    place: int
    of: int


class TriedState(Record):
    """An action in a sampled state: an item that was ranked.

    Attributes
    ----------
    item, state
        Numbers from 0: of the item, and of the state in `DecisionTree.states`.
    utility
        None where no ranking holds it.
    places
        What every minibatch that showed it, and ranked it, made of it.
    """

    item: int
    state: int
    utility: float | None
    places: tuple[RankedPlace, ...]


class ComparedAction(Record):
    """What could be chosen.

    Attributes
    ----------
    action
        Its name.
    expected_utility
        The mean of its samples' utilities; None where none was ranked.
    value
        What the attitude to risk makes of it, which decides.
    interval
        Where the value lies in the share `DecisionTree.level` of cases; None if it is unknown.
    chance_best
        The chance that no other action's value is larger; None if it is unknown.
    samples
        By state.
    """

    action: Candidate
    expected_utility: float | None = None
    value: float | None = None
    interval: tuple[float, float] | None = None
    chance_best: float | None = None
    samples: tuple[TriedState, ...]

    @field_validator("interval", mode="before")
    @classmethod
    def _whole(cls, bounds: Any) -> Any:  # noqa: ANN401  (whatever a trace contains)
        """Return no interval for one without bounds."""
        return None if bounds is None or None in bounds else bounds

    def extremes(self, most: int) -> tuple[Sequence[TriedState], int]:
        """Return at most `most` samples, the best first, and how many are left out in between."""
        ordered = sorted(
            self.samples, key=lambda one: (one.utility is None, -(one.utility or 0.0), one.item)
        )
        if len(ordered) <= most:
            return ordered, 0
        half = most // 2
        return [*ordered[: most - half], *ordered[len(ordered) - half :]], len(ordered) - most


class StoredRanking(Ranking):
    """A ranking, and the number of the reply that has it."""

    step: int = 0


class UnusableReply(Record):
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


class ReadStatement(Record):
    """A statement as written, what it returned, and the class of its error or None."""

    statement: str
    observation: str
    error: str | None


class ReadContext(Record):
    """What is asked and was read; the fields are those of `dqa_dellma.findings.ContextEvent`."""

    statements: tuple[ReadStatement, ...]
    goal: str = ""
    rules: str = ""
    actions: tuple[Candidate, ...] = ()
    text: str = ""
    summarised: bool = False
    rules_summarised: bool = False
    left_out: tuple[Candidate, ...] = ()


class DecisionTree(Record):
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
        How utilities came about; None where a run ended before.
    level
        How often an interval contains the true value.
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
    actions: tuple[ComparedAction, ...]
    factors: tuple[JudgedFactor, ...]
    states: tuple[SampledState, ...]
    rankings: tuple[StoredRanking, ...]
    failures: tuple[UnusableReply, ...]
    rounds: tuple[Confidence, ...]
    speaking: tuple[Influence, ...]
    context: ReadContext
    method: Method | None
    level: float | None
    calls: int
    calls_saved: int
    defects: Mapping[str, int]

    @property
    def run(self) -> str:
        """Who decided what, on which database, in words."""
        return f"{self.question} by {self.decider} on {self.database}"

    @property
    def has_intervals(self) -> bool:
        """Whether the intervals of the values are known."""
        return any(action.interval is not None for action in self.actions)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def warnings(self) -> tuple[str, ...]:
        """What was not as asked for, in words, with how often; empty if all was."""
        return tuple(f"{DEFECTS[name]}: {count}" for name, count in self.defects.items() if count)
