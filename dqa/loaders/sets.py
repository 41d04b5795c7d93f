"""Named sets of questions, which dqa can generate again, identical byte for byte.

A package registers a folder in the group of entry points ``dqa.sets``. The folder contains

- ``set.toml`` (`SetPlan`): the description of the set and the options of the generator,
- ``manifest.json`` (`SetManifest`): the selected worlds and questions, and the hash of each world,
  question and file,
- ``card.md``: the method, the purpose and the limits of the set.

To read a set, dqa draws its worlds again without a search, and compares each world with its hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias, TypeVar

from pydantic import Field, ValidationError, model_validator

from dqa import plugins
from dqa.core.errors import DataError, PluginError
from dqa.core.question import Candidate
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record, problem_of
from dqa.loaders.generator.generate import gather
from dqa.loaders.generator.manifest import GENERATOR_VERSION, read_manifest, write_generated
from dqa.loaders.generator.simulated import SimulatedGenerator
from dqa.loaders.set_files import MANIFEST, PLAN, read_document
from dqa.scenarios.generation import Difficulty, Draw, Drawn

_Hash: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_DRAWN = ("database", "attempt", "first", "size", "targets", "answers")
_AnyRecord = TypeVar("_AnyRecord", bound=Record)


class SetPart(Record):
    """Worlds of one scenario and size, and the number of questions about them.

    Attributes
    ----------
    questions
        The number of questions about all worlds of the part.
    per_database
        The maximum number of questions per world.
    hops
        The value of `Difficulty.hops` for the questions of this part.
    size
        The fields of the worlds' size by name. Missing fields have their defaults.
    """

    scenario: str
    questions: Annotated[int, Field(ge=1)]
    per_database: Annotated[int, Field(ge=1)]
    hops: Annotated[int, Field(ge=1)] = 1
    size: dict[str, int] = Field(default_factory=dict)


class SetPlan(Record):
    """``set.toml``: the description of a set, and the options of the generator.

    Attributes
    ----------
    name
        The name of the set in reports, including the version.
    version
        The version. A changed set gets a new version and a new name.
    summary
        The purpose in one sentence.
    seed
        The seed of the worlds.
    resist
        Names of deciders. Each decider answers wrongly all questions of the scenarios that it
        supports.
    difficulty
        The bounds of the questions. Each part has its own bound `hops`.
    parts
        The worlds. The questions of a scenario are numbered consecutively over all its parts.
    """

    name: str
    version: Annotated[int, Field(ge=1)]
    summary: str
    seed: Annotated[int, Field(ge=0)]
    resist: tuple[str, ...] = ()
    difficulty: Difficulty = Difficulty()
    parts: Annotated[tuple[SetPart, ...], Field(min_length=1)]


class SetWorld(Record):
    """One world of a set: the data to draw the world and its questions again, and its hash.

    Attributes
    ----------
    situation
        The name of the world.
    rows
        The number of rows of all tables.
    content_hash
        The `Situation.content_hash`.
    """

    scenario: str
    situation: str
    rows: int
    content_hash: _Hash
    database: Annotated[int, Field(ge=0)]
    attempt: Annotated[int, Field(ge=0)]
    first: Annotated[int, Field(ge=1)]
    hops: Annotated[int, Field(ge=1)]
    size: dict[str, int]
    targets: tuple[dict[str, str], ...]
    answers: tuple[Candidate, ...]


class SetManifest(Record):
    """``manifest.json`` of a named set.

    Attributes
    ----------
    label_rules
        Rule sets under which every answer is right.
    worlds
        The worlds in the order of their questions.
    questions
        The `QuestionSet.question_hash` of each question, by key.
    files
        The SHA-256 of each file of ``dqa data generate --name``, by its path in the folder.
    """

    format: Literal["dqa-set"] = "dqa-set"
    name: str
    version: int
    generator_version: int
    label_rules: tuple[str, ...]
    worlds: Annotated[tuple[SetWorld, ...], Field(min_length=1)]
    questions: dict[str, _Hash]
    files: dict[str, _Hash]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        n = sum(len(world.targets) for world in self.worlds)
        if n != len(self.questions):
            raise ValueError(f"{n} questions in 'worlds', but {len(self.questions)} in 'questions'")
        return self


def read_plan(name: str) -> SetPlan:
    """Read the description of a set.

    Raises
    ------
    UnknownNameError
        No package has a set of that name. The error lists the known sets.
    DataError
        ``set.toml`` is missing or wrong. The error names the field.
    """
    return _read(name, PLAN, SetPlan)


def read_set(
    name: str,
    *,
    scenarios: Sequence[str] | None = None,
    limit: int | None = None,
    check_words: bool = True,
) -> QuestionSet:
    """Draw the questions of a named set again, and compare them with its manifest.

    Parameters
    ----------
    name
        The name of the set's entry point.
    scenarios
        The selected scenarios; None for all.
    limit
        The maximum number of questions per scenario. Worlds that contain no selected question are
        not drawn.
    check_words
        Whether to compare the hashes of the questions, too. A question's hash differs if a text of
        the scenario has changed.

    Raises
    ------
    UnknownNameError
        The set is unknown. The error lists the known sets.
    DataError
        The folder is wrong, or a world or a question differs from the manifest.
    """
    plan, manifest = read_plan(name), read_manifest_of(name)
    wanted: dict[str, list[SetWorld]] = {}
    for world in manifest.worlds:
        is_chosen = scenarios is None or world.scenario in scenarios
        if is_chosen and (limit is None or world.first <= limit):
            wanted.setdefault(world.scenario, []).append(world)
    drawn = ([_redrawn(name, plan, world) for world in worlds] for worlds in wanted.values())
    found = gather(plan.name, drawn)
    for question in found.questions if check_words else ():
        if found.question_hash(question) != manifest.questions.get(question.key):
            raise _differs(name, f"the question {question.key}")
    return found


def write_set(name: str, folder: Path) -> None:
    """Write the files of a named set, and compare them with the set's manifest.

    Raises
    ------
    UnknownNameError, DataError
        See `read_set`. `DataError` also means that a file differs from the manifest.
    UsageError
        The folder is not empty.
    """
    plan, manifest = read_plan(name), read_manifest_of(name)
    write_generated(read_set(name), folder, seed=plan.seed, options=written_options(plan))
    written = read_manifest(folder).files
    for file in sorted({*written, *manifest.files}):
        if written.get(file) != manifest.files.get(file):
            raise _differs(name, f"the file {folder / file}")


def written_options(plan: SetPlan) -> dict[str, object]:
    """Return the options of the generator that the manifest of a written folder records."""
    return {"set": plan.name, "version": plan.version}


def _redrawn(name: str, plan: SetPlan, world: SetWorld) -> Drawn:
    """Draw a world again. Raise `DataError` if it differs from the manifest."""
    generator = plugins.generator(world.scenario)
    if not isinstance(generator, SimulatedGenerator):
        raise PluginError(f"The generator of '{world.scenario}' cannot draw '{name}' again.")
    fields = {name: getattr(world, name) for name in _DRAWN}
    draw = Draw(plan.seed, difficulty=replace(plan.difficulty, hops=world.hops), **fields)
    drawn = generator.redraw(plugins.scenario(world.scenario), draw)
    if drawn.situation.content_hash != world.content_hash:
        raise _differs(name, f"the database '{world.situation}' of '{world.scenario}'")
    return drawn


def read_manifest_of(name: str) -> SetManifest:
    """Read the manifest of a set.

    Raise `DataError` if the set's plan, or this version of dqa, does not match the manifest.
    """
    plan, manifest = read_plan(name), _read(name, MANIFEST, SetManifest)
    found = manifest.name, manifest.version, manifest.generator_version
    if found != (plan.name, plan.version, GENERATOR_VERSION):
        raise DataError(
            f"This dqa defines the set '{name}' as {plan.name} version {plan.version} (generator "
            f"version {GENERATOR_VERSION}), but the set's {MANIFEST} describes {found[0]} "
            f"version {found[1]} (generator version {found[2]}). Install the dqa that wrote it."
        )
    return manifest


def _differs(name: str, what: str) -> DataError:
    return DataError(
        f"The set '{name}' cannot be generated again: {what} differs from its {MANIFEST}. Use the "
        "version of dqa that contains this set, or report this error with the versions of Python "
        "and NumPy."
    )


def _read(name: str, file: str, kind: type[_AnyRecord]) -> _AnyRecord:
    try:
        return kind.model_validate(read_document(name, file))
    except ValidationError as error:
        raise DataError(f"{file} of the set '{name}': {problem_of(error)}.") from error
