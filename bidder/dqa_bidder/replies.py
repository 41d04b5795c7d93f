"""The typed replies to BIDDER's prompts: hidden states, payoffs, thoughts and votes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Self

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from dqa.core.errors import UnparsableReplyError
from dqa.core.question import Candidate
from dqa.core.text import shortened
from dqa.deciders.prompting import fold
from dqa.deciders.replies import Options, Reply, action_text, read_action, tighten
from dqa.worlds.world import HiddenVariable, Position

_DIGITS = 4
"""The number of significant digits in prompts."""
_SHOWN = 60
"""The maximum number of characters of an invalid value in a message."""


class HiddenStates(Reply):
    """The most likely value of each hidden variable, by player and name of the variable."""

    model_config = ConfigDict(title="hidden states")

    hidden: dict[str, dict[str, str]] = Field(title="inferred of others")

    @field_validator("hidden", mode="before")
    @classmethod
    def _states(cls, reply: Any, info: ValidationInfo) -> dict[str, dict[str, str]]:  # noqa: ANN401
        variables: Sequence[HiddenVariable] = info.context or ()
        listed = _folded(reply)
        found: dict[str, dict[str, str]] = {}
        problems = []
        for one in variables:
            belief = _folded(listed.get(fold(one.player))).get(fold(one.name))
            state = next((state for state in one.states if fold(state) == fold(belief)), None)
            if state is None:
                wrong = f"cannot be {shortened(json.dumps(belief), _SHOWN)}"
                what = "is missing" if belief is None else wrong
                states = json.dumps(list(one.states), ensure_ascii=False)
                problems.append(f"{one.name} of {one.player} {what}. Write one of {states}")
            else:
                found.setdefault(one.player, {})[one.name] = state
        if problems:
            raise ValueError("; ".join(problems))
        return found


@dataclass(frozen=True, slots=True)
class Unknown:
    """The actions that need a number from the model.

    Attributes
    ----------
    position
        The position; None for a question that is not a move.
    actions
        The actions that need a number.
    known
        The payoffs of other actions, by the rules. The model does not write these payoffs.
    most
        The number of most promising actions that the model selects; None for all actions.
    is_chance
        Whether the numbers are probabilities instead of payoffs.
    """

    position: Position | None
    actions: tuple[Candidate, ...]
    known: Mapping[Candidate, float] = field(default_factory=dict)
    most: int | None = None
    is_chance: bool = False

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest valid number."""
        if self.position is None or self.is_chance:
            return 0.0, 1.0
        return self.position.payoff_range


