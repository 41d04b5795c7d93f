"""Write and read generated folders, which have the release's layout and a manifest with hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_core import to_jsonable_python

from dqa import plugins
from dqa.core.errors import DataError
from dqa.core.files import open_regular, problem_of_path, read_json, require_folder, write_private
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record, problem_of
from dqa.loaders.generator.generate import common_label_rules
from dqa.loaders.release import MANIFEST, read_release
from dqa.loaders.release_layout import Form
from dqa.loaders.release_writer import write_release

GENERATOR_VERSION = 2
"""The version of the generator. A new version generates other questions from the same seed."""


class Counts(Record):
    """The numbers of questions, databases and rows of one scenario of a set."""

    questions: int = Field(ge=1)
    databases: int = Field(ge=1)
    mean_rows: float = Field(description="of a question's database")


class Manifest(Record):
    """``manifest.json`` of a generated folder: its seed, options and hashes of files.

    Attributes
    ----------
    options
        The options of the generator, except for the seed.
    label_rules
        The rule sets under which all recorded answers are right.
    counts
        The numbers of questions, databases and rows, by scenario.
    files
        The SHA-256 of each file, by its path within the folder.
    """

    format: Literal["dqa-generated"] = "dqa-generated"
    generator_version: int = Field(ge=1)
    seed: int = Field(ge=0)
    options: dict[str, Any]
    label_rules: tuple[str, ...]
    counts: dict[str, Counts]
    files: dict[str, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]] = Field(min_length=1)

    @field_validator("files")
    @classmethod
    def _inside(cls, files: dict[str, str]) -> dict[str, str]:
        for name in files:
            parts = PurePosixPath(name)
            if parts.is_absolute() or ".." in parts.parts:
                raise ValueError(f"'{name}' lies outside of the folder")
        return files


def write_generated(
    question_set: QuestionSet,
    folder: Path,
    *,
    seed: int,
    options: Mapping[str, object] | None = None,
) -> Path:
    """Write a generated question set into an empty folder.

    The folder contains the files of `write_release` and ``manifest.json``. The manifest is written
    last, so an unfinished folder has no manifest.

    Parameters
    ----------
    question_set
        The result of `generate`.
    folder
        The new folder.
    seed
        The seed of the set.
    options
        The options of the generator, except for the seed.

    Returns
    -------
    Path
        The manifest.

    Raises
    ------
    UsageError
        The folder is not empty, or is a file.
    """
    files = write_release(question_set, folder)
    plain = {name: _plain(value) for name, value in (options or {}).items()}
    document = Manifest(
        generator_version=GENERATOR_VERSION,
        seed=seed,
        options=plain,
        label_rules=common_label_rules(question_set),
        counts=_counts(question_set),
        files={path.relative_to(folder).as_posix(): _digest(path, folder) for path in files},
    )
    manifest = folder / MANIFEST
    text = json.dumps(document.to_json(), indent=2, sort_keys=True, allow_nan=False) + "\n"
    write_private(manifest, text)
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """Read and validate the manifest of a generated folder. Hashes are not checked.

    Raises
    ------
    UsageError
        The folder does not exist.
    DataError
        The manifest is missing or invalid. The message names the field.
    """
    require_folder(folder, "Name the folder of 'dqa data generate --out', or a set.")
    path = folder / MANIFEST
    hint = (
        "'dqa data generate' writes this file at the end, so the folder is incomplete: generate "
        "it again."
    )
    document = read_json(path, home=folder, hint=hint)
    try:
        return Manifest.model_validate(document)
    except ValidationError as error:
        raise DataError(
            f"{path} is not the manifest of a generated folder: {problem_of(error)}."
        ) from error


class GeneratedReader:
    """The reader of generated folders (`dqa.loaders.reading.QuestionReader`)."""

    name = "a generated folder"
    rule_set = None  # each manifest names its own rule sets
    in_place = False

    def recognises(self, folder: Path) -> bool:
        """Return whether the folder has a manifest."""
        return (folder / MANIFEST).exists()

    def read(
        self,
        folder: Path,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        limit: int | None = None,
    ) -> QuestionSet:
        """Check every file of a generated folder against its manifest, and read the folder.

        The parameters are those of `dqa.loaders.release.read_release`.

        Raises
        ------
        DataError
            The manifest is invalid, or a file is missing or was changed. The message names the
            file.
        """
        del limit  # the manifest covers the whole folder
        manifest = read_manifest(folder)
        for name, digest in manifest.files.items():
            path = folder / name
            if not path.exists() or _digest(path, folder) != digest:
                raise DataError(
                    f"{path} was changed or is missing: its SHA-256 is not the one in {MANIFEST}. "
                    "Restore the file, or generate the folder again."
                )
        unknown = [name for name in manifest.counts if name not in plugins.names("scenario")]
        if unknown and scenarios is None:  # never omit questions silently
            raise DataError(
                f"{folder} contains questions of the scenario '{unknown[0]}', which is not "
                "installed: give the folder of this scenario, or select installed scenarios "
                "(--scenarios)."
            )
        wanted = tuple(name for name in manifest.counts if name in (scenarios or ())) or None
        found = read_release(folder, form=form, scenarios=wanted)
        # In version 1, rule sets had other meanings. None selects the simulator's first rule set.
        is_current = manifest.generator_version > 1
        return replace(
            found, rule_set=next(iter(manifest.label_rules), None) if is_current else None
        )


READER = GeneratedReader()


def _digest(path: Path, folder: Path) -> str:
    try:
        with open_regular(path, home=folder) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{problem_of_path(path, error)}.") from error


def _counts(question_set: QuestionSet) -> dict[str, Counts]:
    """Return the numbers of questions and of databases, and the mean number of rows."""
    situations: dict[str, list[str]] = {}
    for question in question_set.questions:
        situations.setdefault(question.scenario, []).append(question.situation)
    return {
        scenario: Counts(
            questions=len(names),
            databases=len(set(names)),
            mean_rows=round(
                sum(question_set.situations[name].row_count for name in names) / len(names), 3
            ),
        )
        for scenario, names in situations.items()
    }


def _plain(value: object) -> object:
    """Convert an option to JSON. Infinite bounds become null. Sizes get a field ``scenario``."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    plain = to_jsonable_python(value, inf_nan_mode="null")
    if is_dataclass(value) and hasattr(value, "scenario"):
        return {**plain, "scenario": value.scenario}
    return plain
