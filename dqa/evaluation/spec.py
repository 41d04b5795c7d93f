"""What is evaluated, as data: written, read, compared, and built here or in another process.

A `RunSpec` holds all that results depend on and nothing else; how a run goes about its work is in
`dqa.evaluation.options`. A password in a URL is never written: whoever builds a spec that was
written takes it from the variable of that database (``DQA_MYSQL_URL`` for a MySQL server).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias, TypedDict, Unpack, cast

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from dqa.core.database import Limits
from dqa.core.display import Display
from dqa.core.errors import UsageError
from dqa.core.files import parse_json, read_text, write_private
from dqa.core.paths import problem_of_path
from dqa.core.records import Record
from dqa.core.secrets import redact, redacted
from dqa.loaders.sources import QuestionSource, Source

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from dqa.core.decider import Decider
    from dqa.core.question_set import QuestionSet
    from dqa.deciders.base import DeciderFactory
    from dqa.evaluation.build import BuiltRun
    from dqa.evaluation.options import CallOptions, RunOptions
    from dqa.guard import Policy

SPEC_VERSION = 2
_FIRST_DISPLAY = {"digits": 0, "fold": False}
"""The display of version 1, which named none: every digit, and a row for each candidate."""
ProtocolName: TypeAlias = Literal["react", "tools"]


def _named_alone(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) else value


def _policy_lists(value: object) -> object:
    """Return a policy, or a file of one, as the lists of names that it is written as."""
    if value is None:
        return None
    from dqa.guard import DEFAULT, Policy

    try:
        if isinstance(value, Path | str):
            value = Policy.read(Path(value))
        elif isinstance(value, Mapping):
            known = [item.name for item in fields(Policy) if item.name not in _NO_LISTS]
            for name in value:
                if name not in known:
                    raise UsageError(
                        f"RunSpec: policy: there is no list '{name}'; there are {', '.join(known)}."
                    )
            value = Policy(**value)
    except TypeError as error:
        raise UsageError(f"RunSpec: policy: give lists of names: {error}.") from error
    if not isinstance(value, Policy):
        return value
    given = {item.name: getattr(value, item.name) for item in fields(Policy)}
    return {
        name: dict(sorted(listed.items())) if isinstance(listed, Mapping) else sorted(listed)
        for name, listed in given.items()
        if name not in _NO_LISTS and listed != getattr(DEFAULT, name)
    }


_NO_LISTS = frozenset({"schema", "walls", "protection"})
"""What of a policy whoever opens a database sets."""


def _usual_databases(questions: Source | None) -> tuple[str, ...]:
    in_place = questions is not None and questions.asks_in_place
    return () if in_place else ("sqlite", "ladybug")


class ModelSpec(Record):
    """A chat model by its name, and where it is; servers often give theirs the same name."""

    name: str
    base_url: str | None = None


def _one_alone(value: object) -> object:
    return (value,) if isinstance(value, str) else value


_Names: TypeAlias = Annotated[tuple[str, ...], Field(min_length=1), BeforeValidator(_one_alone)]
_Model: TypeAlias = Annotated[ModelSpec, BeforeValidator(_named_alone)]


class DecidingFields(TypedDict, total=False):
    """The fields of `Deciding`, as keyword arguments; a model may also be the chat model itself."""

    model: str | ModelSpec | BaseChatModel
    planner: str | ModelSpec | BaseChatModel | None
    protocol: ProtocolName
    settings: Mapping[str, str | int | float]
    rule_set: str | None
    seed: int
    max_steps: int
    max_parse_failures: int
    limits: Limits
    display: Display


class RunFields(DecidingFields, total=False):
    """The fields of a `RunSpec` beside questions and deciders, as keyword arguments."""

    databases: str | Sequence[str]
    strict_official: bool
    policy: Policy | Path | Mapping[str, Sequence[str] | Mapping[str, object]] | None


class SpecFields(RunFields):
    """The fields of a `RunSpec`, as keyword arguments."""

    questions: QuestionSource
    deciders: str | Sequence[str]


class Deciding(Record):
    """The models that deciders ask, and what bounds them.

    Attributes
    ----------
    model
        The chat model, as ``provider:model`` or with where it is.
    planner
        The model that plans, for deciders that let another one plan; None for the same.
    protocol
        How agents and their models talk.
    settings
        Settings of deciders' own, by name.
    rule_set
        What simulators count by; None for the usual one.
    seed
        Of scripted models.
    max_steps
        Most model replies for one question.
    max_parse_failures
        Most replies in a row that may break the format.
    limits
        What each statement may cost.
    display
        What models are shown of values: digits of numbers, samples of columns.
    """

    model: _Model = ModelSpec(name="scripted:analyst")
    planner: _Model | None = None
    protocol: ProtocolName = "react"
    settings: dict[str, Annotated[str, BeforeValidator(_as_text)]] = Field(default_factory=dict)
    rule_set: str | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    max_steps: Annotated[int, Field(ge=1)] = 20
    max_parse_failures: Annotated[int, Field(ge=1)] = 3
    limits: Limits = Limits()
    display: Display = Display()

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[DecidingFields]) -> None: ...

    def __repr__(self) -> str:
        return redact(super().__repr__())

    __str__ = __repr__

    @model_serializer(mode="wrap")
    def _without_secrets(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = redacted(written(self))
        return found

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of what `to_json` returns."""
        # That of what is read: of what is written, pydantic sees no more than the serializer above.
        return cls.model_json_schema(mode="validation")

    @property
    def planning(self) -> ModelSpec | None:
        """The planner; it is where the other model is, unless its provider is another."""
        if self.planner is None or self.planner.base_url is not None:
            return self.planner
        same_provider = self.planner.name.split(":", 1)[0] == self.model.name.split(":", 1)[0]
        return self.planner.changed(base_url=self.model.base_url if same_provider else None)


