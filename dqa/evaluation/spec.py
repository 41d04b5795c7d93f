"""Define the specs of runs: data that can be written, read, compared, and sent to other processes.

A spec contains exactly the settings that results depend on. `dqa.evaluation.options` contains all
other options. A written spec contains no passwords. When a spec is read, the password of a URL
comes from the environment variable of the database (``DQA_MYSQL_URL`` for a MySQL server).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from dqa.core.budgets import ENDLESS, DecisionBudget
from dqa.core.database import Limits
from dqa.core.display import Display
from dqa.core.errors import ParseError, UsageError
from dqa.core.files import file_errors, parse_json_of, read_text, write_private
from dqa.core.records import Record
from dqa.core.secrets import redact, redacted
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.loaders.sources import QuestionSource, Source
from dqa.models.registry import is_scripted

SPEC_VERSION = 2
PARAMETERS = ("top_p", "reasoning_effort", "extra_body")
"""The fields of a `ModelSpec` that become parameters of the chat model."""
ProtocolName: TypeAlias = Literal["react", "tools"]


def _named_alone(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) else value


def _json_object(value: object) -> object:
    """Parse a JSON text from the command line. Return any other value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise ValueError(f"must be a JSON object: {error}") from error


def _is_unset(value: object) -> bool:
    return value is None


def _policy_lists(value: object) -> object:
    """Return the lists of names in a policy, or in the file of a policy."""
    if value is None:
        return None
    from dqa.guard import DEFAULT, Policy

    known = [item.name for item in fields(Policy) if item.repr]
    if isinstance(value, Path | str):
        value = Policy.read(Path(value))
    elif isinstance(value, Mapping):
        if unknown := value.keys() - known:
            raise UsageError(
                f"RunSpec: policy: unknown list '{min(unknown)}'. Known lists are "
                f"{', '.join(known)}."
            )
        value = Policy(**value)
    if not isinstance(value, Policy):
        return value
    lists: dict[str, Any] = {name: getattr(value, name) for name in known}
    return {
        name: dict(sorted(listed.items())) if isinstance(listed, Mapping) else sorted(listed)
        for name, listed in lists.items()
        if listed != getattr(DEFAULT, name)
    }


_ELSEWHERE = {
    name: f"'{place}': {place}=dqa.{kind.__name__}({name}=...)"
    for place, kind in (("calls", CallOptions), ("options", RunOptions))
    for name in kind.model_fields
}
_ELSEWHERE |= dict.fromkeys(("models", "label"), "old specs: write decider@PROVIDER:MODEL")


class ModelSpec(Record, use_attribute_docstrings=True):
    """A chat model: its name, its server and its parameters."""

    elsewhere = _ELSEWHERE
    name: str
    """The model, as provider:model."""
    base_url: str | None = None
    """URL of an OpenAI-compatible server. By default, the provider's own server."""
    top_p: Annotated[float | None, Field(gt=0.0, le=1.0, exclude_if=_is_unset)] = None
    """Sample only from the most likely tokens with this total probability (nucleus sampling)."""
    reasoning_effort: Annotated[str | None, Field(exclude_if=_is_unset)] = None
    """Amount of reasoning of a reasoning model, such as low, medium or high."""
    extra_body: Annotated[
        dict[str, Any] | None, BeforeValidator(_json_object), Field(exclude_if=_is_unset)
    ] = None
    """JSON object with further parameters for the model's server."""

    def __hash__(self) -> int:
        return hash((self.name, self.base_url))

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters that have a value, for the provider's chat model."""
        return self.model_dump(include={*PARAMETERS})


def without_models(spec: Mapping[str, Any], *, even_set: bool = False) -> dict[str, Any]:
    """Return a spec without the fields ``models`` and ``model.label`` of earlier versions.

    Unless `even_set` is true, fields with a value remain.
    """
    model = spec.get("model")
    if isinstance(model, Mapping) and (even_set or not model.get("label")):
        spec = {**spec, "model": {key: model[key] for key in model if key != "label"}}
    drops = even_set or not spec.get("models")
    return {key: spec[key] for key in spec if key != "models" or not drops}


