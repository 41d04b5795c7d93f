"""The contract of readers, and the reader of any folder of questions.

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
    """Which questions of a folder are wanted.

    Attributes
    ----------
    limit
        Most questions of each scenario; None for all.
    key
        The only wanted question (``scenario/id``); None for any.
    """

    limit: int | None = None
    key: str | None = None

    def wants(self, key: str, before: int) -> bool:
        """Whether the question `key` is wanted after `before` others of its scenario."""
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
        """The rule set of the answers; None if each set has its own (`QuestionSet.rule_set`)."""
        ...

    def recognises(self, folder: Path) -> bool:
        """Whether a folder has this layout, by the names of a few files; reads none of them."""
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
            One that it recognises, or that the user says is one.
        scenarios
            Which to read; None for all.
        form
            Which database files to read, if the layout has several kinds.
        part
            Which questions are wanted. A reader may return more.

        Raises
        ------
        DataError
            The folder cannot be read.
        UnknownNameError
            The layout holds none of `scenarios`, or no question `Part.key`.
        """
        ...
