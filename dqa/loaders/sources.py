"""Sources of questions as data: published folders, the generator, named sets, users' files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, field_serializer, field_validator
from pydantic_core import to_jsonable_python

from dqa.core.errors import UsageError
from dqa.core.records import Record
from dqa.core.secrets import redact
from dqa.scenarios import folder_or_name, scenario_name
from dqa.scenarios.generation import Difficulty

if TYPE_CHECKING:
    from dqa.core.question_set import QuestionSet
    from dqa.guard import Audit, Policy

FormName: TypeAlias = Literal["relational", "graph", "mysql", "postgres"]
_Folder: TypeAlias = Annotated[Path, AfterValidator(Path.absolute)]
"""A path that becomes absolute, so that every process finds it."""
_Scenario: TypeAlias = Annotated[str, AfterValidator(folder_or_name)]


class Source(Record):
    """A source of questions, and which of its questions are selected.

    Attributes
    ----------
    scenarios
        The selected scenarios, by name or folder; None selects all.
    limit
        The maximum number of questions per scenario.
    """

    _label: ClassVar[str] = ""
    _in_place: ClassVar[bool] = False
    scenarios: tuple[_Scenario, ...] | None = None
    limit: Annotated[int, Field(ge=1)] | None = None

    @abstractmethod
    def _read(self, policy: Policy | None, audit: Audit | None) -> QuestionSet: ...

    @property
    def description(self) -> str:
        """A short description of the source."""
        return self._label.format(self)

    @property
    def asks_in_place(self) -> bool:
        """Whether the questions use existing databases, so that nothing is loaded."""
        return self._in_place

    @property
    def default_scenarios(self) -> tuple[str, ...]:
        """The scenarios, by name or folder, of questions that do not name a scenario."""
        return ()

    def read(self, policy: Policy | None = None, audit: Audit | None = None) -> QuestionSet:
        """Return the questions.

        Parameters
        ----------
        policy, audit
            The policy and the audit for statements that list candidates.

        Raises
        ------
        UnknownNameError
            A scenario is unknown.
        UsageError
            The selection has no question.
        DataError
            The data cannot be read.
        """
        found = self._read(policy, audit).select(self.names, self.limit)
        if not found.questions:
            wanted = " or ".join(self.names or ("any",))
            raise UsageError(f"{found.name} has no question of scenario {wanted}.")
        return found

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of `scenarios`. Raise `UnknownNameError` for an unknown scenario."""
        return None if self.scenarios is None else tuple(map(self._name, self.scenarios))

    def _name(self, scenario: str) -> str:
        from dqa import plugins

        return plugins.scenario(scenario_name(scenario)).name


FolderKind: TypeAlias = Literal["release", "in_place", "generated"]


def _kind_of(given: Mapping[str, Path]) -> FolderKind:
    """Return the kind of a folder, which depends on the files in the folder."""
    from dqa.loaders.reading import reader_of
    from dqa.loaders.release import MANIFEST

    if reader_of(given["folder"]).in_place:
        return "in_place"
    return "generated" if (given["folder"] / MANIFEST).exists() else "release"


class QuestionFolder(Source):
    """A folder of questions: a published benchmark, or the result of ``dqa data generate``.

    Attributes
    ----------
    folder
        The path of the folder.
    form
        The form of the database files. For databases on a server, it is ``mysql`` or ``postgres``.
    strict
        Whether a defect raises an error. Otherwise a defect is only reported.
    source
        The kind of the folder; by default, the files in the folder determine it. The databases of a
        folder of the kind ``in_place`` (such as BIRD's or Spider's) are not loaded. A folder of the
        kind ``generated`` needs its manifest.

    Raises
    ------
    UsageError
        The folder has files of several formats.
    """

    _label: ClassVar[str] = "folder {0.folder.name}"
    folder: _Folder
    form: FormName = "relational"
    strict: bool = False
    source: FolderKind = Field(default_factory=_kind_of)

    @property
    def asks_in_place(self) -> bool:
        """Whether the databases are not loaded."""
        return self.source == "in_place"

    def _name(self, scenario: str) -> str:
        # In a folder with its own databases, each database is a scenario.
        return scenario if self.asks_in_place else super()._name(scenario)

    def _read(self, *_: object) -> QuestionSet:
        from dqa.loaders.generator.manifest import read_manifest
        from dqa.loaders.reading import read_questions
        from dqa.loaders.release import MANIFEST

        if self.source == "generated" and not (self.folder / MANIFEST).exists():
            read_manifest(self.folder)  # raises the error of the missing manifest
        return read_questions(
            self.folder, scenarios=self.names, form=self.form, strict=self.strict, limit=self.limit
        )


