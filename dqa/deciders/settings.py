"""A decider's own settings: a pydantic model, listed, and read by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dqa.core.errors import UnknownNameError, UsageError

_Model = TypeVar("_Model", bound=BaseModel)
_KINDS: Mapping[str, str] = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
}
_BOUNDS: Mapping[str, str] = {
    "minimum": "{:g} or more",
    "exclusiveMinimum": "above {:g}",
    "maximum": "at most {:g}",
    "exclusiveMaximum": "below {:g}",
}
"""JSON Schema's words for bounds, and ours."""


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting of a decider, as lists show it.

    Attributes
    ----------
    name
        Its name.
    default
        Its default.
    accepts
        Its possible values, in words.
    choices
        Its values, if only some are accepted; else empty.
    description
        Its purpose.
    """

    name: str
    default: Any
    accepts: str
    choices: tuple[Any, ...]
    description: str


def setting_infos(model: type[BaseModel], names: Mapping[str, str]) -> tuple[SettingInfo, ...]:
    """Describe settings by name; `names` contains the field of each."""
    fields = model.model_json_schema()["properties"]
    return tuple(_info(name, fields[field]) for name, field in names.items())


def read_settings(
    model: type[_Model], given: Mapping[str, Any], names: Mapping[str, str], decider: str
) -> _Model:
    """Make settings from values by field; the others have their defaults.

    Parameters
    ----------
    model
        The class of the settings.
    given
        Values by field, as texts or typed.
    names
        The user's names of these fields.
    decider
        The name of the decider.

    Raises
    ------
    UsageError
        A setting does not accept its value, or the settings do not go together.
    """
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
    if not problem["loc"]:
        words = str(problem["msg"]).removeprefix("Value error, ")
        raise UsageError(f"The settings of '{decider}' do not go together: {words}")
    field = str(problem["loc"][0])
    name, value = names.get(field, field), given.get(field)
    (info,) = setting_infos(model, {name: field})
    if info.choices:
        raise UnknownNameError(f"value of {name}", str(value), map(str, info.choices))
    raise UsageError(f"{name} has to be {info.accepts}, not '{value}'.")


def _info(name: str, schema: Mapping[str, Any]) -> SettingInfo:
    if schema.get("anyOf"):
        either = [_info(name, {**schema, **one, "anyOf": ()}) for one in schema["anyOf"]]
        accepts = ", or ".join(one.accepts for one in either)
        return SettingInfo(name, schema.get("default"), accepts, (), schema.get("description", ""))
    if "const" in schema:
        schema = {**schema, "enum": (schema["const"],)}
    choices = tuple(schema.get("enum", ()))
    words = [_KINDS.get(schema.get("type", ""), "a value")]
    words += [said.format(schema[bound]) for bound, said in _BOUNDS.items() if bound in schema]
    accepts = ", ".join(words)
    if choices:
        accepts = f"{'one of ' if len(choices) > 1 else ''}{', '.join(map(str, choices))}"
    return SettingInfo(name, schema.get("default"), accepts, choices, schema.get("description", ""))
