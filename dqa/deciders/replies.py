"""The JSON object in a model's reply, and the action that it decides for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from dqa.core.errors import InvalidAnswerError, UnparsableReplyError
from dqa.core.question import Candidate, fits_form
from dqa.deciders.answers import read_answer
from dqa.deciders.prompting import fold

_NUMBERED = re.compile(r"\W*action\W{0,5}(?P<number>\d{1,9})\b[\s.:*_\"'()\[\]-]*", re.IGNORECASE)
"""The number before an action as prompts list it, "Action 2. name", and as models repeat that."""
_MANY_BRACES = 500
"""Fewer than are nested in an object that Python does not read."""
_LISTED = 40
"""Most actions that a message lists."""
_PROBLEMS = 10
"""Most problems in a message to a model."""
_ALONE = re.compile(r"[\s#]*(?P<number>\d{1,9})[\s.]*")


def read_object(text: str, *names: str) -> Mapping[str, Any]:
    """Return the JSON object in a reply, whatever stands around it.

    Of several, the last one that has one of `names` counts: those before it are drafts or
    examples.

    Raises
    ------
    UnparsableReplyError
        There is none.
    """
    found = list(_objects(text))
    if not found:
        wanted = f" that has {' or '.join(json.dumps(name) for name in names)}" if names else ""
        raise UnparsableReplyError(
            f"The reply holds no JSON object. Reply with one{wanted}, and nothing else."
        )
    return next((one for one in reversed(found) if not one.keys().isdisjoint(names)), found[-1])


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice: in words, as an action, and its reasons."""

    answer: str
    action: Candidate
    reasoning: str = ""


def read_action(
    said: str, actions: Sequence[Candidate], noun: str = "action", form: str = ""
) -> Candidate:
    """Return the action that a decision names; signs around it, case and spaces do not count.

    It is read as `dqa.deciders.answers.read_answer` does, behind a number such as "Action 2.",
    which does not count there. The number alone is that action, unless another action has it as an
    id: then it may be either. A bare number is an id first. An action in the free `form`
    counts as well.

    Raises
    ------
    InvalidAnswerError
        It names none of the actions, or several; the message tells the model what to write.
    """
    verbatim = {str(action): action for action in actions}
    if said.strip() in verbatim:
        return verbatim[said.strip()]
    tight = tighten(said)
    similar = [action for action in actions if tighten(action) == tight]
    if len(similar) == 1:
        return similar[0]
    if fits_form(said.strip(), form):  # with any words in place of the dots
        return said.strip()
    label = _NUMBERED.match(said)
    name = said if label is None else said[label.end() :]
    if label is not None and not name:
        numbered = actions[int(label["number"]) - 1 : int(label["number"])]
        by_id = verbatim.get(label["number"])
        if numbered and by_id not in (None, numbered[0]):
            raise InvalidAnswerError(
                f"'{said}' may be {noun} number {label['number']}, which is {numbered[0]}, or the "
                f"{noun} that is called {by_id}.",
                f"Give exactly one {noun}, by its name alone.",
                (numbered[0], by_id),
            )
        if numbered:
            return numbered[0]
    try:
        return read_answer(name or said, actions, (noun,), form=form)
    except InvalidAnswerError:
        alone = _ALONE.fullmatch(said)
        if alone is None or not 1 <= int(alone["number"]) <= len(actions):
            raise
        return actions[int(alone["number"]) - 1]


def choose_action(
    said: str, actions: Sequence[Candidate], noun: str = "action", form: str = ""
) -> Candidate:
    """Return the action as `read_action` does, for a reply in JSON.

    Raises
    ------
    InvalidAnswerError
        It names none of the actions, or several; the message says in JSON what to write.
    """
    try:
        return read_action(said, actions, noun, form)
    except InvalidAnswerError as error:
        raise InvalidAnswerError(error.problem, _advice(actions, form), error.named) from error


def _advice(actions: Sequence[Candidate], form: str) -> str:
    listed = [json.dumps(str(action), ensure_ascii=False) for action in actions[:_LISTED]]
    if len(actions) > _LISTED:
        listed[-1] += f" and {len(actions) - _LISTED} more, which the question lists"
    ways = [f"exactly one of these: {', '.join(listed)}"] if listed or not form else []
    if form:
        quoted = json.dumps(form, ensure_ascii=False)
        ways.append(f"{quoted} with words of your own in place of the dots")
    return f'Write {{"action": "..."}} with {", or with ".join(ways)}.'


def action_text(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    """Return an action as it is written: a list of numbers is one as ``[1, 0, 2]``."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def tighten(words: object) -> str:
    """Return the form for comparisons of actions: neither spaces nor signs around them count."""
    return fold(words).replace(" ", "").strip("\"'`<>.*")


def read_decision(reply: Mapping[str, Any]) -> str | None:
    """Return the decision in a reply's object, as words or a number; None without one."""
    told = reply.get("decision")
    if isinstance(told, int) and not isinstance(told, bool):
        return str(told)
    return told.strip() or None if isinstance(told, str) else None


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield every outermost object, in order."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        end = start + 1
        try:
            found, end = decoder.raw_decode(text, start)
        except RecursionError:
            end = _skip_braces(text, start)  # each of these would take as long again
        except ValueError:
            pass  # a brace of prose, or the beginning of half an object
        else:
            yield found
        start = text.find("{", end)


def _skip_braces(text: str, start: int) -> int:
    """Return a position far inside an object that is nested too deeply."""
    for _ in range(_MANY_BRACES):
        start = text.find("{", start + 1)
        if start < 0:
            return len(text)
    return start


def problems_of(error: ValidationError) -> str:
    """Return the problems of a reply or a call, as a message to a model."""
    return listed([_problem(one) for one in error.errors(include_url=False)])


def listed(problems: Sequence[str]) -> str:
    """Return problems as one text that is not too long."""
    more = f"; {len(problems) - _PROBLEMS} more" if len(problems) > _PROBLEMS else ""
    return "; ".join(problems[:_PROBLEMS]) + more


def _problem(error: Any) -> str:  # noqa: ANN401  (pydantic's own dictionary)
    where = ".".join(map(str, error["loc"]))
    what = str(error["msg"]).removeprefix("Value error, ")
    return f'"{where}": {what}' if where else what
