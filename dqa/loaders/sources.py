"""Where questions come from, as data: a release, a folder, a set, the generator, a user's file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, field_serializer, field_validator

from dqa.core.errors import UsageError
from dqa.core.records import Record
from dqa.core.secrets import redact
from dqa.scenarios.generation import Difficulty

if TYPE_CHECKING:
    from dqa.core.question_set import QuestionSet
    from dqa.guard import Audit, Policy

FormName: TypeAlias = Literal["relational", "graph", "mysql", "postgres"]
_Folder: TypeAlias = Annotated[Path, AfterValidator(Path.absolute)]
"""A folder that another process finds, wherever it is started."""


class Source(Record):
    """A source of questions, and which of them to keep.

    Attributes
    ----------
    scenarios
        Which to keep, by name or folder; None keeps all that there are.
    limit
        Most questions of each scenario.
    """

    _label: ClassVar[str] = ""
    scenarios: tuple[str, ...] | None = None
    limit: Annotated[int, Field(ge=1)] | None = None

    @field_validator("scenarios")
    @classmethod
    def _findable(cls, scenarios: tuple[str, ...] | None) -> tuple[str, ...] | None:
        from dqa.scenarios import folder_or_name

        return None if scenarios is None else tuple(map(folder_or_name, scenarios))

    @abstractmethod
    def _read(self, scenarios: tuple[str, ...] | None) -> QuestionSet: ...

    @property
    def told(self) -> str:
        """The source in a few words, for a list."""
        return self._label.format(self)

    @property
    def asks_in_place(self) -> bool:
        """Whether the questions name their databases, which are asked where they are."""
        return False

    @property
    def asked(self) -> tuple[str, ...]:
        """The scenarios, by name or folder, whose question every line asks that names none."""
        return ()

    def read(self, policy: Policy | None = None, audit: Audit | None = None) -> QuestionSet:
        """Return the questions.

        Parameters
        ----------
        policy, audit
            What may be read of databases that tell what can be chosen, and who watches them.

        Raises
        ------
        UnknownNameError
            There is no such scenario.
        UsageError
            No question is left.
        DataError
            The data cannot be read.
        """
        names = self.names
        found = self._read_guarded(names, policy, audit).select(names, self.limit)
        if not found.questions:
            wanted = " or ".join(names or ("any",))
            raise UsageError(f"{found.name} has no question of scenario {wanted}.")
        return found

    def _read_guarded(
        self, scenarios: tuple[str, ...] | None, policy: Policy | None, audit: Audit | None
    ) -> QuestionSet:
        del policy, audit  # of nothing but a user's own questions is a database asked here
        return self._read(scenarios)

    def read_for(self, key: str) -> QuestionSet:
        """Return questions among which `key` is, and as few others as the source can leave out.

        Errors are those of `read`.
        """
        del key
        return self.read()

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of `scenarios`, of which some may be folders; `UnknownNameError` for none."""
        from dqa import plugins
        from dqa.scenarios import scenario_name

        if self.scenarios is None:
            return None
        return tuple(plugins.scenario(scenario_name(name)).name for name in self.scenarios)


class ReleaseFolder(Source):
    """A folder that a benchmark's authors published.

    Attributes
    ----------
    folder
        Where it is.
    form
        Which of its files to read databases from.
    strict
        Whether a defect is an error instead of being mended.
    """

    _label: ClassVar[str] = "release {0.folder.name}"
    source: Literal["release"] = "release"
    folder: _Folder
    form: FormName = "relational"
    strict: bool = False

    def read_for(self, key: str) -> QuestionSet:
        """Return the question `key`; of its database alone it is told what is wrong."""
        return self._read(self.names, key)

    def _read(self, scenarios: tuple[str, ...] | None, key: str | None = None) -> QuestionSet:
        from dqa.loaders.base import Part
        from dqa.loaders.reading import read_questions

        return read_questions(
            self.folder,
            scenarios=scenarios,
            form=self.form,
            strict=self.strict,
            part=Part(self.limit, key),
        )


