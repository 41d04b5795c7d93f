"""The action that a reply's JSON object chooses, named among those that can be chosen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dqa.core.errors import InvalidAnswerError
from dqa.core.question import Candidate, fits_form
from dqa.deciders.prompting import fold
from dqa.deciders.replies import read_action

_LISTED = 40
"""Most actions that a message lists."""
_LONGEST = 60
"""Most characters of a value that a message shows."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice: in words, as an action, and its reasons."""

    answer: str
    action: Candidate
    reasoning: str = ""


def choose_action(
    said: str, actions: Sequence[Candidate], noun: str = "action", form: str = ""
) -> Candidate:
    """Return the action that words name, or that they are in the free form.

    Raises
    ------
    InvalidAnswerError
        They are neither; the message says in JSON what to write.
    """
    try:
        return name_action(said, actions, noun, form)
    except InvalidAnswerError as error:  # its advice is not JSON
        advice = advise_on_action(actions, form)
        raise InvalidAnswerError(error.problem, advice, error.named) from error


def name_action(
    said: str, actions: Sequence[Candidate], noun: str = "action", form: str = ""
) -> Candidate:
    """Return the action that words name; signs around it, case and spaces do not count.

    An action in the free `form` counts as well.

    Raises
    ------
    InvalidAnswerError
        They name none of the actions, or several.
    """
    tight = tighten(said)
    found = [action for action in actions if tighten(str(action)) == tight]
    if len(found) == 1:
        return found[0]
    if fits_form(said.strip(), form):  # with any words in place of the dots
        return said.strip()
    return read_action(said, actions, noun, form)


def advise_on_action(actions: Sequence[Candidate], form: str = "") -> str:
    """Return how an action is to be written."""
    listed = [json.dumps(str(action), ensure_ascii=False) for action in actions[:_LISTED]]
    more = len(actions) - len(listed)
    others = f" and {more} more, which the question lists" if more else ""
    free = f"{json.dumps(form, ensure_ascii=False)} with words of your own in place of the dots"
    if not actions and form:
        return f'Write {{"action": "..."}} with {free}.'
    one = f'Write {{"action": "..."}} with exactly one of these: {", ".join(listed)}{others}'
    return f"{one}, or with {free}." if form else f"{one}."


def shown(text: object) -> str:
    """Return a model's words, shortened, as a message shows them."""
    words = str(text)
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."


def action_text(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    """Return an action as it is written: a list of numbers is one as ``[1, 0, 2]``."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def tighten(words: object) -> str:
    """Return what actions are compared by: neither spaces nor signs around them count."""
    return fold(words).replace(" ", "").strip("\"'`<>.*")
