"""Reads a folder of questions with the reader that recognises it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dqa import plugins
from dqa.core.errors import ParseError, PluginError, UsageError
from dqa.core.files import require_folder
from dqa.core.question_set import QuestionSet
from dqa.loaders.base import QuestionReader
from dqa.loaders.release import READER as RELEASE
from dqa.loaders.release_layout import Form


def reader_of(folder: Path | str) -> QuestionReader:
    """Return the reader that recognises a folder; without one, that of the DQA release.

    Raises
    ------
    UsageError
        Several recognise it.
    """
    found: list[QuestionReader] = []
    for name in plugins.names("reader"):
        try:
            reader = plugins.reader(name)
        except PluginError:
            continue  # `dqa list` reports it; others may know the folder
        if reader.recognises(Path(folder)):
            found.append(reader)
    if len(found) > 1:
        names = " and ".join(reader.name for reader in found)
        raise UsageError(
            f"{folder} looks like {names} at once: move what belongs to one of them to a folder "
            "of its own."
        )
    return found[0] if found else RELEASE


def read_questions(
    folder: Path | str,
    *,
    scenarios: Sequence[str] | None = None,
    form: Form = "relational",
    strict: bool = False,
    limit: int | None = None,
) -> QuestionSet:
    """Read a folder of questions; the other parameters are those of `QuestionReader.read`.

    Parameters
    ----------
    strict
        Whether a defect is an error.

    Raises
    ------
    UsageError
        There is no such folder.
    ParseError
        With `strict`, the first defect.
    DataError, UnknownNameError
        As `QuestionReader.read`.
    """
    require_folder(Path(folder), "Name the folder of a release, or of 'dqa data generate --out'.")
    reader = reader_of(folder)
    found = reader.read(Path(folder), scenarios=scenarios, form=form, limit=limit)
    if strict and found.defects:
        first = found.defects[0]
        problem = f"{first.problem} (without strict: {first.action})"
        raise ParseError(first.file, first.line, problem)
    return found if found.rule_set else replace(found, rule_set=reader.rule_set)