class _Numbers(Reply):
    """A number for each action. A subclass adds the field with the numbers.

    The model is asked again if a number is missing or out of range. If the last reply still has
    this problem, numbers are clipped to the range, and missing numbers stay unknown.

    Attributes
    ----------
    clipped, missing
        The actions whose number was out of range, and the actions without a number.
    problems
        A description of each problem in the reply.
    """

    clipped: tuple[Candidate, ...] = Field(default=(), title="clipped")
    missing: tuple[Candidate, ...] = Field(default=(), title="without a number")
    problems: tuple[str, ...] = ()

    @property
    def flaws(self) -> Sequence[str]:
        """The problems that the model is asked to correct."""
        return self.problems

    @model_validator(mode="before")
    @classmethod
    def _read(cls, reply: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        unknown: Unknown | None = info.context
        if unknown is None:
            return reply  # the object is created by a program
        (name,) = (name for name, one in cls.model_fields.items() if one.is_required())
        listed = reply.get(name)
        if not isinstance(listed, Mapping):
            raise UnparsableReplyError(f'Write {{"{name}": {{"<action>": <number>}}}}.')
        found, problems = _numbers(listed, unknown)
        low, high = unknown.range
        outside = [a for a in unknown.actions if a in found and not low <= found[a] <= high]
        between = f"which is not between {_plain(low)} and {_plain(high)}"
        problems += [f"'{a}' has {found[a]:g}, {between}" for a in outside]
        missing: list[Candidate] = []
        if unknown.most is None:
            missing = [action for action in unknown.actions if action not in found]
            problems += [f"'{action}' has no number" for action in missing]
        elif len(found) < unknown.most:
            problems.append(f"{len(found)} of {unknown.most} actions have a number")
        elif not outside:
            problems = []  # enough actions have a number, so ignore other entries
        if not found:
            raise UnparsableReplyError("; ".join(problems) or "No action has a number.")
        best = sorted(found, key=lambda action: -found[action])[: unknown.most]
        numbers = {a: min(max(found[a], low), high) for a in unknown.actions if a in set(best)}
        return {
            name: numbers,
            "clipped": tuple(outside),
            "missing": tuple(missing),
            "problems": tuple(problems),
        }


class Payoffs(_Numbers):
    """The expected payoff of each action, in legal order."""

    model_config = ConfigDict(title="payoffs")

    payoffs: dict[Candidate, float] = Field(title="payoffs")


class Probabilities(_Numbers):
    """The probability of each action of another player."""

    model_config = ConfigDict(title="expected moves")

    probabilities: dict[Candidate, float] = Field(title="probabilities")

    @model_validator(mode="after")
    def _are_some(self) -> Self:
        if not any(self.probabilities.values()):
            raise UnparsableReplyError("At least one action needs a probability above 0.")
        return self

    def of_most_likely(self, most: int) -> dict[Candidate, float]:
        """Return at most `most` likely actions, with probabilities scaled to a sum of 1."""
        chances = self.probabilities
        likely = sorted(chances, key=lambda action: -chances[action])[:most]
        total = sum(chances[action] for action in likely)
        return {action: chances[action] / total for action in likely if chances[action]}


class EndPayoff(Reply):
    """The estimated payoff of a terminal state. The validation context is the payoff range."""

    model_config = ConfigDict(title="expected result")

    payoff: float = Field(title="payoff")

    @field_validator("payoff", mode="before")
    @classmethod
    def _in_range(cls, reply: Any, info: ValidationInfo) -> float:  # noqa: ANN401
        number = _number(reply)
        low, high = info.context or (float("-inf"), float("inf"))
        if number is None or not low <= number <= high:
            raise ValueError(
                f'Write {{"payoff": <a number between {_plain(low)} and {_plain(high)}>}}.'
            )
        return number


def _numbers(
    listed: Mapping[str, Any], unknown: Unknown
) -> tuple[dict[Candidate, float], list[str]]:
    """Return the number of each action in a reply, and the problem of each invalid entry."""
    actions = {tighten(str(action)): action for action in unknown.actions}
    aside = {tighten(str(action)) for action in unknown.known}
    found: dict[Candidate, float] = {}
    problems = []
    for name, value in listed.items():
        action, number = actions.get(tighten(name)), _number(value)
        if action is None:
            if tighten(name) not in aside:
                problems.append(f"'{shortened(name, _SHOWN)}' is not one of the actions")
        elif number is None:
            shown_value = shortened(json.dumps(value, default=str), _SHOWN)
            problems.append(f"'{action}' has {shown_value}, which is not a number")
        else:
            found[action] = number
    return found, problems


class Thought(Reply):
    """A thought, and the action that it chooses; None if it does not choose an action."""

    text: str
    action: Candidate | None = None


class Thoughts(Reply):
    """Several possible next thoughts.

    On the last level of the tree, each thought names an action. The validation context is then the
    `Options`; on other levels it is None.
    """

    model_config = ConfigDict(title="proposed thoughts")

    thoughts: list[Thought] = Field(title="thoughts")

    @field_validator("thoughts", mode="before")
    @classmethod
    def _read(cls, reply: Any, info: ValidationInfo) -> list[Thought]:  # noqa: ANN401
        found, problems = [], []
        for one in reply if isinstance(reply, list) else []:
            try:
                found.append(_thought(one, info.context))
            except UnparsableReplyError as error:
                problems.append(str(error))
        if not found:
            raise UnparsableReplyError(
                f"{problems[0] if problems else 'The reply has no thoughts.'} Write "
                '{"thoughts": [...]} as the task says.'
            )
        return found


def _thought(reply: Any, options: Options | None) -> Thought:  # noqa: ANN401  (JSON from a model)
    if isinstance(reply, str):
        reply = {"thought": reply}
    if not isinstance(reply, Mapping):
        raise UnparsableReplyError("A thought in the reply is neither a text nor an object.")
    thought = reply.get("thought", reply.get("text", ""))
    text = thought.strip() if isinstance(thought, str) else ""
    if options is None:
        if not text:
            raise UnparsableReplyError("A thought is empty.")
        return Thought(text=text)
    if reply.get("action") is None:
        raise UnparsableReplyError("A thought names no action.")
    words = action_text(reply["action"])
    action = read_action(words, options.actions, options.noun, options.form)
    return Thought(text=text, action=action)


class Vote(Reply):
    """The number of the best thought, from 1. The validation context is the number of thoughts."""

    model_config = ConfigDict(title="vote")

    best: int = Field(title="best thought")

    @field_validator("best", mode="before")
    @classmethod
    def _number(cls, reply: Any, info: ValidationInfo) -> Any:  # noqa: ANN401
        text, most = str(reply).strip().removeprefix("Thought").strip(), int(info.context or 0)
        if text.isdecimal() and text.isascii() and 1 <= int(text) <= most:
            return int(text)
        raise ValueError(
            f'There are {most} thoughts: write {{"best": <a number from 1 to {most}>}}.'
        )


def _number(value: Any) -> float | None:  # noqa: ANN401  (JSON from a model)
    try:
        number = float("nan" if isinstance(value, bool) else value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def _folded(value: Any) -> Mapping[str, Any]:  # noqa: ANN401  (JSON from a model)
    return {fold(name): part for name, part in value.items()} if isinstance(value, Mapping) else {}


def _plain(value: float) -> str:
    return f"{value:.{_DIGITS}g}"


def rounded(value: float) -> float:
    """Return a number with the digits that prompts show."""
    return float(_plain(value))
