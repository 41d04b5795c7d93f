"""Typed data that is written as JSON and read back: its base class, and one line for what is wrong.

JSON Schemas are made from these classes, so what is written and what is described cannot drift
apart.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

__all__ = ["Record", "problem_of"]

_LONGEST = 60
"""Characters that are shown of a value that is wrong."""


class Record(BaseModel):
    """Frozen data of known fields; an unknown one is an error."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        serialize_by_alias=True,
        json_schema_serialization_defaults_required=True,
    )

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of what `to_json` returns."""
        return cls.model_json_schema(mode="serialization")

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values; what JSON has no word for becomes its text."""
        return self.model_dump(mode="json", fallback=str)

    def changed(self, **fields: Any) -> Self:  # noqa: ANN401  (the record's own fields)
        """Return the record with some fields changed, and checked again."""
        # Not `model_dump`: what is written may leave out secrets that the record itself holds.
        kept = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**(kept | fields))


def problem_of(error: ValidationError) -> str:
    """Return what is wrong with data that was read, in one line that names the field."""
    problems = [_problem(found) for found in error.errors(include_url=False)]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0]}{more}"


def _problem(found: Any) -> str:  # noqa: ANN401  (pydantic's own dictionary)
    place = ".".join(str(part) for part in found["loc"])
    said = found["msg"].removeprefix("Value error, ").rstrip(".")
    if found["type"] == "extra_forbidden":
        return f"there is no field '{place}'"
    given = found.get("input")
    if isinstance(given, str | int | float):
        said = f"{said}, not {str(given)[:_LONGEST]!r}"
    return f"{place}: {said}" if place else said
