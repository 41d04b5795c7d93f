"""Define results: one line per decision, with its outcome and its value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

from pydantic import Field

from dqa.core.database import Kind
from dqa.core.decision import Decision, Usage
from dqa.core.evidence import QUERY
from dqa.core.question import Candidate
from dqa.core.records import Record
from dqa.core.secrets import redacted
from dqa.core.truth import MatchRule

if TYPE_CHECKING:
    from dqa.evaluation.prepare import Task
    from dqa.evaluation.score import Assessment

Goal: TypeAlias = Literal["maximise", "minimise"]
"""Whether a larger or a smaller value is better."""


NO_MODEL = "none"
"""The name of the model of a decider that uses no model."""


class DecisionKey(NamedTuple):
    """The key of a decision: the question, its database, the decider and the epoch."""

    question: str
    database: str
    decider: str
    epoch: int = 1

    @property
    def requester(self) -> tuple[str, ...]:
        """The names that identify this decision's model calls in recordings."""
        named = (self.question, self.database, self.decider)
        return named if self.epoch == 1 else (*named, f"epoch {self.epoch}")

    @property
    def id(self) -> str:
        """The id of the decision in the audit of statements."""
        return " ".join(map(str, self))

    def __str__(self) -> str:
        repeat = "" if self.epoch == 1 else f", epoch {self.epoch}"
        return f"{self.question}, decided by {self.decider} on {self.database}{repeat}"


class Outcome(StrEnum):
    """The outcome of one decision."""

    CORRECT = "correct"
    WRONG = "wrong"
    FORBIDDEN = "forbidden"
    """A candidate that the rules forbid."""
    NO_CANDIDATE = "no_candidate"
    AMBIGUOUS = "ambiguous"
    STEP_LIMIT = "step_limit"
    UNPARSABLE = "unparsable"
    INFRASTRUCTURE = "infrastructure"
    BUDGET = "budget"
    STOPPED = "stopped"
    CRASHED = "crashed"
    NO_DECISION = "no_decision"
    PLAYED = "played"
    """A game that reached its end. The game has a payoff, and is neither right nor wrong."""
    UNLABELLED = "unlabelled"
    """The right answer is unknown: the question has no answer and no simulator."""

    @property
    def repeated(self) -> bool:
        """Whether a resumed run repeats the decision, because it was not completed."""
        return self in _REPEATED

    @property
    def judged(self) -> bool:
        """Whether the decision was judged as right or wrong."""
        return self not in _UNJUDGED


_REPEATED = frozenset({Outcome.INFRASTRUCTURE, Outcome.BUDGET, Outcome.STOPPED, Outcome.CRASHED})
_UNJUDGED = _REPEATED | {Outcome.UNLABELLED, Outcome.PLAYED}

OF_QUESTIONS = tuple(outcome for outcome in Outcome if outcome is not Outcome.PLAYED)
"""The outcomes of decisions on questions."""

_OF_TASK = ("database", "kind", "decider", "model", "epoch", "situation")
MOST_TIES = 1_000
"""Maximum number of best decisions in a line."""


class PlayedGame(Record):
    """A game in its result.

    Attributes
    ----------
    world, number, seed, mirrored
        See `dqa.evaluation.games.Game`.
    player, opponent
        The contestants. In a world of one player, the opponent is ``""``.
    seats
        The names of the players in the world. They are the keys of `returns`, `moves`, `fallbacks`
        and `actions`.
    returns
        The result of each player; empty if the game did not reach its end.
    moves, fallbacks
        For each player, the number of its moves, and how many of them were the fallback of the
        position.
    actions
        For each player, the number of times that it took each action, without fallbacks.
    reference
        The program that the player's decisions are compared with; None for no comparison.
    compared, agreed
        Number of the player's decisions that were compared with the reference, and how many of them
        equal the reference's decisions.
    facts
        Further facts about the game; see `dqa.worlds.world.Episode.facts`.
    attempts
        Number of attempts at the game. Only one attempt is scored; all other fields are about this
        attempt.
    payoffs
        The least and the largest possible payoff in the world; None if payoffs have no limits.
    """

    world: str
    number: int = Field(ge=1)
    seed: int = Field(ge=0)
    mirrored: bool
    player: str
    opponent: str
    seats: tuple[str, ...]
    returns: dict[str, float]
    moves: dict[str, int]
    fallbacks: dict[str, int]
    actions: dict[str, dict[str, int]]
    reference: str | None
    compared: int = Field(ge=0)
    agreed: int = Field(ge=0)
    facts: dict[str, Candidate | float | bool | None]
    attempts: int = Field(ge=1, default=1)
    payoffs: tuple[float | None, float | None] = (None, None)


