"""The contract of readers: a folder of somebody's files to a question set.

Readers are found by entry point in the group ``dqa.readers``. `dqa.loaders.reading` asks them which
recognises a folder.
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
