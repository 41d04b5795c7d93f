"""Define traces: the records of all steps of decisions, one line per decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self, Union

from pydantic import AliasChoices, Field, SerializeAsAny, create_model, field_validator

from dqa import plugins
from dqa.core.database import Kind
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.distribution import own_version
from dqa.core.events import Event, ReplyEvent, event_from_json
from dqa.core.evidence import Evidence
from dqa.core.provenance import user_name
from dqa.core.question import Candidate
from dqa.core.records import Record
from dqa.core.secrets import redacted
from dqa.core.simulator import Goal, Outcomes
from dqa.evaluation.keys import DecisionKey

_DECIDED = (
    *("ending", "answer", "choice", "error", "outage", "steps", "seconds", "usage", "plans"),
    *("evidence", "warnings", "ended_by"),
)
"""The fields of a trace that its `Decision` has as well."""
_SAID = ("answer", "error", "plans", "evidence", "warnings", "trace", "provenance")
"""What models, servers and databases said, where a secret may have slipped in."""


class Alternative(Record):
    """A candidate with its outcome and rank.

    Attributes
    ----------
    outcome, rank
        Its outcome, and its rank, 1 for the best; None if unknown.
    """

    candidate: Candidate
    outcome: float | None = None
    rank: int | None = Field(default=None, ge=1)

    @classmethod
    def among(
        cls, outcomes: Outcomes, chosen: Iterable[Candidate], best: int, worst: int
    ) -> tuple[Self, ...]:
        """Return the alternatives by rank; of more the `best`, the `worst` and the chosen ones."""
        listed = outcomes.best_first()
        if len(listed) > best + worst:
            picked = (one for one in chosen if one in outcomes)
            listed = list(dict.fromkeys((*listed[:best], *picked, *listed[-worst:])))
        ranks = {candidate: outcomes.rank(candidate) for candidate in listed}
        return tuple(
            cls(candidate=one, outcome=outcomes.value(one), rank=ranks[one])
            for one in sorted(listed, key=ranks.__getitem__)
        )


class Spread(Record):
    """How the outcomes of all candidates are spread, where not all of these are kept.

    Attributes
    ----------
    best, worst, mean
        Of all.
    quartiles
        The outcomes that a quarter, half and three quarters of the candidates do not exceed.
    ties
        How many are as good as the best.
    unmoved
        The number of candidates with the same outcome as doing nothing; None if that is unknown.
    """

    best: float
    worst: float
    mean: float
    quartiles: tuple[float, float, float]
    ties: int = Field(ge=1)
    unmoved: int | None = Field(default=None, ge=0)


class AskedRecord(Record):
    """The question and its candidates.

    Attributes
    ----------
    text, rules, scenario, target
        As in `dqa.core.question.Question`.
    total
        The number of candidates; None if they are not listed.
    alternatives
        The candidates, the best first where outcomes are known; of very many the best and the worst
        (or, without outcomes, the first), and always the one that was chosen.
    spread
        How the outcomes of all are spread, where not all alternatives are kept.
    unit, goal, baseline
        What outcomes are, which are better, and that of deciding nothing; None without outcomes.
    statement
        What asked the database for the outcomes; None where a simulator worked them out.
    problem
        Why there are no outcomes, where the scenario should tell them.
    """

    text: str
    rules: str
    scenario: str
    target: dict[str, str] = Field(default_factory=dict)
    total: int | None = Field(default=None, ge=0)
    alternatives: tuple[Alternative, ...] = ()
    spread: Spread | None = None
    unit: str | None = None
    goal: Goal | None = None
    baseline: float | None = None
    statement: str | None = None
    problem: str | None = None


class Provenance(Record):
    """Who asked, when, and why the decision was made as it was.

    Attributes
    ----------
    decision
        The id of the decision, as in the audit of its statements.
    time
        When it was asked: ISO 8601, UTC.
    user
        The login that asked.
    dqa
        The version of dqa.
    reason
        The last reply of the model, or what ended the decision.
    """

    decision: str
    time: str
    user: str
    dqa: str
    reason: str

    @classmethod
    def of(cls, made: Decision, decision: str, time: str) -> Self:
        """Return the provenance of a decision that this login asked for."""
        replies = [event.text for event in made.trace if isinstance(event, ReplyEvent)]
        reason = replies[-1] if replies else made.answer
        return cls(
            decision=decision,
            time=time,
            user=user_name(),
            dqa=own_version(),
            reason=reason if made.error is None else made.error,
        )


class Trace(Record):
    """A line of ``traces.jsonl``: a decision with everything that led to it, in order.

    Attributes
    ----------
    question, database, kind, decider, model, epoch
        Who was asked what, on which database, and which repeat it is.
    ending, answer, choice, steps, seconds, usage, error, outage, plans, evidence, ended_by
        As in `dqa.core.decision.Decision`.
    warnings
        Gaps of the decision: candidates that were not compared, tables that the model did not see.
    asked
        The question and its candidates, if it was asked by itself; None in a run, which stores its
        questions and results separately.
    provenance
        Who asked and when, and the reason; None of a run's, whose record has it.
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
    asked: AskedRecord | None = None
    provenance: Provenance | None = None
    cost: float | None = Field(default=None, ge=0)
    events: tuple[SerializeAsAny[Event], ...] = Field(
        validation_alias=AliasChoices("trace", "events"), serialization_alias="trace"
    )

    @field_validator("evidence", mode="before")
    @classmethod
    def _without_former(cls, evidence: Any) -> Any:  # noqa: ANN401  (whatever is to be validated)
        """Leave out the scanned rows, which earlier releases recorded."""
        if not isinstance(evidence, list):
            return evidence
        return [
            {name: value for name, value in one.items() if name != "scanned"}
            if isinstance(one, dict)
            else one
            for one in evidence
        ]

    @field_validator("events", mode="before")
    @classmethod
    def _typed(cls, given: object) -> object:
        if not isinstance(given, list | tuple):
            return given
        known = plugins.events()
        return tuple(
            event_from_json(event, known) if isinstance(event, Mapping) else event
            for event in given
        )

    @classmethod
    def of(
        cls,
        key: DecisionKey,
        kind: Kind,
        model: str,
        decision: Decision,
        provenance: Provenance | None = None,
    ) -> Self:
        """Return the trace of one decision."""
        return cls(
            question=key.question,
            database=key.database,
            kind=kind,
            decider=key.decider,
            model=model,
            epoch=key.epoch,
            events=decision.trace,
            provenance=provenance,
            **{name: getattr(decision, name) for name in _DECIDED},
        )

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a line, with the events of all packages that are installed.

        An event of a package that is not installed can be read, and is not described.
        """
        kinds: Any = Annotated[Union[plugins.events()], Field(discriminator="kind")]  # noqa: UP007
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
        """Return the line's object, without secrets in its texts.

        The choice stays as it is: a candidate that looks like a secret is still that candidate.
        """
        line = super().to_json()
        said: dict[str, Any] = redacted({name: line[name] for name in _SAID})
        if self.asked is not None:
            said["asked"] = line["asked"] | {"problem": redacted(self.asked.problem)}
        return line | said

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Self:
        """Read a line's object back; `ValueError` where it is none."""
        return cls.model_validate(dict(line))
