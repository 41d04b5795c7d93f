"""The replies of models to LDM2's prompts, and the results of its steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from dqa.core.errors import InvalidAnswerError
from dqa.core.question import Candidate
from dqa.deciders.prompting import fold, on_one_line
from dqa.deciders.replies import Finding, Options, Reply, action_text, read_action
from dqa_ldm2.records import Remembered

Text: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_COMPLETE = {"complete", "completed", "done"}
_INCOMPLETE = {"incomplete", "in complete", "not complete", "open"}


def _truth(value: Any) -> Any:  # noqa: ANN401  (JSON from a model)
    word = fold(value) if isinstance(value, str) else value
    return True if word in _COMPLETE else False if word in _INCOMPLETE else value


def _share(value: Any) -> float:  # noqa: ANN401  (JSON from a model)
    """Return a share such as ``0.5`` or ``50%`` as a number.

    Raise `ValueError` if the share is not a number of at least 0.
    """
    text = str(value).strip()
    number = float(text.rstrip("%")) / (100.0 if text.endswith("%") else 1.0)
    if not 0.0 <= number < float("inf"):
        raise ValueError("write a number of at least 0, or a percentage such as 50%")
    return number


class Subgoal(BaseModel):
    """A part of a goal, and whether the steps so far complete it."""

    model_config = ConfigDict(frozen=True)

    goal: Annotated[Text, BeforeValidator(on_one_line)]
    complete: Annotated[bool, BeforeValidator(_truth)]


class Evaluation(Reply):
    """The subgoals of a goal (Table 4, evaluation)."""

    model_config = ConfigDict(title="subgoals")

    subgoals: tuple[Subgoal, ...] = Field(title="subgoals", min_length=1)


class Judgement(Reply):
    """The numbers of the subgoals that are complete.

    The validation context is the number of all subgoals.
    """

    model_config = ConfigDict(title="subgoals")

    complete: tuple[int, ...]

    @field_validator("complete")
    @classmethod
    def _in_range(cls, value: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        most = info.context or 0
        if not set(value) <= set(range(1, most + 1)):
            raise ValueError(f"write whole numbers from 1 to {most}")
        return value


class Summary(Reply):
    """The summary of a history (equation 6)."""

    model_config = ConfigDict(title="history")

    summary: Text = Field(title="summary")


class Reflection(Reply):
    """The lesson of earlier trials (Reflexion)."""

    model_config = ConfigDict(title="reflection")

    reflection: Text = Field(title="lesson")


class Thoughts(Reply):
    """The thoughts before the steps of each example, as ReAct shows them."""

    model_config = ConfigDict(title="thoughts of the examples")

    thoughts: tuple[tuple[str, ...], ...] = Field(title="thoughts")


class Clusters(Reply):
    """Types of texts. The validation context is the number of texts.

    If two types list the same text, the text belongs to the first type. Types whose names differ
    only in case are merged.

    Attributes
    ----------
    types
        By name of a type, the numbers of its texts (counted from 1).
    forgotten
        The numbers of the texts that have no type.
    problems
        Descriptions of the errors in the reply.
    """

    model_config = ConfigDict(title="types")

    types: dict[str, tuple[int, ...]] = Field(title="types")
    forgotten: tuple[int, ...] = Field((), title="without a type")
    problems: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _sort(self, info: ValidationInfo) -> Clusters:
        if info.context is None:
            return self
        numbers = range(1, info.context + 1)
        names: dict[str, str] = {}
        types: dict[str, list[int]] = {}
        for label, listed in self.types.items():
            name = names.setdefault(fold(label), on_one_line(label))
            known = {number for found in types.values() for number in found}
            new = [n for n in dict.fromkeys(listed) if n in numbers and n not in known]
            if name and new:
                types.setdefault(name, []).extend(new)
        if not types:
            raise ValueError("the reply must give a type to at least one number of the list")
        counts = Counter(number for listed in self.types.values() for number in listed)
        found = {number for listed in types.values() for number in listed}
        forgotten = tuple(number for number in numbers if number not in found)
        parts = {
            "without a type": forgotten,
            "not in the list": [number for number in counts if number not in numbers],
            "in two types": [number for number, times in counts.items() if times > 1],
        }
        problems = [f"{what}: {', '.join(map(str, of))}" for what, of in parts.items() if of]
        sorted_types = {name: tuple(sorted(of)) for name, of in types.items()}
        update = {"types": sorted_types, "forgotten": forgotten, "problems": tuple(problems)}
        return self.model_copy(update=update)

    @property
    def flaws(self) -> Sequence[str]:
        """The errors in the reply."""
        return self.problems


class _Numbered(Reply):
    """A reply with a number from 1 on. The validation context is the largest valid number."""

    @field_validator("type", "best", "step", check_fields=False)
    @classmethod
    def _in_range(cls, value: int, info: ValidationInfo) -> int:
        if info.context is not None and not 1 <= value <= info.context:
            raise ValueError(f"write a whole number from 1 to {info.context}")
        return value


class TypeNumber(_Numbered):
    """The number of the type of a new text. The validation context is the number of types."""

    type: int


class BestProcess(_Numbered):
    """The best process (equation 5). The validation context is the number of processes."""

    model_config = ConfigDict(title="chosen process")

    best: int = Field(title="process")
    reasoning: str = Field("", title="reasoning")


class KeyStep(_Numbered):
    """The number of the key step, which makes a process better than another (equation 10).

    The validation context is the number of steps of the better process.
    """

    model_config = ConfigDict(title="key step")

    step: int = Field(title="step")
    reasoning: str = Field("", title="reasoning")


class Likely(BaseModel):
    """An action, and the confidence that it is the best action."""

    model_config = ConfigDict(frozen=True)

    action: Candidate
    confidence: float


class Exploration(Reply):
    """Possible actions with confidences (equation 9). The validation context is the `Options`.

    Attributes
    ----------
    actions
        The legal actions. Equal actions are merged, and their confidences are added.
    dropped
        The problems of the dropped actions, which are illegal or lack a confidence.
    """

    model_config = ConfigDict(title="possible actions")

    actions: tuple[Likely, ...] = Field(title="actions", min_length=1)
    dropped: tuple[str, ...] = Field((), title="dropped")

    @model_validator(mode="before")
    @classmethod
    def _choose(cls, fields: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        options: Options | None = info.context
        listed = fields.get("actions")
        if options is None or not isinstance(listed, list):
            return fields
        found: dict[Candidate, float] = {}
        problems: list[str] = []
        for one in listed:
            entry = one if isinstance(one, dict) else {"action": one}
            text = action_text(entry.get("action"))
            try:
                action = read_action(text, options.actions, options.noun, options.form)
                found[action] = found.get(action, 0.0) + _share(entry.get("confidence"))
            except InvalidAnswerError as error:
                problems.append(str(error))
            except ValueError:
                problems.append(f"'{text}' needs a confidence from 0 to 1")
        if not found:
            raise ValueError("; ".join(problems[:3]) or "name at least one action")
        actions = [Likely(action=action, confidence=share) for action, share in found.items()]
        return {"actions": actions, "dropped": tuple(problems)}

    @property
    def flaws(self) -> Sequence[str]:
        """The problems of the dropped actions."""
        return self.dropped

    def shares(self, most: int) -> tuple[tuple[Candidate, float], ...]:
        """Return up to `most` actions with the highest confidences, scaled to a sum of 1."""
        weights = {one.action: one.confidence for one in self.actions}
        best = sorted(weights, key=lambda action: -weights[action])[:most]
        total = sum(weights[action] for action in best)
        return tuple(
            (action, weights[action] / total if total else 1.0 / len(best)) for action in best
        )


class Indexed(Finding):
    """The type of a goal or an observation.

    Attributes
    ----------
    of, type
        Whether the text is a goal or an observation, and the type of the text. The type is empty if
        the index has no types.
    batch
        The batch memory.
    how
        How the type was found: ``model``, ``only type``, ``known text`` (the text is an example of
        the type) or ``words`` (by comparing words).
    """

    model_config = ConfigDict(title="type")

    of: str = Field(title="of")
    type: str = Field(title="type")
    batch: int = Field(title="batch")
    how: str = Field(title="found by")


class Recalled(BaseModel):
    """A remembered tuple in a prompt."""

    model_config = ConfigDict(frozen=True)

    action: str
    source: str
    number: int
    id: int
    version: int
    likeness: float

    @classmethod
    def of(cls, one: Remembered) -> Recalled:
        """Return the fields of a tuple that a trace stores."""
        return cls(**{name: getattr(one, name) for name in cls.model_fields})


class Recall(Finding):
    """The retrieved tuples for a situation (equation 3), most similar first.

    Attributes
    ----------
    memory, batch, goal_type, observation_type
        Where tuples were searched: the memory, the batch, the goal type and the observation type.
    tuples
        The retrieved tuples.
    own
        The number of sources left out because they belong to this question or episode.
    """

    model_config = ConfigDict(title="recalled")

    memory: str = Field(title="memory")
    batch: int = Field(title="batch")
    goal_type: str = Field(title="goal type")
    observation_type: str = Field(title="observation type")
    tuples: tuple[Recalled, ...] = Field(title="tuples")
    own: int = Field(title="sources of this question, left out")


class Imitation(Finding):
    """The tuple that an action imitates: the tuple whose action is the same or the most similar."""

    model_config = ConfigDict(title="imitation")

    action: Candidate = Field(title="action")
    tuple_id: int | None = Field(None, title="tuple")
    source: str = Field("", title="source")
    is_same: bool = Field(False, title="the same action")
