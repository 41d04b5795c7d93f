"""Reading what models reply to the steps: actions, states, payoffs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dqa.core.errors import InvalidAnswerError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.prompting import fold
from dqa.deciders.replies import read_action, read_object

_LISTED = 40
"""Most actions that a message lists."""
_SHOWN = 10
"""Most names that a message lists."""
_LONGEST = 60
"""Most characters of a value that a message shows."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was chosen: in words, as an action, and why."""

    answer: str
    action: Candidate
    reasoning: str = ""


def read_choice(
    reply: str, actions: Sequence[Candidate], noun: str = "action", form: str = ""
) -> Chosen:
    """Return the action that a reply's object names; `UnparsableReplyError` says what to write."""
    told = read_object(reply, "action")
    if "action" not in told:
        raise UnparsableReplyError('The reply names no action. Write {"action": "..."}.')
    said = _said(told["action"])
    reasoning = told.get("reasoning", "")
    try:
        action = name_action(said, actions, noun, form)
    except InvalidAnswerError as error:  # what it advises is no JSON
        raise InvalidAnswerError(error.problem, _advice(actions, form), error.named) from error
    return Chosen(said, action, reasoning if _is_text(reasoning) else "")


def name_action(
    said: str, actions: Sequence[Candidate], noun: str = "action", form: str = ""
) -> Candidate:
    """Return the action that words name; signs around it, case and spaces do not count.

    What is written in the free `form` counts as well.

    Raises
    ------
    InvalidAnswerError
        They name none of the actions, or several.
    """
    tight = _tight(said)
    found = [action for action in actions if _tight(str(action)) == tight]
    if len(found) == 1:
        return found[0]
    return read_action(said, actions, noun, form)


def read_payoffs(
    reply: str, actions: Sequence[Candidate], known: Sequence[Candidate] = ()
) -> tuple[dict[Candidate, float], list[str]]:
    """Return the payoffs that a reply gives, and what is not a number of one of the actions.

    Numbers may lie outside of 0 to 1: that is for the caller to judge. What is said of the `known`
    actions, whose payoffs nobody asked for, does not count.
    """
    told = read_object(reply, "payoffs")
    listed = told.get("payoffs", told)
    if not isinstance(listed, Mapping):
        raise UnparsableReplyError('Write {"payoffs": {"<action>": <number from 0 to 1>}}.')
    places = {_tight(str(action)): action for action in actions}
    aside = {"reasoning", *(_tight(str(action)) for action in known)}
    found: dict[Candidate, float] = {}
    odd: list[str] = []
    for name, value in listed.items():
        action = places.get(_tight(name))
        number = _number(value)
        if action is None:
            if _tight(name) not in aside:
                odd.append(f"'{shown(name)}' is none of the actions")
        elif number is None:
            odd.append(
                f"'{action}' has {shown(json.dumps(value, default=str))}, which is no number"
            )
        else:
            found[action] = number
    return found, odd


def read_states(
    reply: str, wanted: Mapping[tuple[str, str], Sequence[str]]
) -> dict[tuple[str, str], str]:
    """Return the state of every variable, by player and name.

    Raises
    ------
    UnparsableReplyError
        A variable is missing, or has none of its states.
    """
    told = read_object(reply, "hidden")
    listed = _folded(told.get("hidden", told))
    found: dict[tuple[str, str], str] = {}
    problems: list[str] = []
    for (player, name), states in wanted.items():
        of_player = listed.get(fold(player))
        value = _folded(of_player).get(fold(name)) if isinstance(of_player, Mapping) else None
        if value is None:
            value = listed.get(fold(name))  # a reply that leaves out whose it is
        state = _state(value, states)
        if state is None:
            is_what = "is missing" if value is None else f"cannot be {shown(json.dumps(value))}"
            of_these = json.dumps(list(states), ensure_ascii=False)
            problems.append(f"{name} of {player} {is_what}: its states are {of_these}")
        else:
            found[player, name] = state
    if problems:
        raise UnparsableReplyError(
            f"Not every hidden state is named: {told_of(problems)}. Write {_example(wanted)}, "
            "one of its states for each."
        )
    return found


def _example(wanted: Iterable[tuple[str, str]]) -> str:
    """Return the object that a reply is to hold, with the states left open."""
    asked: dict[str, dict[str, str]] = {}
    for player, name in wanted:
        asked.setdefault(player, {})[name] = "<state>"
    return json.dumps({"hidden": asked}, ensure_ascii=False)


def _advice(actions: Sequence[Candidate], form: str) -> str:
    """Return how an action is to be written."""
    free = f"{json.dumps(form, ensure_ascii=False)} with words of your own in place of the dots"
    if not actions and form:
        return f'Write {{"action": "..."}} with {free}.'
    listed = [json.dumps(str(action), ensure_ascii=False) for action in actions[:_LISTED]]
    more = len(actions) - len(listed)
    others = f" and {more} more, which the question lists" if more else ""
    one = f'Write {{"action": "..."}} with exactly one of these: {", ".join(listed)}{others}'
    return f"{one}, or with {free}." if form else f"{one}."


def told_of(problems: Sequence[str]) -> str:
    """Return problems as one text that is not too long."""
    more = f"; {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    return "; ".join(problems[:_SHOWN]) + more


def shown(text: object) -> str:
    """Return a model's words, shortened, as a message shows them."""
    words = str(text)
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."


def _state(value: Any, states: Sequence[str]) -> str | None:  # noqa: ANN401  (whatever a model gave)
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("state", "value", "rating") if key in value), None)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return next((state for state in states if fold(state) == fold(value)), None)


def _number(value: Any) -> float | None:  # noqa: ANN401  (whatever a model gave)
    if isinstance(value, bool):
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _said(value: Any) -> str:  # noqa: ANN401  (whatever a model gave)
    """Return an action as it is written: a list of numbers is one as ``[1, 0, 2]``."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _tight(words: object) -> str:
    return fold(words).replace(" ", "").strip("\"'`<>.*")


def _folded(value: Any) -> Mapping[str, Any]:  # noqa: ANN401  (whatever a model gave)
    return {fold(name): part for name, part in value.items()} if isinstance(value, Mapping) else {}


def _is_text(value: object) -> bool:
    return isinstance(value, str)
