"""Typed data that is written as JSON and read back: its base class, and one line for what is wrong.

JSON Schemas are made from these classes, so what is written and what is described cannot drift
apart.
"""

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
"""What is wrong with which fields are given, and not with the value of one."""
_NOT_ASKED = "default_factory_not_called"
"""Of a field that is only worked out where the others are right."""
_LONGEST = 60
"""Characters that are shown of a value that is wrong."""


def _no_flag(value: object) -> object:
    """Refuse true and false where a number is meant, for Python takes them for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("must be a number")  # noqa: TRY004  (pydantic's own protocol)
    return value


NUMBER = BeforeValidator(_no_flag)
"""What a field is annotated with that is a number, and neither true nor false."""


def numbers_of(kind: type) -> BeforeValidator:
    """Return what a field is annotated with that holds a data class: its numbers are `NUMBER`."""
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
            """Check the fields; `UsageError` names the one that is wrong."""
            try:
                super().__init__(**fields)
            except ValidationError as error:
                problem = problem_of(error, type(self))
                raise UsageError(f"{type(self).__name__}: {problem}.") from error

        # What is read goes another way: who reads knows the file and the line of what is wrong.
        __init__.__pydantic_base_init__ = True

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of what `to_json` returns."""
        return cls.model_json_schema(mode="serialization")

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values; what JSON has no word for becomes its text."""
        return self.model_dump(mode="json", fallback=str)

    @cached_property
    def json_line(self) -> str:
        """What `to_json` returns, on one line; worked out once, and sent along with the record."""
        return dump_line(self.to_json())

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, as pydantic's, whose line is its own."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("json_line", None)
        return copied

    def changed(self, **fields: Any) -> Self:  # noqa: ANN401  (the record's own fields)
        """Return the record with some fields changed, and checked again."""
        # Not `model_dump`: what is written may leave out secrets that the record itself holds.
        kept = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**(kept | fields))


def dump_line(value: object) -> str:
    """Return a JSON value on one line, which can be written as UTF-8."""
    try:
        return to_json(value, inf_nan_mode="constants").decode()
    except PydanticSerializationError:  # half a character, which JSON can only escape
        return json.dumps(value)


def problem_of(error: ValidationError, record: type[BaseModel] | None = None) -> str:
    """Return what is wrong with data that was read, in one line that names the field.

    Of a field that there is not, the line says which of the `record` it may have been meant for.
    """
    wrong = [one for one in error.errors(include_url=False) if one["type"] != _NOT_ASKED]
    # An unknown field first: what is missing besides is often what it was to be called.
    found = sorted(wrong, key=lambda one: one["type"] != _UNKNOWN)
    problems = [_problem(one, record) for one in found]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0]}{more}"


def is_of_fields(error: ValidationError) -> bool:
    """Whether a field is missing or unknown, so that a list of the fields there are helps."""
    return any(one["type"] in _OF_FIELDS for one in error.errors(include_url=False))


def _problem(
    found: Any,  # noqa: ANN401  (pydantic's own dictionary)
    record: type[BaseModel] | None,
) -> str:
    place = ".".join(str(part) for part in found["loc"])
    said = _said(found)
    if found["type"] == _UNKNOWN:
        near = get_close_matches(str(found["loc"][-1]), _names_at(record, found["loc"][:-1]), n=1)
        return f"there is no field '{place}'{f' (did you mean {near[0]!r}?)' if near else ''}"
    given = found.get("input")
    if isinstance(given, str | int | float):
        said = f"{said}, not {str(given)[:_LONGEST]!r}"
    return f"{place}: {said}" if place else said


def _names_at(record: type[BaseModel] | None, place: Sequence[object]) -> list[str]:
    """Return what fields there are where a path of names, places and unions' tags leads."""
    here = [] if record is None else [record]
    for part in place:
        inner = [
            one
            for of in here
            if part in of.model_fields
            for one in _records_in(of.model_fields[str(part)].annotation)
        ]
        here = inner or here  # a place in a list, or the tag of a union, is in none
    return sorted({name for of in here for name in of.model_fields})


def _records_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _records_in(part)


_SAID = {
    "missing": "is missing",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must not be empty",
    "literal_error": "must be {expected}",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be a text",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "union_tag_not_found": "must name its {discriminator}",
    "union_tag_invalid": "'{tag}' is none of {expected_tags}",
}
"""What is wrong by pydantic's name for it, after the name of the field; of others in its words."""


def _said(found: Any) -> str:  # noqa: ANN401  (pydantic's own dictionary)
    if found["type"] in _SAID:
        return _SAID[found["type"]].format(**found.get("ctx", {}))
    return str(found["msg"]).removeprefix("Value error, ").rstrip(".")
