"""Reading what models reply to the operations; what is wrong says what to write instead."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from dqa.core.errors import InvalidAnswerError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.actions import action_text, advise_on_action, choose_action, shown, told_of
from dqa.deciders.prompting import fold, on_one_line
from dqa.deciders.replies import read_object
from dqa.models.conversation import Conversation
from dqa_ldm2.events import Subgoal

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Partly(Generic[_Read]):
    """What could be read of a reply.

    Attributes
    ----------
    value
        What it says.
    worth
        How much that is; of several replies the one of the largest counts.
    problem
        What is wrong with the rest, and what to write; empty for nothing.
    """

    value: _Read
    worth: float = 0.0
    problem: str = ""


def ask_for_most(
    conversation: Conversation, text: str, read: Callable[[str], Partly[_Read]], purpose: str
) -> _Read:
    """Ask until a reply has nothing wrong; where none has, return the best that could be read.

    Raises
    ------
    UnparsableReplyError
        Nothing could be read of any reply.
    """
    kept: list[Partly[_Read]] = []

    def strictly(reply: str) -> _Read:
        found = read(reply)
        if not found.problem:
            return found.value
        kept.append(found)
        raise UnparsableReplyError(found.problem)

    try:
        return conversation.ask(text, strictly, purpose)
    except UnparsableReplyError:
        if not kept:
            raise
        return max(kept, key=lambda one: one.worth).value


def read_text(reply: str, name: str) -> str:
    """Return a text that a reply's object has under a name."""
    told = read_object(reply, name).get(name)
    if not isinstance(told, str) or not told.strip():
        raise UnparsableReplyError(f'Write {{"{name}": "<text>"}} with a text that says something.')
    return told.strip()


def read_subgoals(reply: str) -> tuple[Subgoal, ...]:
    """Return the subgoals that a reply judges."""
    told = read_object(reply, "subgoals").get("subgoals")
    advice = 'Write {"subgoals": [{"goal": "<subgoal>", "complete": <true or false>}]}.'
    if not isinstance(told, list) or not told:
        raise UnparsableReplyError(f"The reply lists no subgoals. {advice}")
    found: list[Subgoal] = []
    for one in told:
        goal = one.get("goal") if isinstance(one, Mapping) else None
        complete = _truth(one.get("complete")) if isinstance(one, Mapping) else None
        if not isinstance(goal, str) or complete is None:
            raise UnparsableReplyError(
                f"{shown(json.dumps(one, default=str))} is no judged subgoal. {advice}"
            )
        found.append(Subgoal(goal=on_one_line(goal), complete=complete))
    return tuple(found)


def read_number(reply: str, name: str, most: int) -> int:
    """Return a whole number from 1 to `most` that a reply's object has under a name."""
    number = _whole(read_object(reply, name).get(name))
    if number is None or not 1 <= number <= most:
        raise UnparsableReplyError(f'Write {{"{name}": <a whole number from 1 to {most}>}}.')
    return number


@dataclass(frozen=True, slots=True)
class Clusters:
    """Types by name, each with numbers from 1, and the numbers that have none."""

    types: Mapping[str, tuple[int, ...]]
    forgotten: tuple[int, ...] = ()


def read_clusters(reply: str, count: int) -> Partly[Clusters]:
    """Return the types that a reply sorts the numbers 1 to `count` into.

    A number with several types belongs to the first; types that are named alike are one.
    """
    told = read_object(reply, "types")
    listed = told.get("types", told)
    if not isinstance(listed, Mapping):
        raise UnparsableReplyError('Write {"types": {"<name of the type>": [<numbers>]}}.')
    problems: list[str] = []
    names: dict[str, str] = {}
    types: dict[str, list[int]] = {}
    seen: set[int] = set()
    for said, numbers in listed.items():
        name = names.setdefault(fold(said), on_one_line(said))
        for value in numbers if isinstance(numbers, list) else [numbers]:
            number = _whole(value)
            if number is None or not 1 <= number <= count:
                problems.append(f"{shown(json.dumps(value, default=str))} is none of the numbers")
            elif number in seen:
                problems.append(f"{number} stands in two types")
            elif name:
                seen.add(number)
                types.setdefault(name, []).append(number)
    forgotten = tuple(number for number in range(1, count + 1) if number not in seen)
    if forgotten:
        problems.append(f"without a type: {', '.join(map(str, forgotten))}")
    if not types:
        raise UnparsableReplyError(
            'No number has a type. Write {"types": {"<name of the type>": [<numbers>]}}.'
        )
    value = Clusters({name: tuple(sorted(found)) for name, found in types.items()}, forgotten)
    problem = (
        f"Not every number is sorted once: {told_of(problems)}. Write "
        f'{{"types": {{"<name of the type>": [<numbers>]}}}} with each number from 1 to {count} in '
        "exactly one type."
    )
    return Partly(value, float(len(seen)), problem if problems else "")


