"""The fields of a user's own question: a JSON object, or a Python mapping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Self, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from dqa.core.errors import DataError
from dqa.core.question import Candidate
from dqa.core.records import Record, problem_of
from dqa.scenarios.parameters import LIST_SEPARATOR


def _listed(value: object) -> object:
    """Return a value as a tuple. A list of values becomes a tuple of these values."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _names(value: object) -> tuple[object, ...]:
    """Check that each candidate is a name or a whole number."""
    names = value if isinstance(value, list | tuple) else (value,)
    for name in names:
        if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
            raise ValueError("must be a name, a whole number, or a list of names and whole numbers")
    return tuple(names)


def _candidates(value: object) -> object:
    """Return a statement unchanged; convert a list of candidates to names."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("must be a list of names, or a statement whose first column lists them")
    return _names(value)


def _text(value: object) -> object:
    """Return a value of a target as text. A list of values becomes one text with separators."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return LIST_SEPARATOR.join(str(_text(item)) for item in value)
    return str(value) if isinstance(value, int | float) else value


def _read(convert: Callable[[object], object], written: object) -> BeforeValidator:
    """Return a validator that converts a field. `written` is the type of the field in files."""
    return BeforeValidator(convert, json_schema_input_type=written)


TargetValue: TypeAlias = Annotated[
    str, _read(_text, str | int | float | bool | list[str | int | float])
]
"""A value of a target, as text."""
_OneOrMore: TypeAlias = Annotated[tuple[str, ...], _read(_listed, str | list[str])]
_Answers: TypeAlias = Annotated[tuple[Candidate, ...], _read(_names, str | int | list[str | int])]
_Candidates: TypeAlias = Annotated[
    tuple[Candidate, ...] | str, _read(_candidates, list[str | int] | str)
]
_Id: TypeAlias = Annotated[
    Annotated[str, Field(min_length=1)] | None,
    _read(lambda one: str(one) if type(one) is int else one, str | int | None),
]


class RulesFile(Record):
    """Business rules in a separate text file."""

    file: str = Field(
        min_length=1,
        description="path of a UTF-8 text file in the folder of the question file, or below it",
    )


class OwnQuestion(Record):
    """A question of a user's own file: one line of the file. Most fields are optional.

    Raises
    ------
    UsageError
        The line has neither a question nor a scenario, or it has both.
    """

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["question"]}, {"required": ["scenario"]}]}
    )

    question: str | None = Field(
        None, min_length=1, description="the text of the question; required without a scenario"
    )
    rules: str | RulesFile = Field("", description="the business rules: a text, or a text file")
    candidates: _Candidates | None = Field(
        None,
        description="the possible choices: a list, or one SQL or Cypher statement whose first "
        "column lists them; without candidates, only the text of an answer is compared",
    )
    answer: _Answers = Field(
        (),
        description="the right choice: one name, or a list of equally good names with the official "
        "name first; without 'answer' and 'outcomes', the decision is not judged",
    )
    outcomes: dict[str, float] | None = Field(
        None,
        description="the outcome of each candidate; the largest outcome is the best, or "
        "the smallest if the scenario minimises",
    )
    forbidden: _Answers = Field(
        (),
        description="candidates that the rules forbid; choosing one is wrong, and is counted"
        " separately",
    )
    heuristics: dict[str, _Candidates] = Field(
        default_factory=dict,
        description="baselines by name: each is a list or a statement, and its first value is the "
        "choice",
    )
    id: _Id = Field(None, description="a unique id in the file; by default the line number")
    tags: _OneOrMore = Field((), description="tags by which results are grouped")
    context: _OneOrMore = Field(
        (),
        description="statements for deciders that do not query the database; these deciders "
        "receive the rows",
    )
    database: str | None = Field(
        None, description="the name of the database; required if there are several databases"
    )
    scenario: str | None = Field(
        None, description="the name or folder of a scenario, which has the question and the rules"
    )
    target: dict[str, TargetValue] = Field(
        default_factory=dict, description="the parameters of the scenario's question"
    )

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a line. The reader checks more than the schema can express."""
        return cls.model_json_schema(mode="validation")

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if self.scenario is None:
            if self.question is None:
                raise ValueError("'question' is missing: write the decision in words")
            if self.target:
                raise ValueError(
                    "'target' is only for questions of a scenario: give the scenario in 'scenario'"
                )
        elif self.question is not None or self.rules:
            raise ValueError(
                f"the scenario '{self.scenario}' has its own question and rules: leave out "
                "'scenario', or leave out 'question' and 'rules'"
            )
        return self

    @classmethod
    def checked(cls, value: object) -> Self:
        """Convert an object to a question. If a field is wrong, raise `DataError` with the fix."""
        if not isinstance(value, dict):
            raise DataError(
                "a question is an object of fields, such as "
                '{"question": "...", "candidates": ["..."], "answer": "..."}'
            )
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise DataError(f"{problem_of(error, cls)}.") from error
