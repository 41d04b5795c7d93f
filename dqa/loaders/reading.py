"""Reads a folder of questions with whichever reader recognises it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dqa import plugins
from dqa.core.errors import PluginError, UsageError
from dqa.core.files import require_folder
from dqa.core.question_set import QuestionSet
from dqa.loaders.base import WHOLE, InPlaceReader, Part, PartReader, QuestionReader
from dqa.loaders.release import READER as RELEASE
from dqa.loaders.release_layout import Form


def reader_of(folder: Path | str) -> QuestionReader:
    """Return the reader that recognises a folder.

    Where none does, it is the DQA release's, whose error says what that expects.

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
            continue  # `dqa list` says what is wrong with it; others may know the folder
        if reader.recognises(Path(folder)):
            found.append(reader)
    if len(found) > 1:
        names = " and ".join(reader.name for reader in found)
        raise UsageError(
            f"{folder} looks like {names} at once: move what belongs to one of them to a folder "
            "of its own."
        )
    return found[0] if found else RELEASE


def asks_in_place(folder: Path | str) -> bool:
    """Whether the databases of a folder's questions are asked where they are.

    Raises
    ------
    UsageError
        Several readers recognise the folder.
    """
    return isinstance(reader_of(folder), InPlaceReader)


def read_questions(
    folder: Path | str,
    *,
    scenarios: Sequence[str] | None = None,
    form: Form = "relational",
    strict: bool = False,
    part: Part = WHOLE,
) -> QuestionSet:
    """Read a folder of questions: a release, or what ``dqa generate`` wrote.

    Parameters
    ----------
    folder
        The folder.
    scenarios
        Which to read; None for all that are there.
    form
        Which files to read databases from, where there are two kinds.
    strict
        Raise at the first defect of the data instead of reporting it.
    part
        Which of the questions are wanted: a reader that can leaves out the others.

    Raises
    ------
    UsageError
        There is no such folder.
    DataError
        The folder cannot be read.
    UnknownNameError
        It cannot hold one of `scenarios`.
    """
    require_folder(Path(folder), "Name the folder of a release, or of 'dqa generate --out'.")
    reader, where = reader_of(folder), Path(folder)
    if part != WHOLE and isinstance(reader, PartReader):
        found = reader.read_part(where, part, scenarios=scenarios, form=form, strict=strict)
    else:
        found = reader.read(where, scenarios=scenarios, form=form, strict=strict)
    return found if found.rule_set else replace(found, rule_set=reader.rule_set)