class GeneratedQuestions(Source):
    """Questions that are generated when they are read.

    Attributes
    ----------
    count
        The number of questions per scenario.
    seed
        Equal seeds give equal questions.
    sizes
        Fields of the worlds' size, by scenario and by name of the field. Missing fields have
        default values.
    difficulty
        Limits that make questions harder; None for the default limits.
    per_database
        The maximum number of questions per world; None for the default of the scenario. With 1, the
        questions are independent samples, because each has its own database.
    """

    _label: ClassVar[str] = "{0.count} generated, seed {0.seed}"
    source: Literal["generator"] = "generator"
    count: Annotated[int, Field(ge=1)] = 10
    seed: Annotated[int, Field(ge=0)] = 0
    sizes: dict[str, dict[str, int]] = Field(default_factory=dict)
    difficulty: Difficulty | None = None
    per_database: Annotated[int, Field(ge=1)] | None = 1

    @field_validator("difficulty", mode="before")
    @classmethod
    def _bounded(cls, number: object) -> object:
        """Remove bounds that are null in JSON. Null stands for an infinite bound, the default."""
        if not isinstance(number, Mapping):
            return number
        return {name: value for name, value in number.items() if value is not None}

    @field_serializer("difficulty")
    def _finite(self, difficulty: Difficulty | None) -> dict[str, object] | None:
        found: dict[str, object] | None = to_jsonable_python(difficulty, inf_nan_mode="null")
        return found

    def _read(self, *_: object) -> QuestionSet:
        from dqa.loaders.generator.generate import generate

        return generate(
            self.names,
            self.count,
            self.seed,
            sizes=self.sizes,
            difficulty=self.difficulty,
            per_database=self.per_database,
        )


class NamedSet(Source):
    """A named set of a package; see `dqa.loaders.sets`.

    Attributes
    ----------
    name
        The name of the set's entry point. The content of a set never changes.
    """

    _label: ClassVar[str] = "set {0.name}"
    source: Literal["set"] = "set"
    name: str

    def _read(self, *_: object) -> QuestionSet:
        from dqa.loaders.sets import read_set

        return read_set(self.name, scenarios=self.names, limit=self.limit)


def _located(value: object) -> object:
    from dqa.loaders.locations import located

    return located(value) if isinstance(value, str | Path | Mapping | list | tuple) else value


class OwnQuestions(Source):
    """A user's own questions about the user's databases.

    Attributes
    ----------
    file
        A file with one JSON object per line (`dqa.loaders.custom_question.OwnQuestion`).
    databases
        The databases of the questions.
    scenario
        The name or folder of the scenario for lines that do not name a scenario.
    """

    _label: ClassVar[str] = "questions {0.file.name}"
    _in_place: ClassVar[bool] = True
    source: Literal["own"] = "own"
    file: _Folder
    scenario: _Scenario | None = None
    databases: Annotated[dict[str, str], Field(min_length=1), BeforeValidator(_located)]

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            file: Path | str,
            databases: str | Path | Iterable[str | Path] | Mapping[str, str | Path],
            scenario: str | None = None,
            scenarios: tuple[str, ...] | None = None,
            limit: int | None = None,
        ) -> None: ...

    def __repr__(self) -> str:
        return redact(super().__repr__())

    __str__ = __repr__

    @property
    def default_scenarios(self) -> tuple[str, ...]:
        """A tuple with `scenario`; empty if `scenario` is not set."""
        return () if self.scenario is None else (self.scenario,)

    def _name(self, scenario: str) -> str:
        from dqa.loaders.locations import name_of

        # The scenario of lines without a scenario has the name of the file.
        return scenario if scenario == name_of(str(self.file)) else super()._name(scenario)

    def _read(self, policy: Policy | None, audit: Audit | None) -> QuestionSet:
        from dqa.loaders.custom import read_custom

        return read_custom(
            self.file,
            self.databases,
            scenario=self.scenario,
            scenarios=self.names,
            limit=self.limit,
            policy=policy,
            audit=audit,
        )


class PassedQuestions(Source):
    """Questions that a Python caller passed.

    A stored spec contains only the name of the set, so the questions cannot be read again from the
    spec.

    Attributes
    ----------
    name
        The name of the set.
    content_hash
        The `QuestionSet.content_hash`.
    in_place
        Whether all questions use existing databases, so that nothing is loaded.
    """

    _label: ClassVar[str] = "{0.name} (passed in Python)"
    source: Literal["given"] = "given"
    name: str
    content_hash: str
    in_place: bool = False

    @property
    def asks_in_place(self) -> bool:
        """The value of `in_place`."""
        return self.in_place

    def _read(self, *_: object) -> QuestionSet:
        raise UsageError(
            f"The questions '{self.name}' were passed in Python and are not stored. To resume the "
            "run, pass them again. A source such as dqa.GeneratedQuestions makes this unnecessary."
        )


QuestionSource: TypeAlias = Annotated[
    QuestionFolder | GeneratedQuestions | NamedSet | OwnQuestions | PassedQuestions,
    Field(discriminator="source"),
]
"""Any source. In JSON, the field ``source`` names the kind."""
