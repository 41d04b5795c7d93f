"""Named sets of questions, which dqa can generate again, identical byte for byte.

A package registers a folder in the group of entry points ``dqa.sets``. The folder contains

- ``manifest.json`` (`SetManifest`): the description of the set, the selected worlds and questions,
  and the hash of each world, question and file,
- ``card.md``: the method, the purpose and the limits of the set.

To read a set, dqa draws the listed worlds again, and compares each world with its hash. It does not
search for suitable worlds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, ValidationError, model_validator

from dqa import plugins
from dqa.core.errors import DataError, PluginError
from dqa.core.question import Candidate
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record, problem_of
from dqa.loaders.generator.generate import gather
from dqa.loaders.generator.manifest import GENERATOR_VERSION, read_manifest, write_generated
from dqa.loaders.generator.simulated import SimulatedGenerator
from dqa.loaders.set_files import MANIFEST, read_document
from dqa.scenarios.generation import Difficulty, Draw, Drawn

_Hash: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_DRAWN = ("database", "attempt", "first", "size", "targets", "answers")


class SetWorld(Record):
    """One world of a set: the data to draw the world and its questions again, and the world's hash.

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
    name
        The name of the set in reports, including the version.
    version
        The version. A changed set gets a new version and a new name.
    summary
        The purpose in one sentence.
    seed
        The seed of the worlds.
    difficulty
        The difficulty of the questions. Each world has its own value of `hops`.
    label_rules
        The rule sets under which all recorded answers are right.
    worlds
        The worlds in the order of their questions.
    questions
        The `QuestionSet.question_hash` of each question, by key.
    files
        The SHA-256 of each file of ``dqa data generate --name``, by its path in the folder.
    """

    format: Literal["dqa-set"] = "dqa-set"
    name: str
    version: Annotated[int, Field(ge=1)]
    summary: str
    seed: Annotated[int, Field(ge=0)]
    difficulty: Difficulty = Difficulty()
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
        The folder of the set is invalid, or a world or a question differs from the manifest.
    """
    manifest = read_manifest_of(name)
    wanted: dict[str, list[SetWorld]] = {}
    for world in manifest.worlds:
        is_chosen = scenarios is None or world.scenario in scenarios
        if is_chosen and (limit is None or world.first <= limit):
            wanted.setdefault(world.scenario, []).append(world)
    drawn = ([_redrawn(name, manifest, world) for world in worlds] for worlds in wanted.values())
    found = gather(manifest.name, drawn)
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
    manifest = read_manifest_of(name)
    options = {"set": manifest.name, "version": manifest.version}
    write_generated(read_set(name), folder, seed=manifest.seed, options=options)
    written = read_manifest(folder).files
    for file in sorted({*written, *manifest.files}):
        if written.get(file) != manifest.files.get(file):
            raise _differs(name, f"the file {folder / file}")


def _redrawn(name: str, manifest: SetManifest, world: SetWorld) -> Drawn:
    """Draw a world again. Raise `DataError` if it differs from the manifest."""
    generator = plugins.generator(world.scenario)
    if not isinstance(generator, SimulatedGenerator):
        raise PluginError(f"The generator of '{world.scenario}' cannot redraw the set '{name}'.")
    fields = {name: getattr(world, name) for name in _DRAWN}
    difficulty = replace(manifest.difficulty, hops=world.hops)
    draw = Draw(manifest.seed, difficulty=difficulty, **fields)
    drawn = generator.redraw(plugins.scenario(world.scenario), draw)
    if drawn.situation.content_hash != world.content_hash:
        raise _differs(name, f"the database '{world.situation}' of '{world.scenario}'")
    return drawn


def read_manifest_of(name: str) -> SetManifest:
    """Read the manifest of a set.

    Raise `DataError` if the manifest is wrong, or is not for this version of dqa.
    """
    try:
        manifest = SetManifest.model_validate(read_document(name))
    except ValidationError as error:
        raise DataError(f"{MANIFEST} of the set '{name}': {problem_of(error)}.") from error
    if manifest.generator_version != GENERATOR_VERSION:
        raise DataError(
            f"The set '{name}' needs generator version {manifest.generator_version}, but this dqa "
            f"has generator version {GENERATOR_VERSION}. Install the dqa that contains the set."
        )
    return manifest


def _differs(name: str, what: str) -> DataError:
    return DataError(
        f"The set '{name}' cannot be generated again: {what} differs from the set's {MANIFEST}. "
        "Use the version of dqa that contains this set, or report this error with the versions of "
        "Python and NumPy."
    )