class InPlaceFolder(Source):
    """A published folder whose databases are asked where they are, such as BIRD's or Spider's.

    Attributes
    ----------
    folder
        Where it is.
    form
        ``mysql`` or ``postgres`` for the questions about such a server.
    strict
        Whether a defect is an error instead of being reported.
    """

    _label: ClassVar[str] = "release {0.folder.name}"
    source: Literal["in_place"] = "in_place"
    folder: _Folder
    form: FormName = "relational"
    strict: bool = False

    @property
    def asks_in_place(self) -> bool:
        """Always."""
        return True

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of `scenarios`, which are those of databases here."""
        return self.scenarios

    def read_for(self, key: str) -> QuestionSet:
        """Return the question `key` alone."""
        return self._read(None, key)

    def _read(self, scenarios: tuple[str, ...] | None, key: str | None = None) -> QuestionSet:
        from dqa.loaders.base import Part
        from dqa.loaders.reading import read_questions

        part = Part(self.limit, key)
        return read_questions(
            self.folder, scenarios=scenarios, form=self.form, strict=self.strict, part=part
        )


def release_in(
    folder: Path,
    *,
    scenarios: tuple[str, ...] | None = None,
    limit: int | None = None,
    form: FormName = "relational",
    strict: bool = False,
) -> ReleaseFolder | InPlaceFolder:
    """Return the source of a folder that a benchmark's authors published, by what is in it.

    The parameters are the fields of a `ReleaseFolder`.

    Raises
    ------
    UsageError
        Several readers recognise it.
    """
    from dqa.loaders.reading import reader_of

    if not reader_of(folder).in_place:
        return ReleaseFolder(
            folder=folder, scenarios=scenarios, limit=limit, form=form, strict=strict
        )
    return InPlaceFolder(folder=folder, scenarios=scenarios, limit=limit, form=form, strict=strict)


class GeneratedFolder(Source):
    """A folder that ``dqa generate`` wrote."""

    _label: ClassVar[str] = "folder {0.folder.name}"
    source: Literal["generated"] = "generated"
    folder: _Folder

    def _read(self, scenarios: tuple[str, ...] | None) -> QuestionSet:
        from dqa.loaders.generator import read_generated

        return read_generated(self.folder, scenarios=scenarios)


class GeneratedQuestions(Source):
    """Questions made on the spot.

    Attributes
    ----------
    count
        Questions of each scenario.
    seed
        The same seed makes the same questions.
    sizes
        Numbers of a scenario's worlds, by scenario and name; the others are as usual.
    difficulty
        What makes the questions harder; None for nothing in particular.
    per_database
        Most questions that share a world; None for what is usual.
    """

    _label: ClassVar[str] = "{0.count} generated, seed {0.seed}"
    source: Literal["generator"] = "generator"
    count: Annotated[int, Field(ge=1)] = 10
    seed: Annotated[int, Field(ge=0)] = 0
    sizes: dict[str, dict[str, int]] = Field(default_factory=dict)
    difficulty: Difficulty | None = None
    per_database: Annotated[int, Field(ge=1)] | None = None

    @field_validator("difficulty", mode="before")
    @classmethod
    def _bounded(cls, given: object) -> object:
        """Leave out what is None: JSON has no word for a bound that is none."""
        if not isinstance(given, Mapping):
            return given
        return {name: value for name, value in given.items() if value is not None}

    @field_serializer("difficulty")
    def _finite(self, difficulty: Difficulty | None) -> dict[str, object] | None:
        if difficulty is None:
            return None
        return {name: None if x == inf else x for name, x in asdict(difficulty).items()}

    def _read(self, scenarios: tuple[str, ...] | None) -> QuestionSet:
        from dqa.loaders.generator import generate

        return generate(
            scenarios,
            self.count,
            self.seed,
            sizes=self.sizes,
            difficulty=self.difficulty,
            per_database=self.per_database,
        )


class NamedSet(Source):
    """A set that a package ships under a name; see `dqa.loaders.sets`.

    Attributes
    ----------
    name
        What it is registered as. What is in it never changes: a changed set has another name.
    """

    _label: ClassVar[str] = "set {0.name}"
    source: Literal["set"] = "set"
    name: str

    def _read(self, scenarios: tuple[str, ...] | None) -> QuestionSet:
        from dqa.loaders.sets import read_set

        return read_set(self.name, scenarios=scenarios, limit=self.limit)


def located(
    databases: str | Path | Iterable[str | Path] | Mapping[str, str | Path],
) -> dict[str, str]:
    """Return databases by name, each where another process finds it.

    Parameters
    ----------
    databases
        One location, several, which may be told as ``NAME=URL``, or locations by name.

    Raises
    ------
    UsageError
        Two have the same name.
    """
    from dqa.loaders.places import places_in, settled

    if isinstance(databases, Mapping):
        found = {name: str(location) for name, location in databases.items()}
    else:
        found = places_in([databases] if isinstance(databases, str | Path) else databases)
    return {name: settled(location) for name, location in found.items()}


def _located(value: object) -> object:
    return located(value) if isinstance(value, str | Path | Mapping | list | tuple) else value


class OwnQuestions(Source):
    """A user's own questions about the user's own databases, which are asked where they are.

    Attributes
    ----------
    file
        One JSON object a line (`dqa.loaders.own_question.OwnQuestion`).
    databases
        What they are about.
    scenario
        Whose question each line asks that names none, by name or folder.
    """

    _label: ClassVar[str] = "questions {0.file.name}"
    source: Literal["own"] = "own"
    file: _Folder
    scenario: str | None = None
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

    @field_validator("scenario")
    @classmethod
    def _findable_one(cls, scenario: str | None) -> str | None:
        from dqa.scenarios import folder_or_name

        return None if scenario is None else folder_or_name(scenario)

    def __repr__(self) -> str:
        return redact(super().__repr__())

    __str__ = __repr__

    @property
    def asked(self) -> tuple[str, ...]:
        """The scenario that the source names, if it names one."""
        return () if self.scenario is None else (self.scenario,)

    @property
    def asks_in_place(self) -> bool:
        """Always."""
        return True

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of `scenarios`; what no scenario is called may be the name of the set."""
        from dqa.loaders.places import name_of

        own = name_of(str(self.file))
        if self.scenarios is None or own not in self.scenarios:
            return super().names
        others = tuple(name for name in self.scenarios if name != own)
        return (own, *(self.changed(scenarios=others).names or ()))

    def _read_guarded(
        self, scenarios: tuple[str, ...] | None, policy: Policy | None, audit: Audit | None
    ) -> QuestionSet:
        from dqa.loaders.own import read_file

        return read_file(
            self.file,
            self.databases,
            scenario=self.scenario,
            scenarios=scenarios,
            limit=self.limit,
            policy=policy,
            audit=audit,
        )

    def _read(self, scenarios: tuple[str, ...] | None) -> QuestionSet:
        return self._read_guarded(scenarios, None, None)


class GivenQuestions(Source):
    """Questions that a Python caller made: a spec can name them, and cannot read them again.

    Attributes
    ----------
    name
        What the set is called.
    content_hash
        Its `QuestionSet.content_hash`.
    in_place
        Whether all of them name their databases, which are asked where they are.
    """

    _label: ClassVar[str] = "{0.name} (passed in Python)"
    source: Literal["given"] = "given"
    name: str
    content_hash: str
    in_place: bool = False

    @property
    def asks_in_place(self) -> bool:
        """As its maker said."""
        return self.in_place

    def _read(self, scenarios: tuple[str, ...] | None) -> QuestionSet:
        del scenarios
        raise UsageError(
            f"The questions '{self.name}' were passed in Python and cannot be reloaded; pass "
            "them again."
        )


QuestionSource: TypeAlias = Annotated[
    ReleaseFolder
    | InPlaceFolder
    | GeneratedFolder
    | GeneratedQuestions
    | NamedSet
    | OwnQuestions
    | GivenQuestions,
    Field(discriminator="source"),
]
"""Any of the sources; JSON tells them apart by ``source``."""
