"""Typed data that is written as JSON and read back, with JSON Schemas made from its classes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from dqa.core.errors import UsageError

_UNKNOWN = "extra_forbidden"
_OF_FIELDS = frozenset({_UNKNOWN, "missing", "union_tag_not_found"})
"""Errors about the names of fields."""
_LONGEST = 60
"""Characters that are shown of a wrong value."""


def _no_flag(value: object) -> object:
    """Refuse true and false where a number is expected; Python takes them for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("must be a number")  # noqa: TRY004  (pydantic's own protocol)
    return value


NUMBER = BeforeValidator(_no_flag)
"""The annotation of a number, which is neither true nor false."""


def numbers_of(kind: type) -> BeforeValidator:
    """Return the annotation of a data class whose numbers are neither true nor false."""
    flags = {field.name for field in fields(kind) if field.type in {"bool", bool}}

    def check(value: object) -> object:
        for name, given in value.items() if isinstance(value, Mapping) else ():
            if isinstance(given, bool) and name not in flags:
                raise ValueError(f"{name} must be a number, not '{given}'")
        return value

    return BeforeValidator(check)


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

    @cached_property
    def json_line(self) -> str:
        """The result of `to_json` on one line, cached and pickled with the record."""
        return dump_line(self.to_json())

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, as pydantic's, with a line of its own."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("json_line", None)
        return copied

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
    return _problem(first, record) + more


def is_of_fields(error: ValidationError) -> bool:
    """Whether a field is missing or unknown, so that a list of the fields helps."""
    return any(one["type"] in _OF_FIELDS for one in error.errors(include_url=False))


def _problem(
    found: Any,  # noqa: ANN401  (pydantic's own dictionary)
    record: type[BaseModel] | None,
) -> str:
    path, given = ".".join(map(str, found["loc"])), found.get("input")
    if found["type"] == _UNKNOWN:
        near = get_close_matches(str(found["loc"][-1]), _names_at(record, found["loc"][:-1]), n=1)
        return f"there is no field '{path}'{f' (did you mean {near[0]!r}?)' if near else ''}"
    if found["type"] in _MESSAGES:
        message = _MESSAGES[found["type"]].format(**found.get("ctx", {}))
    else:
        message = str(found["msg"]).removeprefix("Value error, ").rstrip(".")
        message = message.replace("Input should be", "must be")
    if isinstance(given, str | int | float):
        message = f"{message}, not {str(given)[:_LONGEST]!r}"
    return f"{path}: {message}" if path else message


def _names_at(record: type[BaseModel] | None, path: Sequence[object]) -> set[str]:
    """Return the fields of the records to which a path of names, places and tags leads."""
    here = [] if record is None else [record]
    for name in path:
        inner = [
            found
            for one in here
            if name in one.model_fields
            for found in _records_in(one.model_fields[str(name)].annotation)
        ]
        here = inner or here  # a place in a list, or the tag of a union, is not a field
    return {name for one in here for name in one.model_fields}


def _records_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _records_in(part)


_MESSAGES = {
    "missing": "is missing",
    "too_short": "must not be empty",
    "greater_than_equal": "must be at least {ge}",
}
"""Messages in place of pydantic's."""