class Result(Record, use_attribute_docstrings=True):
    """A line of ``results.jsonl``: a decision and its value.

    A line contains no timestamps and no durations, so identical runs give identical files.
    """

    version: Literal[1] = 1
    question: str
    scenario: str
    database: str
    kind: Kind
    decider: str
    """The name of the decider. A decider with its own model is 'decider@provider:model'."""
    model: str
    """The models that answered, joined by ' + '; 'none' if no model answered."""
    epoch: int = Field(ge=1, default=1)
    """The number of the repetition, from 1."""
    situation: str | None = None
    """The data of the question. Questions with the same data are not independent. Null in lines of
    earlier versions."""
    outcome: Outcome
    answer: str
    """The last text of the decider."""
    choice: Candidate | None
    """The candidate that the answer names."""
    official: Candidate | None
    """The official answer, if there is one."""
    ties: tuple[Candidate, ...]
    """The first 1,000 best decisions, and the choice if it is also one of the best."""
    regret: float | None = Field(ge=0)
    """The loss relative to the best decision, in the unit of the scenario."""
    relative_regret: float | None = Field(ge=0)
    """The loss as a share of the gain of the best decision over doing nothing."""
    rank: int | None = Field(ge=1)
    """The rank of the choice. Equally good candidates share the better rank."""
    value: float | None
    """The outcome of the choice."""
    best_value: float | None
    """The outcome of the best decision."""
    baseline: float | None
    """The outcome of doing nothing."""
    goal: Goal | None
    """Whether a larger or a smaller outcome is better."""
    steps: int = Field(ge=0)
    """The number of model replies."""
    statements: int = Field(ge=0)
    plans: int = Field(ge=0)
    error: str | None
    input_tokens: int = Field(ge=0, default=0)
    output_tokens: int = Field(ge=0, default=0)
    calls: int = Field(ge=0, default=0)
    cached_tokens: int = Field(ge=0, default=0)
    """The part of input_tokens that came from a cache."""
    reasoning_tokens: int = Field(ge=0, default=0)
    """The part of output_tokens that was reasoning."""
    uncounted: int = Field(ge=0, default=0)
    """The number of calls whose tokens are unknown."""
    failed_calls: int = Field(ge=0, default=0)
    """The number of calls without a reply."""
    tags: tuple[str, ...] = ()
    """The tags of the question."""
    match: MatchRule | None = None
    """The rule for comparing rows; null unless the answer is a statement."""
    cut: int = Field(ge=0, default=0)
    """The number of statements whose rows were cut by a limit."""
    ended_by: str | None = None
    """The limit that ended the decision early, such as 'budget: 3 statements'."""
    content: str | None = None
    """Digests of the text, rules and candidates, to find the same question in another run. Null in
    lines of earlier versions."""
    official_metrics: dict[str, float] = Field(default_factory=dict)
    """The metrics of the question set's own evaluation, if answers are statements."""
    game: PlayedGame | None = None
    """The game that was played; null for a question."""

    @classmethod
    def of(cls, task: Task, decision: Decision, assessed: Assessment) -> Self:
        """Return the result of one decision."""
        known = {one.name: getattr(assessed, one.name) for one in fields(assessed)}
        known |= {name: getattr(task, name) for name in _OF_TASK}
        problem = known.pop("problem")
        choice, ties = assessed.choice, assessed.ties[:MOST_TIES]
        if choice is not None and choice in assessed.ties[MOST_TIES:]:
            ties = (*ties, choice)
        return cls(
            question=task.question.key,
            scenario=task.question.scenario,
            answer=decision.answer,
            steps=decision.steps,
            statements=len(decision.evidence),
            cut=sum(bool(e.cut and not e.error) for e in decision.evidence if e.tool == QUERY),
            plans=len(decision.plans),
            error=decision.error or problem,
            **asdict(decision.usage),
            failed_calls=decision.lost.calls,
            tags=task.question.tags,
            ended_by=decision.ended_by,
            content=task.question.content,
            **known | {"ties": ties},
        )

    @property
    def key(self) -> DecisionKey:
        """Question, database, decider and epoch: unique in a run."""
        return DecisionKey(self.question, self.database, self.decider, self.epoch)

    @property
    def usage(self) -> Usage:
        """Tokens and calls of the chat models."""
        return Usage(**{part.name: getattr(self, part.name) for part in fields(Usage)})

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object. Secrets in texts of models and servers are redacted.

        The choice is not redacted: a candidate that looks like a secret is still a candidate.
        """
        texts: dict[str, Any] = redacted({"answer": self.answer, "error": self.error})
        return super().to_json() | texts

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Self:
        """Read a result from its JSON object. Raise `ValueError` if it is not valid."""
        return cls.model_validate(dict(line))


def hash_results(results: Iterable[Result]) -> str:
    """Return the hash of results in their order.

    Results contain no timestamps or durations, so equal runs have equal hashes.
    """
    digest = hashlib.sha256()
    for result in results:
        digest.update(json.dumps(result.to_json(), sort_keys=True).encode("ascii") + b"\n")
    return digest.hexdigest()
