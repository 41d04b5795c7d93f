"""Typed replies of models: the JSON object in a reply, its fields, and the action that it chooses.

A method defines a class for each reply. Reports show the titles of the class and of its fields.
They omit fields without a title.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, model_validator

from dqa.core.errors import InvalidAnswerError, UnparsableReplyError
from dqa.core.question import Candidate, fits_form
from dqa.deciders.answers import read_answer
from dqa.deciders.prompting import fold

_NUMBERED = re.compile(r"\W*action\W{0,5}(?P<number>\d{1,9})\b[\s.:*_\"'()\[\]-]*", re.IGNORECASE)
"""The label of an action in prompts, "Action 2. name", which models repeat."""
_PROBLEMS = 10
"""The maximum number of problems in a message to a model."""
_MOST_BRACES = 1_000
"""The maximum number of braces that may begin no object. Each may need a look at the whole text."""
_ALONE = re.compile(r"[\s#]*(?P<number>\d{1,9})[\s.]*")


def read_object(text: str, *names: str) -> Mapping[str, Any]:
    """Return the JSON object in a reply. Text around the object is ignored.

    If there are several objects, return the last one with a field in `names`. Earlier objects are
    usually drafts or examples.

    Raises
    ------
    UnparsableReplyError
        The reply contains no JSON object.
    """
    found = list(_objects(text))
    if not found:
        wanted = f" that has {' or '.join(json.dumps(name) for name in names)}" if names else ""
        raise UnparsableReplyError(
            f"The reply contains no JSON object. Reply with one{wanted}, and nothing else."
        )
    return next((one for one in reversed(found) if not one.keys().isdisjoint(names)), found[-1])


def read_action(
    said: str, actions: Sequence[Candidate], noun: str = "action", form: str = ""
) -> Candidate:
    """Return the action that a decision names.

    Case, surrounding signs and a label such as "Action 2." before a name are ignored. A label
    without a name, such as "Action 2", means the action with this number in the list. If another
    action has this number as its name, the decision is ambiguous. A number without a label means
    the action with this name, otherwise the action at this position (from 1) in the list.
    `dqa.deciders.answers.read_answer` reads a decision in any other form.

    Raises
    ------
    InvalidAnswerError
        The decision names no action or several actions. The message tells the model what to write.
    """
    tight = tighten(said)
    similar = [one for one in actions if str(one) == said.strip()]
    similar = similar or [one for one in actions if tighten(one) == tight]
    if len(similar) == 1:
        return similar[0]
    if fits_form(said.strip(), form):  # the model's own words
        return said.strip()
    label = _NUMBERED.match(said)
    name = said if label is None else said[label.end() :]
    number = label if label is not None and not name else _ALONE.fullmatch(said)
    digits = number["number"] if number else "0"
    index = int(digits)
    numbered = actions[index - 1 : index]
    if numbered and number is label:
        named = next((one for one in actions if str(one) == digits), numbered[0])
        if named == numbered[0]:
            return named
        raise InvalidAnswerError(
            f"'{said}' is ambiguous: {noun} number {index} is {numbered[0]}, but another {noun} is "
            f"called {named}.",
            f"Give exactly one {noun}, by its name alone.",
            (numbered[0], named),
        )
    try:
        return read_answer(name or said, actions, (noun,), form=form)
    except InvalidAnswerError:
        if numbered:
            return numbered[0]
        raise


def action_text(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    """Return an action as text. A reply may contain the action ``[1, 0, 2]`` as a JSON list."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def tighten(words: object) -> str:
    """Return an action without case, spaces and the signs around it, for comparisons."""
    return fold(words).replace(" ", "").strip("\"'`<>.*")


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the outermost JSON objects of a text in order."""
    decoder, failed = json.JSONDecoder(), 0
    start = text.find("{")
    while start >= 0 and failed < _MOST_BRACES:
        end = start + 1
        try:
            found, end = decoder.raw_decode(text, start)
            yield found
        except RecursionError:
            return  # nested too deeply, like the rest of the text
        except ValueError:
            failed += 1  # a brace in prose, or an incomplete object
        start = text.find("{", end)


def problems_of(error: ValidationError) -> str:
    """Return the validation problems of a reply or a tool call, for the model."""
    return listed([_problem(one) for one in error.errors(include_url=False)])


def listed(problems: Sequence[str]) -> str:
    """Return problems as one text of limited length."""
    more = f"; {len(problems) - _PROBLEMS} more" if len(problems) > _PROBLEMS else ""
    return "; ".join(problems[:_PROBLEMS]) + more


def _problem(error: Any) -> str:  # noqa: ANN401  (pydantic's own dictionary)
    where = ".".join(map(str, error["loc"]))
    what = str(error["msg"]).removeprefix("Value error, ")
    return f'"{where}": {what}' if where else what


class Finding(BaseModel):
    """Base class of a step's result. Reports show the titles of the class and of its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @property
    def flaws(self) -> Sequence[str]:
        """The flaws of a usable reply.

        If there are flaws, the model is asked again. The reply with the fewest flaws is used.
        """
        return ()

    @classmethod
    def read(cls, text: str, context: Any = None) -> Self:  # noqa: ANN401  (each class has its own)
        """Read a reply.

        Raises
        ------
        UnparsableReplyError
            The text is not a valid reply. The message tells the model what to write.
        """
        required = (name for name, one in cls.model_fields.items() if one.is_required())
        try:
            return cls.model_validate(read_object(text, *required), context=context)
        except ValidationError as error:
            raise UnparsableReplyError(problems_of(error)) from error


class Reply(Finding):
    """Base class of a model's reply: a JSON object. Text around it and unknown fields are ignored.

    A validator may use ``info.context``: the argument `context` of `Asking.ask`. A validator raises
    `ValueError` or `UnparsableReplyError` with an instruction for the model.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Options:
    """The possible actions, which are the context of the validators of a `Choice`.

    Attributes
    ----------
    actions
        The actions.
    noun
        The noun for an action in the prompt.
    form
        The free form of actions; see `Question.free_form`.
    """

    actions: Sequence[Candidate]
    noun: str = "action"
    form: str = ""


class Choice(Reply):
    """A reply that chooses one of the `Options`, in any spelling.

    Attributes
    ----------
    action
        The action.
    reasoning
        The model's reasons.
    said
        The action in the model's words.
    """

    model_config = ConfigDict(title="decision")

    action: Candidate = Field(title="action")
    reasoning: str = Field(default="", title="reasoning")
    said: str = ""

    @model_validator(mode="before")
    @classmethod
    def _choose(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        options: Options | None = info.context
        if options is None:
            return given  # the choice comes from a trace
        if "action" not in given:
            raise UnparsableReplyError('The reply names no action. Write {"action": "..."}.')
        said = action_text(given["action"])
        action = read_action(said, options.actions, options.noun, options.form)
        reasoning = given.get("reasoning")
        reasoning = reasoning if isinstance(reasoning, str) else ""
        return {"action": action, "reasoning": reasoning, "said": said}

    @classmethod
    def of(cls, action: Candidate, why: str = "", said: str = "") -> Self:
        """Create a choice that does not come from a reply, for example from a calculation."""
        return cls(action=action, reasoning=why, said=said or str(action))


class Words(Reply):
    """A reply in plain text."""

    text: str

    @classmethod
    def read(cls, text: str, context: Any = None) -> Self:  # noqa: ANN401
        """Return the unchanged text."""
        del context
        if not text:
            raise UnparsableReplyError("The reply is empty.")
        return cls(text=text)
