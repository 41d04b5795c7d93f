"""The base class of data that is stored as JSON, with generated JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from dqa.core.errors import UsageError

_UNKNOWN = "extra_forbidden"
_LONGEST = 60
"""The maximum number of characters of a wrong value in a message."""


class Record(BaseModel):
    """Immutable data with a fixed set of fields. Any other field is an error."""

    model_config = ConfigDict(
        frozen=True,
        defer_build=True,
        extra="forbid",
        serialize_by_alias=True,
        json_schema_serialization_defaults_required=True,
    )
    elsewhere: ClassVar[Mapping[str, str]] = {}
    """Names of fields that users may expect here, each with the record that has this field."""

    if not TYPE_CHECKING:  # Type checkers derive the signature from the fields.

        def __init__(self, **fields: Any) -> None:  # noqa: ANN401  (the record's own fields)
            """Check the fields; raise `UsageError` with the name of a wrong field."""
            try:
                super().__init__(**fields)
            except ValidationError as error:
                problem = problem_of(error, type(self))
                raise UsageError(f"{type(self).__name__}: {problem}.") from error

        # With this mark, `model_validate` does not call `__init__` and raises `ValidationError`.
        # Readers of files add the file and the line to that error.
        __init__.__pydantic_base_init__ = True

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema for the result of `to_json`."""
        return cls.model_json_schema(mode="serialization")

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values. Values without a JSON form become text."""
        return self.model_dump(mode="json", fallback=str)

    def to_line(self) -> str:
        """Return the result of `to_json` on one line."""
        return dump_line(self.to_json())

    def changed(self, **fields: Any) -> Self:  # noqa: ANN401  (the record's own fields)
        """Return a copy with some fields changed, after checking the fields again."""
        # Not `model_dump`, which may leave out secrets.
        own = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**(own | fields))


def dump_line(value: object) -> str:
    """Return a JSON value as one line of text that UTF-8 can encode."""
    try:
        return to_json(value, inf_nan_mode="constants").decode()
    except PydanticSerializationError:  # a lone surrogate, which must be escaped in JSON
        return json.dumps(value)


def problem_of(error: ValidationError, record: type[BaseModel] | None = None) -> str:
    """Describe the first problem on one line. For an unknown field, suggest a similar field."""
    first, *others = problems_in(error)
    more = f" (and {len(others)} more)" if others else ""
    path = ".".join(map(str, first["loc"]))
    if not path or first["type"] == _UNKNOWN:
        return problem_of_field(first, record, path) + more
    return f"{path}: {problem_of_field(first, record, path)}{more}"


def problems_in(error: ValidationError) -> list[Any]:
    """Return pydantic's problems. Unknown fields are first.

    An unknown field is often the misspelt name of a missing field.
    """
    found = [
        one
        for one in error.errors(include_url=False)
        if one["type"] != "default_factory_not_called"
    ]
    return sorted(found, key=lambda one: one["type"] != _UNKNOWN)


def problem_of_field(
    found: Any,  # noqa: ANN401  (pydantic's own dictionary)
    record: type[BaseModel] | None,
    name: str,
) -> str:
    """Return a message about the problem of one field. The message calls the field `name`."""
    value = found.get("input")
    if found["type"] == _UNKNOWN:
        return f"there is no field '{name}'{_hint(list(map(str, found['loc'])), record)}"
    if found["type"] in _MESSAGES:
        message = _MESSAGES[found["type"]].format(**found.get("ctx", {}))
    else:
        message = str(found["msg"]).removeprefix("Value error, ").rstrip(".")
        message = message.replace("Input should be", "must be")
    if isinstance(value, str | int | float):
        needs_text = found["type"] == "string_type"
        shown = f"the {type(value).__name__} {value}" if needs_text else repr(str(value)[:_LONGEST])
        message += f", not {shown}"
    return message


def _hint(path: Sequence[str], record: type[BaseModel] | None) -> str:
    """Say where an unknown field belongs, or which field has a similar name."""
    owners = {**getattr(record, "elsewhere", {}), **_owners_in(record, "the top level")}
    owner = owners.get(path[-1])
    if owner is not None and owner.strip("'") not in path:
        return f" (it is a field of {owner})"
    near = get_close_matches(path[-1], owners.keys() - path, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _owners_in(annotation: object, owner: str) -> dict[str, str]:
    """Map the name of each field, also of nested records, to the place where the field belongs."""
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        nested, own = [(part, owner) for part in get_args(annotation)], {}
    else:
        fields = annotation.model_fields
        nested = [(field.annotation, f"'{name}'") for name, field in fields.items()]
        own = dict.fromkeys(fields, owner)
    for part, place in nested:
        own = _owners_in(part, place) | own
    return own


_MESSAGES = {
    "missing": "is missing",
    "too_short": "must not be empty",
    "greater_than_equal": "must be at least {ge}",
}
"""The messages that replace pydantic's messages."""
