"""The interface of readers of question folders, and the function that selects one.

Readers are found by entry point in the group ``dqa.readers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from dqa.core.question_set import QuestionSet
from dqa.loaders.release_layout import Form


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
            Which database files to read, if the layout has several kinds.
        limit
            Most questions of each scenario; None for all. A reader may return more.

        Raises
        ------
        DataError
            The folder cannot be read.
        UnknownNameError
            The layout holds none of `scenarios`.
        """
        ...
