"""Typed data that is written as JSON and read back, with JSON Schemas made from its classes."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from dqa.core.errors import UsageError

_UNKNOWN = "extra_forbidden"
_LONGEST = 60
"""Characters that are shown of a wrong value."""


class Record(BaseModel):
    """Frozen data of known fields; an unknown one is an error."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        serialize_by_alias=True,
        json_schema_serialization_defaults_required=True,
    )

    if not TYPE_CHECKING:  # type checkers see the fields

        def __init__(self, **fields: Any) -> None:  # noqa: ANN401  (the record's own fields)
            """Check the fields; `UsageError` names the wrong one."""
            try:
                super().__init__(**fields)
            except ValidationError as error:
                problem = problem_of(error, type(self))
                raise UsageError(f"{type(self).__name__}: {problem}.") from error

        # Pydantic's own validation does not call it: readers name the file and the line.
        __init__.__pydantic_base_init__ = True

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of what `to_json` returns."""
        return cls.model_json_schema(mode="serialization")

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values; other values become their text."""
        return self.model_dump(mode="json", fallback=str)

    def to_line(self) -> str:
        """Return the result of `to_json` on one line."""
        return dump_line(self.to_json())

    def changed(self, **fields: Any) -> Self:  # noqa: ANN401  (the record's own fields)
        """Return the record with some fields changed, and checked again."""
        # Not `model_dump`, which may leave out secrets.
        own = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**(own | fields))


def dump_line(value: object) -> str:
    """Return a JSON value on one line, which can be written as UTF-8."""
    try:
        return to_json(value, inf_nan_mode="constants").decode()
    except PydanticSerializationError:  # half a character, which JSON can only escape
        return json.dumps(value)


def problem_of(error: ValidationError, record: type[BaseModel] | None = None) -> str:
    """Return one line that names the wrong field, with suggestions from the fields of `record`."""
    wrong = [
        one
        for one in error.errors(include_url=False)
        if one["type"] != "default_factory_not_called"
    ]
    # An unknown field first: it is often the misspelt name of a missing one.
    first = min(wrong, key=lambda one: one["type"] != _UNKNOWN)
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    path = ".".join(map(str, first["loc"]))
    if not path or first["type"] == _UNKNOWN:
        return problem_of_field(first, record, path) + more
    return f"{path}: {problem_of_field(first, record, path)}{more}"


def problem_of_field(
    found: Any,  # noqa: ANN401  (pydantic's own dictionary)
    record: type[BaseModel] | None,
    name: str,
) -> str:
    """Return the problem of one field, which an unknown field's problem calls `name`."""
    value = found.get("input")
    if found["type"] == _UNKNOWN:
        near = get_close_matches(str(found["loc"][-1]), _names_in(record), n=1)
        is_other = near and near[0] != name  # the record of another kind may have this field
        return f"there is no field '{name}'{f' (did you mean {near[0]!r}?)' if is_other else ''}"
    if found["type"] in _MESSAGES:
        message = _MESSAGES[found["type"]].format(**found.get("ctx", {}))
    else:
        message = str(found["msg"]).removeprefix("Value error, ").rstrip(".")
        message = message.replace("Input should be", "must be")
    if isinstance(value, str | int | float):
        message = f"{message}, not {str(value)[:_LONGEST]!r}"
    return message


def _names_in(annotation: object) -> set[str]:
    """Return the names of all fields of a record, and of the records in its fields."""
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return {name for part in get_args(annotation) for name in _names_in(part)}
    fields = annotation.model_fields
    return set(fields).union(*(_names_in(field.annotation) for field in fields.values()))


_MESSAGES = {
    "missing": "is missing",
    "too_short": "must not be empty",
    "greater_than_equal": "must be at least {ge}",
}
"""Messages in place of pydantic's."""
