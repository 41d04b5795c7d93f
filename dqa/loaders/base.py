"""The contract of readers: a folder of somebody's files to a question set.

Readers are found by entry point in the group ``dqa.readers``. `dqa.loaders.reading` asks them which
recognises a folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from dqa.core.question_set import QuestionSet
from dqa.loaders.release_layout import Form


@dataclass(frozen=True, slots=True)
class Part:
    """Which questions of a folder are wanted, where not all are.

    Attributes
    ----------
    limit
        Most questions of each scenario; None for all.
    key
        The only question that is wanted (``scenario/id``); None for any.
    """

    limit: int | None = None
    key: str | None = None

    def wants(self, key: str, before: int) -> bool:
        """Whether the question `key` is wanted, of whose scenario `before` others were read."""
        return self.key in {None, key} and (self.limit is None or before < self.limit)


WHOLE = Part()


@runtime_checkable
class QuestionReader(Protocol):
    """Reads question sets of one layout.

    Attributes
    ----------
    name
        What messages call the layout.
    """

    name: str

    @property
    def rule_set(self) -> str | None:
        """What the answers of such sets follow; None where a set says (`QuestionSet.rule_set`)."""
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
        strict: bool = False,
    ) -> QuestionSet:
        """Read a folder.

        Parameters
        ----------
        folder
            One that it recognises, or that a user calls one.
        scenarios
            Which to read; None for all that are there.
        form
            Which files to read databases from, where the layout has two kinds.
        strict
            Raise at the first defect instead of reporting it.

        Raises
        ------
        DataError
            The folder cannot be read.
        UnknownNameError
            The layout holds none of `scenarios`.
        """
        ...


@runtime_checkable
class InPlaceReader(QuestionReader, Protocol):
    """A reader of folders whose databases are asked where they are.

    Attributes
    ----------
    in_place
        True.
    """

    in_place: Literal[True]


@runtime_checkable
class PartReader(QuestionReader, Protocol):
    """A reader that can leave out the databases of the questions that nobody asked for."""

    def read_part(
        self,
        folder: Path,
        part: Part,
        *,
        scenarios: Sequence[str] | None = None,
        form: Form = "relational",
        strict: bool = False,
    ) -> QuestionSet:
        """Read the wanted questions of a folder, as `read` would.

        Defects are those of what was read: of a database that was left out nothing is known.

        Raises
        ------
        DataError, UnknownNameError
            As `read`; `UnknownNameError` where there is no question of `Part.key`.
        """
        ...
