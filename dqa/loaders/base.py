"""The interface of readers of question folders, and the function that selects one.

Readers are found by entry point in the group ``dqa.readers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from dqa.core.question_set import QuestionSet
from dqa.loaders.release_layout import Form


@dataclass(frozen=True, slots=True)
class Part:
    """Select questions of a folder.

    Attributes
    ----------
    limit
        Maximum number of questions per scenario; None for all.
    key
        The only question to read (``scenario/id``); None for all questions.
    """

    limit: int | None = None
    key: str | None = None

    def wants(self, key: str, before: int) -> bool:
        """Return whether to read question `key`, the scenario's question number `before` + 1."""
        return self.key in {None, key} and (self.limit is None or before < self.limit)


WHOLE = Part()


@runtime_checkable
class QuestionReader(Protocol):
    """Reads question sets of one layout.

    Attributes
    ----------
    name
        The layout in messages.
    in_place
        Whether questions name their databases, which are queried where they are.
    """

    name: str

    @property
    def in_place(self) -> bool:
        """Whether databases are queried in place."""
        ...

    @property
    def rule_set(self) -> str | None:
        """The rule set of the answers; None if each question set names its own."""
        ...

    def recognises(self, folder: Path) -> bool:
        """Return whether a folder has this layout, judged by file names only."""
        ...

    def read(
        self,
        folder: Path,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        part: Part = WHOLE,
    ) -> QuestionSet:
        """Read a folder.

        Parameters
        ----------
        folder
            A folder that `recognises` accepts, or that the user assigned to this reader.
        scenarios
            The scenarios to read; None for all.
        form
            Which database files to read, if the layout has several kinds.
        part
            The questions to read. A reader may return more.

        Raises
        ------
        DataError
            The folder cannot be read.
        UnknownNameError
            The folder has none of `scenarios`, or no question `Part.key`.
        """
        ...