def _one_alone(value: object) -> object:
    return (value,) if isinstance(value, str) else value


_Names: TypeAlias = Annotated[tuple[str, ...], Field(min_length=1), BeforeValidator(_one_alone)]


class Deciding(Record, use_attribute_docstrings=True):
    """The models of deciders, and their limits. Each field is an option of the commands."""

    elsewhere = _ELSEWHERE
    model: Annotated[ModelSpec, BeforeValidator(_named_alone)] = ModelSpec(name="scripted:analyst")
    """Chat model, such as openai:NAME, or scripted:analyst (a program that needs no API key). Its
    server and its parameters also apply to decider@PROVIDER:MODEL if the provider is the same."""
    protocol: ProtocolName = "react"
    """Format of the model's replies: labelled text (react), or the provider's tool calls
    (tools)."""
    settings: dict[str, Annotated[str, BeforeValidator(_as_text)]] = Field(default_factory=dict)
    """Setting of a decider; 'dqa list --settings DECIDER' shows all settings. May be repeated."""
    rule_set: str | None = None
    """Variant of the simulators' rules, such as 'released' or 'paper'. By default, the rules that
    the questions name, or else the first rules of each simulator."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of all random choices, also of scripted models and of models with a temperature."""
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] = 0.0
    """Sampling temperature of the model. Above 0, replies depend on --seed."""
    reply_tokens: Annotated[int | None, Field(ge=1)] = None
    """Maximum number of tokens in a reply of the model. By default, the server's limit."""
    max_steps: Annotated[int, Field(ge=1)] = 20
    """Maximum number of model replies for a question."""
    max_parse_failures: Annotated[int, Field(ge=1)] = 3
    """Maximum number of consecutive replies with a wrong format."""
    limits: Limits = Limits()
    """Limits of each statement."""
    display: Display = Display()
    """How values and schemas are shown to models."""
    budget: DecisionBudget = ENDLESS
    """Budget of one decision. If it is spent, the best choice so far is the decision."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None: ...  # noqa: ANN401  (its own fields)

    @model_validator(mode="before")
    @classmethod
    def _read_version(cls, values: Any) -> Any:  # noqa: ANN401  (whatever is to be validated)
        known = cls.model_fields.get("version")
        version = values.get("version") if isinstance(values, Mapping) else None
        if known is not None and version not in {None, known.default}:
            raise UsageError(
                f"This {cls.__name__} has version {version!r}, but this dqa reads version "
                f"{known.default}. Use the version of dqa that wrote it, or write the spec again."
            )
        return without_models(values) if isinstance(values, Mapping) else values

    def model_named(self, name: str) -> ModelSpec:
        """Return the model of a decider that names its own: ``decider@name``.

        It has the server and the parameters of `model` if both have the same provider. If `model`
        is scripted, they are for the provider ``openai``. A scripted model has neither.
        """
        model = "openai" if is_scripted(self.model.name) else self.model.name
        is_same = name.partition(":")[0] == model.partition(":")[0]
        return self.model.changed(name=name) if is_same else ModelSpec(name=name)

    def __repr__(self) -> str:
        return redact(super().__repr__())

    __str__ = __repr__

    @model_serializer(mode="wrap")
    def _without_secrets(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return redacted(written(self))  # type: ignore[no-any-return]

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the result of `to_json`."""
        # pydantic's schema for writing lacks the fields, because of the serializer above.
        return cls.model_json_schema(mode="validation")


