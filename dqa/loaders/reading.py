"""Choose the reader of a question folder by its files, and read the folder.

Readers are found by entry point in the group ``dqa.readers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from dqa import plugins
from dqa.core.errors import ParseError, PluginError, UsageError
from dqa.core.files import require_folder
from dqa.core.question_set import QuestionSet
from dqa.loaders.release_layout import Form


@runtime_checkable
class QuestionReader(Protocol):
    """Reads question sets of one layout.

    Attributes
    ----------
    name
        The name of the layout, which messages show.
    in_place
        Whether the questions use existing databases, so that nothing is loaded.
    rule_set
        The rule set under which answers are right. None if each folder names its own rule sets.
    """

    name: str
    in_place: bool
    rule_set: str | None

    def recognises(self, folder: Path) -> bool:
        """Return whether the file names in a folder show that it has this layout."""
        ...

    def read(
        self,
        folder: Path,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        limit: int | None = None,
    ) -> QuestionSet:
        """Read a folder.

        Parameters
        ----------
        folder
            A folder that `recognises` accepts, or that the user assigned to this reader.
        scenarios
            The scenarios to read; None for all.
        form
            The form of the database files, if the layout has several forms.
        limit
            The maximum number of questions per scenario; None for all. A reader may return more.

        Raises
        ------
        DataError
            The folder cannot be read.
        UnknownNameError
            The folder has none of `scenarios`.
        """
        ...


def reader_of(folder: Path | str) -> QuestionReader:
    """Return the only reader that recognises a folder.

    If no reader recognises the folder, return the reader of the DQA release.

    Raises
    ------
    UsageError
        Several readers recognise the folder.
    """
    found: list[QuestionReader] = []
    for name in plugins.names("reader"):
        try:
            reader = plugins.reader(name)
        except PluginError:
            continue  # `dqa list` reports the error; another reader may know the folder
        if reader.recognises(Path(folder)):
            found.append(reader)
    if len(found) > 1:
        names = " and ".join(reader.name for reader in found)
        raise UsageError(
            f"{folder} contains files of several formats ({names}): move the files of each format "
            "to their own folder."
        )
    return found[0] if found else plugins.reader("dqa")


def read_questions(
    folder: Path | str,
    *,
    scenarios: Sequence[str] | None = None,
    form: Form = "relational",
    strict: bool = False,
    limit: int | None = None,
) -> QuestionSet:
    """Read a folder of questions. `QuestionReader.read` describes the other parameters.

    Parameters
    ----------
    strict
        Whether a defect raises an error. Otherwise defects are only listed in the question set.

    Raises
    ------
    UsageError
        The folder does not exist.
    ParseError
        The folder has a defect, and `strict` is set.
    DataError, UnknownNameError
        Errors of `QuestionReader.read`.
    """
    require_folder(
        Path(folder), "Give the folder of a release, or a folder from 'dqa data generate --out'."
    )
    reader = reader_of(folder)
    found = reader.read(Path(folder), scenarios=scenarios, form=form, limit=limit)
    if strict and found.defects:
        first = found.defects[0]
        where = f", first in {first.statement!r}" if first.statement else ""
        problem = f"{first.problem}{where} (without strict: {first.action})"
        raise ParseError(first.file, None, problem)
    return found if found.rule_set else replace(found, rule_set=reader.rule_set)
