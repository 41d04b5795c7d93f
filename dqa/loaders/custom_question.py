"""The fields of a user's own question: options, a JSON object, or a Python mapping."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Annotated, Any, Self, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import DataError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.records import Record, problem_of
from dqa.scenarios import scenario_name
from dqa.scenarios.embedded import listed_candidates
from dqa.scenarios.parameters import LIST_SEPARATOR


def _listed(value: object) -> object:
    """Return the items of a list as a tuple. Any other value becomes a tuple with one item."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _names(value: object) -> tuple[object, ...]:
    """Return candidates as a tuple. Each candidate must be a name or a whole number."""
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
    """Return a parameter's value as text. A list of values becomes one text with separators."""
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
"""The value of a parameter of the question, as text."""
_LISTED = "the statement (write names as a list)"
_ASKED = "'candidates' (--candidates): the statement (for names, use a list or --candidate-name)"
_OneOrMore: TypeAlias = Annotated[tuple[str, ...], _read(_listed, str | list[str])]
_Answers: TypeAlias = Annotated[tuple[Candidate, ...], _read(_names, str | int | list[str | int])]
_Candidates: TypeAlias = Annotated[
    tuple[Candidate, ...] | str, _read(_candidates, list[str | int] | str)
]
_Id: TypeAlias = Annotated[
    Annotated[str, Field(min_length=1)] | None,
    _read(lambda one: str(one) if type(one) is int else one, str | int | None),
]


class UserQuestion(Record, use_attribute_docstrings=True):
    """A question in the user's own words, or a question of a scenario about a loaded situation.

    Each field is an option of ``dqa ask`` and an argument of the tool ``ask``.

    Raises
    ------
    UsageError
        The fields do not define a question.
    """

    question: str | None = None
    """Question to decide. Not allowed with a scenario."""
    scenario: str | None = None
    """Scenario of the data in the database. It supplies the question, the rules and the
    simulator."""
    target: dict[str, TargetValue] = Field(default_factory=dict)
    """Values of the parameters of the scenario's question. Repeat the option to set several."""
    rules: str | None = None
    """Business rules for the decision."""
    candidates: _Candidates | None = None
    """Statement whose first column lists the possible decisions, or a list of these decisions."""
    context: _OneOrMore = ()
    """Statements whose rows are shown to deciders that write no statements. Repeat the option to
    add several."""

    @classmethod
    def _called(cls, field: str) -> str:
        """Return the name of a field in messages."""
        return f"'{field}' (--{field})"

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        question, scenario = self._called("question"), self._called("scenario")
        if self.question is not None and not self.question.strip():
            raise UsageError(f"{question} is empty: write the question to decide.")
        if self.scenario is None:
            if self.question is None:
                raise UsageError(
                    f"{question} is missing: describe in words what to decide. If the database "
                    f"contains the data of a scenario, give {scenario} instead."
                )
            if self.target:
                raise UsageError(
                    f"{self._called('target')} is only for questions of a scenario: give "
                    f"{scenario}."
                )
        elif self.question is not None or self.rules:
            # The simulator knows only the scenario's own question.
            raise UsageError(
                f"{scenario}: '{self.scenario}' has its own question and rules. Leave out either "
                "the scenario, or your question and rules."
            )
        return self

    def read(self, database: Database) -> Question:
        """Create the question from the contents of `database`.

        Raises
        ------
        UsageError
            No candidate is listed, the target does not fit the scenario, or the database contains
            no data of the scenario.
        DataError
            The data of the scenario has wrong types, or a statement of the user fails.
        QueryError, InfrastructureError
            A query fails; see `Database.query`.
        """
        scenario = None if self.scenario is None else scenario_name(self.scenario)
        return read_question(self, scenario, self.rules or "", lambda: database)


def read_question(
    asked: UserQuestion,
    scenario: str | None,
    rules: str,
    database: Callable[[], Database],
    field_of: Callable[[str], AbstractContextManager[object]] = nullcontext,
) -> Question:
    """Return a question with its candidates.

    Parameters
    ----------
    asked
        The fields of the question.
    scenario
        The name of the question's scenario; None for a question in the user's own words.
    rules
        The business rules of a question in the user's own words.
    database
        A function that opens the database. It is called only if the database is needed.
    field_of
        A function that returns a context manager for a field. The field is read in this context,
        which may add the field's name to errors.
    """
    from dqa.loaders.live_questions import ask_scenario, require_candidates

    question = Question("custom", "1", asked.question or "", rules)
    if scenario is not None:
        with field_of("scenario"):
            question = ask_scenario(plugins.scenario(scenario), database(), asked.target)
    question = replace(question, context_queries=asked.context)
    if asked.candidates is None:
        with field_of("target"):
            require_candidates(question)
        return question
    called = _ASKED if field_of is nullcontext else _LISTED
    with field_of("candidates"):
        listed = list_candidates(asked.candidates, database, called)
    statement = asked.candidates if isinstance(asked.candidates, str) else None
    return replace(question, candidates=listed, candidate_query=statement)


def list_candidates(
    listed: tuple[Candidate, ...] | str, database: Callable[[], Database], called: str = _LISTED
) -> tuple[Candidate, ...]:
    """Return the candidates. A statement that lists them runs once, behind the guard."""
    if not isinstance(listed, str):
        return tuple(dict.fromkeys(listed))
    found = listed_candidates(listed, database(), called)
    if not found:
        raise UsageError(f"{called} returns no candidate: its first column is empty.")
    return found


class RulesFile(Record):
    """Business rules in a separate text file."""

    file: str = Field(
        min_length=1,
        description="path of a UTF-8 text file in the folder of the question file, or below it",
    )


class OwnQuestion(UserQuestion):
    """A question of a user's own file: one line of the file. Most fields are optional.

    Raises
    ------
    UsageError
        The line has neither a question nor a scenario, or it has both.
    """

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["question"]}, {"required": ["scenario"]}]}
    )

    rules: str | RulesFile | None = Field(  # type: ignore[assignment]
        None, description="the business rules: a text, or a text file"
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
        description="baselines by name; each is a list of values or a statement that returns "
        "values; the first value is the baseline's choice",
    )
    id: _Id = Field(None, description="a unique id in the file; by default the line number")
    tags: _OneOrMore = Field((), description="tags by which results are grouped")
    database: str | None = Field(
        None, description="the name of the database; required if there are several databases"
    )

    @classmethod
    def _called(cls, field: str) -> str:
        """Return the name of a field in messages. A file has no options, so messages name none."""
        return f"'{field}'"

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a line. The reader checks more than the schema can express."""
        return cls.model_json_schema(mode="validation")

    @classmethod
    def checked(cls, value: object) -> Self:
        """Convert an object to a question. If a field is wrong, raise `DataError` with a fix."""
        if not isinstance(value, dict):
            raise DataError(
                "a question is an object of fields, such as "
                '{"question": "...", "candidates": ["..."], "answer": "..."}'
            )
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise DataError(f"{problem_of(error, cls)}.") from error
