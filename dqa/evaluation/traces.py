"""Define traces: the records of all steps of decisions, one line per decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self, Union

from pydantic import AliasChoices, ConfigDict, Field, SerializeAsAny, create_model, field_validator

from dqa.core.database import Kind
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.distribution import own_version
from dqa.core.events import CORE_EVENTS, Event, ReplyEvent, event_from_json
from dqa.core.evidence import Evidence
from dqa.core.provenance import user_name
from dqa.core.question import Candidate
from dqa.core.records import Record
from dqa.core.secrets import redacted
from dqa.core.simulator import Goal, Outcomes
from dqa.evaluation.results import DecisionKey

_DECISION_FIELDS = (
    *("ending", "answer", "choice", "error", "outage", "steps", "seconds", "usage", "plans"),
    *("evidence", "warnings", "ended_by"),
)
"""The fields that a trace and a `Decision` have in common."""
_TEXT_FIELDS = ("answer", "error", "plans", "evidence", "warnings", "trace", "provenance")
"""The fields with texts from models, servers and databases. They may contain secrets."""


class Alternative(Record):
    """A candidate with its outcome and rank.

    Attributes
    ----------
    outcome, rank
        The outcome and the rank (1 is best); None if unknown.
    """

    candidate: Candidate
    outcome: float | None = None
    rank: int | None = Field(default=None, ge=1)

    @classmethod
    def among(
        cls, outcomes: Outcomes, chosen: Iterable[Candidate], best: int, worst: int
    ) -> tuple[Self, ...]:
        """Return the alternatives by rank.

        If there are more than ``best + worst`` alternatives, return only the top `best`
        alternatives, the bottom `worst` alternatives, and the chosen ones.
        """
        listed = outcomes.best_first()
        if len(listed) > best + worst:
            picked = (one for one in chosen if one in outcomes)
            listed = list(dict.fromkeys((*listed[:best], *picked, *listed[-worst:])))
        ranks = {candidate: outcomes.rank(candidate) for candidate in listed}
        return tuple(
            cls(candidate=one, outcome=outcomes.value(one), rank=ranks[one])
            for one in sorted(listed, key=ranks.__getitem__)
        )


class AskRecord(Record):
    """The question and its candidates.

    Attributes
    ----------
    text, rules, scenario, target
        See `dqa.core.question.Question`.
    total
        The number of candidates; None if they are not listed.
    alternatives
        The candidates, with the best first if outcomes are known. If there are very many
        candidates, the list contains only the best, the worst and the chosen candidates. If
        outcomes are unknown, it contains the first and the chosen candidates instead.
    unit, goal, baseline
        The unit of outcomes, whether larger or smaller outcomes are better, and the outcome of
        doing nothing. None if the question has no outcomes.
    statement
        The statement that queried the outcomes; None if a simulator calculated them.
    problem
        The reason why outcomes are missing although the scenario has outcomes; None if they exist.
    """

    model_config = ConfigDict(extra="ignore")  # records of earlier releases have further fields

    text: str
    rules: str
    scenario: str
    target: dict[str, str] = Field(default_factory=dict)
    total: int | None = Field(default=None, ge=0)
    alternatives: tuple[Alternative, ...] = ()
    unit: str | None = None
    goal: Goal | None = None
    baseline: float | None = None
    statement: str | None = None
    problem: str | None = None


class Provenance(Record):
    """Who asked for a decision, when, and the reason for the decision.

    Attributes
    ----------
    decision
        The id of the decision. The audit of its statements contains the same id.
    time
        The time of the question: ISO 8601, UTC.
    user
        The login name of the user.
    dqa
        The version of dqa.
    reason
        The last reply of the model, or the problem that ended the decision.
    policy
        The file of the policy for reading the database; None without a file. Decisions of a run
        have None, because the spec of the run contains its policy.
    """

    decision: str
    time: str
    user: str
    dqa: str
    reason: str
    policy: str | None = None

    @classmethod
    def of(cls, decided: Decision, decision: str, time: str, policy: str | None = None) -> Self:
        """Return the provenance of a decision, with the current login as its user."""
        replies = [event.text for event in decided.trace if isinstance(event, ReplyEvent)]
        reason = replies[-1] if replies else decided.answer
        return cls(
            decision=decision,
            time=time,
            user=user_name(),
            dqa=own_version(),
            reason=reason if decided.error is None else decided.error,
            policy=policy or None,
        )


class Trace(Record):
    """A line of ``traces.jsonl``: a decision with everything that led to it, in order.

    Attributes
    ----------
    question, database, kind, decider, model, epoch
        The key of the question; the name and the kind of its database; the decider and its model;
        and the number of the repetition.
    ending, answer, choice, steps, seconds, usage, error, outage, plans, evidence, ended_by
        See `dqa.core.decision.Decision`.
    warnings
        Warnings about the decision, for example that some candidates were not compared.
    asked
        The question and its candidates, for a decision of ``dqa ask``; None in a run.
    provenance
        The user, the time and the reason; None in older files.
    cost
        The cost of the tokens, if the caller gave prices.
    events
        All events in order. The field is called ``trace`` in JSON.
    """

    version: Literal[1] = 1
    question: str
    database: str
    kind: Kind
    decider: str
    model: str
    epoch: int = Field(ge=1, default=1)
    ending: Ending
    answer: str
    choice: Candidate | None
    error: str | None
    outage: Literal["database", "model"] | None
    steps: int = Field(ge=0)
    seconds: float = Field(ge=0)
    usage: Usage
    plans: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    warnings: tuple[str, ...] = ()
    ended_by: str | None = None
    asked: AskRecord | None = None
    provenance: Provenance | None = None
    cost: float | None = Field(default=None, ge=0)
    events: tuple[SerializeAsAny[Event], ...] = Field(
        validation_alias=AliasChoices("trace", "events"), serialization_alias="trace"
    )

    @field_validator("events", mode="before")
    @classmethod
    def _typed(cls, fields: object) -> object:
        if not isinstance(fields, list | tuple):
            return fields
        return tuple(
            event_from_json(event) if isinstance(event, Mapping) else event for event in fields
        )

    @classmethod
    def of(cls, key: DecisionKey, decision: Decision, **fields: Any) -> Self:  # noqa: ANN401
        """Return the trace of a decision. `fields` are the other fields of the trace."""
        decided = {name: getattr(decision, name) for name in _DECISION_FIELDS}
        return cls(events=decision.trace, **key._asdict(), **decided, **fields)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a line. The schema describes only dqa's own events."""
        kinds: Any = Annotated[Union[CORE_EVENTS], Field(discriminator="kind")]  # noqa: UP007
        described = create_model(
            "Trace",
            __base__=Trace,
            __doc__="A line of traces.jsonl: a decision with everything that led to it, in order.",
            events=(tuple[kinds, ...], Field(serialization_alias="trace")),
        )
        return described.model_json_schema(mode="serialization")

    @property
    def key(self) -> DecisionKey:
        """Question, database, decider and epoch: unique in a run."""
        return DecisionKey(self.question, self.database, self.decider, self.epoch)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object, without secrets in its texts.

        The choice is not redacted: a candidate that looks like a secret is still a candidate.
        """
        line = super().to_json()
        texts: dict[str, Any] = redacted({name: line[name] for name in _TEXT_FIELDS})
        if self.asked is not None:
            texts["asked"] = line["asked"] | {"problem": redacted(self.asked.problem)}
        return line | texts

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Self:
        """Read a trace from its JSON object. Raise `ValueError` if it is not valid."""
        return cls.model_validate(dict(line))