@dataclass(frozen=True, slots=True)
class Confidences:
    """Actions with confidences that add up to 1, the largest first.

    Attributes
    ----------
    actions
        Each with its confidence.
    said
        What they added up to in the reply; None where it gave none.
    missing, dropped
        How many came without one, and how many were not legal.
    """

    actions: tuple[tuple[Candidate, float], ...]
    said: float | None = None
    missing: int = 0
    dropped: int = 0


@dataclass(slots=True)
class _Listed:
    """The actions of a reply, as they are read."""

    given: dict[Candidate, float | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    dropped: int = 0


def read_confidences(
    reply: str, actions: Sequence[Candidate], noun: str, form: str, most: int
) -> Partly[Confidences]:
    """Return the actions that a reply names, with confidences that are made to add up to 1.

    A missing confidence shares what the others leave of 1 (or, where they leave nothing, counts as
    the least of them). An action that is not legal is a problem, and dropped.
    """
    told = read_object(reply, "actions").get("actions")
    advice = (
        f"{advise_on_action(actions, form)} List them all in "
        '{"actions": [{"action": "...", "confidence": <number from 0 to 1>}]}.'
    )
    if isinstance(told, Mapping):
        told = [{"action": name, "confidence": value} for name, value in told.items()]
    if not isinstance(told, list) or not told:
        raise UnparsableReplyError(f"The reply lists no actions. {advice}")
    listed = _Listed()
    for one in told:
        _read_confident(one, listed, actions, noun, form)
    if not listed.given:
        raise UnparsableReplyError(f"{told_of(listed.problems)}. {advice}")
    value = _add_up(listed, most)
    problem = f"{told_of(listed.problems)}. {advice}" if listed.problems else ""
    return Partly(value, float(len(listed.given)), problem)


def _read_confident(
    one: Any,  # noqa: ANN401  (whatever a model gave)
    listed: _Listed,
    actions: Sequence[Candidate],
    noun: str,
    form: str,
) -> None:
    said = one.get("action") if isinstance(one, Mapping) else one
    if said is None:
        listed.problems.append(f"{shown(json.dumps(one, default=str))} names no action")
        listed.dropped += 1
        return
    try:
        action = choose_action(action_text(said), actions, noun, form)
    except InvalidAnswerError as error:
        listed.problems.append(error.problem.rstrip("."))
        listed.dropped += 1
        return
    number = _number(one.get("confidence")) if isinstance(one, Mapping) else None
    before = listed.given.get(action)
    both = [value for value in (before, number) if value is not None]
    listed.given[action] = sum(both) if both else None


def _add_up(listed: _Listed, most: int) -> Confidences:
    given = {action: value for action, value in listed.given.items() if value is not None}
    missing = [action for action, value in listed.given.items() if value is None]
    said = sum(given.values()) if given else None
    rest = max(1.0 - (said or 0.0), 0.0) / len(missing) if missing else 0.0
    if missing and not rest:
        rest = min(given.values())
    weights = {action: given.get(action, rest) for action in listed.given}
    if not any(weights.values()):
        weights = dict.fromkeys(weights, 1.0)
    ranked = sorted(weights, key=lambda action: -weights[action])[:most]
    total = sum(weights[action] for action in ranked)
    return Confidences(
        tuple((action, weights[action] / total) for action in ranked),
        said,
        len(missing),
        listed.dropped,
    )


def _truth(value: Any) -> bool | None:  # noqa: ANN401  (whatever a model gave)
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = fold(value)
        if word in {"true", "yes", "complete", "completed", "done"}:
            return True
        if word in {"false", "no", "incomplete", "not complete", "in complete", "open"}:
            return False
    return None


def _whole(value: Any) -> int | None:  # noqa: ANN401  (whatever a model gave)
    number = _number(value, least=-math.inf)
    return int(number) if number is not None and number == int(number) else None


def _number(value: Any, least: float = 0.0) -> float | None:  # noqa: ANN401  (as above)
    if isinstance(value, bool):
        return None
    percent = isinstance(value, str) and value.strip().endswith("%")
    try:
        number = (
            float(value.strip().rstrip("%") if isinstance(value, str) else value)
            if isinstance(value, int | float | str)
            else math.nan
        )
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(number) or number < least:
        return None
    return number / 100 if percent else number
