"""What is shown of a run, piece by piece: the passages that `dqa.report.reading` makes.

Nothing in them is shortened, wrapped or escaped. Whoever shows them does that, for the place where
they are shown: a terminal, a page. Their text was written by models, providers and databases, and
none of it can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from dqa.core.question import Candidate
from dqa.evaluation.results import Goal


@dataclass(frozen=True, slots=True)
class Heading:
    """Who was asked what, on which database, and for which time; None where all were asked once."""

    kind: ClassVar[str] = "heading"
    question: str
    database: str
    decider: str
    model: str
    epoch: int | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a prompt, under its title; an empty title where the text has none."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model was shown first.

    Attributes
    ----------
    role
        Which of two models was shown it; empty where there is one.
    task
        The last message in sections: question, rules, database; without those that the prompt
        before had.
    before
        The messages before it: a section each, under the type of the message.
    """

    kind: ClassVar[str] = "prompt"
    role: str
    task: tuple[Section, ...]
    before: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One step of a plan; `gone` is a step of the plan before that this one has no more."""

    text: str
    change: Literal["kept", "new", "gone"]


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan, or the one that replaces it.

    Attributes
    ----------
    step, role
        The reply that brought it, from 1, and whose it was.
    number
        1 for the first plan.
    steps
        Every step of the first plan is `kept`; later plans also list what is gone, in its place.
    beside
        Lines around the steps that belong to none; see `dqa.core.plans.read_plan`.
    """

    kind: ClassVar[str] = "plan"
    step: int
    role: str
    number: int
    steps: tuple[ShownStep, ...]
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Thought:
    """The reasoning in a reply."""

    kind: ClassVar[str] = "thought"
    step: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class WholeReply:
    """A whole reply, where its thought is not known: unreadable, or of an older trace."""

    kind: ClassVar[str] = "reply"
    step: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A statement or a simulation, and what came back.

    Attributes
    ----------
    step
        The reply that asked for it; None where no model did.
    tool
        As in `dqa.core.evidence.Evidence`.
    asked, translated
        As it was written, and as it ran where that differs.
    columns, rows, notes
        What came back, where that is a table: its cells, and the lines below it.
    text
        What came back, where that is no table: an error's message, or any other text.
    row_count, error, cut, seconds
        As in `dqa.core.evidence.Evidence`.
    done
        False where the run ended before anything came back.
    """

    kind: ClassVar[str] = "called"
    step: int | None
    tool: str
    asked: str
    translated: str | None = None
    columns: tuple[Any, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    notes: tuple[str, ...] = ()
    text: str = ""
    row_count: int = 0
    error: str | None = None
    cut: str | None = None
    seconds: float = 0.0
    done: bool = True


@dataclass(frozen=True, slots=True)
class ModelFault:
    """A call of the model that failed or was mended; see `dqa.models.faults.Fault`."""

    kind: ClassVar[str] = "fault"
    step: int
    fault: str
    error: str
    message: str
    attempt: int | None
    wait: float | None


@dataclass(frozen=True, slots=True)
class RefusedReply:
    """What the model was told about a reply that could not be used."""

    kind: ClassVar[str] = "failure"
    step: int
    role: str
    problem: str


@dataclass(frozen=True, slots=True)
class Crash:
    """A bug that ended the run: what was raised, and where."""

    kind: ClassVar[str] = "crash"
    step: int
    problem: str
    traceback: str


@dataclass(frozen=True, slots=True)
class Noted:
    """What a decider wrote down about its own work, in a few lines under a title."""

    kind: ClassVar[str] = "noted"
    step: int
    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Other:
    """An event of a kind that only its decider knows."""

    kind: ClassVar[str] = "other"
    step: int
    event: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """The decider's last words, and the candidate that they name, if they name one.

    `compared` is false where nobody held them against candidates.
    """

    kind: ClassVar[str] = "answer"
    text: str
    choice: Candidate | None
    compared: bool = True


@dataclass(frozen=True, slots=True)
class Spent:
    """What the run took: replies, seconds of wall-clock time, calls and tokens of the model."""

    kind: ClassVar[str] = "spent"
    steps: int
    called: int
    plans: int
    seconds: float
    calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the decision is worth: the fields of `dqa.evaluation.score.Assessment`, and the unit.

    Attributes
    ----------
    problem
        Why there is no answer, where there is none.
    unit
        What values are, e.g. "profit".
    matches
        Whether it is a statement, whose rows were compared with those of the first of `ties`.
    """

    kind: ClassVar[str] = "judgement"
    outcome: str
    problem: str | None
    choice: Candidate | None
    official: Candidate | None
    ties: tuple[Candidate, ...]
    value: float | None
    best_value: float | None
    baseline: float | None
    goal: Goal | None
    regret: float | None
    relative_regret: float | None
    rank: int | None
    unit: str
    matches: bool = False


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A run that says nothing about its decider.

    Attributes
    ----------
    ending
        How the run ended.
    outage
        What failed: "database" or "model"; None where nothing did.
    problem
        What happened, in the words of whoever failed; None where the run itself was well.
    official, ties, best_value, baseline, goal, unit
        What is known about the question all the same; see `Judgement`.
    decided
        Whether a decision is on record, and nothing tells whether it is right.
    matches
        As in `Judgement`.
    """

    kind: ClassVar[str] = "unjudged"
    ending: str
    outage: str | None
    problem: str | None
    official: Candidate | None = None
    ties: tuple[Candidate, ...] = ()
    best_value: float | None = None
    baseline: float | None = None
    goal: Goal | None = None
    unit: str = "value"
    decided: bool = False
    matches: bool = False


Passage: TypeAlias = (
    Heading
    | Prompt
    | Plan
    | Thought
    | WholeReply
    | Called
    | ModelFault
    | RefusedReply
    | Crash
    | Noted
    | Other
    | FinalAnswer
    | Spent
    | Judgement
    | Unjudged
)


def passage_to_json(passage: Passage) -> dict[str, Any]:
    """Return a passage as plain values, its `kind` first."""
    return {"kind": passage.kind, **asdict(passage)}
