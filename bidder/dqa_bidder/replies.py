"""Reading what models reply to the steps: states, payoffs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dqa.core.errors import UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.actions import shown, tighten, told_of
from dqa.deciders.prompting import fold
from dqa.deciders.replies import read_object


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
    places = {tighten(str(action)): action for action in actions}
    aside = {"reasoning", *(tighten(str(action)) for action in known)}
    found: dict[Candidate, float] = {}
    odd: list[str] = []
    for name, value in listed.items():
        action = places.get(tighten(name))
        number = _number(value)
        if action is None:
            if tighten(name) not in aside:
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


def _folded(value: Any) -> Mapping[str, Any]:  # noqa: ANN401  (whatever a model gave)
    return {fold(name): part for name, part in value.items()} if isinstance(value, Mapping) else {}