class RunSpec(Deciding, use_attribute_docstrings=True):
    """A run of questions: their source, deciders, models, databases, and the rules of judging.

    A decider uses `model`, or the model after ``@`` in its name (``planrag@openai:gpt-5``).
    Questions about a user's own databases contain the names of these databases.

    Raises
    ------
    UsageError
        A field is not valid, or the spec has another version.
    """

    version: Literal[2] = 2
    """Version of the format."""
    questions: QuestionSource
    """Where the questions come from."""
    deciders: _Names
    """Deciders (methods, baselines or heuristics), separated by commas. NAME@PROVIDER:MODEL is a
    decider with its own chat model. By default, the default deciders of the installed packages."""
    epochs: Annotated[int, Field(ge=1)] = 1
    """Number of repetitions of each question, with consecutive seeds from --seed."""
    databases: Annotated[tuple[str, ...], BeforeValidator(_one_alone)] = Field(
        default_factory=lambda given: (
            () if getattr(given.get("questions"), "asks_in_place", False) else ("sqlite", "ladybug")
        ),
        validate_default=True,
    )
    """Databases to load the data of questions into, separated by commas: names of embedded
    databases, URLs of servers, or names of servers whose URL is in the variable DQA_NAME_URL. By
    default sqlite,ladybug."""
    strict_official: bool = False
    """Count only the official answer as right, not other answers that are equally good."""
    r_ves: Annotated[int, Field(ge=0, exclude_if=lambda repetitions: not repetitions)] = 0
    """Number of time measurements of each right statement, for BIRD's efficiency score R-VES. 0
    measures nothing."""
    policy: Annotated[
        dict[str, tuple[str, ...] | dict[str, str | bool | int | float | None]] | None,
        BeforeValidator(_policy_lists),
    ] = None
    """JSON file with the tables, columns and rows that may be read (see docs/guard.md)."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None: ...  # noqa: ANN401  (its own fields)

    @field_validator("deciders")
    @classmethod
    def _require_unique(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(names))

    @field_validator("databases")
    @classmethod
    def _where_they_load(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(names))
        questions: Source | None = info.data.get("questions")
        if questions is None:
            return names
        if questions.asks_in_place and names:
            raise UsageError(
                "RunSpec: databases: the questions are about your own databases. Leave out this "
                "field (--databases), which names databases to load data into."
            )
        if not questions.asks_in_place and not names:
            raise UsageError(
                "RunSpec: databases: must not be empty: give at least one, such as sqlite."
            )
        return names

    @classmethod
    def from_json(cls, written: object) -> Self:
        """Read the result of `to_json`. Raise `UsageError` if a field is not valid."""
        if not isinstance(written, Mapping):
            raise UsageError("A RunSpec must be a JSON object whose keys are fields of RunSpec.")
        return cls(**written)

    @classmethod
    def read(cls, file: Path | str) -> Self:
        """Read a spec from a file of JSON, or of YAML (``.yaml``, ``.yml``).

        Paths in the spec are relative to the current directory.

        Raises
        ------
        UsageError
            The file cannot be read, or a field is not valid.
        """
        written = _read_document(file)
        try:
            return cls.from_json(written)
        except UsageError as error:
            raise UsageError(
                f"{file}: {error} 'dqa data formats spec' prints every field."
            ) from error

    def write(self, file: Path | str) -> None:
        """Write the spec, without passwords, into a file."""
        with file_errors(file, writing=True):
            write_private(Path(file), json.dumps(self.to_json(), indent=2) + "\n")


_NOT_COMPARED = frozenset({"questions.file", "questions.folder"})
"""Fields that are not compared, because moved questions are still the same questions."""


def differences(earlier: Deciding, now: Deciding) -> list[str]:
    """Return a line for each field that differs in two specs."""
    before, after = (_flatten(spec.to_json()) for spec in (earlier, now))
    lines = []
    for name in sorted({*before, *after} - _NOT_COMPARED):
        was, is_now = (json.dumps(one.get(name), ensure_ascii=False) for one in (before, after))
        if was != is_now:
            lines.append(f"{name} was {was} and is now {is_now}")
    return lines


def _flatten(fields: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the fields of nested objects by their dotted names."""
    found: dict[str, Any] = {}
    for name, value in fields.items():
        is_object = isinstance(value, Mapping)
        found |= _flatten(value, f"{prefix}{name}.") if is_object else {f"{prefix}{name}": value}
    return found


def _read_document(file: Path | str) -> object:
    """Return the content of a file of JSON, or of YAML (``.yaml``, ``.yml``)."""
    import yaml

    try:
        text = read_text(str(file))
        if Path(file).suffix in {".yaml", ".yml"}:
            return yaml.safe_load(text)
        return parse_json_of(str(file), text)
    except ParseError as error:
        raise UsageError(f"{error}.") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{file} is not YAML: {' '.join(str(error).split())}.") from error
