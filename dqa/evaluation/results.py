"""Results: one line per decision, with its outcome and its value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from pydantic import Field

from dqa.core.database import Kind
from dqa.core.decision import Decision, Usage
from dqa.core.question import Candidate
from dqa.core.records import Record
from dqa.core.secrets import redacted
from dqa.core.truth import MatchRule
from dqa.evaluation.keys import DecisionKey

if TYPE_CHECKING:
    from dqa.evaluation.prepare import Task
    from dqa.evaluation.score import Assessment

Goal: TypeAlias = Literal["maximise", "minimise"]
"""Whether a larger or a smaller value is better."""


NO_MODEL = "none"
"""The name of the model of a decider that asks none."""


class Outcome(StrEnum):
    """The outcome of one decision."""

    CORRECT = "correct"
    WRONG = "wrong"
    FORBIDDEN = "forbidden"
    """A candidate that the rules forbid: worse than a wrong one."""
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
    """A game that reached its end; its payoff is the value, and nothing is right or wrong."""
    UNLABELLED = "unlabelled"
    """The right answer is unknown: the question has none, and no simulator.

    Other decisions that were not judged are `repeated`.
    """

    @property
    def repeated(self) -> bool:
        """Whether the decision was not made, so that a resumed run asks again."""
        return self in {Outcome.INFRASTRUCTURE, Outcome.BUDGET, Outcome.STOPPED, Outcome.CRASHED}

    @property
    def judged(self) -> bool:
        """Whether the outcome can be used to assess the decider."""
        return not self.repeated and self not in {Outcome.UNLABELLED, Outcome.PLAYED}


OF_QUESTIONS = tuple(outcome for outcome in Outcome if outcome is not Outcome.PLAYED)
"""The outcomes of questions; only games are played."""

_OF_TASK = ("database", "kind", "decider", "model", "epoch", "situation")
MOST_TIES = 1_000
"""The most best decisions that a line holds."""


def _some(ties: tuple[Candidate, ...], choice: Candidate | None) -> tuple[Candidate, ...]:
    if len(ties) <= MOST_TIES:
        return ties
    return (
        *ties[:MOST_TIES],
        *([choice] if choice in ties[MOST_TIES:] and choice is not None else ()),
    )


class PlayedGame(Record):
    """A game in its result.

    Attributes
    ----------
    world, number, seed, mirrored
        The game; see `dqa.evaluation.games.Game`.
    player, opponent
        The contestants; an opponent of ``""`` in a world of one player.
    seats
        The world's names of the two players, or of the only one; they are keys below.
    returns
        The result of each player; empty if the game did not reach its end.
    moves, fallbacks
        How many moves each player made, and how many of them were the position's fallback.
    actions
        How often each player took which action, without fallbacks.
    reference
        The program that the player's decisions are compared with; None for none.
    compared, agreed
        How many decisions of the player were compared, and how many are the reference's.
    facts
        The other facts of the world.
    attempts
        How often the game was played before one attempt counted; all else is of that attempt.
    payoffs
        The least and the largest payoff in the world; None without a limit.
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

    It holds no times, so the same run gives the same file.
    """

    version: Literal[1] = 1
    question: str
    scenario: str
    database: str
    kind: Kind
    decider: str
    """who decided; of several models as 'decider@model'"""
    model: str
    """what answered: several joined by ' + ', or 'none'"""
    epoch: int = Field(ge=1, default=1)
    """which repeat this is, from 1"""
    situation: str | None = None
    """which data the question is about: questions that share it are no independent sample; null of
    a line that an earlier version wrote"""
    outcome: Outcome
    answer: str
    """the decider's last words"""
    choice: Candidate | None
    """the candidate that they name"""
    official: Candidate | None
    """the official answer, where there is one"""
    ties: tuple[Candidate, ...]
    """every best decision; of more than 1,000 some, and the choice where it is one"""
    regret: float | None = Field(ge=0)
    """value given away against the best, in the scenario's unit"""
    relative_regret: float | None = Field(ge=0)
    """the same as a share of what the best gains over deciding nothing"""
    rank: int | None = Field(ge=1)
    """of the choice; ties share the better one"""
    value: float | None
    """what the choice leads to"""
    best_value: float | None
    """what the best decision leads to"""
    baseline: float | None
    """what deciding nothing leads to"""
    goal: Goal | None
    """whether more or less value is better"""
    steps: int = Field(ge=0)
    """replies of the model"""
    statements: int = Field(ge=0)
    plans: int = Field(ge=0)
    error: str | None
    input_tokens: int = Field(ge=0, default=0)
    output_tokens: int = Field(ge=0, default=0)
    calls: int = Field(ge=0, default=0)
    cached_tokens: int = Field(ge=0, default=0)
    """of input_tokens, from a cache"""
    reasoning_tokens: int = Field(ge=0, default=0)
    """of output_tokens, reasoning"""
    uncounted: int = Field(ge=0, default=0)
    """calls whose tokens are unknown"""
    failed_calls: int = Field(ge=0, default=0)
    """calls that gave no reply"""
    tags: tuple[str, ...] = ()
    """the question's, where it has any"""
    match: MatchRule | None = None
    """how rows were compared, where a statement is the answer; else null"""
    ended_by: str | None = None
    """what ended the run before its decider did, such as 'budget: 3 statements'"""
    content: str | None = None
    """digests of the question's text, rules and candidates: what tells the same question in another
    run; null of a line that an earlier version wrote"""
    official_metrics: dict[str, float] = Field(default_factory=dict)
    """what the set's own evaluation gives, by metric, where statements are answers"""
    game: PlayedGame | None = None
    """the game that was played; null of a decision"""

    @classmethod
    def of(cls, task: Task, decision: Decision, assessed: Assessment) -> Self:
        """Return the line of one decision."""
        known = {one.name: getattr(assessed, one.name) for one in fields(assessed)}
        known |= {name: getattr(task, name) for name in _OF_TASK}
        problem = known.pop("problem")
        return cls(
            question=task.question.key,
            scenario=task.question.scenario,
            answer=decision.answer,
            steps=decision.steps,
            statements=len(decision.evidence),
            plans=len(decision.plans),
            error=decision.error or problem,
            **asdict(decision.usage),
            failed_calls=decision.lost.calls,
            tags=task.question.tags,
            ended_by=decision.ended_by,
            content=task.question.content,
            **known | {"ties": _some(assessed.ties, assessed.choice)},
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
        """Return the line's object, without secrets in texts of models and servers.

        The choice stays as it is: a candidate that looks like a secret is still that candidate.
        """
        said: dict[str, Any] = redacted({"answer": self.answer, "error": self.error})
        return super().to_json() | said

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Self:
        """Read a line's object back; `ValueError` where it is none."""
        return cls.model_validate(dict(line))


def hash_results(results: Iterable[Result]) -> str:
    """Return the hash of results in their order; they hold no times."""
    digest = hashlib.sha256()
    for result in results:
        digest.update(json.dumps(result.to_json(), sort_keys=True).encode("ascii") + b"\n")
    return digest.hexdigest()