class RunSpec(Deciding):
    """What is evaluated: questions, deciders and their models, databases, and how it is judged.

    Attributes
    ----------
    version
        Of this form. In one of version 1 models were shown every digit, which is read as that; its
        `rule_set` is what has that name today, so a run that began with one is not resumed.
    questions
        Where the questions come from.
    deciders
        By name.
    databases
        Where situations are loaded: embedded ones by name, servers by URL, or by name with the URL
        in ``DQA_NAME_URL``. None of questions that name their own databases.
    strict_official
        Whether only the official answer is right, and no tie.
    policy
        What of the databases may be read, as `dqa.guard.Policy` has it; None for all.

    Raises
    ------
    UsageError
        A field is wrong, or the version is a newer one.
    """

    version: Literal[2] = 2
    questions: QuestionSource
    deciders: _Names
    databases: Annotated[tuple[str, ...], BeforeValidator(_one_alone)] = Field(
        default_factory=lambda given: _usual_databases(given.get("questions")),
        validate_default=True,
    )
    strict_official: bool = False
    policy: Annotated[
        dict[str, tuple[str, ...] | dict[str, str | bool | int | float | None]] | None,
        BeforeValidator(_policy_lists),
    ] = None

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[SpecFields]) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _of_a_known_version(cls, given: Any) -> Any:  # noqa: ANN401  (whatever is to be validated)
        if not isinstance(given, Mapping):
            return given
        version = given.get("version", SPEC_VERSION)
        if version == 1:
            return {"display": _FIRST_DISPLAY, **given, "version": SPEC_VERSION}
        if version != SPEC_VERSION:
            raise UsageError(
                f"This RunSpec is of version {version!r}, and this dqa reads versions up to "
                f"{SPEC_VERSION}: use the dqa that wrote it, or write it again."
            )
        return given

    @field_validator("deciders", "databases")
    @classmethod
    def _each_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(names))

    @field_validator("databases")
    @classmethod
    def _where_they_load(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        questions: Source | None = info.data.get("questions")
        if questions is None:
            return names
        if questions.asks_in_place and names:
            raise UsageError(
                "RunSpec: databases: the questions name their own databases, which are asked "
                "where they are: leave out databases (--databases)."
            )
        if not questions.asks_in_place and not names:
            raise UsageError("RunSpec: databases: must not be empty: name one, such as sqlite.")
        return names

    @classmethod
    def from_json(cls, written: object) -> Self:
        """Read what `to_json` returned; `UsageError` names the field that is wrong."""
        if not isinstance(written, Mapping):
            raise UsageError("A RunSpec is a JSON object of its fields.")
        return cls(**cast("SpecFields", dict(written)))

    @classmethod
    def read(cls, file: Path | str) -> Self:
        """Read a spec from a file; `UsageError` where it is none."""
        try:
            written = parse_json(read_text(file))
        except OSError as error:
            raise UsageError(f"{problem_of_path(file, error)}.") from error
        except ValueError as error:
            raise UsageError(f"{file} is no JSON: {error}.") from error
        try:
            return cls.from_json(written)
        except UsageError as error:
            raise UsageError(f"{file}: {error}") from error

    def write(self, file: Path | str) -> None:
        """Write the spec, without passwords, into a file."""
        try:
            write_private(Path(file), json.dumps(self.to_json(), indent=2) + "\n")
        except OSError as error:
            raise UsageError(f"{problem_of_path(file, error, writing=True)}.") from error

    def build(  # noqa: PLR0913  (each is a question of its own to the caller)
        self,
        *,
        calls: CallOptions | None = None,
        options: RunOptions | None = None,
        resumed: Path | None = None,
        questions: QuestionSet | None = None,
        deciders: Mapping[str, Decider | DeciderFactory] | None = None,
        chats: Mapping[str, BaseChatModel] | None = None,
    ) -> BuiltRun:
        """Look every name up, connect the models and read the questions.

        `resumed` is the folder of a run that goes on; `questions` are those of a spec whose
        questions a caller made, `deciders` those that no entry point names, and `chats` models
        that no provider's name makes. Errors are those of `dqa.evaluate`.
        """
        from dqa.evaluation.build import build
        from dqa.evaluation.options import DEFAULT_CALLS, DEFAULT_RUN

        return build(
            self,
            calls=calls or DEFAULT_CALLS,
            options=options or DEFAULT_RUN,
            resumed=resumed,
            questions=questions,
            given=deciders or {},
            chats=chats,
        )


_NOT_COMPARED = frozenset({"questions.file", "questions.folder"})
"""Where questions lie says nothing: their content is compared."""


def differences(earlier: RunSpec, now: RunSpec) -> list[str]:
    """Return, field by field, what is not the same in two specs."""
    return list(_differing(earlier.to_json(), now.to_json()))


def _differing(
    before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = ""
) -> Iterator[str]:
    for key in sorted({*before, *after}):
        name, was, is_now = f"{prefix}{key}", before.get(key), after.get(key)
        if was == is_now or name in _NOT_COMPARED:
            continue
        if isinstance(was, Mapping) and isinstance(is_now, Mapping):
            yield from _differing(was, is_now, f"{name}.")
        else:
            yield f"{name} was {_shown(was)} and is now {_shown(is_now)}"


def _shown(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    return json.dumps(value, ensure_ascii=False)
